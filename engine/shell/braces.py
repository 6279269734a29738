"""Brace expansion, bash's first: ``a{b,c}d`` becomes ``abd acd``, ``{1..3}`` becomes ``1 2 3``.

It works on the text of a word as written: an unquoted ``{``, ``,``, ``..`` or ``}`` counts wherever
it stands, whatever lies between, so that ``{"a b",$x}`` has two alternatives. In the tree these
characters are in Literal parts alone; every other part is one unit here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringfence.grammar.nodes import Literal, Span, Word, WordPart
from ringfence.grammar.records import define, frozen
from ringfence.grammar.regex import compiled

MAX_WORDS = 1000
"""The most words that one word may become."""

MAX_WORK = 200_000
"""Bound on the characters and parts that are looked at and made for one word."""


class TooManyWords(ValueError):  # noqa: N818
    """A word's brace expansion is past MAX_WORDS or MAX_WORK."""


def expand_braces(word: Word) -> tuple[Word, ...]:
    """The words that ``word`` becomes, each with its span; ``word`` itself without braces.

    Words that come out empty are left out, as bash does in the end. Raises TooManyWords.
    """
    if not any(isinstance(part, Literal) and "{" in part.text for part in word.parts):
        return (word,)
    expansion = _Expansion()
    words = expansion.words(tuple(_units(word)))
    return tuple(Word(word.span, _parts(units)) for units in words if units)


# --- a word as units ---------------------------------------------------------------------------


@frozen
class _Unit:
    """An unquoted character, or a part of another kind (``text`` is None)."""

    text: str | None
    span: Span
    part: WordPart | None = None


_Units = tuple[_Unit, ...]


def _units(word: Word) -> Iterator[_Unit]:
    for part in word.parts:
        if not isinstance(part, Literal):
            yield _Unit(None, part.span, part)
            continue
        start, end = part.span
        exact = end - start == len(part.text)  # no line was continued inside
        for index, character in enumerate(part.text):
            yield _Unit(character, (start + index, start + index + 1) if exact else part.span)


def _parts(units: _Units) -> tuple[WordPart, ...]:
    """Runs of characters become one Literal again."""
    parts: list[WordPart] = []
    run: list[_Unit] = []

    def close() -> None:
        if run:
            span = (min(u.span[0] for u in run), max(u.span[1] for u in run))
            parts.append(Literal(span, "".join(u.text or "" for u in run)))
            run.clear()

    for unit in units:
        if unit.part is None:
            run.append(unit)
        else:
            close()
            parts.append(unit.part)
    close()
    return tuple(parts)


# --- expansion ---------------------------------------------------------------------------------


@define
class _Expansion:
    """The expansion of one word; counts its work."""

    _work: int = 0

    def words(self, units: _Units) -> list[_Units]:
        """``preamble{amble}postamble``, expanded from left to right."""
        done: list[_Units] = [()]
        position = 0
        while True:
            found = self._braces(units, position)
            if found is None:
                return self._product(done, [units[position:]])
            start, end = found
            amble = units[start + 1 : end]
            if any(unit.text == "," for unit in amble):
                alternatives = [w for item in self._items(amble) for w in self.words(item)]
            else:
                span = (units[start].span[0], units[end].span[1])
                alternatives = _sequence(amble, span) or [units[start : end + 1]]
            done = self._product(done, [units[position:start]])
            done = self._product(done, alternatives)
            position = end + 1

    def _count(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise TooManyWords("brace expansion takes too long")

    def _product(self, left: list[_Units], right: list[_Units]) -> list[_Units]:
        if len(left) * len(right) > MAX_WORDS:
            raise TooManyWords(f"brace expansion makes more than {MAX_WORDS} words")
        self._count(sum(len(a) + len(b) for a in left for b in right))
        return [a + b for a in left for b in right]

    def _braces(self, units: _Units, position: int) -> tuple[int, int] | None:
        """The first ``{`` at or after ``position`` that begins an expansion, and its ``}``."""
        for start in range(position, len(units)):
            if units[start].text != "{":
                continue
            # `{}` where a word begins stands for itself, as in `find -exec echo {} \;`.
            if start == position and start + 1 < len(units) and units[start + 1].text == "}":
                continue
            end = self._closer(units, start + 1)
            if end is not None:
                return start, end
        return None

    def _closer(self, units: _Units, position: int) -> int | None:
        """The ``}`` that ends the braces opened before ``position``.

        A ``}`` counts only after a ``,`` or ``..`` of the same depth: ``{a},b}`` has the
        alternatives ``a}`` and ``b``.
        """
        depth = 0
        divided = False
        for at in range(position, len(units)):
            self._count(1)
            text = units[at].text
            if text == "}" and depth == 0 and divided:
                return at
            if text == "{":
                depth += 1
            elif text == "}" and depth:
                depth -= 1
            elif depth == 0 and (text == "," or _is_range_operator(units, at)):
                divided = True
        return None

    def _items(self, amble: _Units) -> Iterator[_Units]:
        """The alternatives between the commas of the outermost depth."""
        depth = start = 0
        for at, unit in enumerate(amble):
            self._count(1)
            if unit.text == "," and depth == 0:
                yield amble[start:at]
                start = at + 1
            elif unit.text == "{":
                depth += 1
            elif unit.text == "}" and depth:
                depth -= 1
        yield amble[start:]


def _is_range_operator(units: _Units, at: int) -> bool:
    """Whether ``..`` stands at ``at``, with something other than ``}`` after it."""
    following = [unit.text for unit in units[at : at + 3]]
    return following[:2] == [".", "."] and following[2:] != ["}"]


# --- sequences ---------------------------------------------------------------------------------

_INTEGER = r"[+-]?[0-9]{1,18}"
_SEQUENCE = compiled(
    rf"(?:({_INTEGER})\.\.({_INTEGER})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.({_INTEGER}))?"
)


def _sequence(amble: _Units, span: Span) -> list[_Units] | None:
    """The words of ``x..y[..increment]``, or None if ``amble`` is no such expression."""
    if any(unit.text is None for unit in amble):
        return None
    match = _SEQUENCE.fullmatch("".join(unit.text or "" for unit in amble))
    if match is None:
        return None
    first, last, first_letter, last_letter, increment = match.groups()
    step = abs(int(increment or 0)) or 1
    if first_letter:
        texts = [chr(code) for code in _steps(ord(first_letter), ord(last_letter), step)]
    else:
        padded = any(re.match(r"[+-]?0[0-9]", end) for end in (first, last))
        width = max(len(first), len(last)) if padded else 0
        texts = [f"{number:0{width}d}" for number in _steps(int(first), int(last), step)]
    return [tuple(_Unit(character, span) for character in text) for text in texts]


def _steps(first: int, last: int, step: int) -> range:
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    # len() of a range this wide may overflow, so its last element is asked for by index.
    try:
        numbers[MAX_WORDS]
    except IndexError:
        return numbers
    raise TooManyWords(f"brace expansion makes more than {MAX_WORDS} words")
