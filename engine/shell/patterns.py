r"""Bash's patterns: ``*``, ``?``, ``[…]``, and the extended ``@(…)``, ``?(…)``, ``!(…)``….

A pattern is a string in which a backslash quotes the character after it; `quote` makes such a
string of literal text. Texts and patterns are taken as known: the caller looks for the
unknowns first.

Matching keeps the set of all positions that a part can end at as the bits of one integer, so no
pattern ever backtracks: the cost grows with the length of text and pattern alone. Past a fixed
cost `PatternTooComplex` is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ringfence.engine.shell.pattern_syntax import (
    AnyCharacter,
    AnyText,
    Bracket,
    Character,
    Group,
    Part,
    PatternTooComplex,
    Reader,
    begins_with_dot,
)
from ringfence.grammar.records import define, field, frozen

__all__ = [
    "Pattern",
    "PatternTooComplex",
    "compile_pattern",
    "has_magic",
    "matches",
    "quote",
    "remove",
    "replace",
    "unquote",
]

MAX_COST = 400_000
"""Bound on one operation's work, in steps of up to 64 positions each; well under a second."""


# --- matching ----------------------------------------------------------------------------------


@define
class _Run:
    """Matches parts at positions of one text. Bit ``i`` of a set stands for position ``i``."""

    text: str
    full: int = field(init=False)
    _places: dict[str, int] = field(init=False, factory=dict)
    _brackets: dict[Bracket, int] = field(init=False, factory=dict)
    _cost: int = field(init=False, default=0)
    _step: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.full = (1 << len(self.text) + 1) - 1
        self._step = (len(self.text) >> 6) + 1
        indices: dict[str, list[int]] = {}
        for index, character in enumerate(self.text):
            indices.setdefault(character, []).append(index)
        for character, places in indices.items():
            bits = bytearray(len(self.text) // 8 + 1)
            for index in places:
                bits[index >> 3] |= 1 << (index & 7)
            self._places[character] = int.from_bytes(bits, "little")

    def sequence(self, parts: Sequence[Part], starts: int) -> int:
        """All positions where ``parts``, begun at one of ``starts``, can end."""
        for part in parts:
            if not starts:
                break
            starts = self._ends(part, starts)
        return starts

    def _ends(self, part: Part, starts: int) -> int:
        self._cost += self._step
        if self._cost > MAX_COST:
            raise PatternTooComplex("matching the pattern takes too long")
        match part:
            case Character(text):
                return (starts & self._places.get(text, 0)) << 1
            case AnyText():
                return self._from(starts)
            case AnyCharacter():
                return (starts << 1) & self.full
            case Bracket():
                return (starts & self._accepted(part)) << 1
            case Group():
                return self._group(part, starts)

    def _from(self, starts: int) -> int:
        """All positions at or after the first of ``starts``."""
        return self.full ^ ((starts & -starts) - 1)

    def _accepted(self, bracket: Bracket) -> int:
        if bracket not in self._brackets:
            places = 0
            for character, bits in self._places.items():
                if bracket.accepts(character):
                    places |= bits
            self._brackets[bracket] = places
        return self._brackets[bracket]

    def _once(self, group: Group, starts: int) -> int:
        ends = 0
        for alternative in group.alternatives:
            ends |= self.sequence(alternative, starts)
        return ends

    def _group(self, group: Group, starts: int) -> int:
        if group.operator == "!":
            return self._except(group, starts)
        ends = self._once(group, starts)
        if group.operator in "+*":
            new = ends
            while new:
                new = self._once(group, new) & ~ends
                ends |= new
        return ends | starts if group.operator in "?*" else ends

    def _except(self, group: Group, starts: int) -> int:
        """Where ``!(…)`` can end: what must not match depends on where each match began."""
        ends = 0
        while starts:
            start = starts & -starts
            starts ^= start
            ends |= self._from(start) & ~self._once(group, start)
        return ends


def _reversed(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts of the pattern that matches the same texts written backwards."""
    return tuple(
        Group(part.operator, tuple(map(_reversed, part.alternatives)))
        if isinstance(part, Group)
        else part
        for part in reversed(parts)
    )


@frozen
class Pattern:
    """A pattern that has been read; see `compile_pattern`."""

    source: str
    _parts: tuple[Part, ...]

    @property
    def magic(self) -> bool:
        """Whether the pattern is more than one literal text."""
        return not all(isinstance(part, Character) for part in self._parts)

    @property
    def literal(self) -> str | None:
        """The only text that the pattern matches, or None if it is magic."""
        texts = [part.text for part in self._parts if isinstance(part, Character)]
        return "".join(texts) if len(texts) == len(self._parts) else None

    @property
    def dotted(self) -> bool:
        """Whether it may match a name with a leading dot, as pathname expansion goes."""
        return begins_with_dot(self._parts)

    def matches(self, text: str) -> bool:
        """Whether the pattern matches all of ``text``."""
        literal = self.literal
        if literal is not None:
            return literal == text
        return bool(_Run(text).sequence(self._parts, 1) >> len(text))

    def prefix(self, text: str, *, longest: bool) -> int | None:
        """The length of the longest or shortest prefix of ``text`` that matches, or None."""
        return _pick(_Run(text).sequence(self._parts, 1), longest=longest)

    def suffix(self, text: str, *, longest: bool) -> int | None:
        """The length of the longest or shortest suffix of ``text`` that matches, or None."""
        ends = _Run(text[::-1]).sequence(_reversed(self._parts), 1)
        return _pick(ends, longest=longest)

    def spans(self, text: str, *, every: bool) -> list[tuple[int, int]]:
        """The leftmost longest match in ``text``, or every one from left to right."""
        run = _Run(text)
        found: list[tuple[int, int]] = []
        start = 0
        while start < len(text) or not (start or found):
            end = _pick(run.sequence(self._parts, 1 << start), longest=True)
            if end is None:
                start += 1
                continue
            found.append((start, end))
            if not every:
                break
            start = max(end, start + 1)
        return found


def _pick(ends: int, *, longest: bool) -> int | None:
    """The last or first position in the set ``ends``."""
    if not ends:
        return None
    return (ends if longest else ends & -ends).bit_length() - 1


# --- what the evaluator calls ------------------------------------------------------------------


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, *, extglob: bool = True) -> Pattern:
    """Read ``pattern``; with ``extglob`` off, ``@(…)`` and its like are plain text.

    Any text is a pattern: an unclosed ``[`` or ``@(`` stands for itself, as in bash. Raises
    PatternTooComplex past MAX_NESTING.
    """
    return Pattern(pattern, Reader(pattern, extglob).sequence("", 0))


def matches(pattern: str, text: str, *, extglob: bool = True) -> bool:
    """Whether ``pattern`` matches all of ``text``, as in ``case`` and ``[[ text == pattern ]]``."""
    return compile_pattern(pattern, extglob=extglob).matches(text)


def has_magic(pattern: str, *, extglob: bool = True) -> bool:
    """Whether ``pattern`` holds any unquoted special character that takes effect."""
    return compile_pattern(pattern, extglob=extglob).magic


def quote(text: str) -> str:
    """The pattern that matches ``text`` alone."""
    return "".join("\\" + c if c in "\\*?[]()|!+@-^" else c for c in text)


def unquote(pattern: str) -> str:
    """``pattern`` as plain text, for the word whose pattern matches nothing."""
    characters = iter(pattern)
    return "".join(next(characters, "\\") if c == "\\" else c for c in characters)


def remove(text: str, pattern: str, *, suffix: bool, longest: bool, extglob: bool = True) -> str:
    """``${text#pattern}``, or ``%`` with ``suffix``; ``##`` and ``%%`` with ``longest``."""
    compiled = compile_pattern(pattern, extglob=extglob)
    if suffix:
        length = compiled.suffix(text, longest=longest)
        return text if length is None else text[: len(text) - length]
    length = compiled.prefix(text, longest=longest)
    return text if length is None else text[length:]


def replace(
    text: str,
    pattern: str,
    replacement: str | Callable[[str], str],
    *,
    every: bool = False,
    anchor: str = "",
    extglob: bool = True,
) -> str:
    """``${text/pattern/replacement}``; ``//`` with ``every``.

    With the ``anchor`` ``#`` or ``%`` the match must stand at the beginning or the end. A
    callable ``replacement`` is given each matched text (where ``&`` stands for it).
    """
    if not pattern:
        # An empty pattern matches nothing, unless it is anchored: then it adds text.
        if not anchor:
            return text
        added = replacement if isinstance(replacement, str) else replacement("")
        return added + text if anchor == "#" else text + added
    compiled = compile_pattern(pattern, extglob=extglob)
    if anchor == "#":
        length = compiled.prefix(text, longest=True)
        spans = [] if length is None else [(0, length)]
    elif anchor == "%":
        length = compiled.suffix(text, longest=True)
        spans = [] if length is None else [(len(text) - length, len(text))]
    else:
        spans = compiled.spans(text, every=every)
    result: list[str] = []
    position = 0
    for start, end in spans:
        result.append(text[position:start])
        matched = text[start:end]
        result.append(replacement if isinstance(replacement, str) else replacement(matched))
        position = end
    return "".join(result) + text[position:]
