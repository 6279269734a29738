"""``ringfence trust``: let a project's config files loosen the policy, as they are now."""

from __future__ import annotations

import argparse
import os
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_text
from ringfence.engine.escape import visible
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.load import contents_of, load_policy, project_of, project_root
from ringfence.engine.policy.trust import TrustStore
from ringfence.engine.state import StateError

DECLINED = 1
ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "trust",
        help="let a project's config loosen your policy",
        description="A project's config files only tighten your policy until you trust them."
        " A changed file is no longer trusted. This command prints the files, and at a terminal"
        " asks whether to trust them; without one, it trusts them.",
    )
    parser.add_argument("folder", nargs="?", default=".", help="the project (default: this one)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="trust without being asked")
    what.add_argument("--remove", action="store_true", help="take the trust back")
    what.add_argument("--list", action="store_true", help="print the trusted folders")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the files, ask if anyone is there, and trust them as they were printed."""
    store = TrustStore.of_user(os.environ)
    if arguments.list:
        for name in store.folders():
            try:
                files = contents_of(Path(name, ".ringfence"))
            except ConfigError:
                files = {}
            _say(
                name if store.trusts(Path(name), files) else f"{name} (changed since: not trusted)"
            )
        return 0
    folder = project_of(str(project_root(arguments.folder)))
    try:
        if arguments.remove:
            if not store.distrust(folder):
                warn(f"{folder} was not trusted")
                return ERROR
            _say(f"No longer trusted: {folder}")
            return 0
        files = contents_of(folder / ".ringfence")
        if not files:
            warn(f"{folder} has no config files in .ringfence, so there is nothing to trust")
            return ERROR
        load_policy(str(folder))  # what cannot be read must not be trusted
        for file, content in files.items():  # what is shown is what is trusted
            _say(f"--- {file}\n{content.decode('utf-8', 'replace').rstrip()}")
        if not arguments.yes and not _agreed(folder):
            _say("Not trusted: nothing was changed.")
            return DECLINED
        store.trust(folder, files)
    except (OSError, StateError) as error:
        warn(f"the trust cannot be kept: {getattr(error, 'strerror', None) or error}")
        return ERROR
    _say(f"Trusted until one of these files changes: {folder}")
    held = {la.project for la in load_policy(str(folder)).layers if la.held}
    for other in sorted(held):
        _say(f"Not trusted, so it still only tightens: {other}")
    return 0


def _agreed(folder: Path) -> bool:
    """Whether the person at the terminal says yes; without a terminal the command is the word."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    with suppress(termios.error):  # what was typed before the question is no answer to it
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    question = f"Trust these files to loosen your policy in {folder}? [y/N] "
    sys.stdout.write(visible(question))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(text: str) -> None:
    write_text(visible(text, keep="\n"))
