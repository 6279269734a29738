"""Kiro CLI: the preToolUse hook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringfence.engine.hosts import claude, status
from ringfence.engine.hosts.model import Host, HostTool, Request, canonical, mcp_tool, never_asks
from ringfence.engine.hosts.payload import PayloadError, object_of, read_object, text_of

TOOLS: Mapping[str, HostTool] = {
    "execute_bash": HostTool("bash"),
    "execute_cmd": HostTool("powershell"),
    "fs_read": HostTool("read"),
    "fs_write": HostTool("write", {"command": "action"}),  # its command is no shell's
    "web_fetch": HostTool("fetch"),
}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = text_of(payload, "hook_event_name")
    if event.lower() != "pretooluse":
        raise PayloadError(f"this hook answers preToolUse, not {event}")
    name = spelling = text_of(payload, "tool_name")
    if name.startswith("@"):
        server, _, tool = name[1:].partition("/")
        name = mcp_tool(server, tool)
    name, values = canonical(TOOLS, name, object_of(payload, "tool_input"))
    if name == "read" and isinstance(operations := values.get("operations"), list):
        values["operations"] = [_operation(one) for one in operations]
    variable = "KIRO_PROJECT_DIR"
    return claude.asked(
        payload, (spelling, name, values), env, event=event, project_variable=variable
    )


def _operation(one: Any) -> Any:
    """One reading of several, with the images' paths under a name that says so."""
    if isinstance(one, dict) and "image_paths" in one:
        return {**one, "paths": [one.get("paths"), one["image_paths"]]}
    return one


HOST = Host(
    "kiro",
    _read,
    status.answer,
    status.refuse,
    claude.sample("execute_bash", "preToolUse"),
    asks=never_asks,
)
