"""Goose: the PreToolUse hook of a plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts import status
from ringfence.engine.hosts.model import (
    Answer,
    Host,
    HostTool,
    Request,
    canonical,
    mcp_tool,
    never_asks,
)
from ringfence.engine.hosts.payload import (
    PayloadError,
    directory_of,
    object_of,
    optional_text,
    read_object,
    text_of,
)

TOOLS: Mapping[str, HostTool] = {
    "developer__shell": HostTool("bash"),
    "developer__write": HostTool("write"),
    "developer__edit": HostTool("edit"),
    "developer__text_editor": HostTool("edit", {"command": "action"}),
    "developer__tree": HostTool("ls"),
}


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = text_of(payload, "event")
    if event != "PreToolUse":
        raise PayloadError(f"this hook answers PreToolUse, not {event}")
    name = spelling = text_of(payload, "tool_name")
    if name not in TOOLS and "__" in name:
        server, _, tool = name.partition("__")
        name = mcp_tool(server, tool)
    name, values = canonical(TOOLS, name, object_of(payload, "tool_input"))
    cwd = directory_of(payload, "working_dir")
    session = optional_text(payload, "session_id")
    return Request(ToolCall(name, values, cwd, session=session, spelling=spelling), cwd, event)


def _answer(decision: Decision, request: Request) -> Answer:
    return _blocking(status.answer(decision, request))


def _refuse(reason: str) -> Answer:
    return _blocking(status.refuse(reason))


def _blocking(said: Answer) -> Answer:
    if not said.status:
        return said
    output = json.dumps({"decision": "block", "reason": said.stderr})
    return Answer(output, said.stderr, said.status)


def _sample(command: str, cwd: str) -> dict[str, Any]:
    called = {"tool_name": "developer__shell", "tool_input": {"command": command}}
    return {"event": "PreToolUse", "session_id": "sample", "working_dir": cwd, **called}


HOST = Host("goose", _read, _answer, _refuse, _sample, asks=never_asks)
