"""Windsurf (Cascade): pre_run_command, pre_write_code, pre_read_code and pre_mcp_tool_use."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ringfence.engine.call import ToolCall
from ringfence.engine.hosts import status
from ringfence.engine.hosts.model import Host, Request, mcp_tool, never_asks
from ringfence.engine.hosts.payload import (
    PayloadError,
    absolute,
    object_of,
    optional_text,
    read_object,
    text_of,
)


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    payload = read_object(content)
    event = text_of(payload, "agent_action_name")
    info = object_of(payload, "tool_info")
    # Only commands say where they run; the hook itself runs in the workspace.
    cwd = optional_text(info, "cwd") or os.getcwd()
    absolute(cwd, "cwd")
    tool, values = _tool(event, info)
    session = optional_text(payload, "trajectory_id")
    return Request(ToolCall(tool, values, cwd, session=session), cwd, event)


def _tool(event: str, info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    match event:
        case "pre_run_command":
            return "bash", {"command": text_of(info, "command_line")}
        case "pre_read_code":
            return "read", {"path": text_of(info, "file_path")}
        case "pre_write_code":
            return "write", {"path": text_of(info, "file_path")}
        case "pre_mcp_tool_use":
            name = mcp_tool(text_of(info, "mcp_server_name"), text_of(info, "mcp_tool_name"))
            return name, object_of(info, "mcp_tool_arguments")
        case _:
            raise PayloadError(f"this hook does not answer {event}")


def _sample(command: str, cwd: str) -> dict[str, Any]:
    info = {"command_line": command, "cwd": cwd}
    return {
        "trajectory_id": "sample",
        "agent_action_name": "pre_run_command",
        "tool_info": info,
    }


HOST = Host("windsurf", _read, status.answer, status.refuse, _sample, asks=never_asks)
