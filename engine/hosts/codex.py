"""OpenAI Codex CLI: the PreToolUse and the PermissionRequest hook.

PreToolUse knows a deny alone: an ask or a bare allow counts as a failure of the hook, and the call
runs. So a question becomes a refusal that says how to allow it, and everything else is silence.
"""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.call import Decision
from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request
from ringfence.rules.model import State

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("bash"),
    "apply_patch": HostTool("patch", {"command": "patch"}),
}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    return claude.read(content, env, tools=TOOLS, project_variable="CODEX_PROJECT_DIR")


def _answer(decision: Decision, request: Request) -> Answer:
    if request.event == claude.PERMISSION_REQUEST:
        return claude.answer(decision, request)
    if decision.state is State.ALLOW:
        return Answer()
    return claude.answer(decision, request, asks=False)


HOST = Host("codex", _read, _answer, claude.refuse, claude.sample())
