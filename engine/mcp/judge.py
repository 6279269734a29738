"""What is to become of a call: judged by the engine, in a process that may fail without harm.

The proxy has threads, and a process with threads cannot well fork. So a process is made before
them, the bench, which has the engine loaded and makes a child for each call.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal, NoReturn

from attrs import asdict

from ringfence.engine import watchdog
from ringfence.engine.approval import NobodyToAskError
from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.grants import Offer
from ringfence.engine.hosts.model import refusal, verdict
from ringfence.engine.log import ReviewLog
from ringfence.engine.policy.errors import ConfigError
from ringfence.grammar.records import define, evolve, field, frozen
from ringfence.rules.model import State

START_LIMIT: Final = 5.0
"""Seconds for the engine to be loaded, which is once."""

TIME_LIMIT: Final = 0.8
"""Seconds for one judgement."""

GRACE: Final = 0.15
"""Seconds more for the bench to say that there is none."""

Person = Literal["ask", "nobody", "answered"]
"""Who there is to ask: one who is yet to be asked, nobody, or one who has answered."""


@frozen
class Case:
    """A call of ``tool``, and the person; ``said`` is their answer.

    ``counts`` unless the same call came before, and was counted for ``special.doom_loop``.
    """

    tool: str
    arguments: Mapping[str, Any]
    cwd: str
    session: str
    person: Person = "nobody"
    said: str | None = None
    counts: bool = True


@frozen
class Judgement:
    """Nothing at all for a call that may run.

    ``objection`` is the text for the model where it may not; ``question`` is for a person first,
    with the ``answers`` that say yes.
    """

    objection: str | None = None
    question: str | None = None
    answers: Sequence[str] = ()


Judging = Callable[[Case], Judgement]


@frozen
class Judge:
    """Judges cases in this process. Never raises: what goes wrong is an objection.

    ``load`` makes the engine, for each case anew: a rule or a grant that is added meanwhile holds.
    ``log`` is where cases that could not be judged are written down.
    """

    load: Callable[[], Engine]
    log: ReviewLog | None = None

    def __call__(self, case: Case) -> Judgement:
        """Judge."""
        try:
            return self._judged(case)
        except Exception as error:  # noqa: BLE001  # the call must not run
            plainly = isinstance(error, ConfigError)
            return self.failed(str(error) if plainly else f"internal error {type(error).__name__}")

    def failed(self, reason: str) -> Judgement:
        """The objection where there is no judgement."""
        if self.log is not None:
            self.log.refused(reason)
        return Judgement(refusal(reason))

    def _judged(self, case: Case) -> Judgement:
        engine = self.load()
        if not case.counts:
            engine = evolve(engine, loops=None)
        call = ToolCall(case.tool, case.arguments, case.cwd, session=case.session)
        if case.person != "ask":
            return _objection(engine.approve(call, _Said(case)))
        decision = engine.decide(call)
        if decision.state is not State.ASK:
            return _objection(decision)
        answers = [str(offer) for offer in engine.offers(decision)]
        return Judgement(question=decision.message, answers=answers)


@frozen
class _Said:
    """The person of a case, as an Approver: the offer that reads like their answer."""

    case: Case

    def approve(self, _: Decision, offers: Sequence[Offer]) -> Offer | None:
        if self.case.person == "nobody":
            raise NobodyToAskError
        return next((offer for offer in offers if str(offer) == self.case.said), None)


def _objection(decision: Decision) -> Judgement:
    said = verdict(decision, asks=False)
    return Judgement(said.reason if said.word == "deny" else None)


# --- the bench ----------------------------------------------------------------------------------

_HEAD = struct.Struct(">QQ")  # a message's number, its size in bytes
_READY = 0
"""The number of the bench's first message, which answers no case."""


@define
class Bench:
    """Judges cases in another process, at most TIME_LIMIT + GRACE seconds each. Never raises.

    To be made before any thread; ``judge`` is what it judges by.
    """

    judge: Judge
    process: int = field(init=False)
    _socket: socket.socket = field(init=False)
    _number: int = field(default=_READY, init=False)
    _is_ready: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._socket, its = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            try:
                self._socket.close()
                _sit(its, self.judge)
            finally:
                os._exit(0)
        its.close()

    def __call__(self, case: Case) -> Judgement:
        """Have it judged."""
        self._number += 1
        try:
            if not self._is_ready:
                self._is_ready = self._answer(_READY, START_LIMIT) == b""
            self._socket.settimeout(TIME_LIMIT + GRACE)
            _send(self._socket, self._number, json.dumps(asdict(case, recurse=False)).encode())
            return Judgement(**json.loads(self._answer(self._number, TIME_LIMIT + GRACE)))
        except TimeoutError:
            return self.judge.failed("the process that judges does not answer")
        except (EOFError, OSError):
            return self.judge.failed("the process that judges is gone; start this server anew")
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self.judge.failed(f"internal error {type(error).__name__}")

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)

    def _answer(self, wanted: int, limit: float) -> bytes:
        """The message of that number; others are answers that came too late."""
        deadline = time.monotonic() + limit
        while True:
            self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
            number, said = _received(self._socket)
            if number == wanted:
                return said


def _sit(cases: socket.socket, judge: Judge) -> NoReturn:
    """Judge case after case, until nobody has one any more."""
    for meant_for_the_server in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(meant_for_the_server, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # where the client listens
    with suppress(Exception):
        Engine().decide(ToolCall.bash("true", "/"))  # so that its children have everything loaded
    _send(cases, _READY, b"")
    while True:
        number, content = _received(cases)

        def judged(content: bytes = content) -> bytes:
            return json.dumps(asdict(judge(Case(**json.loads(content))))).encode()

        try:
            said = watchdog.answer(judged, TIME_LIMIT)
        except watchdog.NoAnswerError as error:
            said = json.dumps(asdict(judge.failed(str(error)))).encode()
        _send(cases, number, said)


def _send(to: socket.socket, number: int, content: bytes) -> None:
    to.sendall(_HEAD.pack(number, len(content)) + content)


def _received(source: socket.socket) -> tuple[int, bytes]:
    """A message's number and content. Raises EOFError."""
    number, size = _HEAD.unpack(_exactly(source, _HEAD.size))
    return number, _exactly(source, size)


def _exactly(source: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        part = source.recv(min(size, 1 << 16))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
