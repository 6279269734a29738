"""The patterns of rules: ``*`` stands for any text, newlines too; all else stands for itself.

A trailing `` *`` also matches nothing, so ``git *`` matches ``git``.
"""

from __future__ import annotations

from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNCERTAIN, is_known
from ringfence.rules.wildcards import matches_all

_UNKNOWNS = compiled("[" + "".join(sorted(UNCERTAIN)) + "]")


def matches(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches ``text`` whatever its unknown parts turn out to be."""
    if pattern.endswith(" *") and matches_all(pattern[:-2].split("*"), text):
        return True
    return matches_all(pattern.split("*"), text)


def may_match(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches ``text`` for some value of its unknown parts."""
    if is_known(text):
        return matches(pattern, text)
    pieces = _UNKNOWNS.split(text)
    if pattern.endswith(" *") and _may_match(pattern[:-2].split("*"), pieces):
        return True
    return _may_match(pattern.split("*"), pieces)


def _may_match(literals: list[str], pieces: list[str]) -> bool:
    """Whether two texts with gaps (``pieces`` has one at least) have an instance in common."""
    if len(literals) == 1:
        return matches_all(pieces, literals[0])
    # Both have a gap, which takes in whatever the other has in its middle: only the two ends
    # can disagree.
    starts = literals[0].startswith(pieces[0]) or pieces[0].startswith(literals[0])
    ends = literals[-1].endswith(pieces[-1]) or pieces[-1].endswith(literals[-1])
    return starts and ends
