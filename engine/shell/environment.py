"""What the environment of a program says: where it is found, and the variables set for it."""

from __future__ import annotations

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell import variables
from ringfence.engine.shell.call import Call
from ringfence.grammar.records import evolve
from ringfence.rules.model import UNKNOWN, Field, Operation, is_known

SYSTEM_DIRECTORIES = frozenset(
    f"{top}/{name}"
    for top in ("", "/usr", "/usr/local", "/opt/homebrew")
    for name in ("bin", "sbin")
)
"""Where programs are: naming one there in full touches no more than its name alone does."""


def is_plain(call: Call, path: str) -> bool:
    """Whether ``path`` is a program where programs are, by the environment's own ``$PATH``."""
    directory = path.rpartition("/")[0]
    searched = call.run.shell.env.get("PATH", "").split(":")
    return directory in SYSTEM_DIRECTORIES or directory in searched


def own_variables(call: Call) -> list[Field]:
    """The variables that the command itself has exported, as fields ``NAME=value``."""
    inherited = call.run.inherited
    found: list[Field] = []
    for name, variable in call.state.variables.items():
        given = inherited.get(name)
        if variable is given or not variable.exported:
            continue
        if given is not None and variable.values == given.values:
            continue
        text = variables.scalar(call.world, name)
        if text is not None:
            found.append(Field(f"{name}={text}", call.argv[0].span, steps=variable.steps))
    return found


def search(call: Call) -> None:
    """Record the program that a changed ``$PATH`` makes bash find, where it can be looked up."""
    variable = call.state.variables.get("PATH")
    if variable is None or variable.values == (call.run.shell.env.get("PATH"),):
        return
    head, filesystem = call.argv[0], call.run.filesystem
    at = evolve(head, steps=(*head.steps, *variable.steps))
    looked: list[str] = []
    for entry in (variables.scalar(call.world, "PATH") or "").split(":"):
        path = f"{entry or '.'}/{head.text}"
        if UNKNOWN in path or not is_known(call.world.directory):
            continue
        path = kernel_path(join(call.world.directory, path), filesystem)
        if filesystem.kind(real_path(path, filesystem)) is Kind.FILE:
            for candidate in looked:
                call.touch(at, Operation.TEST, path=candidate)
            if not is_plain(call, path):
                call.touch(at, Operation.EXECUTE, path=path)
            return
        if not is_plain(call, path):
            looked.append(path)
