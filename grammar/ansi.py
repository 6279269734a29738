"""Removing quotes: ``$'…'`` escapes, here-document delimiters, the inside of backquotes."""

from __future__ import annotations

import re

from ringfence.grammar.regex import compiled

_ESCAPE = compiled(
    r"\\(?:x\{([0-9A-Fa-f]*)\}|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})"
    r"|U([0-9A-Fa-f]{1,8})|c(\\\\|[\s\S])|([\s\S]))"
)
_NAMED = {
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
    """What ``$'text'`` stands for. Bytes above 127 are put together as UTF-8 where they are it.

    As in bash, the text ends at an escape that makes a NUL.
    """
    if "\\" not in text:
        return text
    out: list[str] = []
    place = 0
    for match in _ESCAPE.finditer(text):
        out.append(text[place : match.start()])
        place = match.end()
        made = _escape(match)
        if made == "\0":
            place = len(text)
            break
        out.append(made)
    out.append(text[place:])
    joined = "".join(out)
    if any("\udc80" <= c <= "\udcff" for c in joined):
        joined = joined.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return joined


def _escape(match: re.Match[str]) -> str:
    braced, hexadecimal, octal, short, long, control, other = match.groups()
    if braced is not None or hexadecimal is not None:
        return _byte(int((braced or hexadecimal or "0"), 16))
    if octal is not None:
        return _byte(int(octal, 8))
    if short is not None or long is not None:
        code = int(short or long, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    if control is not None:
        return chr(ord(control[-1].upper()) & 0x1F) if control != "?" else "\x7f"
    return _NAMED.get(other, "\\" + other)


def _byte(code: int) -> str:
    code &= 0xFF
    return chr(code) if code < 0x80 else chr(0xDC00 + code)


def remove_quotes(written: str) -> tuple[str, bool]:
    """A here-document's delimiter as bash compares it, and whether any of it was quoted."""
    out: list[str] = []
    place = 0
    quoted = False
    while place < len(written):
        character = written[place]
        if character == "\\" and place + 1 < len(written):
            out.append(written[place + 1])
            place += 2
        elif character == "'" and (end := written.find("'", place + 1)) >= 0:
            out.append(written[place + 1 : end])
            place = end + 1
        elif written.startswith("$'", place) and (match := _ANSI.match(written, place)):
            out.append(decode(match[1]))
            place = match.end()
        elif match := _DOUBLE.match(written, place):
            out.append(re.sub(r"\\([\"\\$`])", r"\1", match[1]))
            place = match.end()
        else:
            out.append(character)
            place += 1
            continue
        quoted = True
    return "".join(out), quoted


_ANSI = compiled(r"\$'((?:[^'\\]|\\[\s\S])*)'")
_DOUBLE = compiled(r"\$?\"((?:[^\"\\]|\\[\s\S])*)\"")


def unescape_backquoted(inner: str, in_double_quotes: bool) -> tuple[str, list[int]]:
    r"""The command between backquotes: ``\$``, ``\` `` and ``\\`` lose their backslash.

    Also gives the index in ``inner`` of each character kept, and of the end.
    """
    special = '$`\\"' if in_double_quotes else "$`\\"
    out: list[str] = []
    kept: list[int] = []
    place = 0
    while place < len(inner):
        if inner[place] == "\\" and inner[place + 1 : place + 2] in tuple(special):
            place += 1
        out.append(inner[place])
        kept.append(place)
        place += 1
    kept.append(len(inner))
    return "".join(out), kept
