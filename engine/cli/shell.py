"""``ringfence shell``: what agents that have no hook run as ``$SHELL``.

Takes bash's own arguments. What bash would then run is judged as ``bash ARGUMENTS`` would be;
a shell that reads its commands from a person or a pipe is refused, since nobody can judge them.
"""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from ringfence.engine.cli.output import warn
from ringfence.engine.cli.run import REFUSED, gate

_TAKE_VALUE = frozenset(("-o", "+o", "-O", "+O", "--rcfile", "--init-file"))


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "shell",
        help="a bash that asks, for $SHELL",
        description="Run `bash ARGUMENTS` if it may: `-c COMMAND`, `-lc COMMAND`, or a script."
        f" {REFUSED}: it was not run.",
        add_help=False,
        prefix_chars="\0",  # every argument is bash's
    )
    parser.add_argument("arguments", nargs="*")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge what bash would run, and become it."""
    given = [os.fsencode(w).decode("utf-8", "surrogateescape") for w in arguments.arguments]
    command = _plain_command(given)
    if command is None:
        if not _has_program(given):
            warn("this shell runs commands (-c) and scripts; one that reads them is not judged")
            return REFUSED
        command = shlex.join(["bash", *given])
    return gate(command, given, by="shell")


def _plain_command(given: list[str]) -> str | None:
    """The text of ``-c TEXT`` that stands alone, which then is what a person is shown."""
    if len(given) == 2 and given[0] in ("-c", "-lc", "-cl"):
        return given[1]
    return None


def _has_program(given: list[str]) -> bool:
    """Whether bash runs a text or a script, and does not read its standard input."""
    words = iter(given)
    for word in words:
        if word in ("-", "--"):
            return next(words, None) is not None
        if word in _TAKE_VALUE:
            next(words, None)
        elif word.startswith("--"):
            continue
        elif word[:1] in "-+" and len(word) > 1:
            if "s" in word:
                return False
            if "c" in word and word[0] == "-":
                return next(words, None) is not None
        else:
            return True
    return False
