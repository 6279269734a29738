"""The resident engine: everything is loaded once, and each call is answered by a child of its own.

A child can hang or die as it likes: the parent says the host's own "refuse" for it, in time, as
the hook's watchdog does. A child has the caller's environment and directory, and reads the policy
anew, so nothing that changes between two calls is missed. The engine ends when nobody has asked
for a while, when its socket is gone, or when its own code has changed.
"""

from __future__ import annotations

import fcntl
import gc
import io
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, field

from ringfence.engine.hosts.model import Answer
from ringfence.engine.resident import client

IDLE = 1800.0
"""Seconds without a call after which it ends."""

READ_LIMIT = 1.0
"""Seconds for a caller to say all that it has to, which it knows before it comes."""

ANSWER_LIMIT = 0.9
"""Seconds for an answer after that."""

CHILDREN = 2 * (os.cpu_count() or 1)
"""Calls that are answered at the same time; the others wait, which is faster for all."""

_CHECK = 1.0  # seconds between looks at the code and the socket


@define
class Child:
    """A call that is being answered; ``pipe`` says how far it is: the host, then its answer."""

    pid: int
    pipe: int
    connection: socket.socket
    deadline: float
    heard: bytes = b""

    @property
    def host(self) -> str:
        """The host whose payload it reads, once it knows."""
        return self.heard.partition(b"\n")[0].decode() if b"\n" in self.heard else ""

    @property
    def answers(self) -> bool:
        """Whether it has begun to say its answer: whoever hears half of it asks elsewhere."""
        return self.heard.endswith(b"\n!")


@define
class Server:
    """Answers at a socket until it has reason to end."""

    listener: socket.socket
    path: Path
    stamp: int
    selector: selectors.BaseSelector = field(factory=selectors.DefaultSelector)
    children: dict[int, Child] = field(factory=dict)
    used: float = field(factory=time.monotonic)
    looked: float = field(factory=time.monotonic)

    def serve(self) -> None:
        """Answer calls; returns when it has reason to."""
        self.selector.register(self.listener, selectors.EVENT_READ)
        inode = self.path.stat().st_ino
        waiting = True
        while True:
            full = len(self.children) >= CHILDREN
            if waiting and full:
                self.selector.unregister(self.listener)
            elif not waiting and not full:
                self.selector.register(self.listener, selectors.EVENT_READ)
            waiting = not full
            for key, _ in self.selector.select(self._patience()):
                if key.fileobj is self.listener:
                    self._accept()
                else:
                    self._hear(key.fd)
            self._end_late_ones()
            idle = not self.children and time.monotonic() - self.used > IDLE
            if idle or not self._is_current() or not _is_at(self.path, inode):
                return

    def _is_current(self) -> bool:
        """Whether the code is what was loaded, as of a second ago."""
        now = time.monotonic()
        if now - self.looked > _CHECK:
            if _stamp() != self.stamp:
                return False  # and it stays so
            self.looked = now
        return True

    def _patience(self) -> float:
        now = time.monotonic()
        return max(0.0, min((c.deadline - now for c in self.children.values()), default=_CHECK))

    def _accept(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        # An older version must not answer: the caller does it by itself then.
        if not _is_same_user(connection) or not self._is_current():
            connection.close()
            return
        self.used = time.monotonic()
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self.listener.close()
            _be_child(connection, writer)
        os.close(writer)
        child = Child(pid, reader, connection, time.monotonic() + READ_LIMIT)
        self.children[reader] = child
        self.selector.register(reader, selectors.EVENT_READ)

    def _hear(self, pipe: int) -> None:
        child = self.children[pipe]
        part = os.read(pipe, 256)
        if part:
            if not child.host:
                child.deadline = time.monotonic() + ANSWER_LIMIT
            child.heard += part
        else:
            self._end(child, "the engine ended without an answer")

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for child in [c for c in self.children.values() if c.deadline <= now]:
            self._end(child, f"no answer within {ANSWER_LIMIT:g} seconds")

    def _end(self, child: Child, reason: str) -> None:
        """Take a child away; if it has not answered, its host's safe answer is said for it."""
        del self.children[child.pipe]
        self.selector.unregister(child.pipe)
        os.close(child.pipe)
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
        with child.connection as connection, suppress(OSError):
            if not child.answers and child.host:
                from ringfence.engine.hosts import host  # noqa: PLC0415 - loaded long ago

                connection.settimeout(0.1)
                connection.sendall(_said(host(child.host).refuse(reason)))


# --- one call ----------------------------------------------------------------------------------


def _be_child(connection: socket.socket, writer: int) -> None:
    """Read a call, answer it, and end without anything that could go wrong."""
    try:
        signal.set_wakeup_fd(-1)
        connection.settimeout(READ_LIMIT)
        data = _received(connection)
        parts = client.unpacked(data[len(client.MAGIC) :], 5)
        if not data.startswith(client.MAGIC) or parts is None:
            return
        words, directory, environment, terminal, payload = parts
        arguments = words.decode("utf-8", "surrogateescape").split("\0")
        _become(directory, environment, has_terminal=bool(terminal))
        said = _answer(arguments, payload, writer)
        if said is not None:
            os.write(writer, b"!")
            connection.settimeout(READ_LIMIT)
            connection.sendall(said)
    finally:
        os._exit(0)


def _received(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(1 << 20):
        parts.append(part)
    return b"".join(parts)


def _become(directory: bytes, environment: bytes, *, has_terminal: bool) -> None:
    """Take the caller's place."""
    from ringfence.engine import terminal  # noqa: PLC0415 - loaded long ago

    os.chdir(directory)
    os.environ.clear()
    for entry in environment.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            os.environb[name] = value
    terminal.known = has_terminal


def _answer(arguments: list[str], payload: bytes, writer: int) -> bytes | None:
    """What ``ringfence hook`` would say; None if that cannot be known here."""
    from ringfence.engine.cli import hook  # noqa: PLC0415 - loaded long ago
    from ringfence.engine.hosts import HOSTS, host  # noqa: PLC0415

    match arguments:
        case ["hook", name]:
            config = None
        case ["hook", name, "--config", config]:
            pass
        case _:
            return None
    if name not in HOSTS:
        return None
    os.write(writer, f"{name}\n".encode())
    complaints = io.StringIO()
    sys.stderr = complaints
    answer = hook.respond(host(name), payload, config)
    return _said(answer, complaints.getvalue())


def _said(answer: Answer, complaints: str = "") -> bytes:
    """An answer as the caller writes it out, byte for byte."""
    out = f"{answer.stdout}\n" if answer.stdout else ""
    err = complaints + (f"{answer.stderr}\n" if answer.stderr else "")
    parts = [out.encode(), err.encode("utf-8", "backslashreplace"), bytes([answer.status])]
    return client.MAGIC + client.packed(parts)


# --- starting ----------------------------------------------------------------------------------


def main() -> None:
    """Be the resident engine, unless there is one; returns when it ends."""
    place = Path(os.fsdecode(client.folder(dict(os.environb))))
    place.mkdir(mode=0o700, exist_ok=True)
    if not client.is_private(place):
        return
    path = place / os.fsdecode(client.name())
    with _only_one(path) as alone:
        if not alone:
            return
        stamp = _stamp()
        _load()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made = path.with_suffix(".new")
        made.unlink(missing_ok=True)
        listener.bind(str(made))
        made.chmod(0o600)
        listener.listen(1024)
        listener.setblocking(False)
        made.replace(path)  # a stale one is gone now
        _remove_others(place, path)
        try:
            Server(listener, path, stamp).serve()
        finally:
            with suppress(OSError):
                path.unlink()


@contextmanager
def _only_one(path: Path) -> Iterator[bool]:
    """Within, nobody else is the resident engine of this installation; False if somebody is."""
    handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def _load() -> None:
    """Load whatever a call may need, and let the children share it."""
    import ringfence.engine.cli.hook  # noqa: PLC0415
    import ringfence.engine.terminal  # noqa: F401, PLC0415
    from ringfence.engine.call import ToolCall  # noqa: PLC0415
    from ringfence.engine.engine import Engine  # noqa: PLC0415
    from ringfence.engine.hosts import HOSTS, host  # noqa: PLC0415
    from ringfence.engine.loops import LoopStore  # noqa: F401, PLC0415
    from ringfence.engine.policy import front_matter  # noqa: F401, PLC0415
    from ringfence.rules.commands.data import lookup, names  # noqa: PLC0415

    for name in HOSTS:
        host(name)
    for name in names():
        lookup(name)
    engine = Engine()
    for command in _WARM:
        engine.offers(engine.decide(ToolCall.bash(command, "/nonexistent", env={"HOME": "/"})))
    gc.collect()
    gc.freeze()


_WARM = (
    "cd src && git status && grep -rn 'a b' . | head -5 > out.txt",
    "for f in *.py; do python3 -c 'print(1)' \"$f\"; done",
    "cat /etc/hosts 'unclosed",
    "find . -name '*.py' -exec sed -n 1,5p {} +; npm test 2>&1 | tail -3",
)
"""Commands that make the engine load what most commands need."""


def _remove_others(place: Path, path: Path) -> None:
    """Take away the sockets of versions that are gone; who still runs notices by itself."""
    device, inode, _ = path.stem.split("-")
    for other in place.glob(f"{device}-{inode}-*"):
        if not other.name.startswith(path.stem):
            with suppress(OSError):
                other.unlink()


def _stamp() -> int:
    """What Ringfence's own files look like; anything else means that they were replaced."""
    found = []
    for folder in _FOLDERS:
        for entry in os.scandir(folder):
            if not entry.is_dir():
                status = entry.stat()
                found.append((entry.path, status.st_ino, status.st_size, status.st_mtime_ns))
    return hash(tuple(sorted(found)))


_PACKAGE = Path(__file__).resolve().parents[2]
_FOLDERS = [
    os.path.join(folder, "")  # noqa: PTH118
    for top in ("engine", "grammar", "rules")
    for folder, _, _ in os.walk(_PACKAGE / top)
    if "__pycache__" not in folder
]


def _is_at(path: Path, inode: int) -> bool:
    try:
        return path.stat().st_ino == inode
    except OSError:
        return False


def _is_same_user(connection: socket.socket) -> bool:
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    who = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(who[4:8], sys.byteorder) == os.getuid()


if __name__ == "__main__":
    main()
