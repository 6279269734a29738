r"""Sed scripts, read command by command.

    [address[,address]][!]command

Files are opened by ``r``, ``R``, ``w``, ``W`` and the flag ``w`` of ``s``; commands are run by
``e`` and the flag ``e`` of ``s``. Everything else works on the text alone.
"""

from __future__ import annotations

import re

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.records import define
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, Operation

# An unknown text where an address may stand, with more after it, is taken for a line's number.
_NUMBER = f"[0-9{UNKNOWN}{NAME}]+"
_ADDRESS = compiled(rf"[+~]?{_NUMBER}(?!\Z)(~{_NUMBER})?|\$")
_BLANK = compiled(r"[ \t]*")
_SKIPPED = compiled(r"[ \t\r\n;]*")
_LABEL = compiled(r"[ \t]*[^;\n]*")
_LINE = compiled(r"[^\n]*")
_TEXT = compiled(r"(?:\\.|[^\\\n]|\\\Z)*", re.DOTALL)
_FLAGS = compiled(r"[gpIiMm0-9]*")
_SPECIAL = ("/dev/stdout", "/dev/stderr", "/dev/stdin")
_WHOLE_LINE = (".*", "^.*$", "^.*", ".*$")


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    try:
        _Reader(program.text, findings).script()
    except _Malformed:
        findings.opaque("a sed script that cannot be read")


class _Malformed(Exception):  # noqa: N818 - it is an answer
    """The script is one that sed would refuse."""


@define
class _Reader:
    text: str
    findings: Findings
    at: int = 0

    def script(self) -> None:
        """Read all commands."""
        while True:
            self._match(_SKIPPED)
            if self.at >= len(self.text):
                return
            self._command()

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[0]

    def _next(self) -> str:
        """The next character, which is consumed; empty at the end."""
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def _address(self) -> bool:
        """Read an address, if there is one."""
        self._match(_BLANK)
        if self._match(_ADDRESS):
            return True
        mark = self.text[self.at : self.at + 1]
        if mark not in ("/", "\\"):
            return False
        self.at += 1
        self._delimited(self._next() if mark == "\\" else "/")
        while self.text[self.at : self.at + 1] in ("I", "M"):
            self.at += 1
        return True

    def _delimited(self, mark: str) -> str:
        """The text up to the next unquoted ``mark``, which is consumed."""
        start = self.at
        bracket = False
        while self.at < len(self.text):
            character = self._next()
            if character == "\\":
                self.at += 1
            elif bracket:
                bracket = character != "]"
            elif character == mark:
                return self.text[start : self.at - 1]
            elif character == "[":
                bracket = self._opens_bracket(mark)
        raise _Malformed

    def _opens_bracket(self, mark: str) -> bool:
        """Whether the ``[`` just read opens a bracket expression, in which ``mark`` is plain.

        A first ``]`` is a member. Without a ``]`` before the next mark and the line's end it is
        the text of a replacement.
        """
        match = re.compile(r"\^?\]?[^]\n]{0,500}\]").match(self.text, self.at)
        if match is None or mark not in match[0]:
            return False
        self._match(re.compile(r"\^?\]?"))
        return True

    def _command(self) -> None:
        if self._address():
            self._match(_BLANK)
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                if not self._address():
                    raise _Malformed
        self._match(re.compile(r"[ \t!]*"))
        name = self._next()
        if name in "{}=dDgGhHnNpPxzF" and name:
            return
        if name == "#":
            self._match(_LINE)
        elif name in (":", "b", "t", "T", "v"):
            self._match(_LABEL)
        elif name in ("q", "Q", "l", "L"):
            self._match(re.compile(r"[ \t]*[0-9]*"))
        elif name in ("a", "i", "c"):
            self._match(_TEXT)
        elif name in ("r", "R", "w", "W"):
            self._file(Operation.READ if name in "rR" else Operation.WRITE, name)
        elif name == "e":
            self._run()
        elif name == "s":
            self._substitute()
        elif name == "y":
            mark = self._next()
            self._delimited(mark)
            self._delimited(mark)
        else:
            raise _Malformed

    def _file(self, operation: Operation, by: str) -> None:
        """The rest of the line is the name of a file."""
        self._match(_BLANK)
        start = self.at
        path = self._match(_LINE)
        if path not in _SPECIAL:
            self.findings.path(path, operation, (start, self.at), f"sed {by}")

    def _run(self) -> None:
        self._match(_BLANK)
        start = self.at
        command = self._match(_LINE)
        if command:
            self.findings.shell(command, (start, self.at), "sed e")
        else:
            self.findings.opaque("sed e runs its input as a command")

    def _substitute(self) -> None:
        mark = self._next()
        if mark in ("\n", "\\", ""):
            raise _Malformed
        pattern = self._delimited(mark)
        start = self.at
        replacement = self._delimited(mark)
        span = (start, self.at - 1)
        while True:
            self._match(_FLAGS)
            flag = self.text[self.at : self.at + 1]
            if flag == "w":
                self.at += 1
                self._file(Operation.WRITE, "s///w")
                return
            if flag != "e":
                return
            self.at += 1
            if pattern in _WHOLE_LINE and not re.search(r"\\[0-9]|(?<!\\)&", replacement):
                command = re.sub(r"\\(.)", r"\1", replacement, flags=re.DOTALL)
                self.findings.shell(command, span, "sed s///e")
            else:
                self.findings.opaque("sed s///e runs its input as a command")
