"""Writing: decisions as JSON, commands with marks under them, colours, complaints."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from ringfence.engine.call import Decision
from ringfence.engine.escape import json_text, visible
from ringfence.engine.record import decision_record
from ringfence.grammar.nodes import Span
from ringfence.rules.model import State

STATUS = {State.ALLOW: 0, State.DENY: 1, State.ASK: 3}
"""Exit status by decision."""

_COLOURS = {State.ALLOW: "32", State.ASK: "33", State.DENY: "31"}


def warn(text: str) -> None:
    """A complaint to standard error, where nothing can raise any more."""
    try:
        print(f"ringfence: {visible(text, keep=chr(10))}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def write_json(value: Any, *, indent: int | None = None) -> None:
    """One JSON value and a newline to standard output, at once.

    What is not plainly visible, and bytes that were no UTF-8, are written as escapes.
    """
    sys.stdout.buffer.write(json_text(value, indent=indent).encode() + b"\n")
    sys.stdout.buffer.flush()


def write_text(text: str) -> None:
    """Text and a newline to standard output, whatever its encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def decision_json(decision: Decision) -> dict[str, Any]:
    """A decision as the batch contract has it."""
    return {**decision_record(decision), "message": decision.message}


def coloured(text: str, state: State, stream: TextIO) -> str:
    """The text in the state's colour if ``stream`` is a terminal that wants colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[1;{_COLOURS[state]}m{text}\x1b[0m"


def marked(command: str, spans: Iterable[Span], *, indent: str = "    ") -> str:
    """The command with carets under the spans, line by line, in a fixed-width font."""
    under = {index for start, end in spans for index in range(start, end)}
    lines = []
    position = 0
    for line in command.split("\n"):
        text = ""
        marks = ""
        for offset, character in enumerate(line):
            shown = visible(character)
            text += shown
            width = sum(_width(c) for c in shown)
            marks += ("^" if position + offset in under else " ") * width
        lines.append((indent + text).rstrip())
        if marks.strip():
            lines.append((indent + marks).rstrip())
        position += len(line) + 1
    return "\n".join(lines)


def _width(character: str) -> int:
    import unicodedata  # noqa: PLC0415 - for this alone

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
