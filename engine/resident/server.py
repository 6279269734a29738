"""The resident engine: everything is loaded once, and each call is answered by a child of its own.

A child can hang or die as it likes: the parent says the host's own "refuse" for it, in time, as
the hook's watchdog does. A child takes the caller's environment and directory, and reads the policy
anew, so nothing that changes between two calls is missed. The engine ends when nobody has asked
for a while, when its socket is gone, or when its own code has changed.
"""

from __future__ import annotations

import fcntl
import gc
import io
import os
import select
import selectors
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from ringfence.engine.hosts.model import Answer
from ringfence.engine.resident import client
from ringfence.grammar.records import define, field

IDLE = 1800.0
"""Seconds without a call after which it ends."""

READ_LIMIT = 1.0
"""Seconds for a caller to say all that it has to, which it knows before it comes."""

ANSWER_LIMIT = 0.9
"""Seconds for an answer after that."""

WAITING = 2
"""Children that wait for a call."""

CHILDREN = WAITING + 2 * (os.cpu_count() or 1)
"""All of them: more calls at the same time wait in line, which is faster for all."""

_FAILURES = 10  # children that may end before a call; more mean that something is wrong
_CHECK = 1.0  # seconds between looks at the code and the socket


@define
class Worker:
    """A child that waits for one call, or answers it.

    ``control`` says how far it is: ``+`` with the caller's connection, the host and a line's end
    once it reads the host's payload, ``!`` when it begins to say its answer.
    """

    pid: int
    control: socket.socket
    connection: socket.socket | None = None
    deadline: float = float("inf")
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
    """Keeps children that have warmed up waiting at a socket, until it has reason to end.

    A child that is forked for a call has to copy every page that it touches, which takes longer
    than the answer; one that waits has done so before.
    """

    listener: socket.socket
    path: Path
    stamp: int
    selector: selectors.BaseSelector = field(factory=selectors.DefaultSelector)
    workers: dict[int, Worker] = field(factory=dict)
    used: float = field(factory=time.monotonic)
    looked: float = field(factory=time.monotonic)
    failures: int = 0  # children that ended without a call

    def serve(self) -> None:
        """Answer calls; returns when it has reason to."""
        inode = self.path.stat().st_ino
        try:
            while True:
                self._fill()
                for key, _ in self.selector.select(self._patience()):
                    self._hear(self.workers[key.fd])
                self._end_late_ones()
                idle = not self._busy() and time.monotonic() - self.used > IDLE
                if idle or self.failures > _FAILURES:
                    return
                if not self._is_current() or not _is_at(self.path, inode):
                    return
        finally:
            for worker in list(self.workers.values()):
                self._end(worker, "the engine ends")

    def _busy(self) -> int:
        return sum(worker.connection is not None for worker in self.workers.values())

    def _fill(self) -> None:
        """Have children wait, but not more than can work at the same time."""
        while len(self.workers) - self._busy() < WAITING and len(self.workers) < CHILDREN:
            mine, its = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                mine.close()
                for other in self.workers.values():  # whose end their callers wait for
                    other.control.close()
                    if other.connection is not None:
                        other.connection.close()
                _be_child(self.listener, its)
            its.close()
            worker = Worker(pid, mine)
            self.workers[mine.fileno()] = worker
            self.selector.register(mine, selectors.EVENT_READ)

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
        return max(0.0, min(_CHECK, *(w.deadline - now for w in self.workers.values()), _CHECK))

    def _hear(self, worker: Worker) -> None:
        part, handles, _, _ = socket.recv_fds(worker.control, 256, 1)
        now = time.monotonic()
        for handle in handles:
            worker.connection = socket.socket(fileno=handle)
            worker.deadline = now + READ_LIMIT
            self.used = now
        if not part:
            self.failures += worker.connection is None
            self._end(worker, "the engine ended without an answer")
            return
        before = worker.host
        worker.heard += part.replace(b"+", b"") if not worker.heard else part
        if worker.host and not before:
            worker.deadline = now + ANSWER_LIMIT

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for worker in [w for w in self.workers.values() if w.deadline <= now]:
            self._end(worker, f"no answer within {ANSWER_LIMIT:g} seconds")

    def _end(self, worker: Worker, reason: str) -> None:
        """Take a child away; if it has not answered, its host's safe answer is said for it."""
        del self.workers[worker.control.fileno()]
        self.selector.unregister(worker.control)
        worker.control.close()
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
        if worker.connection is None:
            return
        with worker.connection as connection, suppress(OSError):
            if not worker.answers and worker.host:
                from ringfence.engine.hosts import host  # noqa: PLC0415 - loaded long ago

                connection.settimeout(0.1)
                connection.sendall(_said(host(worker.host).refuse(reason)))


# --- one call ----------------------------------------------------------------------------------


def _be_child(listener: socket.socket, control: socket.socket) -> None:
    """Warm up, wait for a call, answer it, and end without anything that could go wrong."""
    try:
        if not select.select([listener], [], [], 0)[0]:  # nobody is waiting for it
            _warm_up()
        connection = _accepted(listener, control)
        if connection is None:
            return
        socket.send_fds(control, [b"+"], [connection.fileno()])
        if not _is_same_user(connection):
            return
        connection.settimeout(READ_LIMIT)
        data = _received(connection)
        parts = client.unpacked(data[len(client.MAGIC) :], 5)
        if not data.startswith(client.MAGIC) or parts is None:
            return
        words, directory, environment, terminal, payload = parts
        arguments = words.decode("utf-8", "surrogateescape").split("\0")
        _become(directory, environment, has_terminal=bool(terminal))
        said = _answer(arguments, payload, control)
        if said is not None:
            control.sendall(b"!")
            connection.settimeout(READ_LIMIT)
            connection.sendall(said)
    finally:
        os._exit(0)


def _accepted(listener: socket.socket, control: socket.socket) -> socket.socket | None:
    """The next caller's connection; None if the parent is gone."""
    while True:
        ready, _, _ = select.select([listener, control], [], [])
        if control in ready:
            return None
        with suppress(BlockingIOError):  # another one was faster
            connection, _ = listener.accept()
            connection.setblocking(True)
            return connection


def _warm_up() -> None:
    """Touch what an answer touches, so that it is this process's own."""
    from ringfence.engine.call import ToolCall  # noqa: PLC0415 - loaded long ago
    from ringfence.engine.engine import Engine  # noqa: PLC0415
    from ringfence.engine.log import line_of  # noqa: PLC0415
    from ringfence.engine.policy import load_policy  # noqa: PLC0415

    engine = Engine(load_policy(None, env={"HOME": "/nonexistent"}))
    for command in _WARM:
        decision = engine.decide(ToolCall.bash(command, "/nonexistent", env={"HOME": "/"}))
        line_of(decision, "")


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


def _answer(arguments: list[str], payload: bytes, control: socket.socket) -> bytes | None:
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
    control.sendall(f"{name}\n".encode())
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

    for name in _LATER:
        import_module(name)
    for name in HOSTS:
        host(name)
    for name in names():
        lookup(name)
    engine = Engine()
    for command in _WARM:
        engine.offers(engine.decide(ToolCall.bash(command, "/nonexistent", env={"HOME": "/"})))
    gc.collect()
    gc.freeze()


_LATER = (
    "base64", "bisect", "hashlib", "pathlib", "tomllib", "unicodedata", "urllib.parse",
    "ringfence.engine.grants.apply", "ringfence.engine.grants.offers",
    "ringfence.engine.grants.store", "ringfence.engine.messages", "ringfence.engine.policy.tables",
    "ringfence.engine.record", "ringfence.engine.secrets", "ringfence.engine.shell.inline.model",
)  # fmt: skip
"""What a hook loads when it wants it."""

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
    os.path.join(folder, "")
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
