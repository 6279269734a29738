"""The parser of the command line's arguments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

COMMANDS = (
    "check", "run", "shell", "explain", "test", "hook", "install", "uninstall", "status", "doctor",
    "capture", "mcp-proxy", "config", "import", "trust", "grants", "log", "parse",
)  # fmt: skip
"""The commands in the order of the help; each is the module of that name in this folder."""

_MODULES = {"import": "import_", "mcp-proxy": "mcp_proxy"}
"""But for names that no module can have."""


class Parser(argparse.ArgumentParser):
    """A parser that takes no option by its beginning, and whose commands' parsers do not either.

    ``--wri`` for ``--write`` would be one more spelling for whoever reads a command line, as the
    rules for Ringfence's own commands do.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{"allow_abbrev": False, **named})


def parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser with the command that is given alone, or with all of them for the help.

    A hook starts a process for every call: it does not pay for the other commands' imports.
    """
    made = Parser(
        prog="ringfence",
        description="Decide whether an agent's tool call stays inside the working directory.",
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS:
        import_module(f"ringfence.engine.cli.{_MODULES.get(name, name)}").register(commands)
    return made


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that is slow."""

    def __call__(self, *_: object) -> NoReturn:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"ringfence {version('ringfence')}")
        raise SystemExit(0)
