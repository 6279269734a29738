"""The tables that the machine runs on, and the regular expressions made from them.

compiler.py makes them from a grammar's text with Lark. They are plain lists and dictionaries,
which a file keeps, so that Lark need not be loaded to parse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TypeAlias

from ringfence.grammar.contexts import CONTEXTS, RESERVED_WORDS, WORD_PARTS, lets_through
from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled

END = "$END"


class Place(IntEnum):
    """Where in a word the lexer stands."""

    OUTSIDE = 0  # where a word could begin
    INSIDE = 1  # in the middle of a word, or right behind it
    AFTER = 2  # behind a word and a blank that separates it from no other word
    GLUED = 3  # right behind `>&-`: a word may begin, but no reserved one
    OPENED = 4  # right behind `$(`: a word may begin, and `time` is one there


_SKIPS = {
    # A "#" begins a comment only where a word could begin.
    ("blanks", Place.OUTSIDE): r"[ \t]*\#[^\n]*|[ \t]+",
    ("blanks", Place.INSIDE): r"[ \t]+(?:\#[^\n]*)?",
    ("blanks", Place.AFTER): r"(?!)",
    ("blanks", Place.GLUED): r"[ \t]*\#[^\n]*|[ \t]+",
    ("blanks", Place.OPENED): r"[ \t]*\#[^\n]*|[ \t]+",
    ("newlines", Place.OUTSIDE): r"(?:[ \t\n]+|\#[^\n]*)+",
    ("newlines", Place.INSIDE): r"[ \t\n]+(?:\#[^\n]*(?:\n[ \t\n]*|\Z))*",
    ("newlines", Place.AFTER): r"(?!)",
}


@frozen
class RuleTable:
    """One grammar rule: what it makes, from how many values, by which function of the builder."""

    origin: str
    symbols: tuple[str, ...]
    builder: str | None  # None: the single value is handed on

    @property
    def size(self) -> int:
        """How many values it takes."""
        return len(self.symbols)


@frozen
class Terminal:
    """A terminal's pattern and whether it is recognised only where a word begins."""

    name: str
    pattern: str
    priority: int

    @property
    def begins_word(self) -> bool:
        """Priority 1 and above, by convention."""
        return self.priority >= 1


@frozen
class Tables:
    """All that a machine needs.

    ``actions[state]`` maps a terminal to a state to shift to (0 and above) or to the rule to
    reduce by (``~index``), and a nonterminal to the state after it. ``scanners`` holds those that
    ``scanner`` has made.
    """

    rules: tuple[RuleTable, ...]
    actions: tuple[Mapping[str, int], ...]
    terminals: tuple[Terminal, ...]
    starts: Mapping[str, int]
    accepts: Mapping[str, int]  # start → the state that ends it
    scanners: dict[tuple[int, str, Place, bool], Scanner] = field(
        factory=dict, eq=False, repr=False
    )
    _compiled: dict[tuple[object, ...], Scanner] = field(factory=dict, eq=False, repr=False)
    _modes: dict[tuple[str, Place, bool], Mode] = field(factory=dict, eq=False, repr=False)

    def to_json(self, grammar: str) -> str:
        """A text to keep, with the ``grammar`` that it was made from."""
        made = {
            "grammar": grammar,
            "rules": [[rule.origin, rule.symbols, rule.builder] for rule in self.rules],
            "actions": [dict(row) for row in self.actions],
            "terminals": [[t.name, t.pattern, t.priority] for t in self.terminals],
            "starts": dict(self.starts),
            "accepts": dict(self.accepts),
        }
        return json.dumps(made, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, grammar: str) -> Tables | None:
        """The tables that were kept, or None if they were made from another grammar."""
        made = json.loads(text)
        if made["grammar"] != grammar:
            return None
        return cls(
            tuple(
                RuleTable(origin, tuple(symbols), name) for origin, symbols, name in made["rules"]
            ),
            tuple(made["actions"]),
            tuple(Terminal(*terminal) for terminal in made["terminals"]),
            made["starts"],
            made["accepts"],
        )

    def mode(self, context: str, place: Place, extglob: bool) -> Mode:
        """The one of this context and place."""
        key = (context, place, extglob)
        mode = self._modes.get(key)
        if mode is None:
            mode = self._modes[key] = Mode(context, place, extglob)
        return mode

    def matching(self, mode: Mode, state: int) -> Matching:
        """What matches the terminals that fit in ``state``; the mode remembers it."""
        scanner = self.scanner(state, mode.context, mode.place, mode.extglob)
        found = mode.matching[state] = scanner.pattern.match
        return found

    def scanner(self, state: int, context: str, place: Place, extglob: bool) -> Scanner:
        """The scanner for the terminals that fit in ``state``, ``context`` and ``place``.

        With ``extglob``, words hold extended patterns wherever they hold plain ones.
        """
        key = (state, context, place, extglob)
        scanner = self.scanners.get(key)
        if scanner is None:
            scanner = self.scanners[key] = self._make(state, context, place, extglob)
        return scanner

    def _make(self, state: int, context_name: str, place: Place, extglob: bool) -> Scanner:
        context = CONTEXTS[context_name]
        wanted = self.actions[state].keys()

        def fits(terminal: Terminal) -> bool:
            name = terminal.name
            if name not in wanted:
                return False
            if extglob and lets_through(context, "LITERAL") and name in _EXTENDED:
                return place is not Place.AFTER and _EXTENDED[name]
            return (
                lets_through(context, name)
                and not (place is Place.INSIDE and terminal.begins_word)
                and not (place is Place.AFTER and name in WORD_PARTS)
                and not (place is Place.GLUED and name in RESERVED_WORDS)
                and not (place is Place.OPENED and name in _TIME)
            )

        names = tuple(filter(fits, self.terminals))
        refused: set[str] = set()
        if place in (Place.OUTSIDE, Place.OPENED) and context.skip:
            refused.add("FD")  # a number before `<` or `>` is never a word
            if context.shared is None and "IF" in wanted:
                refused |= RESERVED_WORDS
            if "CONDITIONAL_END" in context.own:
                refused.add("CONDITIONAL_END")
        words = frozenset(refused)
        skip = _SKIPS.get((context.skip, place), "")
        return self._scanner(names, words, skip)

    def _scanner(self, names: tuple[Terminal, ...], reserved: frozenset[str], skip: str) -> Scanner:
        key = (names, reserved, skip)
        scanner = self._compiled.get(key)
        if scanner is not None:
            return scanner
        # A blank that separates words goes before one that is skipped, a comment before a word.
        patterns = [_group(t) for t in names if t.name == "EXTGLOB"]
        patterns += [_group(t) for t in names if t.begins_word]
        if reserved:
            words = "|".join(t.pattern for t in self.terminals if t.name in reserved)
            patterns.append(f"(?P<RESERVED>{words})")
        patterns += [_group(t) for t in names if t.name in _BLANKS]
        if skip:
            patterns.append(f"(?P<SKIP>{skip})")
        placed = (*_BLANKS, "EXTGLOB")
        patterns += [_group(t) for t in names if not t.begins_word and t.name not in placed]
        scanner = Scanner(compiled("|".join(patterns) or r"(?!)"), names, reserved, skip)
        self._compiled[key] = scanner
        return scanner

    def without(self, scanner: Scanner, name: str) -> Scanner:
        """The same scanner without one terminal."""
        names = tuple(t for t in scanner.terminals if t.name != name)
        return self._scanner(names, scanner.reserved, scanner.skip)


_EXTENDED = {"LITERAL": False, "PATTERN_TEXT": True, "EXTGLOB": True}
"""With ``extglob`` on, plain text ends before an extended pattern."""
_TIME = ("TIME", "TIME_ALONE")
_BLANKS = ("BLANK", "ARRAY_BLANK")


def _group(terminal: Terminal) -> str:
    return f"(?P<{terminal.name}>{terminal.pattern})"


Matching: TypeAlias = Callable[[str, int], re.Match[str] | None]


@define(eq=False)
class Mode:
    """What the lexer goes by besides the parser's state; one object for each.

    ``matching`` holds, by state, what matches its terminals; ``after`` the mode behind a terminal
    that opens, closes and changes nothing.
    """

    context: str
    place: Place
    extglob: bool
    matching: dict[int, Matching] = field(factory=dict)
    after: dict[str, Mode] = field(factory=dict)


@frozen
class Scanner:
    """A regular expression with one named group for each terminal."""

    pattern: re.Pattern[str]
    terminals: tuple[Terminal, ...]
    reserved: frozenset[str]
    skip: str
