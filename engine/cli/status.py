"""``ringfence status``: where Ringfence is registered, one line a file."""

from __future__ import annotations

import argparse
from typing import Any

from ringfence.engine.cli.install import places, program, say
from ringfence.engine.cli.output import write_json
from ringfence.engine.hosts.registration import REGISTRATIONS
from ringfence.engine.hosts.settings import SettingsError, is_current, is_registered, read


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "status",
        help="list the agents that Ringfence is registered with",
        description="List where Ringfence is registered; `ringfence doctor` tries it, too.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print each registration of the user and of this project; always 0."""
    rows = [
        {"host": host, "scope": scope, "file": str(path), "state": state}
        for host in sorted(REGISTRATIONS)
        for scope in ("user", "project")
        for file, path in places(host, project=scope == "project")
        if (state := _state(file, host, path))
    ]
    if arguments.json:
        write_json(rows, indent=2)
        return 0
    for row in rows:
        say(f"{row['host']:<14} {row['scope']:<8} {row['file']}  {row['state']}")
    if not rows:
        say("Ringfence is registered with no agent; `ringfence install HOST` does it.")
    return 0


def _state(file: Any, host: str, path: Any) -> str:
    """What the file says of Ringfence; empty if nothing."""
    try:
        text = read(path)
        if text is None or not is_registered(file, host, text):
            return ""
        return "registered" if is_current(file, host, text, program()) else "outdated"
    except SettingsError as error:
        return f"unreadable: {error}"
