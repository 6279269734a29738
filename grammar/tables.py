"""From the text of the grammar to the tables that the machine runs on.

Lark reads the grammar and computes the LALR(1) tables; what is kept are plain lists and
dictionaries, so that a machine needs nothing of Lark while it parses.
"""

from __future__ import annotations

import re
from enum import Enum
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen
from lark import Lark
from lark.exceptions import GrammarError
from lark.lexer import Lexer, Token
from lark.parsers.lalr_analysis import Shift

from ringfence.grammar.contexts import CONTEXTS, RESERVED_WORDS, WORD_PARTS, lets_through

STARTS = ("script", "here_text", "arithmetic", "substitution")
END = "$END"


class Place(Enum):
    """Where in a word the lexer stands."""

    OUTSIDE = 0  # where a word could begin
    INSIDE = 1  # in the middle of a word, or right behind it
    AFTER = 2  # behind a word and a blank that separates it from no other word


_SKIPS = {
    # A "#" begins a comment only where a word could begin.
    ("blanks", Place.OUTSIDE): r"[ \t]*\#[^\n]*|[ \t]+",
    ("blanks", Place.INSIDE): r"[ \t]+(?:\#[^\n]*)?",
    ("blanks", Place.AFTER): r"(?!)",
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
    reduce by (``~index``), and a nonterminal to the state after it.
    """

    rules: tuple[RuleTable, ...]
    actions: tuple[Mapping[str, int], ...]
    terminals: tuple[Terminal, ...]
    starts: Mapping[str, int]
    accepts: Mapping[str, int]  # start → the state that ends it
    _scanners: dict[tuple[int, str, Place, bool], Scanner] = field(
        factory=dict, eq=False, repr=False
    )
    _compiled: dict[tuple[object, ...], Scanner] = field(factory=dict, eq=False, repr=False)

    def scanner(self, state: int, context: str, place: Place, extglob: bool) -> Scanner:
        """The scanner for the terminals that fit in ``state``, ``context`` and ``place``.

        With ``extglob``, words hold extended patterns wherever they hold plain ones.
        """
        key = (state, context, place, extglob)
        scanner = self._scanners.get(key)
        if scanner is None:
            scanner = self._scanners[key] = self._make(state, context, place, extglob)
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
            )

        names = tuple(filter(fits, self.terminals))
        words: frozenset[str] = frozenset()
        if place is Place.OUTSIDE and context.shared is None and "IF" in wanted:
            words = RESERVED_WORDS
        elif place is Place.OUTSIDE and "CONDITIONAL_END" in context.own:
            words = frozenset(("CONDITIONAL_END",))
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
        scanner = Scanner(re.compile("|".join(patterns) or r"(?!)"), names, reserved, skip)
        self._compiled[key] = scanner
        return scanner

    def without(self, scanner: Scanner, name: str) -> Scanner:
        """The same scanner without one terminal."""
        names = tuple(t for t in scanner.terminals if t.name != name)
        return self._scanner(names, scanner.reserved, scanner.skip)


_EXTENDED = {"LITERAL": False, "PATTERN_TEXT": True, "EXTGLOB": True}
"""With ``extglob`` on, plain text ends before an extended pattern."""
_BLANKS = ("BLANK", "ARRAY_BLANK")


def _group(terminal: Terminal) -> str:
    return f"(?P<{terminal.name}>{terminal.pattern})"


@frozen
class Scanner:
    """A regular expression with one named group for each terminal."""

    pattern: re.Pattern[str]
    terminals: tuple[Terminal, ...]
    reserved: frozenset[str]
    skip: str


class _NoLexer(Lexer):
    """Lark wants a lexer; the machine has its own."""

    def __init__(self, *_args: object) -> None:
        pass

    def lex(self, *_args: Any) -> Iterator[Token]:
        raise NotImplementedError


def compile_tables(grammar: str, extension: str = "") -> Tables:
    """Compute the tables of ``grammar`` (Lark's notation) with an ``extension`` behind it.

    Among terminals of the same priority that match, the extension's come first.
    Raises ``lark.exceptions.GrammarError`` if it is not LALR(1) or not well formed.
    """
    lark = Lark(
        f"{grammar}\n{extension}",
        parser="lalr",
        lexer=_NoLexer,
        start=list(STARTS),
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
    table = lark.parser.parser._parse_table  # noqa: SLF001
    numbers = {rule: number for number, rule in enumerate(lark.rules)}
    rules = tuple(
        RuleTable(
            str(rule.origin.name),
            tuple(str(symbol.name) for symbol in rule.expansion),
            _builder_name(rule.origin.name, rule.alias, len(rule.expansion)),
        )
        for rule in lark.rules
    )
    order = {state: index for index, state in enumerate(table.states)}
    actions: list[dict[str, int]] = []
    for state in table.states:
        row: dict[str, int] = {}
        for symbol, (action, argument) in table.states[state].items():
            row[symbol] = order[argument] if action is Shift else ~numbers[argument]
        actions.append(row)
    terminals = [Terminal(t.name, t.pattern.to_regexp(), t.priority) for t in lark.terminals]
    declared = {name: place for place, name in enumerate(_declared(f"{extension}\n{grammar}"))}
    terminals.sort(key=lambda t: (-t.priority, declared.get(t.name, 0)))
    return Tables(
        rules,
        tuple(actions),
        tuple(terminals),
        {start: order[state] for start, state in table.start_states.items()},
        {start: order[state] for start, state in table.end_states.items()},
    )


def _builder_name(origin: str, alias: str | None, size: int) -> str | None:
    if alias:
        return alias
    if size != 1:
        raise GrammarError(f"an alternative of {origin} needs a name for its function: -> name")
    return None


def _declared(grammar: str) -> list[str]:
    """Terminals in the order of the text: among equals, the first that matches is taken."""
    return re.findall(r"^([A-Z][A-Z_0-9]*)(?:\.-?\d+)?\s*:", grammar, re.MULTILINE)
