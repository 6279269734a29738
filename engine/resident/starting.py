"""Starting the resident engine, and the launcher that asks it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ringfence.engine.resident import client

_MAX_SHEBANG = 120


def start() -> None:
    """Start the resident engine beside this process, if it is wanted; never raises, never waits."""
    if os.environb.get(client.SWITCH) == b"off":
        return
    try:
        if os.fork() != 0:
            return
    except OSError:
        return
    try:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            os.closerange(3, 1024)
            os.chdir("/")
            # It serves later callers, too: what this one's variables tell Python is not for them.
            words = client.started("ringfence.engine.resident.server", "main", [])
            os.execv(sys.executable, words)  # noqa: S606 - this very program
    finally:
        os._exit(0)


def launcher() -> Path:
    """Where the launcher of this installation is, or would be."""
    beside = Path(sys.executable).parent / "ringfence-hook"
    if beside.exists() or os.access(beside.parent, os.W_OK):
        return beside
    return Path.home() / ".local/share/ringfence" / f"hook-{os.fsdecode(client.name())[:-7]}"


def make_launcher() -> Path:
    """Write the launcher, a program that is started as ``launcher hook HOST``. Raises OSError."""
    path = launcher()
    python, folder = sys.executable, str(Path(client.__file__).parent)
    body = f"import sys\nsys.path.insert(0, {folder!r})\nimport client\nclient.main()\n"
    if len(python) < _MAX_SHEBANG and " " not in python:
        text = f"#!{python} -ISXutf8\n{body}"
    else:  # a path that the kernel cannot take in the first line
        text = f"#!/bin/sh\n'''exec' {_quoted(python)} -I -S -X utf8 \"$0\" \"$@\"\n' '''\n{body}"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(0o755)
    new.replace(path)
    return path


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
