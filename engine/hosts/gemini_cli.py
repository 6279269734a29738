"""Gemini CLI: the BeforeTool hook.

An allow is no more than "no objection": its policy engine decides afterwards. An ask forces its own
confirmation, but without a terminal that ends the session: then it is a refusal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ringfence.engine import terminal
from ringfence.engine.call import Decision
from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import (
    Answer,
    Host,
    HostTool,
    Request,
    canonical,
    mcp_tool,
    refusal,
    verdict,
)
from ringfence.engine.hosts.payload import PayloadError, object_of, read_object, text_of

EVENT = "BeforeTool"
_FILE = {"file_path": "path"}
_FOLDER = {"dir_path": "path"}

TOOLS: Mapping[str, HostTool] = {
    "run_shell_command": HostTool("bash", {"dir_path": "workdir"}),
    "read_file": HostTool("read", _FILE),
    "read_many_files": HostTool("read", {"include": "paths"}),
    "write_file": HostTool("write", _FILE),
    "replace": HostTool("edit", _FILE),
    "glob": HostTool("find", _FOLDER),
    "list_directory": HostTool("ls", _FOLDER),
    "grep_search": HostTool("grep", {**_FOLDER, "pattern": "regex", "include_pattern": "glob"}),
    "search_file_content": HostTool("grep", {**_FOLDER, "pattern": "regex", "include": "glob"}),
    "web_fetch": HostTool("fetch"),
}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = text_of(payload, "hook_event_name")
    if event != EVENT:
        raise PayloadError(f"this hook answers {EVENT}, not {event}")
    spelling, values = text_of(payload, "tool_name"), object_of(payload, "tool_input")
    name = spelling
    context = payload.get("mcp_context")
    if isinstance(context, dict):
        name = mcp_tool(text_of(context, "server_name"), text_of(context, "tool_name"))
    called = (spelling, *canonical(TOOLS, name, values))
    variable = "GEMINI_PROJECT_DIR"
    return claude.asked(payload, called, env, event=event, project_variable=variable)


def _answer(decision: Decision, _request: Request) -> Answer:
    said = verdict(decision, asks=terminal.is_there())
    if said.word in ("", "allow"):
        return Answer(json.dumps({"decision": "allow"}))
    told = {"decision": said.word, "reason": said.reason, "systemMessage": said.reason}
    return Answer(json.dumps(told))


def _refuse(reason: str) -> Answer:
    text = refusal(reason)
    return Answer(json.dumps({"decision": "deny", "reason": text}), text, 2)


HOST = Host(
    "gemini-cli",
    _read,
    _answer,
    _refuse,
    claude.sample("run_shell_command", EVENT),
    asks=lambda _: terminal.is_there(),
)
