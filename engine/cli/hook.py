"""``ringfence hook HOST``: answer a host's question in the host's own words.

Hosts let a call run when their hook fails in a way they do not know, or takes too long. So
whatever happens here ends in time, and in the host's own "refuse".
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ringfence.engine.engine import Engine
from ringfence.engine.hosts import HOSTS
from ringfence.engine.hosts.model import Answer, Host
from ringfence.engine.hosts.payload import MAX_BYTES, PayloadError
from ringfence.engine.log import ReviewLog
from ringfence.engine.policy import ConfigError

ERROR = 2

TIME_LIMIT = 3.0
"""Seconds for one answer. Past them whatever is going on fails with TimeoutError."""


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "hook",
        help="answer a host's question about a call",
        description="Read a host's question on standard input, answer on standard output.",
    )
    parser.add_argument("host", choices=sorted(HOSTS), help="the agent that asks")
    parser.add_argument(
        "--config", metavar="FILE", help="use this config, not the user's and the project's"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer, and return the exit status that the host knows."""
    host = HOSTS[arguments.host]
    try:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
        with _time_limit():
            result = _answer(host, content, arguments.config)
    except BaseException as error:  # noqa: BLE001  # see above
        result = host.refuse(_reason(error))
    return _write(result)


def _answer(host: Host, content: bytes, config: str | None) -> Answer:
    request = host.read(content, os.environ)
    log = ReviewLog.of_user(f"hook {host.name}")
    engine = Engine.load(request.project, config=config, log=log)
    return host.answer(engine.decide(request.call))


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise TimeoutError in what takes too long, again and again should something catch it."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer within {TIME_LIMIT:g} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT, TIME_LIMIT)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _reason(error: BaseException) -> str:
    if isinstance(error, (ConfigError, PayloadError)):
        return str(error)
    return f"internal error {type(error).__name__}"


def _write(result: Answer) -> int:
    try:
        if result.stdout:
            sys.stdout.write(result.stdout + "\n")
            sys.stdout.flush()
        if result.stderr:
            print(result.stderr, file=sys.stderr, flush=True)
    except Exception:  # noqa: BLE001  # nobody reads the answer: the status alone must block
        return ERROR
    return result.status
