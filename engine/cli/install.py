"""``ringfence install HOST``: register with a host, for the user or in this project."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_text
from ringfence.engine.escape import visible
from ringfence.engine.hosts import HOSTS, codex_trust
from ringfence.engine.hosts.registration import REGISTRATIONS
from ringfence.engine.hosts.settings import (
    SettingsError,
    back_up,
    installed,
    is_registered,
    read,
    replace,
)
from ringfence.engine.resident.starting import launcher, make_launcher

ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "install",
        help="register with an agent",
        description="Register Ringfence in an agent's own settings file.",
    )
    add_place(parser)
    parser.set_defaults(run=run)


def add_place(parser: argparse.ArgumentParser) -> None:
    """The options that ``uninstall`` has, too."""
    parser.add_argument("host", type=_host, metavar="HOST", help=", ".join(sorted(REGISTRATIONS)))
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="for you, in all projects (the default)")
    scope.add_argument("--project", action="store_true", help="in this project alone")
    parser.add_argument("--dry-run", action="store_true", help="print the files, write nothing")


def _host(name: str) -> str:
    if name in REGISTRATIONS:
        return name
    if name in HOSTS:
        raise argparse.ArgumentTypeError(f"{name} is set up by hand, as docs/hosts/{name}.md says")
    raise argparse.ArgumentTypeError(f"no such agent; there are {', '.join(sorted(REGISTRATIONS))}")


def run(arguments: argparse.Namespace) -> int:
    """Write the settings files, and say what was done. Either all of them or, on an error, none."""
    host = arguments.host
    changes = []
    registered = str(launcher())
    if not arguments.dry_run:
        with suppress(OSError):  # without it, the program itself is registered
            make_launcher()
        registered = program()
    for file, path in places(host, project=arguments.project):
        try:
            before = read(path)
            after = installed(file, host, before, registered)
            known = is_registered(file, host, before)
        except SettingsError as error:
            text = installed(file, host, None, registered)
            warn(f"{path} is left alone: {error}. Add this by hand:\n{text}")
            return ERROR
        changes.append((path, before, after, known))
    for path, before, after, known in changes:
        if arguments.dry_run:
            say(f"{path}:\n{after}")
        elif after == before:
            say(f"{path} is as it should be")
        else:
            try:
                backup = None if known else back_up(path)
                replace(path, after)
            except OSError as error:
                warn(f"{path} cannot be changed: {error}")
                return ERROR
            say(f"Registered in {path}")
            if backup is not None:
                say(f"The file as it was: {backup}")
    if not arguments.dry_run and not (host == "codex" and _trusted(changes[0][0])):
        say(REGISTRATIONS[host].note)
    return 0


def _trusted(hooks: Path) -> bool:
    """Whether Codex, if it is here, now trusts the hook that was written."""
    codex = shutil.which("codex")
    if codex is None:
        return False
    try:
        found = codex_trust.trust(codex, str(Path.cwd()), hooks)
    except codex_trust.TrustError as error:
        warn(f"Codex could not be told to trust the hook: {error}")
        return False
    if found:
        say("Codex trusts the hook: told by `codex app-server`, as its /hooks screen would")
    return found > 0


def places(host: str, *, project: bool) -> list[tuple[Any, Path]]:
    """The files of a host's registration, and where they are, for the user or in this project."""
    folder = Path.cwd() if project else None
    return [(file, file.path(Path.home(), folder)) for file in REGISTRATIONS[host].files]


def program() -> str:
    """The absolute path of what hosts run.

    It is the launcher that asks the resident engine, if that is there, else the program itself.
    """
    if launcher().exists():
        return str(launcher())
    beside = Path(sys.executable).parent / "ringfence"
    return str(beside) if beside.exists() else os.path.abspath(sys.argv[0])


def say(text: str) -> None:
    """Lines for the person, if there are any, with nothing in them that a terminal would obey."""
    if text:
        write_text(visible(text, keep="\n"))
