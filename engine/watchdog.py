"""Work that is done in a child of this process, which can hang or die as it likes.

The parent waits, but not for long. Only for a process with one thread.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import NoReturn

_READY = b"!"
_SIGKILL = 9  # everywhere; `signal` takes a while to name them all


class NoAnswerError(Exception):
    """The child gave no answer; the text says what it did instead."""


def answer(
    make: Callable[[], bytes],
    limit: float,
    *,
    prepare: Callable[[], None] = lambda: None,
    start_limit: float | None = None,
) -> bytes:
    """What ``make`` returns in a child within ``limit`` seconds. Raises NoAnswerError.

    ``prepare`` comes before, and may take ``start_limit`` seconds (default: ``limit``).
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_child(make, prepare, writer)
    os.close(writer)
    try:
        return _heard(reader, limit, limit if start_limit is None else start_limit)
    finally:
        os.close(reader)
        os.kill(child, _SIGKILL)
        os.waitpid(child, 0)


def _be_child(make: Callable[[], bytes], prepare: Callable[[], None], writer: int) -> NoReturn:
    """Prepare, say so, answer, and end without anything that could go wrong."""
    try:
        prepare()
        os.write(writer, _READY)
        said = make()
        while said:
            said = said[os.write(writer, said) :]
    finally:
        os._exit(0)


def _heard(reader: int, limit: float, start_limit: float) -> bytes:
    said: list[bytes] = []
    deadline = time.monotonic() + start_limit
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            raise NoAnswerError(f"no answer within {limit:g} seconds")
        part = os.read(reader, 1 << 16)
        if not part:
            break
        if not said:
            deadline = time.monotonic() + limit
        said.append(part)
    heard = b"".join(said)
    if len(heard) <= len(_READY):
        raise NoAnswerError("the engine ended without an answer")
    return heard.removeprefix(_READY)
