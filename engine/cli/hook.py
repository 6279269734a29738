"""``ringfence hook HOST``: answer a host's question in the host's own words.

Hosts let a call run when their hook fails in a way they do not know, or takes too long. So the
answer is made in a child of this process, which can hang or die as it likes: the parent waits,
but not for long, and then says the host's own "refuse". The parent loads next to nothing, which
makes it faster to fork.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ringfence.engine import watchdog
from ringfence.engine.hosts import HOSTS, MAX_BYTES, host
from ringfence.engine.loading import without_collector

if TYPE_CHECKING:
    import argparse

    from ringfence.engine.hosts.model import Answer, Host

ERROR = 2

START_LIMIT = 5.0
"""Seconds for loading the engine, which on a slow disk takes its time."""

TIME_LIMIT = 0.9
"""Seconds for one answer after that."""

START = "--start-resident"

Said: TypeAlias = tuple[str, str, int]
"""What the host reads: standard output, standard error and the exit status."""


def register(commands: Any) -> None:
    """Add the command."""
    from argparse import SUPPRESS  # noqa: PLC0415 - see plain

    parser: argparse.ArgumentParser = commands.add_parser(
        "hook",
        help="answer a host's question about a call",
        description="Read a host's question on standard input, answer on standard output.",
    )
    parser.add_argument("host", choices=sorted(HOSTS), help="the agent that asks")
    parser.add_argument(
        "--config", metavar="FILE", help="use this config, not the user's and the project's"
    )
    parser.add_argument(START, action="store_true", help=SUPPRESS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer, and return the exit status that the host knows."""
    return answer(arguments.host, arguments.config, start_resident=arguments.start_resident)


def plain(words: list[str]) -> Callable[[], int] | None:
    """What to run for the words that hosts call, or None if they are others.

    A parser of arguments takes longer to load than to decide.
    """
    if not words or words[0] not in HOSTS or words[1:] not in ([], [START]):
        return None
    return partial(answer, words[0], None, start_resident=len(words) == 2)


def answer(name: str, config: str | None, *, start_resident: bool) -> int:
    """Answer the host of that name, and return the exit status that it knows."""
    try:
        content = sys.stdin.buffer.read(MAX_BYTES + 1)
        said = watched(lambda: respond(host(name), content, config), name)
    except BaseException as error:  # noqa: BLE001  # see above
        said = _refusal(name, _reason(error))
    status = _write(*said)
    if start_resident:
        from ringfence.engine.resident.starting import start  # noqa: PLC0415 - once a while

        start()
    return status


def respond(asking: Host, content: bytes, config: str | None) -> Answer:
    """The host's answer to a payload. Never raises."""
    try:
        return _answer(asking, content, config)
    except BaseException as error:  # noqa: BLE001  # whatever goes wrong, the call must not run
        _log_refusal(asking, _reason(error))
        return asking.refuse(_reason(error))


def _answer(asking: Host, content: bytes, config: str | None) -> Answer:
    from ringfence.engine.engine import Engine  # noqa: PLC0415 - in the child alone
    from ringfence.engine.grants import GrantStore  # noqa: PLC0415
    from ringfence.engine.log import ReviewLog  # noqa: PLC0415
    from ringfence.engine.loops import LoopStore  # noqa: PLC0415

    request = asking.read(content, os.environ)
    log = ReviewLog.of_user(f"hook {asking.name}")
    # Claude Code and Codex ask twice about one call.
    loops = None if request.event == "PermissionRequest" else LoopStore.of_user()
    engine = Engine.load(
        request.call.cwd,
        config=config,
        log=log,
        grants=GrantStore.of_user(),
        loops=loops,
        roots=request.roots,
        project=request.project,
    )
    return asking.answer(engine.decide(request.call, asking.asks(request)), request)


def _log_refusal(asking: Host, reason: str) -> None:
    from ringfence.engine.log import ReviewLog  # noqa: PLC0415 - as above

    ReviewLog.of_user(f"hook {asking.name}").refused(reason)


# --- the watchdog ------------------------------------------------------------------------------


def watched(make: Callable[[], Answer], name: str) -> Said:
    """What ``make`` answers in a child process, or a refusal if it does not, or not in time."""

    def encoded() -> bytes:
        return json.dumps(_said(make())).encode()

    load = partial(_load, name)
    try:
        answered = watchdog.answer(encoded, TIME_LIMIT, prepare=load, start_limit=START_LIMIT)
        stdout, stderr, status = json.loads(answered)
    except watchdog.NoAnswerError as error:
        return _refusal(name, str(error))
    except ValueError:
        return _refusal(name, "the engine ended without an answer")
    return stdout, stderr, status


def _load(name: str) -> None:
    """The engine, which is the slow part, in the child alone."""
    with without_collector():
        import ringfence.engine.engine  # noqa: PLC0415
        import ringfence.engine.log  # noqa: PLC0415
        import ringfence.engine.loops  # noqa: PLC0415
        import ringfence.engine.shell  # noqa: F401, PLC0415

        host(name)
    gc.freeze()  # nor is it looked at again


def _refusal(name: str, reason: str) -> Said:
    return _said(host(name).refuse(reason))


def _said(answer: Answer) -> Said:
    return answer.stdout, answer.stderr, answer.status


# --- output ------------------------------------------------------------------------------------


def _reason(error: BaseException) -> str:
    from ringfence.engine.hosts.payload import PayloadError  # noqa: PLC0415 - in the child alone
    from ringfence.engine.policy.errors import ConfigError  # noqa: PLC0415

    if isinstance(error, (ConfigError, PayloadError)):
        return str(error)
    return f"internal error {type(error).__name__}"


def _write(stdout: str, stderr: str, status: int) -> int:
    try:
        if stdout:
            sys.stdout.write(stdout + "\n")
            sys.stdout.flush()
        if stderr:
            print(stderr, file=sys.stderr, flush=True)
    except Exception:  # noqa: BLE001  # nobody reads the answer: the status alone must block
        return ERROR
    return status
