"""What the plugins for opencode and pi ask and hear (``plugins/``): plain JSON both ways.

In: ``{"tool", "args", "cwd", "session"?}``; out: ``{"decision", "reason"?}``.
A plugin takes everything else, an exit status other than 0 above all, for a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts.model import (
    Answer,
    HostTool,
    Request,
    canonical,
    refusal,
    verdict,
)
from ringfence.engine.hosts.payload import (
    directory_of,
    object_of,
    optional_text,
    read_object,
    text_of,
)


def read(content: bytes, tools: Mapping[str, HostTool]) -> Request:
    """See Host."""
    payload = read_object(content)
    name = text_of(payload, "tool")
    tool, values = canonical(tools, name, object_of(payload, "args"))
    cwd = directory_of(payload, "cwd")
    session = optional_text(payload, "session")
    return Request(ToolCall(tool, values, cwd, session=session, spelling=name), cwd)


def sample(command: str, cwd: str) -> dict[str, Any]:
    """See Host."""
    return {"tool": "bash", "args": {"command": command}, "cwd": cwd, "session": "sample"}


def answer(decision: Decision, *, asks: bool) -> Answer:
    """The answer to a host that can ask, or cannot."""
    said = verdict(decision, asks=asks)
    told = {"decision": said.word or "allow"}
    if said.word in ("ask", "deny"):
        told["reason"] = said.reason
    return Answer(json.dumps(told))


def refuse(reason: str) -> Answer:
    """See Host."""
    text = refusal(reason)
    return Answer(json.dumps({"decision": "deny", "reason": text}), text, 2)
