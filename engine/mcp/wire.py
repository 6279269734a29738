"""Messages of the Model Context Protocol: JSON-RPC 2.0, one message (or batch) a line.

Up to the revision 2025-11-25 a client says once, in ``initialize``, whether it can ask its user
(``elicitation``), and a server asks by a request of its own. From 2026-07-28 on each request says
it in ``_meta``, and the server answers the call with what it wants to know (``input_required``);
the client then repeats the call with the answers and the server's ``requestState``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ringfence.engine.hosts.payload import PayloadError, read_json
from ringfence.grammar.records import frozen

CALL: Final = "tools/call"
CANCELLED: Final = "notifications/cancelled"
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
REFUSED: Final = -32000

QUESTION: Final = "ringfence"
"""The key of our question among a call's ``inputRequests``."""

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_EXACT = ("jsonrpc", "method", "id", "params", "name", "arguments", "_meta", "requestState")
_FOLDED = {key.lower(): key for key in _EXACT}


def parsed(line: bytes) -> Any:
    """The value of a line. Raises PayloadError."""
    if b"\r" in line.rstrip(b"\r\n"):  # where some servers end a line, and begin another message
        raise PayloadError("a carriage return stands within the message")
    try:
        return read_json(line, "message")
    except ValueError as error:  # such as a number of too many digits
        if isinstance(error, PayloadError):
            raise
        raise PayloadError(f"the message cannot be read: {error}") from error


def misspelled(message: Mapping[str, Any]) -> str | None:
    """A key of the envelope in another case, which some servers take for the right one."""
    params = message.get("params")
    keys = [*message, *(params if isinstance(params, Mapping) else ())]
    return next((key for key in keys if _FOLDED.get(key.lower(), key) != key), None)


@frozen
class Call:
    """A ``tools/call`` that is well formed; ``id`` is None in a notification."""

    message: Mapping[str, Any]
    name: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Call:
        """Raises PayloadError."""
        params = message.get("params")
        if not isinstance(params, Mapping):
            raise PayloadError("params is missing or no object")
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or not name:
            raise PayloadError("params.name is missing or no text")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise PayloadError("params.arguments is no object")
        return cls(message, name, arguments or {})

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters, as they came."""
        params: Mapping[str, Any] = self.message["params"]
        return params

    @property
    def is_request(self) -> bool:
        """Whether it is to be answered."""
        return "id" in self.message

    @property
    def id(self) -> Any:
        """What the answer is known by, of any type."""
        return self.message.get("id")

    @property
    def meta(self) -> Mapping[str, Any]:
        """What is said of the call itself."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, Mapping) else {}

    @property
    def is_modern(self) -> bool:
        """Whether it is of a revision that asks by its result."""
        return _VERSION in self.meta

    @property
    def can_ask(self) -> bool:
        """Whether this very call says that its client can ask a person."""
        return elicits(self.meta.get(_CAPABILITIES))

    @property
    def state(self) -> str | None:
        """What a server gave the client to bring back."""
        state = self.params.get("requestState")
        return state if isinstance(state, str) else None

    @property
    def answer(self) -> Any:
        """What the client answers to our question in a repeated call."""
        responses = self.params.get("inputResponses")
        return responses.get(QUESTION) if isinstance(responses, Mapping) else None

    def same_as(self, other: Call) -> bool:
        """Whether both ask for the same."""
        return (self.name, self.arguments) == (other.name, other.arguments)

    def resumed(self, first: Call | None) -> dict[str, Any]:
        """The message without our question, with what ``first`` said to the server's, if it did."""
        params = {k: v for k, v in self.params.items() if k not in _ROUND}
        if first is not None:
            params |= {k: v for k, v in first.params.items() if k in _ROUND}
        return {**self.message, "params": params}


_ROUND = ("inputResponses", "requestState")


def elicits(capabilities: Any) -> bool:
    """Whether a client with these capabilities can show a form."""
    found = capabilities.get("elicitation") if isinstance(capabilities, Mapping) else None
    # Without a mode it is the form, the only one there was.
    return isinstance(found, Mapping) and (not found or "form" in found)


def line(message: Any) -> bytes:
    """A message as it is sent."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def error(of: Any, code: int, text: str) -> bytes:
    """An error in answer to the request with the id ``of``."""
    return line({"jsonrpc": "2.0", "id": of, "error": {"code": code, "message": text}})


def refusal(call: Call, text: str) -> bytes:
    """The result that tells the model why a call did not run."""
    if "task" in call.params:  # whose result would have to be a task
        return error(call.id, REFUSED, text)
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    return line({"jsonrpc": "2.0", "id": call.id, "result": _complete(call, result, "complete")})


def question(call: Call, key: str, text: str, answers: list[str]) -> bytes:
    """What makes the client ask its user; ``key`` comes back with the answer."""
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "title": "Answer", "enum": answers}},
        "required": ["answer"],
    }
    asked: dict[str, Any] = {"message": text, "requestedSchema": schema}
    request: dict[str, Any] = {"method": "elicitation/create", "params": asked}
    if not call.is_modern:
        return line({"jsonrpc": "2.0", "id": key, **request})
    asked["mode"] = "form"
    result = {"inputRequests": {QUESTION: request}, "requestState": key}
    result = _complete(call, result, "input_required")
    return line({"jsonrpc": "2.0", "id": call.id, "result": result})


def answered(response: Any) -> str | None:
    """The answer in an ElicitResult: None for every way to say no."""
    if not isinstance(response, Mapping) or response.get("action") != "accept":
        return None
    content = response.get("content")
    answer = content.get("answer") if isinstance(content, Mapping) else None
    return answer if isinstance(answer, str) else None


def cancelled(key: str) -> bytes:
    """Word to the client that a question is void."""
    return line({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": key}})


def _complete(call: Call, result: dict[str, Any], kind: str) -> dict[str, Any]:
    return {**result, "resultType": kind} if call.is_modern else result
