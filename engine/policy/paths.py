"""The patterns of ``external_directory`` and ``paths``: globs on whole paths.

``*`` and ``?`` stand for characters other than ``/``, ``[…]`` for one of a set, ``**`` for any
folders, none too; ``/**`` at the end is the folder itself and all below it, and so is ``/``. ``*``
alone is everything. A leading ``~`` is the home directory, ``$NAME`` and ``${NAME}`` are variables;
a pattern with a variable that is not set matches nothing. In ``paths``, a pattern that begins
otherwise is one of the working directory: with a ``/`` in it from there on (``./x``, ``src/*.py``),
without one at any depth (``.env``, ``*.key``, ``build/``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ringfence.engine.policy.globs import glob
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, NAME, UNCERTAIN, UNKNOWN

_QUOTED = compiled(r"(?:\[[*?\[]\]|[^*?\[])+")  # as resolved() writes the wildcards of a real name
_BRACES = compiled(r"(?<!\[)\{[^{}]*,[^{}]*\}")
_VARIABLE = compiled(r"\$(?:\{(\w+)\}|(\w+))")
_GLOB = frozenset("*?[")
_WILD = compiled(r"\[[^/\]]*\]|[*?\[" + "".join(sorted(UNCERTAIN)) + "]")


_FOLDERS = ("", "\ufdd2/", "\ufdd2/\ufdd2/")
"""Stand for any folders: no pattern names them."""


def resolved(pattern: str, env: Mapping[str, str], cwd: str | None = None) -> str | None:
    """The pattern with ``~`` and variables filled in; None if one is not set.

    With ``cwd``, one that begins otherwise starts there.
    """
    if cwd is not None and pattern not in ("*", "**") and not pattern.startswith(("/", "~", "$")):
        base = compiled(r"([*?\[])").sub(r"[\1]", cwd.rstrip("/"))
        if "/" in pattern.rstrip("/"):
            return plain(f"{base}/{pattern}")
        return plain(f"{base}/**/{pattern}")
    if pattern == "~" or pattern.startswith("~/"):
        pattern = f"$HOME{pattern[1:]}"
    for found in _VARIABLE.finditer(pattern):
        if not env.get(found[1] or found[2]):
            return None
    filled = _VARIABLE.sub(lambda found: env[found[1] or found[2]].rstrip("/"), pattern)
    return plain(filled) if filled.startswith(("/", "*")) else None


@lru_cache(maxsize=4096)
def plain(pattern: str) -> str | None:
    """The pattern as paths are: without ``//``, ``/./`` and ``..``; ``/**`` for a ``/`` at its end.

    None if ``..`` stands behind something that is not one name.
    """
    if pattern == "/":
        return pattern
    parts: list[str] = []
    for part in pattern.split("/"):
        if part == "..":
            if parts and not _QUOTED.fullmatch(parts[-1]):
                return None
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if pattern.endswith("/") and parts[-1:] != ["**"]:
        parts.append("**")
    return ("/" if pattern.startswith("/") else "") + "/".join(parts)


def problem(pattern: str) -> str:
    """Why a pattern could never match what it was written for; "" if it can."""
    if pattern != pattern.strip():
        return "begins or ends with a blank, so it matches no usual path"
    if pattern.startswith("!"):
        return "begins with !, which stands for itself: of two rules that match, the last one holds"
    if _BRACES.search(pattern):
        return "has braces, which stand for themselves: write a line for each, or [{] for a name"
    if "[[:" in pattern:
        return "has a class such as [[:alpha:]], which is not understood: write a range, as [a-z]"
    if pattern.startswith("~") and pattern[:2] not in ("~", "~/"):
        return "begins with the home of another user: write the path"
    if plain(pattern if pattern.startswith("/") else f"/-/-/-/-/-/{pattern}") is None:
        return "has a .. behind a wildcard, which no path has"
    return ""


def covers(pattern: str, path: str, *, folded: bool = False) -> bool:
    """Whether a resolved pattern matches ``path`` whatever its unknown parts turn out to be.

    ``folded``: in whatever case, as some disks take names.
    """
    if folded:
        pattern, path = pattern.casefold(), path.casefold()
    if pattern in ("*", "**", "/**"):
        return True
    if UNKNOWN in path:
        return False  # it may hold a `..`
    start = next((i for i, c in enumerate(path) if c in UNCERTAIN or c in _GLOB), None)
    if start is None:
        return glob(pattern).matches(path)
    before, _, name = path.partition(f"/{BELOW}/")
    if name and not any(c in UNCERTAIN or c in _GLOB for c in before + name):
        # What is known by its name, wherever it is: a pattern for any depth covers it.
        return all(glob(pattern).matches(f"{before}/{folder}{name}") for folder in _FOLDERS)
    # A name, or a path, below what is known: only a pattern for all of that covers it.
    folder = path[:start].rpartition("/")[0]
    return pattern.endswith("/**") and glob(pattern).matches(folder)


def is_any(path: str) -> bool:
    """Whether nothing is known of the name at the end of a path."""
    return path.rpartition("/")[2] in (NAME, BELOW)


def may_cover(pattern: str, path: str) -> bool:
    """Whether a resolved pattern may match ``path``, which is not all known."""
    if covers(pattern, path) or UNKNOWN in path:  # which may hold a `..`
        return True
    if _WILD.search(path) is None:
        return False
    names: list[str | None] = []
    for component in path.casefold().split("/"):
        if BELOW in component:  # any number of names, the last of which ends so
            names.append(None)
        if component != BELOW:
            names.append(component)
    return _may_meet(pattern.casefold().split("/"), names)


def _may_meet(pattern: Sequence[str], path: Sequence[str | None]) -> bool:
    """Whether some path matches both, component by component; None is any number of them."""
    return len(pattern) in _reached(pattern, path)


def _reached(pattern: Sequence[str], path: Sequence[str | None]) -> set[int]:
    """The places in the pattern up to which it may match the whole path."""
    reached = _past_folders(pattern, {0})
    for component in path:
        after: set[int] = set()
        if component is None:
            after.update(range(min(reached), len(pattern) + 1) if reached else ())
            reached = after
            continue
        for place in reached:
            if place == len(pattern):
                continue
            if pattern[place] == "**":
                after.add(place)
            elif _may_be(pattern[place], component):
                after.add(place + 1)
        reached = _past_folders(pattern, after)
    return reached


def _past_folders(pattern: Sequence[str], places: set[int]) -> set[int]:
    """The places, and those behind each ``**`` there, which may stand for nothing."""
    found = set(places)
    for place in range(len(pattern)):
        if place in found and pattern[place] == "**":
            found.add(place + 1)
    return found


def _may_be(one: str, other: str) -> bool:
    """Whether two names with wildcards have one in common, as far as their ends tell.

    Bash's own pattern, the ``other``, matches no leading dot with a wildcard.
    """
    if one.startswith(".") and other[:1] in _GLOB:
        return False
    mine, theirs = _WILD.split(one), _WILD.split(other)
    if len(mine) == len(theirs) == 1:
        return one == other
    starts = mine[0].startswith(theirs[0]) or theirs[0].startswith(mine[0])
    ends = mine[-1].endswith(theirs[-1]) or theirs[-1].endswith(mine[-1])
    return starts and ends


def is_below(pattern: str, path: str) -> bool:
    """Whether what a resolved pattern names may lie below ``path``: ``/a/*/c`` below ``/a/b``.

    Not what it names at any depth: that may be below every folder.
    """
    parts = pattern.casefold().split("/")
    if "**" in parts[:2]:
        return False
    reached = _reached(parts, path.casefold().rstrip("/").split("/"))
    return any(place < len(parts) for place in reached)


def at_any_depth(pattern: str) -> bool:
    """Whether a pattern of ``paths`` holds in every folder of a project: ``.env``, ``**/.env``."""
    if pattern.startswith(("/", "~", "$")):
        return False
    inner = pattern.removeprefix("./")
    return inner.startswith("**/") or "/" not in pattern.rstrip("/")
