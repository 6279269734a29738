"""Claude Code: the PreToolUse hook.

It asks with JSON on standard input. No output means "no objection": its own rules and prompts
go on as without Ringfence. An explicit allow skips them, so only a rule of the user's says it.
Exit status 2 blocks the call whatever the output says; any other failure lets it run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.escape import shorten
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request, canonical
from ringfence.engine.hosts.payload import (
    PayloadError,
    directory_of,
    object_of,
    optional_text,
    read_object,
    text_of,
)
from ringfence.engine.paths import is_inside, normalise
from ringfence.rules.model import State

EVENT = "PreToolUse"

MAX_REASON = 9000
"""Claude Code cuts strings at 10,000 characters; this leaves the end of the message in place."""

_FILE = {"file_path": "path"}

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("bash"),
    "PowerShell": HostTool("powershell"),
    "Read": HostTool("read", _FILE),
    "Write": HostTool("write", _FILE),
    "Edit": HostTool("edit", _FILE),
    "MultiEdit": HostTool("edit", _FILE),
    "NotebookEdit": HostTool("edit", {"notebook_path": "path"}),
    "NotebookRead": HostTool("read", {"notebook_path": "path"}),
    "Glob": HostTool("find"),
    "Grep": HostTool("grep"),
    "LS": HostTool("ls"),
    "WebFetch": HostTool("fetch"),
    "Skill": HostTool("skill", {"skill": "name"}),
}


def read(content: bytes, env: Mapping[str, str]) -> Request:
    """See Host."""
    payload = read_object(content)
    event = text_of(payload, "hook_event_name")
    if event != EVENT:
        raise PayloadError(f"this hook answers {EVENT}, not {event}")
    cwd = directory_of(payload, "cwd")
    tool, values = canonical(TOOLS, text_of(payload, "tool_name"), object_of(payload, "tool_input"))
    # After a `cd`, cwd is somewhere in the project: its config holds, and all of it is inside.
    project = env.get("CLAUDE_PROJECT_DIR", "")
    within = project.startswith("/") and is_inside(normalise(cwd), normalise(project))
    call = ToolCall(
        tool,
        values,
        cwd,
        agent=optional_text(payload, "agent_type"),
        session=optional_text(payload, "session_id"),
        roots=(project,) if within else (),
    )
    return Request(call, project if within else cwd)


def answer(decision: Decision) -> Answer:
    """See Host."""
    if decision.state is State.ALLOW:
        if decision.default:
            return Answer()
        rules = {f"{v.rule.rule} ({v.rule.source})": None for v in decision.verdicts}
        return Answer(_output("allow", f"Allowed by {', '.join(rules)}"))
    return Answer(_output(decision.state.value, decision.message))


def refuse(reason: str) -> Answer:
    """See Host."""
    text = f"Ringfence could not judge this call, so it did not run: {reason}"
    return Answer(_output("deny", text), shorten(text, MAX_REASON), 2)


def _output(verdict: str, reason: str) -> str:
    output = {
        "hookEventName": EVENT,
        "permissionDecision": verdict,
        "permissionDecisionReason": shorten(reason, MAX_REASON),
    }
    return json.dumps({"hookSpecificOutput": output})


CLAUDE_CODE = Host(
    name="claude-code",
    read=read,
    answer=answer,
    refuse=refuse,
)
