"""The patterns of rules: ``*`` stands for any text, newlines too; all else stands for itself.

A trailing `` *`` also matches nothing, so ``git *`` matches ``git``.
"""

from __future__ import annotations

import re

from ringfence.rules.model import UNCERTAIN, is_known

_UNKNOWNS = re.compile("[" + "".join(sorted(UNCERTAIN)) + "]")


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches ``text`` whatever its unknown parts turn out to be."""
    if pattern.endswith(" *") and _matches(pattern[:-2].split("*"), text):
        return True
    return _matches(pattern.split("*"), text)


def may_match(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches ``text`` for some value of its unknown parts."""
    if is_known(text):
        return matches(pattern, text)
    pieces = _UNKNOWNS.split(text)
    if pattern.endswith(" *") and _may_match(pattern[:-2].split("*"), pieces):
        return True
    return _may_match(pattern.split("*"), pieces)


def _matches(literals: list[str], text: str) -> bool:
    """Match ``literals`` with any text between them, each at its leftmost place."""
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


def _may_match(literals: list[str], pieces: list[str]) -> bool:
    """Whether two texts with gaps (``pieces`` has one at least) have an instance in common."""
    if len(literals) == 1:
        return _matches(pieces, literals[0])
    # Both have a gap, which takes in whatever the other has in its middle: only the two ends
    # can disagree.
    starts = literals[0].startswith(pieces[0]) or pieces[0].startswith(literals[0])
    ends = literals[-1].endswith(pieces[-1]) or pieces[-1].endswith(literals[-1])
    return starts and ends
