"""Python programs, read by the interpreter's own parser and followed as far as values are known.

Statements are followed in order; in branches, loops and ``try`` an assignment adds to what a
variable may hold. Functions of the program are followed where they are called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ringfence.engine.shell.inline import python_library as library
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_expressions import Expressions
from ringfence.engine.shell.inline.python_results import RESULTS
from ringfence.engine.shell.inline.python_state import TooLong, line_starts, parse
from ringfence.engine.shell.inline.python_values import (
    UNKNOWN_VALUES,
    Local,
    Named,
    Plain,
    Values,
    elements,
    union,
)
from ringfence.grammar.records import define
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN

MAX_ROUNDS = 3
"""How often a loop's body is followed before what still changes in it is taken for anything."""

_SUSPECT = compiled(
    r"\b(open|exec|eval|os|subprocess|shutil|pathlib|Path|glob|__import__|importlib)\b"
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    module = parse(program.text)
    if module is None:
        # A program that does not parse does not run, but another version may read it.
        if UNKNOWN in program.text:
            findings.opaque("a part of the python program is only known at run time")
        elif _SUSPECT.search(program.text):
            findings.opaque("a python program that does not parse")
        return
    interpreter = Interpreter(program, findings, line_starts(program.text))
    try:
        interpreter.body(module.body)
    except TooLong:
        findings.opaque("a python program that is too long to follow")


@define
class Interpreter(Expressions):
    """Follows one program."""

    def body(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements in order."""
        for statement in statements:
            self._step()
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Assign(targets, value):
                values = self.value(value)
                for target in targets:
                    self.assign(target, values)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    self.assign(target, self.value(value))
            case ast.AugAssign(target, operator, value):
                self.assign(target, self._binary(operator, self.value(target), self.value(value)))
            case ast.For(target, iterator, body, orelse) | ast.AsyncFor(
                target, iterator, body, orelse
            ):
                self._loop(target, self.value(iterator), body)
                self.body(orelse)
            case ast.While(test, body, orelse):
                self.value(test)
                self._loop(None, (), [*body, ast.Expr(test)])
                self.body(orelse)
            case ast.If(test, body, orelse):
                self.value(test)
                with self.branch():
                    self.body(body)
                    self.body(orelse)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    values = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, values)
                self.body(body)
            case ast.Try(body, handlers, orelse, finalbody):
                with self.branch():
                    self.body(body)
                    for handler in handlers:
                        self.body(handler.body)
                    self.body(orelse)
                self.body(finalbody)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for decorator in node.decorator_list:
                    self.value(decorator)
                self.bind(node.name, (Local(node),))
                if node.decorator_list:
                    self.follow(Local(node))
            case ast.ClassDef():
                self._class(node)
            case ast.Return(value):
                if value is not None:
                    self._returned[-1] = union(self._returned[-1], self.value(value))
            case ast.Global(names):
                self._globals.update(names)
            case _:
                self.others(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            self.findings.module(
                alias.name if isinstance(node, ast.Import) else f"{node.module or ''}.{alias.name}"
            )
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                name = alias.name if alias.asname else bound
            else:
                bound = alias.asname or alias.name
                name = f"{node.module or ''}.{alias.name}"
            if alias.name == "*":
                self._import_all(name.removesuffix("*"))
            else:
                self.bind(bound, self._named(name))

    def _import_all(self, prefix: str) -> None:
        """``from os import *``: all that is known of the module."""
        for name in (*library.FUNCTIONS, *library.SHELLS, *library.RUNNERS, *RESULTS):
            module, _, bound = name.rpartition(".")
            if prefix == f"{module}.":
                self.bind(bound, (Named(name),))

    def _class(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self.follow(Local(statement))
            else:
                with self.branch():
                    self.body([statement])
        self.bind(node.name, (Plain("class"),))

    def _loop(self, target: ast.expr | None, items: Values, body: Sequence[ast.stmt]) -> None:
        item = elements(items) if target is not None else ()
        with self.branch():
            for round_ in range(MAX_ROUNDS):
                before = dict(self.frames[-1])
                if target is not None:
                    self.assign(target, item)
                self.body(body)
                changed = [n for n, v in self.frames[-1].items() if before.get(n) != v]
                if not changed:
                    return
                if round_ == MAX_ROUNDS - 2:
                    for name in changed:
                        if name in before:
                            self.frames[-1][name] = UNKNOWN_VALUES
