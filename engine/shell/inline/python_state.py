"""What is known while a Python program is followed: places, variables, what was found."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_values import (
    Values,
    union,
)
from ringfence.grammar.records import define, field
from ringfence.rules.model import UNKNOWN

MAX_STEPS = 20_000
"""How many expressions and statements are followed, repetitions counted."""

STAND_IN = "\ufdd2"
"""Stands for UNKNOWN, which the parser refuses."""


class TooLong(Exception):  # noqa: N818 - it is an answer
    """The program takes more than MAX_STEPS."""


def parse(text: str) -> ast.Module | None:
    """The syntax tree of ``text``, in whose strings UNKNOWN is ``STAND_IN``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.replace(UNKNOWN, STAND_IN))
    except (SyntaxError, ValueError, MemoryError):
        return None


def line_starts(text: str) -> list[tuple[int, str]]:
    """The position and text of each line, as the parser counts them."""
    return [(m.start(), m[0]) for m in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text)]


@define
class State:
    """The state of following one program."""

    program: Program
    findings: Findings
    _lines: list[tuple[int, str]]
    _span: tuple[int, int] | None = None  # of a program inside this one
    frames: list[dict[str, Values]] = field(factory=lambda: [{}])
    directory: str = ""
    _weak: int = 0
    _steps: int = 0
    _running: list[ast.AST] = field(factory=list)
    _returned: list[Values] = field(factory=lambda: [()])
    _globals: set[str] = field(factory=set)
    _followed: set[ast.AST] = field(factory=set)

    # --- places --------------------------------------------------------------------------------

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where ``node`` stands in the program's text."""
        if self._span is not None:
            return self._span
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, end = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        return self._position(line, column), self._position(last, end)

    def _position(self, line: int, column: int) -> int:
        start, text = self._lines[min(line, len(self._lines)) - 1]
        # Columns count the bytes of UTF-8, in which the stand-in takes three.
        shown = text.replace(UNKNOWN, STAND_IN).encode("utf-8", "surrogatepass")[:column]
        return start + len(shown.decode("utf-8", "replace"))

    @contextmanager
    def within(self, node: ast.AST) -> Iterator[None]:
        """What is found meanwhile stands at ``node``."""
        before, self._span = self._span, self.span(node)
        yield
        self._span = before

    # --- variables -----------------------------------------------------------------------------

    def lookup(self, name: str) -> Values | None:
        """What a variable may hold, or None if the program has not set it.

        A variable that is not local may be that of any function around or of the module.
        """
        if name in self.frames[-1]:
            return self.frames[-1][name]
        found = [frame[name] for frame in self.frames if name in frame]
        return union(*found) if found else None

    def bind(self, name: str, values: Values, *, weak: bool = False) -> None:
        """Let a variable hold ``values``, in a branch besides what it held."""
        frame = self.frames[-1]
        if name in self._globals:
            frame, weak = self.frames[0], True
        if (self._weak or weak) and name in frame:
            values = union(frame[name], values)
        frame[name] = values

    @contextmanager
    def branch(self) -> Iterator[None]:
        """What is followed meanwhile may not happen."""
        self._weak += 1
        yield
        self._weak -= 1

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooLong
