"""``ringfence log``: what was decided, read from the review log."""

from __future__ import annotations

import argparse
import errno
import json
import os
import stat
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

from ringfence.engine.cli.arguments import count
from ringfence.engine.cli.output import warn, write_json, write_text
from ringfence.engine.escape import shorten, visible
from ringfence.engine.log import ReviewLog, files
from ringfence.engine.state import StrPath

ERROR = 2
_WIDTH = 160
_PAUSE = 0.2  # seconds between two looks at a log that is followed


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "log", help="show what was decided", description="Show the review log, the latest last."
    )
    parser.add_argument(
        "-n", type=count, default=20, metavar="COUNT", help="how many (default: 20; 0: all)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="and go on with what comes")
    parser.add_argument(
        "--decision", choices=("allow", "ask", "deny"), action="append", help="only these"
    )
    parser.add_argument("--tool", help="only calls of this tool")
    parser.add_argument("--session", help="only this session")
    parser.add_argument(
        "--by", metavar="TEXT", help="only what TEXT decided: `hook codex`, `check`"
    )
    parser.add_argument("--grep", metavar="TEXT", help="only lines of the log that hold TEXT")
    parser.add_argument("--json", action="store_true", help="the lines as they are kept")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the entries that were asked for."""
    path = ReviewLog.of_user("log").path
    try:
        return _run(path, arguments)
    except OSError as error:
        if error.filename is None:  # not of the log, but of where it is written to
            raise
        warn(f"{error.filename} cannot be read: {error.strerror}")
        return ERROR


def _run(path: StrPath, arguments: argparse.Namespace) -> int:
    there = [_opened(file) for file in files(path)]
    sizes = [os.fstat(file.fileno()).st_size for file in there]
    lines = (line for file, size in zip(there, sizes, strict=True) for line in _until(file, size))
    for entry in deque(_entries(lines, arguments), maxlen=arguments.n or None):
        _show(entry, arguments)
    sys.stdout.flush()
    if arguments.follow:
        for entry in _entries(_coming(path, there[-1] if there else None), arguments):
            _show(entry, arguments)
            sys.stdout.flush()
    elif not there:
        write_text(visible(f"Nothing was logged yet: {path}"))
    return 0


def _opened(path: StrPath) -> BinaryIO:
    """A file of the log. Raises OSError, for what is no regular file too."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(handle, "rb")


def _until(file: BinaryIO, size: int) -> Iterator[bytes]:
    while file.tell() < size:
        yield file.readline()


def _entries(lines: Iterator[bytes], arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a line that a crash tore
        if isinstance(entry, dict) and _is_wanted(entry, line, arguments):
            yield entry


def _is_wanted(entry: dict[str, Any], line: bytes, arguments: argparse.Namespace) -> bool:
    wanted = {"tool": arguments.tool, "session": arguments.session, "by": arguments.by}
    return (
        all(value is None or entry.get(key) == value for key, value in wanted.items())
        and (not arguments.decision or entry.get("decision") in arguments.decision)
        and (arguments.grep is None or arguments.grep.encode() in line)
    )


def _coming(path: StrPath, file: BinaryIO | None) -> Iterator[bytes]:
    """The lines that are written from now on, behind what was read, also after a renaming."""
    rest = b""
    while True:
        newer = _newer(path, file)
        if file is not None:
            *whole, rest = (rest + file.read()).split(b"\n")
            yield from whole
        if newer is not None:
            file, rest = newer, b""
        else:
            time.sleep(_PAUSE)


def _newer(path: StrPath, file: BinaryIO | None) -> BinaryIO | None:
    """The log as it is now, if it is not the file that is being read."""
    try:
        if file is not None and os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return None
        return _opened(path)
    except FileNotFoundError:
        return None


_TRIALS = frozenset(("check", "grants"))
"""Commands that decide a call which nobody makes."""


def _whose(entry: dict[str, Any]) -> str:
    """Who decided, for whom and where."""
    by = entry.get("by") or "-"
    parts = [f"by {by}" + (", which runs nothing" if by in _TRIALS else "")]
    parts += [f"{key} {entry[key]}" for key in ("agent", "session") if entry.get(key)]
    parts += [f"in {entry['cwd']}"] if entry.get("cwd") else []
    return "; ".join(parts)


def _show(entry: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(entry)
        return
    what = entry.get("refused") or entry.get("command") or json.dumps(entry.get("input", {}))
    head = f"{entry.get('time', '')}  {entry.get('decision', ''):5}  {entry.get('tool') or '-'}"
    write_text(visible(shorten(f"{head}  {what}", _WIDTH)))
    write_text(visible(shorten(f"    {_whose(entry)}", _WIDTH)))
    outside = [f"{e['operation']} {e['path']}" for e in entry.get("external", [])]
    opaque = [f"opaque: {part['reason']}" for part in entry.get("opaque", [])]
    rules = [
        f"{'perhaps ' if gate.get('doubt') else ''}{gate['rule']} ({gate['source']})"
        for gate in entry.get("gates", [])
        if gate["verdict"] in (entry.get("decision"), "ask")
    ]
    ended = [entry["resolution"]] if entry.get("resolution") else []
    for line in (*outside, *opaque, *rules, *ended):
        write_text(visible(f"    {shorten(line, _WIDTH)}"))
