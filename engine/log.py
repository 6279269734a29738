"""The review log: what was decided, one JSON object a line.

Every decision is written that was not a plain allow by default, and every one about a path
outside. A line goes out in one write to the end of the file, under a lock, so writers at the
same time never mix; a line that a crash or a full disk left unfinished is closed by the next.
A full file is renamed (``review.jsonl.1``, the latest), and the oldest goes. Secrets are masked.
"""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ringfence.engine.call import Decision
from ringfence.engine.escape import json_text, shorten, visible
from ringfence.engine.state import StrPath, state_folder
from ringfence.grammar.records import frozen
from ringfence.rules.model import State

MAX_TEXT = 16_000
"""Characters of a command that are kept; of another input, a fiftieth."""

MAX_BYTES = 10_000_000
"""Size of one file; the next line begins a new one."""

KEPT = 4
"""Full files that are kept beside it."""

_PATIENCE = 0.5  # seconds to wait for the lock: a stopped writer must not stop the gate
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


@frozen
class ReviewLog:
    """The log in one file; ``by`` says who decides (``check``, ``hook claude-code``)."""

    path: StrPath
    by: str

    @classmethod
    def of_user(cls, by: str, env: Mapping[str, str] = os.environ) -> ReviewLog:
        """The user's log: ``$XDG_STATE_HOME/ringfence/review.jsonl``."""
        return cls(f"{state_folder(env)}/review.jsonl", by)

    def record(self, decision: Decision) -> None:
        """Write the decision down if it is one to review.

        A log that cannot be written changes no decision: it is complained of on standard error.
        """
        plain = decision.state is State.ALLOW and decision.default and not decision.resolution
        if plain and not decision.findings:
            return
        try:
            append(self.path, line_of(decision, self.by))
        except Exception as error:  # noqa: BLE001  # see above
            reason = getattr(error, "strerror", None) or str(error)
            path = visible(str(self.path))
            with suppress(OSError, ValueError):
                sys.stderr.write(f"ringfence: cannot write the review log {path}: {reason}\n")

    def refused(self, reason: str) -> None:
        """Write down that a call was refused without being judged, such as a broken payload."""
        from ringfence.engine.secrets import masked  # noqa: PLC0415 - most calls leave no line

        entry = {
            "time": _now(),
            "by": self.by,
            "decision": "deny",
            "refused": masked(shorten(reason, MAX_TEXT // 50)),
        }
        with suppress(Exception):
            append(self.path, json_text(entry, strict=True).encode() + b"\n")


def append(path: StrPath, line: bytes) -> None:
    """Append one line with its newline, whole or not at all. Raises OSError."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    for _ in range(100):
        if _appended(path, line):  # if not, another writer renamed the file in between
            return
    raise OSError(0, "it is renamed all the time")


def _appended(path: StrPath, line: bytes) -> bool:
    handle = os.open(path, _FLAGS, 0o600)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file")
        if status.st_mode & 0o077:
            os.fchmod(handle, 0o600)
        locked = _lock(handle)
        size = os.fstat(handle).st_size
        if locked and not _is_at(handle, path):
            return False
        if locked and size and size + len(line) > MAX_BYTES:
            _rotate(path)
            return False
        if locked and size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line
        written = os.write(handle, line)
        if written != len(line):
            if locked:
                os.ftruncate(handle, size)
            raise OSError(0, "the disk is full")
        return True
    finally:
        os.close(handle)


def _is_at(handle: int, path: StrPath) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _rotate(path: StrPath) -> None:
    """Rename the full file, whose lock is held, and the earlier ones before it."""
    for number in range(KEPT, 1, -1):
        with suppress(FileNotFoundError):
            os.replace(earlier(path, number - 1), earlier(path, number))
    os.replace(path, earlier(path, 1))


def earlier(path: StrPath, number: int) -> str:
    """Where the ``number``-th full file before this one is kept; 1 is the latest."""
    return f"{os.fspath(path)}.{number}"


def files(path: StrPath) -> list[StrPath]:
    """The files of the log that are there, the oldest first."""
    full = [earlier(path, number) for number in range(KEPT, 0, -1)]
    return [file for file in (*full, path) if os.path.exists(file)]


def _lock(handle: int) -> bool:
    """Wait for the lock, but not for long."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        else:
            return True


def _now() -> str:
    """The time in ISO 8601; ``datetime`` would be loaded for this alone."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03}+00:00"


def line_of(decision: Decision, by: str) -> bytes:
    """The line that is written of a decision."""
    from ringfence.engine.record import decision_record  # noqa: PLC0415 - as above
    from ringfence.engine.secrets import masked_values  # noqa: PLC0415

    call = decision.call
    entry: dict[str, Any] = {
        "time": _now(),
        "by": by,
        "session": call.session,
        "agent": call.agent,
        "cwd": call.cwd,
        "tool": call.tool,
        "duration": round(decision.duration, 6),
    }
    if decision.resolution:
        entry["resolution"] = decision.resolution
    if decision.notes:
        entry["notes"] = list(decision.notes)
    if call.command is not None:
        entry["command"] = shorten(call.command, MAX_TEXT)
    else:
        entry["input"] = {
            str(key): shorten(value, MAX_TEXT // 50) if isinstance(value, str) else value
            for key, value in call.input.items()
        }
    entry = masked_values(entry | decision_record(decision))
    try:
        text = json_text(entry, strict=True)
    except ValueError:  # the input holds what JSON cannot say, such as NaN
        text = json_text({**entry, "input": shorten(repr(entry.get("input")), MAX_TEXT)})
    return text.encode() + b"\n"
