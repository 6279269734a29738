"""What the expression of ``find`` says about the names of what it finds."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, NAME, UNKNOWN

MAX_NAMES = 8
"""Patterns that are told apart; more are any name."""

WILDCARD = compiled(r"\[[^\]]*\]|[*?]")
_TESTS = ("-name", "-iname")
_EXECUTES = ("-exec", "-ok", "-execdir", "-okdir")
_ALONE = frozenset(
    (
        *("-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x", "-f", "-depth", "-follow", "-daystart"),
        *("-mount", "-xdev", "-noleaf", "-ignore_readdir_race", "-warn", "-nowarn", "-empty"),
        *("-executable", "-readable", "-writable", "-nouser", "-nogroup", "-true", "-false", "-a"),
        *("-and", "-print", "-print0", "-ls", "-delete", "-prune", "-quit"),
    )
)
"""Words of an expression without a value; any other takes one, ``-fprintf`` two."""

Names = tuple[str, ...] | None
"""Patterns of names, any of which may be found; None for all names."""


@define
class _Group:
    """What stands in parentheses, up to here: the alternatives, and the last of them."""

    closed: list[Names] = field(factory=list)
    names: Names = None
    negated: bool = False  # whether the group's result is

    def all(self) -> Names:
        """Of all alternatives together."""
        found: list[str] = []
        for names in (*self.closed, self.names):
            if names is None:
                return None
            found += names
        return tuple(dict.fromkeys(found)) if len(found) <= MAX_NAMES else None


def found_names(words: Sequence[str], action: int | None = None) -> Names:
    """The names that ``find`` hands to the action at ``words[action]``, or prints without one.

    Only tests that stand before the action and must hold for it count. Whatever is not plain is
    taken for all names.
    """
    groups = [_Group()]
    negated = False
    index = -1
    while index + 1 < len(words):
        index += 1
        word, group = words[index], groups[-1]
        if index == action:
            return next((g.names for g in reversed(groups) if g.names is not None), None)
        if word in ("!", "-not"):
            negated = not negated
            continue
        if word == "(":
            groups.append(_Group(negated=negated))
        elif word == ")":
            groups.pop()
            if not groups:
                return None
            if groups[-1].names is None and not group.negated:
                groups[-1].names = group.all()
        elif word in ("-o", "-or", ","):
            group.closed.append(None if word == "," else group.names)
            group.names = None
        elif word in _TESTS:
            index += 1
            if group.names is None and not negated:
                group.names = _pattern(words[index]) if index < len(words) else None
        elif word in _EXECUTES:
            while index < len(words) and words[index] not in (";", "+"):
                index += 1
        elif word.startswith("-") and word not in _ALONE:
            index += 2 if word == "-fprintf" else 1
        negated = False
    return groups[0].all() if action is None and len(groups) == 1 else None


def _pattern(text: str) -> Names:
    """The pattern with a NAME for each wildcard."""
    if UNKNOWN in text or "\\" in text or "/" in text or not text:
        return None
    return (WILDCARD.sub(NAME, text),)


def below(root: str, names: Names) -> list[str]:
    """The paths below a root that these names stand for."""
    folder = posixpath.join(root, BELOW)
    return [folder] if names is None else [posixpath.join(folder, name) for name in names]
