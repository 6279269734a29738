"""Texts with stars, which stand for any text: newlines too, and nothing."""

from __future__ import annotations

from collections.abc import Sequence


def matches_all(literals: Sequence[str], text: str) -> bool:
    """Whether ``literals`` with any text between them make ``text``.

    Each is taken at its leftmost place, so that no pattern takes long.
    """
    first, *middle = literals
    if not middle:
        return text == first
    last = middle.pop()
    if len(text) < len(first) + len(last):
        return False
    if not (text.startswith(first) and text.endswith(last)):
        return False
    position, end = len(first), len(text) - len(last)
    for literal in middle:
        position = text.find(literal, position, end)
        if position < 0:
            return False
        position += len(literal)
    return True
