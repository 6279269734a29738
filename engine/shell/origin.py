"""Texts that are not in the command itself, and what a person calls a place in them."""

from __future__ import annotations

from ringfence.grammar.nodes import Span
from ringfence.grammar.records import define, evolve, field
from ringfence.grammar.regex import compiled

_NEWLINE = compiled("\n")


@define(eq=False)
class Origin:
    """Where what is evaluated stands: in a file, or in a part of one.

    Spans refer to ``text``. Where it is empty they say nothing, and ``line``, if it is not 0, is
    that of the whole part.
    """

    name: str
    text: str = ""
    line: int = 0
    part: str = ""
    _begins: list[int] = field(factory=list, init=False)

    def place(self, span: Span) -> str:
        """Where ``span`` begins, for a person: ``build.sh:3``, ``package.json:7, script "x"``."""
        line = self._line(span[0]) if self.text else self.line
        place = f"{self.name}:{line}" if line else self.name
        return f"{place}, {self.part}" if self.part else place

    def without_lines(self) -> Origin:
        """The same for a text that is made there, and whose spans are its own."""
        return evolve(self, text="") if self.text else self

    def _line(self, start: int) -> int:
        if not self._begins:
            self._begins = [found.end() for found in _NEWLINE.finditer(self.text)]
        from bisect import bisect_right  # noqa: PLC0415 - for messages alone

        return bisect_right(self._begins, start) + 1
