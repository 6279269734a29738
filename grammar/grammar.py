"""Grammars: text in, syntax tree out; and how they are extended."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ringfence.grammar.builder import Builder, program
from ringfence.grammar.errors import TooComplex, Unexpected
from ringfence.grammar.machine import Machine, Offsets, Program, Token
from ringfence.grammar.nodes import List, ListItem, Script, SyntaxProblem
from ringfence.grammar.records import field, frozen
from ringfence.grammar.tables import Tables

if TYPE_CHECKING:
    from pathlib import Path

MAX_NESTED_TEXTS = 40
"""Texts within texts: backquotes in here-documents in backquotes…."""

_CONTEXTS = {"script": "command", "here_text": "here", "arithmetic": "arithmetic"}


_NONE: Mapping[str, Callable[..., Any]] = MappingProxyType({})


@frozen
class Grammar:
    """A grammar ready to parse: its text in Lark's notation, and what extensions added."""

    text: str
    extension: str
    functions: Mapping[str, Callable[..., Any]]
    tables: Tables = field(repr=False)
    _program: Program = field(repr=False)

    @classmethod
    def from_text(
        cls,
        text: str,
        extension: str = "",
        functions: Mapping[str, Callable[..., Any]] = _NONE,
    ) -> Grammar:
        """Compile a grammar; raises ``lark.exceptions.GrammarError`` where it is wrong."""
        tables = _compiled(text, extension)
        try:
            made = program(tables.rules, functions)
        except AttributeError as error:
            from lark.exceptions import GrammarError  # noqa: PLC0415 - Lark loads slowly

            raise GrammarError(f"no function is given for -> {error.name}") from None
        return cls(text, extension, functions, tables, made)

    def extend(
        self,
        extension: str | Path,
        functions: Mapping[str, Callable[..., Any]] = _NONE,
    ) -> Grammar:
        """A new grammar with ``extension``, text in Lark's notation or a file that holds it.

        ``%extend rule: …`` adds alternatives to a rule of bash.lark, ``%override rule: …``
        replaces it; new terminals and rules are written as there. Each alternative that holds
        more than one symbol has a name (``-> name``) that ``functions`` maps to a function
        from the values of its symbols (nodes, and Tokens for terminals) to a node, usually an
        Extension. Raises ``lark.exceptions.GrammarError``, which names the line of ``extension``,
        for whatever is wrong with it, or ``OSError``.
        """
        from ringfence.grammar.extending import (  # noqa: PLC0415 - Lark loads slowly
            ExtensionText,
            new_parts,
        )

        text = extension if isinstance(extension, str) else extension.read_text("utf-8")
        name = "extension" if isinstance(extension, str) else str(extension)
        above = self.text.count("\n") + self.extension.count("\n") + 2
        new = ExtensionText(text, name, above)
        new.check()
        functions = {**self.functions, **functions}
        with new.blamed():
            made = self.from_text(self.text, f"{self.extension}\n{text}", functions)
        terminals, rules = new_parts(made.tables, self.tables)
        new.check_terminals(terminals)
        new.check_functions(rules, functions)
        return made

    def parse(
        self,
        text: str,
        offsets: Offsets = 0,
        *,
        extglob: bool = False,
        follow_shopt: bool = False,
    ) -> Script:
        """Parse a script.

        Text that bash would refuse gives a Script with a ``problem``; its ``body`` then holds
        what bash would have run before it found the problem. ``offsets`` maps positions of
        ``text`` to those of the source that spans should refer to: a shift, or a sequence with
        one position for each index and one more for the end.
        ``extglob`` reads extended patterns everywhere, as bash does after ``shopt -s extglob``;
        ``follow_shopt`` switches it on after a line that holds that command, as bash does when
        it runs a script (``bash -n`` does not).
        Raises TooComplex past the documented limits.
        """
        machine = self._machine(text, offsets, 0, extglob, follow_shopt, {})
        try:
            script: Script = machine.run("script", "command")
        except Unexpected as problem:
            start, end = machine.whole()
            lines = self._lines_before(machine)
            body = List((lines[0].span[0], lines[-1].span[1]) if lines else (start, start), lines)
            place = SyntaxProblem((min(problem.span[0], end), end), problem.message, problem.span)
            return Script((start, end), body, place)
        return Script(machine.whole(), script.body, script.problem)

    def _machine(
        self,
        text: str,
        offsets: Offsets,
        depth: int,
        extglob: bool,
        follow_shopt: bool,
        ends: dict[int, int],
    ) -> Machine:
        if depth > MAX_NESTED_TEXTS:
            raise TooComplex("the command is nested too deeply")

        def make(inner: str, places: Offsets) -> Machine:
            now = machine.extglob
            return self._machine(inner, places, depth + 1, now, follow_shopt, ends)

        def sub_parse(inner: str, start: str, places: Offsets) -> Any:
            return make(inner, places).run(start, _CONTEXTS[start])

        def nested(inner: str) -> Machine:
            return make(inner, machine.offsets)

        builder = Builder(sub_parse, follow_shopt=follow_shopt)
        machine = Machine(self.tables, self._program, builder, nested, text, offsets, extglob, ends)
        builder.attach(machine)
        return machine

    def tokens(self, text: str) -> tuple[Token, ...]:
        """The tokens of a script that has no syntax problem, in order.

        Blanks, comments, line continuations and the texts of here-documents lie between them.
        Raises ValueError where bash would refuse the script.
        """
        machine = self._machine(text, 0, 0, False, False, {})
        machine.trace = []
        try:
            machine.run("script", "command")
        except Unexpected as problem:
            raise ValueError(problem.message) from problem
        return tuple(machine.trace)

    def _lines_before(self, machine: Machine) -> tuple[ListItem, ...]:
        """The complete lines that were read before an error."""
        values = machine.values
        if not values or not isinstance(values[0], list):
            return ()
        lines = list(values[0])
        # A line and its newline may not have been put together yet.
        if len(values) == 3:
            line, newline = values[1:]
            if isinstance(line, list) and getattr(newline, "text", "") == "\n":
                lines.extend(line)
        return tuple(lines)


@lru_cache(maxsize=1)
def bash() -> Grammar:
    """The grammar of bash that comes with Ringfence.

    Its tables are made when the package is built, and here if they are missing or belong to
    another text.
    """
    text = _read("bash.lark")
    try:
        tables = Tables.from_json(_read("tables.json"), text)
    except FileNotFoundError:
        tables = None
    tables = tables or _compiled(text)
    return Grammar(text, "", {}, tables, program(tables.rules, {}))


def _read(name: str) -> str:
    # Neither `importlib.resources` nor `pathlib`: a hook that starts anew would load them for this.
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _compiled(text: str, extension: str = "") -> Tables:
    from ringfence.grammar.compiler import compile_tables  # noqa: PLC0415 - Lark loads slowly

    return compile_tables(text, extension)
