"""Links that the command itself makes: what comes after it sees them.

A hard link is remembered like a symbolic one: what is done by the new name is done to the old file.
"""

from __future__ import annotations

import re

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell.call import Call
from ringfence.rules.model import Operation, is_known
from ringfence.rules.usage import PathUse, Usage

MAKERS = frozenset(("cp", "gcp", "gln", "gmv", "link", "ln", "mv"))
"""Programs that make links, or new names for them."""


def remember(call: Call, use: Usage) -> None:
    """Remember the links that ``ln target link``, ``cp -l file link`` or ``mv link new`` makes."""
    letters = "".join(w.text for w in call.arguments if re.fullmatch(r"-[A-Za-z]+", w.text))
    given = [path for path in use.paths if 0 < path.argument < len(call.argv)]
    sources = [path for path in given if path.operation is not Operation.WRITE]
    targets = [path for path in given if path.operation is Operation.WRITE]
    if not sources or len(targets) > 1:
        return
    # `ln -s file` makes a link of that name where it runs.
    into = _absolute(call, targets[0]) if targets else call.world.directory
    inside = not targets or len(sources) > 1 or targets[0].argument < sources[0].argument
    exact = use.command == "link" or not {"n", "T"}.isdisjoint(letters)
    if not exact and not inside:
        inside = call.run.filesystem.kind(real_path(into, call.run.filesystem)) is Kind.DIRECTORY
    for source in sources:
        name = source.path.rstrip("/").rpartition("/")[2]
        made = f"{into}/{name}" if inside else into
        target = _target(call, use.command, source, made)
        if target is not None and is_known(made) and is_known(target):
            call.state.links[made] = target


def _target(call: Call, command: str, source: PathUse, made: str) -> str | None:
    """Where the link leads that is made of ``source``, if one is."""
    filesystem = call.run.filesystem
    if source.operation is Operation.UNKNOWN:  # a hard link
        target = _absolute(call, source)
        return None if target == made else target
    if command in ("ln", "gln"):
        return kernel_path(join(made.rpartition("/")[0], source.path), filesystem)
    if source.operation is Operation.DELETE or not source.follow:  # of `mv`, and of `cp -P`
        before = _absolute(call, source)
        stored = filesystem.link(before) if filesystem.kind(before) is Kind.LINK else None
        if stored is not None:
            return kernel_path(join(before.rpartition("/")[0], stored), filesystem)
    return None


def _absolute(call: Call, path: PathUse) -> str:
    return kernel_path(join(call.world.directory, path.path), call.run.filesystem)
