"""``ringfence install HOST``: register with a host; with --remove take it back."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_text
from ringfence.engine.escape import visible
from ringfence.engine.hosts.registration import (
    REGISTRATIONS,
    RegistrationError,
    file_of,
    installed,
    registered,
    replace,
    uninstalled,
)

ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "install",
        help="register with an agent",
        description="Register Ringfence in an agent's own settings file.",
    )
    parser.add_argument("host", choices=sorted(REGISTRATIONS), help="the agent")
    parser.add_argument("--project", action="store_true", help="in this project, not for the user")
    parser.add_argument("--remove", action="store_true", help="take the registration back")
    parser.add_argument("--dry-run", action="store_true", help="print the file, write nothing")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the settings file, and say what was done."""
    host = arguments.host
    folder = Path.cwd() if arguments.project else Path.home()
    path = file_of(host, folder, project=arguments.project)
    try:
        before = path.read_text("utf-8") if path.exists() else None
        if arguments.remove:
            if not registered(host, before):
                warn(f"{path} does not register Ringfence")
                return ERROR
            after = uninstalled(host, before or "")
        else:
            after = installed(host, before, program())
        if arguments.dry_run:
            _say(f"{path}:\n{after if after is not None else '(removed)'}")
            return 0
        if after is None:
            path.unlink()
            _say(f"Removed {path}")
            return 0
        if after == before:
            _say(f"{path} is as it should be")
            return 0
        backup = replace(path, after)
    except RegistrationError as error:
        warn(
            f"{path} is left alone: {error}. Add this by hand:\n{installed(host, None, program())}"
        )
        return ERROR
    except (OSError, UnicodeDecodeError) as error:
        warn(f"{path} cannot be changed: {error}")
        return ERROR
    _say(f"{'Removed Ringfence from' if arguments.remove else 'Registered in'} {path}")
    if backup is not None:
        _say(f"The file as it was: {backup}")
    if REGISTRATIONS[host].note and not arguments.remove:
        _say(REGISTRATIONS[host].note)
    return 0


def program() -> str:
    """The absolute path of this installation's program."""
    beside = Path(sys.executable).parent / "ringfence"
    return str(beside) if beside.exists() else os.path.abspath(sys.argv[0])  # noqa: PTH100


def _say(text: str) -> None:
    write_text(visible(text, keep="\n"))
