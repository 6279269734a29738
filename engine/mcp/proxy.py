"""What becomes of each message: passed on as it came, answered here, or held for a question."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import Factory, define, field, frozen

from ringfence.engine.approval import NobodyToAskError
from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.grants import Offer
from ringfence.engine.hosts.model import mcp_tool, refusal, verdict
from ringfence.engine.hosts.payload import PayloadError
from ringfence.engine.log import ReviewLog
from ringfence.engine.mcp import wire
from ringfence.engine.mcp.wire import Call
from ringfence.engine.policy.errors import ConfigError
from ringfence.rules.model import State

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
class _Person:
    """The answer to a question, as an Approver: the offer that reads like it."""

    said: str | None = None
    nobody: bool = False

    def approve(self, _: Decision, offers: Sequence[Offer]) -> Offer | None:
        if self.nobody:
            raise NobodyToAskError
        return next((offer for offer in offers if str(offer) == self.said), None)


_NOBODY = _Person(nobody=True)


@frozen
class _Open:
    """A call whose question is not answered yet; ``line`` is as it came, if it came alone."""

    call: Call
    line: bytes


@define
class Proxy:
    """Judges the calls of one client to one server.

    ``load`` makes the engine, for each call anew: a rule or a grant that is added meanwhile holds.
    ``server`` is the name that rules know it by, ``cwd`` where it works. ``log`` is where calls
    that could not be judged are written down.
    """

    load: Callable[[], Engine]
    server: str
    cwd: str
    log: ReviewLog | None = None
    _token: str = field(factory=lambda: f"ringfence-{secrets.token_hex(8)}-")
    _open: dict[str, _Open] = Factory(dict)
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
        if not isinstance(message, Mapping):
            return None  # no request, whoever reads it
        key = message.get("id")
        if (wrong := wire.misspelled(message)) is not None:
            return self._not_understood(key, wire.INVALID_REQUEST, f"{wrong!a} is misspelled")
        match message.get("method"):
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
                person = _Person(wire.answered(call.answer))
                return self._settled(call, person) or Sent(wire.line(call.resumed(asked.call)))
            # Whatever was asked, it was not about this call: it is a new one.
            call = Call.of(call.resumed(None))
            return self._judged(call, b"") or Sent(wire.line(call.message))
        return self._judged(call, line)

    def _judged(self, call: Call, line: bytes) -> Sent | None:
        """None if the call may run; else the refusal, or the question."""
        asks = call.can_ask if call.is_modern else self._can_ask
        if not call.is_request or not asks:
            return self._settled(call, _NOBODY)
        try:
            engine = self.load()
            decision = engine.decide(self._tool_call(call))
            answers = [str(offer) for offer in engine.offers(decision)]
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._failed(call, error)
        if decision.state is not State.ASK:
            return _refused(call, decision)
        while len(self._open) >= MAX_QUESTIONS:
            del self._open[next(iter(self._open))]
        self._count += 1
        key = f"{self._token}{self._count}"
        self._open[key] = _Open(call, line)
        return Sent(b"", wire.question(call, key, decision.message, [*answers, DECLINE]))

    def _settled(self, call: Call, person: _Person) -> Sent | None:
        """None if the call may run, after ``person`` was asked if need be; else the refusal."""
        try:
            decision = self.load().approve(self._tool_call(call), person)
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._failed(call, error)
        return _refused(call, decision)

    def _tool_call(self, call: Call) -> ToolCall:
        name = mcp_tool(self.server, call.name)
        return ToolCall(name, call.arguments, self.cwd, session=self._token)

    # --- answers --------------------------------------------------------------------------------

    def _responded(self, key: str, message: Mapping[str, Any]) -> Sent:
        """The client answers a request of ours, which the server does not know of."""
        asked = self._open.pop(key, None)
        if asked is None:
            return Sent()
        has_answer = isinstance(message.get("result"), Mapping)
        person = _Person(wire.answered(message["result"])) if has_answer else _NOBODY
        passing = Sent(asked.line or wire.line(asked.call.message))
        return self._settled(asked.call, person) or passing

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

    def _failed(self, call: Call, error: Exception) -> Sent:
        plainly = isinstance(error, ConfigError)
        reason = str(error) if plainly else f"internal error {type(error).__name__}"
        self._log(reason)
        return Sent(b"", wire.refusal(call, refusal(reason))) if call.is_request else Sent()

    def _log(self, reason: str) -> None:
        if self.log is not None:
            self.log.refused(reason)


def _refused(call: Call, decision: Decision) -> Sent | None:
    """None if the decision lets the call run. A notification is not answered."""
    said = verdict(decision, asks=False)
    if said.word != "deny":
        return None
    return Sent(b"", wire.refusal(call, said.reason)) if call.is_request else Sent()
