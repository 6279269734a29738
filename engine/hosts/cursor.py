"""Cursor: beforeShellExecution, beforeMCPExecution, beforeReadFile and preToolUse.

Only a deny is dependable: an allow or an ask is overridden by Cursor's own list. So a question
becomes a refusal. Output must always be there; no output counts as invalid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts.model import (
    Answer,
    Host,
    HostTool,
    Request,
    canonical,
    mcp_tool,
    never_asks,
    refusal,
    verdict,
)
from ringfence.engine.hosts.payload import (
    PayloadError,
    object_of,
    optional_text,
    read_object,
    text_of,
)

_FILE = {"file_path": "path"}

TOOLS: Mapping[str, HostTool] = {
    "Shell": HostTool("bash", {"working_directory": "workdir"}),
    "Read": HostTool("read", _FILE),
    "Write": HostTool("write", _FILE),
    "Edit": HostTool("edit", _FILE),
    "Delete": HostTool("delete", _FILE),
    "Grep": HostTool("grep"),
}


_EVENT_TOOLS: Mapping[str, str] = {"beforeShellExecution": "Shell", "beforeReadFile": "Read"}
"""What Cursor calls the tool of an event that does not name it."""


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = text_of(payload, "hook_event_name")
    roots = payload.get("workspace_roots")
    folders = [r for r in roots if isinstance(r, str)] if isinstance(roots, list) else []
    cwd = optional_text(payload, "cwd") or (folders[0] if folders else "")
    if not cwd.startswith("/") or cwd[2:3] == ":":
        raise PayloadError("neither cwd nor workspace_roots name a folder of this system")
    tool, values = _tool(event, payload)
    call = ToolCall(
        tool,
        values,
        cwd,
        session=optional_text(payload, "conversation_id"),
        roots=tuple(r for r in folders if r.startswith("/")),
        spelling=optional_text(payload, "tool_name") or _EVENT_TOOLS.get(event, ""),
    )
    return Request(call, folders[0] if folders else cwd, event)


def _tool(event: str, payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    match event:
        case "beforeShellExecution":
            return "bash", {"command": text_of(payload, "command")}
        case "beforeReadFile":
            return "read", {"path": text_of(payload, "file_path")}
        case "beforeMCPExecution":
            server = optional_text(payload, "mcp_server_name") or "unknown"
            return mcp_tool(server, text_of(payload, "tool_name")), object_of(payload, "tool_input")
        case "preToolUse":
            name = text_of(payload, "tool_name")
            if name.startswith("MCP:"):
                name = mcp_tool("unknown", name.removeprefix("MCP:").strip())
            return canonical(TOOLS, name, object_of(payload, "tool_input"))
        case _:
            raise PayloadError(f"this hook does not answer {event}")


def _answer(decision: Decision, request: Request) -> Answer:
    said = verdict(decision, asks=False)
    if said.word != "deny":
        return Answer(json.dumps({"permission": "allow"}))
    told = {"permission": "deny"}
    if request.event != "beforeReadFile":
        told |= {"user_message": said.reason, "agent_message": said.reason}
    return Answer(json.dumps(told))


def _refuse(reason: str) -> Answer:
    text = refusal(reason)
    told = {"permission": "deny", "user_message": text, "agent_message": text}
    return Answer(json.dumps(told), text, 2)


def _sample(command: str, cwd: str) -> dict[str, Any]:
    asked = {"hook_event_name": "beforeShellExecution", "command": command, "cwd": cwd}
    return {"conversation_id": "sample", "workspace_roots": [cwd], **asked}


HOST = Host("cursor", _read, _answer, _refuse, _sample, asks=never_asks)
