"""Cline: the PreToolUse file.

It knows no ask, and its ``cancel`` ends the whole task, not only the call.
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

TOOLS: Mapping[str, HostTool] = {
    "execute_command": HostTool("bash"),
    "run_commands": HostTool("bash"),
    "read_file": HostTool("read"),
    "read_files": HostTool("read"),
    "write_to_file": HostTool("write"),
    "replace_in_file": HostTool("edit"),
    "editor": HostTool("edit"),
    "apply_patch": HostTool("patch"),
    "list_files": HostTool("ls"),
    "search_files": HostTool("grep"),
    "search_codebase": HostTool("grep"),
    "fetch_web_content": HostTool("fetch"),
}


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    roots = payload.get("workspaceRoots")
    folders = [r for r in roots if isinstance(r, str)] if isinstance(roots, list) else []
    if not folders or not folders[0].startswith("/"):
        raise PayloadError("workspaceRoots names no folder of this system")
    if "tool_call" in payload:
        called = object_of(payload, "tool_call")
        name, values = text_of(called, "name"), object_of(called, "input")
    else:
        called = object_of(payload, "preToolUse")
        name, values = text_of(called, "toolName"), _decoded(object_of(called, "parameters"))
    spelling = name
    if name == "use_mcp_tool":
        name = mcp_tool(text_of(values, "server_name"), text_of(values, "tool_name"))
        values = object_of(values, "arguments")
    tool, values = canonical(TOOLS, name, values)
    commands = values.get("commands")
    if tool == "bash" and isinstance(commands, list):
        if not all(isinstance(command, str) for command in commands):
            raise PayloadError("a command is no text")
        values = {**values, "command": "\n".join(commands)}
    session = optional_text(payload, "taskId")
    call = ToolCall(
        tool, values, folders[0], session=session, roots=tuple(folders[1:]), spelling=spelling
    )
    return Request(call, folders[0], "PreToolUse")


def _decoded(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, of which all that are no text come as JSON."""
    decoded = {}
    for key, value in parameters.items():
        decoded[key] = value
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                decoded[key] = json.loads(value)
            except (ValueError, RecursionError):
                continue
    return decoded


def _answer(decision: Decision, _request: Request) -> Answer:
    said = verdict(decision, asks=False)
    if said.word != "deny":
        return Answer(json.dumps({"cancel": False}))
    return Answer(json.dumps({"cancel": True, "errorMessage": said.reason}))


def _refuse(reason: str) -> Answer:
    return Answer(json.dumps({"cancel": True, "errorMessage": refusal(reason)}), refusal(reason), 2)


def _sample(command: str, cwd: str) -> dict[str, Any]:
    called = {"name": "run_commands", "input": {"commands": [command]}}
    return {"taskId": "sample", "workspaceRoots": [cwd], "tool_call": called}


HOST = Host("cline", _read, _answer, _refuse, _sample, asks=never_asks)
