"""What a patch in the form of coding agents touches (``*** Update File: path``)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringfence.grammar.regex import compiled
from ringfence.rules.model import Operation

_LINE = compiled(
    r"^\*\*\* (?:(?P<what>Add|Update|Delete) File|Move to): (?P<path>[^\r\n]+?)[ \t]*\r?$",
    re.MULTILINE,
)
_UNIFIED = compiled(r"^(?:\+\+\+|---) (?:[ab]/)?(?P<path>[^\t\r\n]+)", re.MULTILINE)

KEYS = ("patch", "patchText", "patch_text", "input", "diff")
"""The inputs of a patch tool that may hold the patch."""


def touched(text: str) -> Iterator[tuple[str, Operation, int]]:
    """The paths in a patch: each with what happens to it and where in the text it stands."""
    found = False
    for match in _LINE.finditer(text):
        found = True
        operation = Operation.DELETE if match["what"] == "Delete" else Operation.WRITE
        yield match["path"], operation, match.start("path")
    if not found:
        for match in _UNIFIED.finditer(text):
            if match["path"] != "/dev/null":
                yield match["path"], Operation.WRITE, match.start("path")
