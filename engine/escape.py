r"""Text from outside, made safe to show.

A command or a path may hold characters that move the cursor, recolour or reorder the text, or
are not seen at all. In everything a person reads they are written as escapes: ``\x1b``,
``\u202e``.
"""

from __future__ import annotations

import json
from typing import Any

from ringfence.grammar.regex import compiled

_SAFE_ASCII = compiled(r"[ -~]*")

_INVISIBLE = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that draw nothing, though their category does not say so."""


def visible(text: str, *, keep: str = "") -> str:
    r"""The text with every character that is not plainly visible written as an escape.

    Characters of ``keep`` (such as ``"\n"``) stay.
    """
    if _SAFE_ASCII.fullmatch(text):
        return text
    return "".join(c if c in keep or _plain(c) else escape(c) for c in text)


def is_half(text: str) -> bool:
    """Whether half a character stands in it: a surrogate that is no byte of another encoding.

    No program can be given one. Hosts write another character for it, and so open another file.
    """
    return not text.isascii() and _HALF.search(text) is not None


_HALF = compiled("[\ud800-\udc7f\udd00-\udfff]")


def escape(character: str) -> str:
    r"""One character as an escape: ``\n``, ``\x1b``, ``\u202e``, ``\U000e0041``."""
    code = ord(character)
    named = {9: r"\t", 10: r"\n", 13: r"\r"}
    if code in named:
        return named[code]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str) -> str:
    r"""The text as one word for a shell, each character of it plainly visible.

    What is not, such as a newline, is written as bash and zsh read it: ``$'a\nb'``.
    """
    if visible(text) == text:
        import shlex  # noqa: PLC0415 - seldom wanted

        return shlex.quote(text)
    return f"$'{''.join(map(_ansi_c, text))}'"


def _ansi_c(character: str) -> str:
    code = ord(character)
    if character in "\\'":
        return f"\\{character}"
    if _plain(character):
        return character
    if 0x80 <= code < 0x100:  # `\x` would be a byte
        return f"\\u{code:04x}"
    if 0xDC80 <= code < 0xDD00:  # a byte that was no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return escape(character)


def json_text(value: Any, *, indent: int | None = None, strict: bool = False) -> str:
    r"""The value as JSON, with what is not plainly visible as ``\uXXXX``.

    If ``strict``, raises ValueError for a number that JSON does not have (NaN, an infinity).
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=not strict, default=str, indent=indent)
    if _SAFE_ASCII.fullmatch(text):
        return text
    # Outside strings all is ASCII, and inside them json has escaped the controls that are.
    return "".join(c if c == "\n" or _plain(c) else _json_escape(c) for c in text)


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _plain(character: str) -> bool:
    if " " <= character <= "~":
        return True
    import unicodedata  # noqa: PLC0415 - most text is ASCII

    category = unicodedata.category(character)
    if category[0] in "CZ":  # controls, formats, surrogates, unassigned; odd blanks
        return False
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return False  # variation selectors
    return character not in _INVISIBLE


def shorten(text: str, limit: int) -> str:
    """At most about ``limit`` characters: what is too much is left out in the middle."""
    if len(text) <= limit:
        return text
    half = (limit - 20) // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} … {left_out} more … {text[-half:]}"
