"""The syntax of bash's patterns: reads a pattern into its parts. `patterns` matches them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ringfence.grammar.records import define, frozen

MAX_NESTING = 40
"""How deep extended patterns may stand in each other."""

MAX_UNCLOSED = 100_000
"""Bound on the characters read in vain, in search of the end of unclosed ``[`` and ``@(``."""


class PatternTooComplex(ValueError):  # noqa: N818
    """A pattern, or a text to match, is past the limits of this module."""


# --- the parts of a pattern --------------------------------------------------------------------


@frozen
class Character:
    """One character that stands for itself."""

    text: str


@frozen
class Bracket:
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
class AnyCharacter:
    """``?``."""


@frozen
class AnyText:
    """``*``."""


@frozen
class Group:
    """``op(alternative|…)``."""

    operator: str
    alternatives: tuple[tuple[Part, ...], ...]


Part: TypeAlias = Character | Bracket | AnyCharacter | AnyText | Group


def begins_with_dot(parts: Sequence[Part]) -> bool:
    """Whether what matches first may be a dot written out: no wildcard matches a leading one."""
    for part in parts:
        if isinstance(part, Character):
            return part.text == "."
        if not isinstance(part, Group):
            return False
        if part.operator != "!" and any(map(begins_with_dot, part.alternatives)):
            return True
        if part.operator in "+@" and all(part.alternatives):
            return False
    return False


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
class Reader:
    """Reads the parts of ``text`` from ``position`` on."""

    text: str
    extglob: bool
    position: int = 0
    _unclosed: int = 0

    def sequence(self, stops: str, depth: int) -> tuple[Part, ...]:
        """Parts up to the end or to an unquoted character of ``stops``, which is not consumed."""
        parts: list[Part] = []
        while self.position < len(self.text) and self.text[self.position] not in stops:
            parts.append(self._part(depth))
        return tuple(parts)

    def _part(self, depth: int) -> Part:
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
            return AnyText()
        if character == "?":
            return AnyCharacter()
        if character == "\\" and self.position < len(self.text):
            self.position += 1
            return Character(self.text[self.position - 1])
        return Character(character)

    def _group(self, depth: int) -> Group | None:
        """``op(…)`` at the position, or None (nothing consumed) if its ``)`` is missing."""
        if depth > MAX_NESTING:
            raise PatternTooComplex("extended patterns are nested too deeply")
        start = self.position
        operator = self.text[start]
        self.position += 1
        alternatives: list[tuple[Part, ...]] = []
        while self.position < len(self.text) and self.text[self.position] in "(|":
            self.position += 1
            alternatives.append(self.sequence("|)", depth))
        if self.position < len(self.text):
            self.position += 1
            return Group(operator, tuple(alternatives))
        self._read_in_vain(start)
        self.position = start
        return None

    def _read_in_vain(self, start: int) -> None:
        """Count the characters from ``start`` on, which are to be read again."""
        self._unclosed += len(self.text) - start
        if self._unclosed > MAX_UNCLOSED:
            raise PatternTooComplex("too many unclosed brackets")

    def _bracket(self) -> Bracket | None:
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
                return Bracket(frozenset(characters), tuple(ranges), tuple(classes), negated)
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
