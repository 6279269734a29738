"""The patterns of ``external_directory`` and ``paths``: globs on whole paths.

``*`` and ``?`` stand for characters other than ``/``, ``[…]`` for one of a set, ``**`` for any
folders, none too; ``/**`` at the end is the folder itself and all below it. ``*`` alone is
everything. A leading ``~`` is the home directory, ``$NAME`` and ``${NAME}`` are variables; a
pattern with a variable that is not set matches nothing. In ``paths``, a pattern that begins
otherwise is one of the working directory: with a ``/`` in it from there on (``./x``, ``src/*.py``),
without one at any depth (``.env``, ``*.key``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ringfence.engine.policy.globs import glob
from ringfence.rules.model import UNCERTAIN, UNKNOWN

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_GLOB = frozenset("*?[")


def resolved(pattern: str, env: Mapping[str, str], cwd: str | None = None) -> str | None:
    """The pattern with ``~`` and variables filled in; None if one is not set.

    With ``cwd``, one that begins otherwise starts there.
    """
    if cwd is not None and pattern not in ("*", "**") and not pattern.startswith(("/", "~", "$")):
        base = "/".join(re.sub(r"([*?\[])", r"[\1]", part) for part in cwd.rstrip("/").split("/"))
        inner = pattern.removeprefix("./")
        return f"{base}/{inner}" if "/" in pattern else f"{base}/**/{inner}"
    if pattern == "~" or pattern.startswith("~/"):
        pattern = f"$HOME{pattern[1:]}"
    for found in _VARIABLE.finditer(pattern):
        if not env.get(found[1] or found[2]):
            return None
    filled = _VARIABLE.sub(lambda found: env[found[1] or found[2]].rstrip("/"), pattern)
    return filled if filled.startswith(("/", "*")) else None


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
    # A name, or a path, below what is known: only a pattern for all of that covers it.
    folder = path[:start].rpartition("/")[0]
    return pattern.endswith("/**") and glob(pattern).matches(folder)


def may_cover(pattern: str, path: str) -> bool:
    """Whether a resolved pattern may match ``path``: beginnings alone decide for unknown ones."""
    if covers(pattern, path):
        return True
    start = next((i for i, c in enumerate(path) if c in UNCERTAIN or c in _GLOB), None)
    if start is None:
        return False
    known = path[:start]
    literal = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return UNKNOWN in path or known.startswith(literal) or literal.startswith(known)


def is_below(pattern: str, path: str) -> bool:
    """Whether what a resolved pattern names lies below ``path``: ``/a/b/**`` below ``/a``."""
    return re.split(r"[*?\[]", pattern, maxsplit=1)[0].startswith(path.rstrip("/") + "/")
