"""What becomes of each message: passed on as it came, answered here, or held for a question."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

from ringfence.engine.hosts.model import mcp_tool, refusal
from ringfence.engine.hosts.payload import PayloadError
from ringfence.engine.log import ReviewLog
from ringfence.engine.mcp import wire
from ringfence.engine.mcp.judge import Case, Judgement, Judging
from ringfence.engine.mcp.wire import Call
from ringfence.grammar.records import define, evolve, field, frozen

MAX_QUESTIONS: Final = 1000
"""Questions that may be open at a time; with one more, the oldest is forgotten."""

DECLINE: Final = "Do not run it"
"""The answer that says no."""


@frozen
class Sent:
    """Bytes to send on, whole lines each: to the server, to the client."""

    to_server: bytes = b""
    to_client: bytes = b""


@frozen
class _Open:
    """A call whose question is not answered yet; ``line`` is as it came, if it came alone."""

    call: Call
    line: bytes


@define
class Proxy:
    """Judges the calls of one client to one server.

    ``judge`` says what is to become of a call. ``server`` is the name that rules know it by,
    ``cwd`` where it works. ``log`` is where messages that could not be read are written down.
    """

    judge: Judging
    server: str
    cwd: str
    log: ReviewLog | None = None
    _token: str = field(factory=lambda: f"ringfence-{secrets.token_hex(8)}-")
    _open: dict[str, _Open] = field(factory=dict)
    _count: int = 0
    _can_ask: bool = False

    def from_client(self, line: bytes) -> Sent:
        """What a line of the client's comes to. Never raises: what cannot be read stays here."""
        if not line.strip():
            return Sent(line)
        try:
            value = wire.parsed(line)
        except PayloadError as error:
            # A server that reads more loosely might find a call in it.
            return self._not_understood(None, wire.PARSE_ERROR, str(error))
        if isinstance(value, list):
            return self._batch(line, value)
        sent = self._message(value, line)
        return Sent(line) if sent is None else sent

    def _batch(self, line: bytes, messages: list[Any]) -> Sent:
        """The batch as it came if all of it passes; else what does, and our answers to the rest."""
        parts = [(message, self._message(message, b"")) for message in messages]
        passing = [message for message, sent in parts if sent is None]
        if len(passing) == len(messages):
            return Sent(line)
        ours = [sent for _, sent in parts if sent is not None]
        return Sent(
            (wire.line(passing) if passing else b"") + b"".join(sent.to_server for sent in ours),
            b"".join(sent.to_client for sent in ours),
        )

    def _message(self, message: Any, line: bytes) -> Sent | None:
        """What is sent in the place of a message; None if it passes as it came."""
        if isinstance(message, list):  # a server that reads more loosely might find a call there
            problem = "a batch stands inside a batch"
            return self._not_understood(None, wire.INVALID_REQUEST, problem)
        if not isinstance(message, Mapping):
            return None  # no request, whoever reads it
        key = message.get("id")
        if (wrong := wire.misspelled(message)) is not None:
            return self._not_understood(key, wire.INVALID_REQUEST, f"{wrong!a} is misspelled")
        method = message.get("method")
        if isinstance(method, str) and method != wire.CALL and method.strip().lower() == wire.CALL:
            return self._not_understood(key, wire.INVALID_REQUEST, f"{method!a} is misspelled")
        match method:
            case wire.CALL:
                return self._called(message, line)
            case wire.CANCELLED:
                return self._cancelled(message)
            case "initialize":
                params = message.get("params")
                given = params.get("capabilities") if isinstance(params, Mapping) else None
                self._can_ask = wire.elicits(given)
            case None if isinstance(key, str) and key.startswith(self._token):
                return self._responded(key, message)
        return None

    # --- calls ----------------------------------------------------------------------------------

    def _called(self, message: Mapping[str, Any], line: bytes) -> Sent | None:
        try:
            call = Call.of(message)
        except PayloadError as error:
            return self._not_understood(message.get("id"), wire.INVALID_PARAMS, str(error))
        if call.state is not None and call.state.startswith(self._token):
            asked = self._open.pop(call.state, None)
            if asked is not None and asked.call.same_as(call):
                answer = call.answer if isinstance(call.answer, Mapping) else {}
                return self._settled(call, answer) or Sent(wire.line(call.resumed(asked.call)))
            # Whatever was asked, it was not about this call: it is a new one.
            call = Call.of(call.resumed(None))
            return self._judged(call, b"") or Sent(wire.line(call.message))
        return self._judged(call, line)

    def _judged(self, call: Call, line: bytes) -> Sent | None:
        """None if the call may run; else the refusal, or the question."""
        asks = call.can_ask if call.is_modern else self._can_ask
        # A call that brings an answer of the server's is one that came before.
        case = evolve(self._case(call), counts=call.state is None)
        if not call.is_request or not asks:
            return _refused(call, self.judge(case))
        said = self.judge(evolve(case, person="ask"))
        if said.question is None:
            return _refused(call, said)
        while len(self._open) >= MAX_QUESTIONS:
            del self._open[next(iter(self._open))]
        self._count += 1
        key = f"{self._token}{self._count}"
        self._open[key] = _Open(call, line)
        return Sent(b"", wire.question(call, key, said.question, [*said.answers, DECLINE]))

    def _settled(self, call: Call, response: Any) -> Sent | None:
        """None if the call may run by what a person answered; else the refusal."""
        case = evolve(self._case(call), counts=False)
        if isinstance(response, Mapping):
            case = evolve(case, person="answered", said=wire.answered(response))
        return _refused(call, self.judge(case))

    def _case(self, call: Call) -> Case:
        name = mcp_tool(self.server, call.name)
        return Case(name, call.arguments, self.cwd, self._token)

    # --- answers --------------------------------------------------------------------------------

    def _responded(self, key: str, message: Mapping[str, Any]) -> Sent:
        """The client answers a request of ours, which the server does not know of."""
        asked = self._open.pop(key, None)
        if asked is None:
            return Sent()
        passing = Sent(asked.line or wire.line(asked.call.message))
        return self._settled(asked.call, message.get("result")) or passing

    def _cancelled(self, message: Mapping[str, Any]) -> Sent | None:
        """A call that is cancelled while its question is open never reaches the server."""
        params = message.get("params")
        void = params.get("requestId") if isinstance(params, Mapping) else None
        for key, asked in self._open.items():
            if (asked.call.id, type(asked.call.id)) == (void, type(void)):
                del self._open[key]
                return Sent() if asked.call.is_modern else Sent(b"", wire.cancelled(key))
        return None

    # --- what could not be judged ---------------------------------------------------------------

    def _not_understood(self, key: Any, code: int, reason: str) -> Sent:
        self._log(reason)
        return Sent(b"", wire.error(key, code, refusal(reason)))

    def _log(self, reason: str) -> None:
        if self.log is not None:
            self.log.refused(reason)


def _refused(call: Call, said: Judgement) -> Sent | None:
    """None if the judgement lets the call run. A notification is not answered."""
    if said.objection is None:
        return None
    return Sent(b"", wire.refusal(call, said.objection)) if call.is_request else Sent()
