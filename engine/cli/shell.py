"""``ringfence shell``, or ``ringfence-shell``: what agents without a hook run as ``$SHELL``.

Takes bash's own arguments. What bash would then run is judged as ``bash ARGUMENTS`` would be;
a shell that reads its commands from a person or a pipe is refused, since nobody can judge them.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from ringfence.engine.cli import guarded, in_utf8
from ringfence.engine.cli.output import warn
from ringfence.engine.cli.run import REFUSED, become, gate
from ringfence.grammar.records import frozen

_LONG_WITH_VALUE = frozenset(("rcfile", "init-file"))
_LONG = _LONG_WITH_VALUE | frozenset(
    (
        *("debug", "debugger", "dump-po-strings", "dump-strings", "help", "login", "noediting"),
        *("noprofile", "norc", "posix", "pretty-print", "restricted", "verbose", "version"),
    )
)
_INFORMATION = (["--version"], ["--help"])

_PLAIN = frozenset(("-l", "-i", "--login"))
"""Options with which the text of ``-c`` is judged by itself: what a person is shown is just it."""


def register(commands: Any) -> None:
    """Add the command to the help; ``main`` hands its arguments to ``shell`` as they are."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "shell",
        help="a bash that asks, for $SHELL",
        description="Run `bash ARGUMENTS` if it may: `-c COMMAND`, `-lc COMMAND`, or a script."
        f" {REFUSED}: it was not run.",
        add_help=False,
    )
    parser.set_defaults(run=lambda _: shell([]))


def program() -> int:
    """The program ``ringfence-shell``, which is one word and so can be a ``$SHELL``."""
    in_utf8()
    return guarded(partial(shell, sys.argv[1:]))


def shell(arguments: Sequence[str]) -> int:
    """Judge what bash would run with these arguments, and become it."""
    given = [os.fsencode(w).decode("utf-8", "surrogateescape") for w in arguments]
    bash = shutil.which("bash")
    if given in _INFORMATION and bash is not None:
        return become(bash, given)
    invocation = Invocation.read(given)
    if invocation.program is None:
        warn(
            "this shell runs a command (-c COMMAND) or a script. What it would read from a person"
            " or a pipe is not judged, so nothing was run; for an interactive shell start bash"
        )
        return REFUSED
    return gate(invocation.judged, given, by="shell")


@frozen
class Invocation:
    """What bash makes of its arguments.

    ``program`` is the text of ``-c`` or the name of a script, None if bash reads its standard
    input. ``judged`` is the command to judge: that text, where nothing else says what is run, or
    else ``bash`` with each option by itself.
    """

    program: str | None
    judged: str = ""

    @classmethod
    def read(cls, given: Sequence[str]) -> Invocation:
        """Read the arguments as bash does: long options, short ones, the rest."""
        rest = list(given)
        options: list[str] = []
        letters = ""
        while rest and (name := _long_option(rest[0])) is not None:
            rest.pop(0)
            options.append(f"--{name}")
            if name in _LONG_WITH_VALUE and rest:
                options.append(rest.pop(0))
        while rest and len(rest[0]) > 1 and rest[0][0] in "-+" and rest[0] != "--":
            word = rest.pop(0)
            sign = word[0]
            for letter in word[1:]:
                if letter == "c" and sign == "-":
                    letters += letter
                    continue
                letters += letter if sign == "-" else ""
                options.append(sign + letter)
                if letter in "oO" and rest:
                    options.append(rest.pop(0))
        if rest and rest[0] in ("-", "--"):
            rest.pop(0)
        if not rest or ("s" in letters and "c" not in letters):
            return cls(None)
        if "c" not in letters:
            return cls(rest[0], shlex.join(["bash", *options, "--", *rest]))
        if len(rest) == 1 and set(options) <= _PLAIN:
            return cls(rest[0], rest[0])
        return cls(rest[0], shlex.join(["bash", *options, "-c", *rest]))


def _long_option(word: str) -> str | None:
    """The name of one of bash's long options, which may stand behind one hyphen, too."""
    name = word[2:] if word.startswith("--") else word[1:] if word.startswith("-") else ""
    return name if name in _LONG else None
