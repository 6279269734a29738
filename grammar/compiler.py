"""From a grammar's text to the machine's tables, with Lark.

Lark reads the grammar and computes the LALR(1) tables. Only its result is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark import Lark
from lark.exceptions import GrammarError
from lark.lexer import Lexer, Token
from lark.parsers.lalr_analysis import Shift

from ringfence.grammar.tables import RuleTable, Tables, Terminal

STARTS = ("script", "here_text", "arithmetic", "substitution")


class _NoLexer(Lexer):
    """Lark wants a lexer; the machine has its own."""

    def __init__(self, *_args: object) -> None:
        pass

    def lex(self, *_args: Any) -> Iterator[Token]:
        raise NotImplementedError


def compile_tables(grammar: str, extension: str = "", *, debug: bool = False) -> Tables:
    """Compute the tables of ``grammar`` (Lark's notation) with an ``extension`` behind it.

    Among terminals of the same priority that match, the extension's come first.
    With ``debug``, Lark logs the conflicts that it resolves.
    Raises ``lark.exceptions.GrammarError`` if it is not LALR(1) or not well formed.
    """
    lark = Lark(
        f"{grammar}\n{extension}",
        parser="lalr",
        lexer=_NoLexer,
        start=list(STARTS),
        keep_all_tokens=True,
        maybe_placeholders=False,
        debug=debug,
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
