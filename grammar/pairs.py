"""Finding the closer of a parenthesis or bracket the way bash's own lexer does.

Bash decides whether ``((`` and ``$((`` are arithmetic, and whether ``name[`` begins an array
element, by looking for the matching closer first: quotes and backslashes hide characters,
substitutions nest.
"""

from __future__ import annotations

import re

_PAREN = re.compile(r"[()'\"`\\]")
_BRACKET = re.compile(r"[\[\]'\"`\\]")
_DOUBLE = re.compile(r"[\"\\`]|\$\(")


def closing_parenthesis(text: str, position: int) -> int:
    """The index of the ``)`` that closes a ``(`` before ``position``, or -1."""
    return _closing(text, position, _PAREN, "(", ")")


def closing_subscript(text: str, position: int) -> int:
    """The index of the ``]`` that closes a ``[`` before ``position``, or -1."""
    return _closing(text, position, _BRACKET, "[", "]")


def _closing(text: str, position: int, marks: re.Pattern[str], opener: str, closer: str) -> int:
    depth = 1
    while (match := marks.search(text, position)) is not None:
        mark = match.group()
        position = match.end()
        if mark == opener:
            depth += 1
        elif mark == closer:
            depth -= 1
            if depth == 0:
                return position - 1
        elif mark == "\\":
            position += 1
        else:
            position = _after_quote(text, position, mark)
            if position < 0:
                return -1
    return -1


def _after_quote(text: str, position: int, quote: str) -> int:
    """The position after the quote that was opened before ``position``, or -1."""
    if quote == "'":
        return text.find("'", position) + 1 or -1
    if quote == "`":
        while (match := _BACKQUOTE.search(text, position)) is not None:
            if match.group() == "`":
                return match.end()
            position = match.end() + 1
        return -1
    while (match := _DOUBLE.search(text, position)) is not None:
        mark = match.group()
        position = match.end()
        if mark == '"':
            return position
        if mark == "\\":
            position += 1
        elif mark == "`":
            position = _after_quote(text, position, "`")
        else:
            close = closing_parenthesis(text, position)
            position = close + 1 if close >= 0 else -1
        if position < 0:
            return -1
    return -1


_BACKQUOTE = re.compile(r"[`\\]")
