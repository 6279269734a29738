"""An extension of the grammar, checked before anything is parsed with it.

Whatever is wrong with it is a GrammarError that names the line of the extension's own text: what
would only show when a command is parsed would show as a command that nobody can judge.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lark.exceptions import GrammarError

from ringfence.grammar.builder import Builder
from ringfence.grammar.records import frozen
from ringfence.grammar.regex import compiled
from ringfence.grammar.tables import RuleTable, Tables, Terminal

_PARTS = compiled(
    r'"(?:\\.|[^"\n\\])*"i?|(?P<comment>//[^\n]*|\#[^\n]*)'
    r"|/(?P<regex>(?!/)(?:\\.|[^/\n\\])*)/(?P<flags>[imslux]*)"
)
_DEFINED = compiled(r"^\s*(?:%(?:extend|override)\s+)?[?!]*([A-Za-z_]\w*)[^:\n]*:", re.MULTILINE)
_NUMBERED = compiled(r"(?<!\\)(?:\\\\)*\\[1-9]")
_FLAGS = {
    "i": re.IGNORECASE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "l": re.LOCALE,
    "u": re.UNICODE,
    "x": re.VERBOSE,
}


@frozen
class ExtensionText:
    """The text of one extension: what a person calls it, and how many lines stand before it."""

    text: str
    name: str
    above: int

    def error(self, problem: str, line: int | None = None) -> GrammarError:
        """The error of a problem, at a line of this text if that is known."""
        place = self.name if line is None else f"{self.name}, line {line}"
        return GrammarError(f"{place}: {problem}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Within, whatever goes wrong is an error of this text."""
        try:
            yield
        except Exception as error:
            told = " ".join(str(error).replace("\n\t* ", " ").split())
            line = getattr(error, "line", None)
            if not isinstance(line, int) and (found := re.search(r"\bline (\d+)", told)):
                line = int(found[1])
            own = line - self.above if isinstance(line, int) else self._named(told)
            own = own if own is not None and 0 < own <= self.text.count("\n") + 1 else None
            told = re.sub(r" ?\bat line \d+,? column \d+(?: in <string>)?", "", told)
            if not isinstance(error, GrammarError):
                told = told or type(error).__name__
            raise self.error(told, own) from error

    def check(self) -> None:
        """Raise GrammarError for a regular expression that is none."""
        for part in _PARTS.finditer(self.text):
            if part["regex"] is None:
                continue
            flags = 0
            for letter in part["flags"].replace("l", ""):
                flags |= _FLAGS[letter]
            line = self._line(part.start())
            try:
                found = re.compile(part["regex"], flags)
            except (re.error, OverflowError, RecursionError) as error:
                problem = f"/{part['regex']}/ is no regular expression: {error}"
                raise self.error(problem, line) from error
            if found.groupindex or _NUMBERED.search(part["regex"]):
                # All terminals become one expression, where groups are numbered anew.
                problem = f"/{part['regex']}/ names a group or refers to one; use (?:…)"
                raise self.error(problem, line)

    def check_terminals(self, terminals: Iterable[Terminal]) -> None:
        """Raise GrammarError for one that matches an empty text: the lexer would stand still."""
        for terminal in terminals:
            try:
                empty = re.fullmatch(terminal.pattern, "")
            except re.error as error:
                problem = f"{terminal.name} is no regular expression: {error}"
                raise self.error(problem, self._defined(terminal.name)) from error
            if empty:
                problem = f"{terminal.name} matches an empty text"
                raise self.error(problem, self._defined(terminal.name))

    def check_functions(
        self, rules: Iterable[RuleTable], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        """Raise GrammarError for a function that cannot take the values of its alternative."""
        for rule in rules:
            if rule.builder is None:
                continue
            function: Any = functions.get(rule.builder)
            values: tuple[None, ...] = (None,) * rule.size
            if function is None:
                function, values = getattr(Builder, rule.builder), (None, *values)
            line = self._alternative(rule.builder) or self._defined(rule.origin)
            if not callable(function):
                raise self.error(f"what is given for -> {rule.builder} is no function", line)
            try:
                inspect.signature(function).bind(*values)
            except ValueError:
                continue  # it does not say what it takes
            except TypeError as error:
                symbols = " ".join(rule.symbols)
                problem = f"-> {rule.builder} is given {rule.size} values ({symbols}): {error}"
                raise self.error(problem, line) from error

    # --- lines -----------------------------------------------------------------------------------

    def _line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def _defined(self, name: str) -> int | None:
        """Where a rule or terminal is defined or extended."""
        for found in _DEFINED.finditer(self.text):
            if found[1] == name:
                return self._line(found.start(1))
        return None

    def _alternative(self, name: str) -> int | None:
        """Where an alternative has this name."""
        found = re.search(rf"->\s*{re.escape(name)}\b", self.text)
        return self._line(found.start()) if found else None

    def _named(self, told: str) -> int | None:
        """The line of what an error without a line speaks of."""
        if (arrow := re.search(r"-> (\w+)", told)) and (line := self._alternative(arrow[1])):
            return line
        names = re.findall(r"[A-Za-z_]\w*", told)
        lines = filter(None, map(self._defined, names))
        line = next(lines, None)
        if line is None and (part := re.search(r"^%import\b|->", self.text, re.MULTILINE)):
            line = self._line(part.start())
        return line


def new_parts(tables: Tables, before: Tables) -> tuple[list[Terminal], list[RuleTable]]:
    """The terminals and rules that an extension has brought."""
    terminals = {(t.name, t.pattern) for t in before.terminals}
    rules = set(before.rules)
    return (
        [t for t in tables.terminals if (t.name, t.pattern) not in terminals],
        [rule for rule in tables.rules if rule not in rules],
    )
