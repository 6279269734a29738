"""The command line: one module a command.

Exit status: 0 allow (and success of everything that is no decision), 1 deny, 2 an error in the
usage or in a config file, 3 ask.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from ringfence.engine.cli.output import warn
from ringfence.engine.loading import without_collector
from ringfence.engine.policy.errors import ConfigError

ERROR = 2

COMMANDS = (
    "check", "run", "shell", "explain", "test", "hook", "install", "uninstall", "status", "doctor",
    "capture", "mcp-proxy", "config", "import", "trust", "grants", "log", "parse",
)  # fmt: skip
"""The commands in the order of the help; each is the module of that name in this folder."""

_MODULES = {"import": "import_", "mcp-proxy": "mcp_proxy"}
"""But for names that no module can have."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if argv is None else list(argv)
    with without_collector():
        if given[:1] == ["shell"]:
            run = partial(import_module("ringfence.engine.cli.shell").shell, given[1:])
        else:
            arguments = _parser(given).parse_args(given)
            run = partial(arguments.run, arguments)
    return guarded(run)


def guarded(run: Callable[[], int]) -> int:
    """The exit status that ``run`` returns, or the one for what it raises."""
    try:
        status = run()
        sys.stdout.flush()
    except ConfigError as error:
        warn(str(error))
        return ERROR
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output is gone. Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # noqa: BLE001  # a traceback would leave with the status of a deny
        warn(f"internal error {type(error).__name__}: {error}")
        return ERROR
    return status


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser with the command that is given alone, or with all of them for the help.

    A hook starts a process for every call: it does not pay for the other commands' imports.
    """
    parser = argparse.ArgumentParser(
        prog="ringfence",
        description="Decide whether an agent's tool call stays inside the working directory.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS:
        import_module(f"ringfence.engine.cli.{_MODULES.get(name, name)}").register(commands)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for: that is slow."""

    def __call__(self, *_: object) -> NoReturn:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"ringfence {version('ringfence')}")
        raise SystemExit(0)
