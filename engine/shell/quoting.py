r"""Backslash escapes as ``$'…'`` and ``printf %b`` read them, and quoting a text for bash."""

from __future__ import annotations

import re

from ringfence.grammar.regex import compiled

_ESCAPE = compiled(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|c(?P<control>.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}


def decode(text: str) -> str:
    r"""The text with its backslash escapes replaced; an unknown one stays as it is."""
    return _ESCAPE.sub(_decoded, text)


def _decoded(found: re.Match[str]) -> str:
    if found["octal"]:
        return chr(int(found["octal"], 8) & 0xFF)
    for group in ("hex", "short", "long"):
        if found[group]:
            code = int(found[group], 16)
            return chr(code) if code <= 0x10FFFF else found[0]
    if found["control"]:
        return chr(ord(found["control"].upper()) & 0x1F)
    return _LETTERS.get(found["letter"], found[0])


def shell_quoted(text: str) -> str:
    """The text in single quotes, as bash would read it back."""
    return "'" + text.replace("'", "'\\''") + "'"
