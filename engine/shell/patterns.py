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
from typing import TypeAlias

from attrs import define, field, frozen

MAX_NESTING = 40
"""How deep extended patterns may stand in each other."""

MAX_COST = 400_000
"""Bound on one operation's work, in steps of up to 64 positions each; well under a second."""

MAX_UNCLOSED = 100_000
"""Bound on the characters read in vain, in search of the end of unclosed ``[`` and ``@(``."""


class PatternTooComplex(ValueError):  # noqa: N818
    """A pattern, or a text to match, is past the limits of this module."""


# --- the parts of a pattern --------------------------------------------------------------------


@frozen
class _Character:
    """One character that stands for itself."""

    text: str


@frozen
class _Bracket:
    """``[…]``: characters, ranges (both ends inclusive) and the names of classes."""

    characters: frozenset[str]
    ranges: tuple[tuple[str, str], ...]
    classes: tuple[str, ...]
    negated: bool

    def accepts(self, character: str) -> bool:
        """Whether the bracket expression matches ``character``."""
        found = (
            character in self.characters
            or any(low <= character <= high for low, high in self.ranges)
            or any(_CLASSES[name](character) for name in self.classes)
        )
        return found != self.negated


@frozen
class _AnyCharacter:
    """``?``."""


@frozen
class _AnyText:
    """``*``."""


@frozen
class _Group:
    """``op(alternative|…)``."""

    operator: str
    alternatives: tuple[tuple[_Part, ...], ...]


_Part: TypeAlias = _Character | _Bracket | _AnyCharacter | _AnyText | _Group


def _ascii(test: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda character: character.isascii() and test(character)


_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "ascii": str.isascii,
    "blank": lambda c: c in " \t",
    "cntrl": lambda c: c < " " or c == "\x7f",
    "digit": _ascii(str.isdigit),
    "graph": lambda c: c.isprintable() and not c.isspace(),
    "lower": str.islower,
    "print": str.isprintable,
    "punct": lambda c: c.isprintable() and not c.isalnum() and not c.isspace(),
    "space": str.isspace,
    "upper": str.isupper,
    "word": lambda c: c.isalnum() or c == "_",
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}


# --- reading -----------------------------------------------------------------------------------


@define
class _Reader:
    """Reads the parts of ``text`` from ``position`` on."""

    text: str
    extglob: bool
    position: int = 0
    _unclosed: int = 0

    def sequence(self, stops: str, depth: int) -> tuple[_Part, ...]:
        """Parts up to the end or to an unquoted character of ``stops``, which is not consumed."""
        parts: list[_Part] = []
        while self.position < len(self.text) and self.text[self.position] not in stops:
            parts.append(self._part(depth))
        return tuple(parts)

    def _part(self, depth: int) -> _Part:
        character = self.text[self.position]
        if self.extglob and character in "?*+@!" and self.text.startswith("(", self.position + 1):
            group = self._group(depth + 1)
            if group is not None:
                return group
        if character == "[":
            bracket = self._bracket()
            if bracket is not None:
                return bracket
        self.position += 1
        if character == "*":
            return _AnyText()
        if character == "?":
            return _AnyCharacter()
        if character == "\\" and self.position < len(self.text):
            self.position += 1
            return _Character(self.text[self.position - 1])
        return _Character(character)

    def _group(self, depth: int) -> _Group | None:
        """``op(…)`` at the position, or None (nothing consumed) if its ``)`` is missing."""
        if depth > MAX_NESTING:
            raise PatternTooComplex("extended patterns are nested too deeply")
        start = self.position
        operator = self.text[start]
        self.position += 1
        alternatives: list[tuple[_Part, ...]] = []
        while self.position < len(self.text) and self.text[self.position] in "(|":
            self.position += 1
            alternatives.append(self.sequence("|)", depth))
        if self.position < len(self.text):
            self.position += 1
            return _Group(operator, tuple(alternatives))
        self._read_in_vain(start)
        self.position = start
        return None

    def _read_in_vain(self, start: int) -> None:
        """Count the characters from ``start`` on, which are to be read again."""
        self._unclosed += len(self.text) - start
        if self._unclosed > MAX_UNCLOSED:
            raise PatternTooComplex("too many unclosed brackets")

    def _bracket(self) -> _Bracket | None:
        """``[…]`` at the position, or None (nothing consumed) if it is no bracket expression."""
        text, at = self.text, self.position + 1
        if "]" not in text[at:]:
            return None
        negated = text[at : at + 1] in ("!", "^")
        at += negated
        first = at
        characters: set[str] = set()
        ranges: list[tuple[str, str]] = []
        classes: list[str] = []
        while at < len(text):
            if text[at] == "]" and at > first:
                self.position = at + 1
                return _Bracket(frozenset(characters), tuple(ranges), tuple(classes), negated)
            name, end = _named(text, at, ":")
            if name is not None:
                if name in _CLASSES:
                    classes.append(name)
                at = end
                continue
            low, at = _element(text, at)
            if text.startswith("-", at) and at + 1 < len(text) and text[at + 1] != "]":
                high, at = _element(text, at + 1)
                ranges.append((low, high))
            else:
                characters.add(low)
        self._read_in_vain(self.position)
        return None


def _named(text: str, at: int, mark: str) -> tuple[str | None, int]:
    """The name in ``[:name:]`` (or ``[=c=]``, ``[.c.]``) at ``at``, and the position after it."""
    if text.startswith("[" + mark, at):
        end = text.find(mark + "]", at + 2)
        if end > 0:
            return text[at + 2 : end], end + 2
    return None, at


def _element(text: str, at: int) -> tuple[str, int]:
    """One character of a bracket expression at ``at``, and the position after it."""
    for mark in "=.":
        name, end = _named(text, at, mark)
        if name is not None and len(name) == 1:
            return name, end
    if text[at] == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    return text[at], at + 1


# --- matching ----------------------------------------------------------------------------------


@define
class _Run:
    """Matches parts at positions of one text. Bit ``i`` of a set stands for position ``i``."""

    text: str
    full: int = field(init=False)
    _places: dict[str, int] = field(init=False, factory=dict)
    _brackets: dict[_Bracket, int] = field(init=False, factory=dict)
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

    def sequence(self, parts: Sequence[_Part], starts: int) -> int:
        """All positions where ``parts``, begun at one of ``starts``, can end."""
        for part in parts:
            if not starts:
                break
            starts = self._ends(part, starts)
        return starts

    def _ends(self, part: _Part, starts: int) -> int:
        self._cost += self._step
        if self._cost > MAX_COST:
            raise PatternTooComplex("matching the pattern takes too long")
        match part:
            case _Character(text):
                return (starts & self._places.get(text, 0)) << 1
            case _AnyText():
                return self._from(starts)
            case _AnyCharacter():
                return (starts << 1) & self.full
            case _Bracket():
                return (starts & self._accepted(part)) << 1
            case _Group():
                return self._group(part, starts)

    def _from(self, starts: int) -> int:
        """All positions at or after the first of ``starts``."""
        return self.full ^ ((starts & -starts) - 1)

    def _accepted(self, bracket: _Bracket) -> int:
        if bracket not in self._brackets:
            places = 0
            for character, bits in self._places.items():
                if bracket.accepts(character):
                    places |= bits
            self._brackets[bracket] = places
        return self._brackets[bracket]

    def _once(self, group: _Group, starts: int) -> int:
        ends = 0
        for alternative in group.alternatives:
            ends |= self.sequence(alternative, starts)
        return ends

    def _group(self, group: _Group, starts: int) -> int:
        if group.operator == "!":
            return self._except(group, starts)
        ends = self._once(group, starts)
        if group.operator in "+*":
            new = ends
            while new:
                new = self._once(group, new) & ~ends
                ends |= new
        return ends | starts if group.operator in "?*" else ends

    def _except(self, group: _Group, starts: int) -> int:
        """Where ``!(…)`` can end: what must not match depends on where each match began."""
        ends = 0
        while starts:
            start = starts & -starts
            starts ^= start
            ends |= self._from(start) & ~self._once(group, start)
        return ends


def _reversed(parts: tuple[_Part, ...]) -> tuple[_Part, ...]:
    """The parts of the pattern that matches the same texts written backwards."""
    return tuple(
        _Group(part.operator, tuple(map(_reversed, part.alternatives)))
        if isinstance(part, _Group)
        else part
        for part in reversed(parts)
    )


@frozen
class Pattern:
    """A pattern that has been read; see `compile_pattern`."""

    source: str
    _parts: tuple[_Part, ...]

    @property
    def magic(self) -> bool:
        """Whether the pattern is more than one literal text."""
        return not all(isinstance(part, _Character) for part in self._parts)

    @property
    def literal(self) -> str | None:
        """The only text that the pattern matches, or None if it is magic."""
        texts = [part.text for part in self._parts if isinstance(part, _Character)]
        return "".join(texts) if len(texts) == len(self._parts) else None

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
    return Pattern(pattern, _Reader(pattern, extglob).sequence("", 0))


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
