"""The bytes between client, proxy and server, and the server's process.

Two threads, one a direction: an answer of the client's can come while the server is silent, and
the other way round. The server's standard error is the proxy's own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from ringfence.engine.mcp import wire
from ringfence.engine.mcp.proxy import Proxy
from ringfence.grammar.records import define, field

MAX_LINE: Final = 64 << 20
"""Bytes of a client's line; a longer one is dropped."""

PATIENCE: Final = 5.0
"""Seconds that a server gets to end once its client is gone, before SIGTERM, and then SIGKILL."""

_CHUNK = 1 << 16
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve(proxy: Proxy, command: Sequence[str]) -> int:
    """Run the server behind the proxy until it ends; returns its exit status, as a shell has it.

    Raises OSError if it cannot be started.
    """
    server = subprocess.Popen(  # noqa: S603 - what the user registered as the server
        list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    for number in _FORWARDED:
        signal.signal(number, lambda number, _: server.send_signal(number))
    between = _Between(proxy, server)
    threads = [
        threading.Thread(target=run, daemon=True) for run in (between.inwards, between.outwards)
    ]
    for thread in threads:
        thread.start()
    while True:
        with suppress(subprocess.TimeoutExpired):
            status = server.wait(timeout=PATIENCE)
            break
        if between.gone.is_set():
            between.hurry()
    # What it said last is in the pipe; a child of its own may keep that open for ever.
    threads[1].join(PATIENCE)
    return status if status >= 0 else 128 - status


@define
class _Between:
    """Both directions; whole lines go to the client, so that none of ours stands within another."""

    proxy: Proxy
    server: subprocess.Popen[bytes]
    gone: threading.Event = field(factory=threading.Event)  # nobody reads any more
    _lock: threading.Lock = field(factory=threading.Lock)
    _signals: Iterator[signal.Signals] = field(factory=lambda: iter((signal.SIGTERM,)))

    def inwards(self) -> None:
        """From the client to the server, until the client has no more."""
        entry = self.server.stdin
        assert entry is not None
        listening = True
        try:
            for line in _lines(0, MAX_LINE):
                if line is None:
                    text = f"a message is larger than {MAX_LINE} bytes"
                    self._to_client(wire.error(None, wire.INVALID_REQUEST, text))
                    continue
                sent = self.proxy.from_client(line)
                self._to_client(sent.to_client)
                if listening and sent.to_server:
                    try:
                        _write(entry.fileno(), sent.to_server)
                    except OSError:  # the server ends; what it says until then still counts
                        listening = False
        finally:
            with suppress(OSError):
                entry.close()

    def outwards(self) -> None:
        """From the server to the client, until the server has no more."""
        exit_ = self.server.stdout
        assert exit_ is not None
        for line in _lines(exit_.fileno(), None):
            assert line is not None
            self._to_client(line)

    def hurry(self) -> None:
        """End a server that goes on for nobody."""
        with suppress(ProcessLookupError):
            self.server.send_signal(next(self._signals, signal.SIGKILL))

    def _to_client(self, content: bytes) -> None:
        if not content or self.gone.is_set():
            return
        try:
            with self._lock:
                _write(1, content)
        except OSError:
            self.gone.set()


def _lines(source: int, limit: int | None) -> Iterator[bytes | None]:
    """The lines of a descriptor, each with its end if it has one; None for one that is too long."""
    parts: list[bytes] = []
    size = 0
    while chunk := _read(source):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            parts.append(chunk[start : end + 1])
            size += end + 1 - start
            yield b"".join(parts) if limit is None or size <= limit else None
            parts, size, start = [], 0, end + 1
        rest = chunk[start:]
        size += len(rest)
        if limit is not None and size > limit:
            parts.clear()  # it is counted, and not kept
        elif rest:
            parts.append(rest)
    if size:
        yield b"".join(parts) if limit is None or size <= limit else None


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


def _write(goal: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(goal, view) :]
