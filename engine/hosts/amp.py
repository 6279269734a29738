"""Amp: the program that a permission rule delegates to.

Standard input holds the tool's arguments alone, ``AGENT_TOOL_NAME`` its name; exit status 0 allows,
1 asks, 2 refuses with what stands on standard error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts import status
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request, canonical, verdict
from ringfence.engine.hosts.payload import PayloadError, read_object

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("bash", {"cmd": "command"}),
    "shell_command": HostTool("bash"),
    "Read": HostTool("read"),
    "create_file": HostTool("write"),
    "edit_file": HostTool("edit"),
    "glob": HostTool("find", {"filePattern": "pattern"}),
    "Grep": HostTool("grep"),
    "read_web_page": HostTool("fetch"),
    "apply_patch": HostTool("patch"),
}
_STATUS = {"": 0, "allow": 0, "ask": 1, "deny": 2}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    name = env.get("AGENT_TOOL_NAME", "")
    if not name:
        raise PayloadError("AGENT_TOOL_NAME is not set")
    tool, values = canonical(TOOLS, name, read_object(content))
    cwd = os.getcwd()
    return Request(ToolCall(tool, values, cwd, spelling=name), cwd, "delegate")


def _answer(decision: Decision, _request: Request) -> Answer:
    said = verdict(decision)
    return Answer("", said.reason if said.word != "allow" else "", _STATUS[said.word])


def _sample(command: str, _cwd: str) -> dict[str, str]:
    return {"cmd": command}


HOST = Host("amp", _read, _answer, status.refuse, _sample, {"AGENT_TOOL_NAME": "Bash"})
