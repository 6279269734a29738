"""GitHub Copilot CLI: the preToolUse hook, in both of its spellings."""

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
    refusal,
    verdict,
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
    "bash": HostTool("bash"),
    "powershell": HostTool("powershell"),
    "view": HostTool("read"),
    "create": HostTool("write"),
    "edit": HostTool("edit"),
    "glob": HostTool("find"),
    "grep": HostTool("grep"),
    "web_fetch": HostTool("fetch"),
    "apply_patch": HostTool("patch"),
}


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = optional_text(payload, "hook_event_name") or "preToolUse"
    if event.lower() != "pretooluse":
        raise PayloadError(f"this hook answers preToolUse, not {event}")
    camel = "toolName" in payload
    name = text_of(payload, "toolName" if camel else "tool_name")
    values = object_of(payload, "toolArgs" if camel else "tool_input")
    tool, values = canonical(TOOLS, name, values)
    cwd = directory_of(payload, "cwd")
    session = optional_text(payload, "sessionId" if camel else "session_id")
    return Request(ToolCall(tool, values, cwd, session=session, spelling=name), cwd, event)


def _answer(decision: Decision, _request: Request) -> Answer:
    said = verdict(decision)
    if not said.word:
        return Answer()
    return _output(said.word, said.reason)


def _refuse(reason: str) -> Answer:
    # With a status other than 0 older versions take the hook for broken, and run the call.
    return _output("deny", refusal(reason))


def _output(word: str, reason: str) -> Answer:
    return Answer(json.dumps({"permissionDecision": word, "permissionDecisionReason": reason}))


def _sample(command: str, cwd: str) -> dict[str, Any]:
    arguments = json.dumps({"command": command})
    return {"sessionId": "sample", "cwd": cwd, "toolName": "bash", "toolArgs": arguments}


HOST = Host("copilot-cli", _read, _answer, _refuse, _sample)
