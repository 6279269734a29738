"""pi: its extension's ``tool_call``, which asks where it has a person to ask."""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.call import Decision
from ringfence.engine.hosts import plugin
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request

TOOLS: Mapping[str, HostTool] = {
    "bash": HostTool("bash"),
    "read": HostTool("read"),
    "write": HostTool("write"),
    "edit": HostTool("edit"),
    "find": HostTool("find"),
    "grep": HostTool("grep", {"pattern": "regex"}),
    "ls": HostTool("ls"),
}


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    return plugin.read(content, TOOLS)


def _answer(decision: Decision, _request: Request) -> Answer:
    return plugin.answer(decision, asks=True)


HOST = Host("pi", _read, _answer, plugin.refuse, plugin.sample)
