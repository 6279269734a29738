"""Ask the resident engine; where there is none, or any doubt, be ``ringfence hook``.

Started as ``python -I -S -X utf8``, which runs no ``site``: only modules that are built in, or that
need nothing else, are imported here, and nothing of Ringfence's. That is why it is written so
plainly.

The socket is in a folder that only its owner can enter; its name is made of this file's own stamp,
so that another installation, or a newer version of this one, never answers for this one. Whoever
answers must be the same user, in the same namespaces.
"""

from __future__ import annotations

import _socket
import posix
import sys
import time

TYPE_CHECKING = False  # `typing` is not loaded here
if TYPE_CHECKING:
    from os import PathLike
    from typing import NoReturn

    Environ = dict[bytes, bytes]

MAGIC = b"ringfence 1\n"
MAX_PAYLOAD = (32 << 20) + 1
PATIENCE = 3.5
"""Seconds for the whole answer. The server gives up a call after one, but where hundreds ask at the
same time, waiting in its line is faster for all than loading an engine each. With the limits of
``ringfence hook`` behind it, it stays below the ten seconds after which a host may run the call."""

SWITCH = b"RINGFENCE_RESIDENT"
"""A variable of the environment: ``off`` keeps the resident engine out of it."""


def folder(environ: Environ) -> bytes:
    """Where the socket is, as bytes."""
    base = environ.get(b"XDG_RUNTIME_DIR", b"")
    if base.startswith(b"/"):
        return base + b"/ringfence"
    return b"/tmp/ringfence-%d" % posix.getuid()


def is_apart(environ: Environ, payload: bytes) -> bool:
    """Whether the socket is nowhere that the agent works, as far as can be told here.

    A project may set variables, and answer there itself. Whoever is the other way knows for sure.
    """
    base = environ.get(b"XDG_RUNTIME_DIR", b"")
    if not base.startswith(b"/") or base == b"/run/user/%d" % posix.getuid():
        return True
    if base.startswith(b"/proc/") or b"/." in base or b"//" in base or b"\\/" in payload:
        return False  # not where it seems to be, or hard to find in the payload
    work = [environ[key] for key in environ if key == b"PWD" or key.endswith(b"_PROJECT_DIR")]
    here = posix.stat(b".")
    while base:
        status = posix.stat(base)
        if (status.st_dev, status.st_ino) == (here.st_dev, here.st_ino) or base in work:
            return False
        if b'"%b"' % base in payload or b'"%b/"' % base in payload:
            return False
        base = base.rpartition(b"/")[0]
    return True


def is_private(path: bytes | PathLike[str]) -> bool:
    """Whether a folder is one that nobody else can enter or has made."""
    status = posix.lstat(path)
    is_folder = status.st_mode & 0o170000 == 0o040000
    return is_folder and status.st_uid == posix.getuid() and not status.st_mode & 0o077


def name() -> bytes:
    """The name of this installation's socket."""
    status = posix.stat(__file__)
    return b"%x-%x-%x.socket" % (status.st_dev, status.st_ino, status.st_mtime_ns)


def packed(parts: list[bytes]) -> bytes:
    """Parts of a message, each behind its length."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def unpacked(data: bytes, count: int) -> list[bytes] | None:
    """``count`` parts and nothing else, or None."""
    parts = []
    position = 0
    for _ in range(count):
        end = position + 8 + int.from_bytes(data[position : position + 8], "big")
        if len(data) < end or len(data) < position + 8:
            return None
        parts.append(data[position + 8 : end])
        position = end
    return parts if position == len(data) else None


def environment(environ: Environ) -> bytes:
    """The environment as one part."""
    return b"\0".join(key + b"=" + value for key, value in environ.items())


def read_all(descriptor: int, limit: int) -> bytes:
    """Everything up to the end, or up to ``limit`` bytes."""
    parts = []
    left = limit
    while left > 0:
        part = posix.read(descriptor, min(left, 1 << 20))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def write_all(descriptor: int, data: bytes) -> None:
    """All of it."""
    while data:
        data = data[posix.write(descriptor, data) :]


def has_terminal() -> bytes:
    """Whether this process has a terminal, which the resident engine has not."""
    try:
        posix.close(posix.open("/dev/tty", posix.O_RDWR | posix.O_NOCTTY))
    except OSError:
        return b""
    return b"1"


def is_peer(connection: _socket.socket) -> bool:
    """Whether the same user answers, who sees the same file system as this process."""
    if not hasattr(_socket, "SO_PEERCRED"):
        return True  # the folder alone says whose it is
    who = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    pid = int.from_bytes(who[:4], sys.byteorder)
    if int.from_bytes(who[4:8], sys.byteorder) != posix.getuid():
        return False
    return all(
        posix.readlink(f"/proc/{pid}/{link}") == posix.readlink(f"/proc/self/{link}")
        for link in ("ns/mnt", "ns/user", "root")
    )


def asked(
    arguments: list[str], payload: bytes, environ: Environ
) -> tuple[bytes, bytes, int] | None:
    """The answer as (standard output, standard error, status), or None."""
    place = folder(environ)
    if environ.get(SWITCH) == b"off" or not is_private(place):
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    deadline = time.monotonic() + PATIENCE
    try:
        connection.settimeout(PATIENCE)
        connection.connect(place + b"/" + name())
        if not is_peer(connection):
            return None
        words = b"\0".join(word.encode("utf-8", "surrogateescape") for word in arguments)
        parts = [words, posix.getcwdb(), environment(environ), has_terminal(), payload]
        connection.sendall(MAGIC + packed(parts))
        connection.shutdown(_socket.SHUT_WR)
        said = []
        while True:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            part = connection.recv(1 << 16)
            if not part:
                break
            said.append(part)
    finally:
        connection.close()
    data = b"".join(said)
    if not data.startswith(MAGIC):
        return None
    answer = unpacked(data[len(MAGIC) :], 3)
    if answer is None or len(answer[2]) != 1:
        return None
    return answer[0], answer[1], answer[2][0]


def started(module: str, function: str, arguments: list[str]) -> list[str]:
    """The words that start one of Ringfence's programs.

    Python is alone with it, whatever the environment says of modules and encodings: a project may
    set variables. So it is told where this package is, in case it would not find it.
    """
    program = f"import sys; sys.path.append(sys.argv.pop(1)); import {module} as m; m.{function}()"
    folder = __file__.rpartition("/ringfence/engine/")[0] or "/"
    return [sys.executable, "-I", "-X", "utf8", "-c", program, folder, *arguments]


def fall_back(arguments: list[str], payload: bytes, *, start: bool) -> NoReturn:
    """Become ``ringfence hook``, with the payload as its standard input."""
    if hasattr(posix, "memfd_create"):
        stdin = posix.memfd_create("payload")
        write_all(stdin, payload)
        posix.lseek(stdin, 0, 0)
    else:
        stdin, writer = posix.pipe()
        if posix.fork() == 0:
            posix.close(stdin)
            write_all(writer, payload)
            posix._exit(0)  # noqa: SLF001 - its only name
        posix.close(writer)
    posix.dup2(stdin, 0)
    given = [*arguments, "--start-resident"] if start else arguments
    posix.execv(sys.executable, started("ringfence.engine.cli", "program", given))


def main() -> NoReturn:
    """Answer; does not return."""
    arguments = sys.argv[1:]
    if arguments[:1] != ["hook"]:
        write_all(2, b"ringfence-hook: this answers `hook HOST` alone; use `ringfence`\n")
        posix._exit(2)  # noqa: SLF001 - its only name
    environ = posix.environ
    payload = read_all(0, MAX_PAYLOAD)
    answer = None
    wanted = False
    try:
        wanted = environ.get(SWITCH) != b"off" and is_apart(environ, payload)
        if wanted:
            answer = asked(arguments, payload, environ)
    except BaseException:  # noqa: BLE001 - whatever it is, the other way is open
        answer = None
    if answer is None:
        fall_back(arguments, payload, start=wanted)
    status = answer[2]
    try:
        write_all(1, answer[0])
        write_all(2, answer[1])
    except OSError:
        status = 2  # nobody reads the answer: the status alone must block
    posix._exit(status)  # noqa: SLF001 - as above
