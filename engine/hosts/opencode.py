"""opencode: its plugin's ``tool.execute.before``, which can only let pass or throw."""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.call import Decision
from ringfence.engine.hosts import plugin
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request, never_asks

_FILE = {"filePath": "path"}

TOOLS: Mapping[str, HostTool] = {
    "bash": HostTool("bash"),
    "read": HostTool("read", _FILE),
    "write": HostTool("write", _FILE),
    "edit": HostTool("edit", _FILE),
    "multiedit": HostTool("edit", _FILE),
    "patch": HostTool("patch"),
    "apply_patch": HostTool("patch"),
    "glob": HostTool("find"),
    "list": HostTool("ls"),
    "grep": HostTool("grep", {"pattern": "regex", "include": "glob"}),
    "webfetch": HostTool("fetch"),
    "lsp": HostTool("read", _FILE),
    "skill": HostTool("skill"),
}


def _read(content: bytes, _env: Mapping[str, str]) -> Request:
    return plugin.read(content, TOOLS)


def _answer(decision: Decision, _request: Request) -> Answer:
    return plugin.answer(decision, asks=False)


HOST = Host("opencode", _read, _answer, plugin.refuse, plugin.sample, asks=never_asks)
