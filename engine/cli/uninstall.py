"""``ringfence uninstall HOST``: take the registration out again, and nothing else."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ringfence.engine.cli.install import add_place, places, say
from ringfence.engine.cli.output import warn
from ringfence.engine.hosts.registration import Own, Shared
from ringfence.engine.hosts.settings import (
    SettingsError,
    backup_of,
    drop_backup,
    is_bare,
    is_registered,
    read,
    remove,
    replace,
    uninstalled,
)

ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "uninstall",
        help="take a registration out again",
        description="Take Ringfence out of an agent's own settings file.",
    )
    add_place(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Change the settings files, and say what was done; an error if nothing is registered."""
    host = arguments.host
    found = False
    for file, path in places(host, project=arguments.project):
        try:
            before = read(path)
            if before is None or not is_registered(file, host, before):
                continue
            found = True
            after = None if isinstance(file, Own) else uninstalled(host, before)
            if after is not None and _is_left_over(file, path, after):
                after = None
            if arguments.dry_run:
                say(f"{path}:\n{after if after is not None else '(removed)'}")
            elif after is None:
                remove(path)
                say(f"Removed {path}")
            else:
                replace(path, after)
                drop_backup(path)
                say(f"Removed Ringfence from {path}")
        except (OSError, SettingsError) as error:
            warn(f"{path} is left alone: {error}")
            return ERROR
    if not found:
        where = "this project" if arguments.project else "your settings"
        warn(f"Ringfence is not registered with {host} in {where}")
        return ERROR
    return 0


def _is_left_over(file: Shared, path: Path, text: str) -> bool:
    """Whether the file was not there before: then nobody misses it."""
    return is_bare(file, text) and not path.is_symlink() and not backup_of(path).exists()
