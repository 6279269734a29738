"""The protocol of Claude Code's hooks, which other hosts speak too.

A hook asks with JSON on standard input. No output means "no objection": the host's own rules and
prompts go on. An explicit allow skips them, so only a rule of the user's says it. Exit status 2
blocks the call whatever the output says; any other failure lets it run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts.model import (
    Answer,
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
from ringfence.engine.paths import is_inside, normalise

PRE_TOOL_USE = "PreToolUse"
PERMISSION_REQUEST = "PermissionRequest"

_FILE = {"file_path": "path"}

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("bash"),
    "Execute": HostTool("bash"),  # Factory's other name for it
    "PowerShell": HostTool("powershell"),
    "Read": HostTool("read", _FILE),
    "Write": HostTool("write", _FILE),
    "Create": HostTool("write", _FILE),
    "Edit": HostTool("edit", _FILE),
    "MultiEdit": HostTool("edit", _FILE),
    "NotebookEdit": HostTool("edit", {"notebook_path": "path"}),
    "NotebookRead": HostTool("read", {"notebook_path": "path"}),
    "Glob": HostTool("find"),
    "Grep": HostTool("grep"),
    "LS": HostTool("ls"),
    "LSP": HostTool("read", {**_FILE, "filePath": "path"}),
    "WebFetch": HostTool("fetch"),
    "Skill": HostTool("skill", {"skill": "name"}),
}


def read(
    content: bytes,
    env: Mapping[str, str],
    *,
    events: tuple[str, ...] = (PRE_TOOL_USE, PERMISSION_REQUEST),
    tools: Mapping[str, HostTool] = TOOLS,
    project_variable: str = "CLAUDE_PROJECT_DIR",
) -> Request:
    """The question in a payload of one of ``events``. Raises PayloadError."""
    payload = read_object(content)
    event = text_of(payload, "hook_event_name")
    if event not in events:
        raise PayloadError(f"this hook answers {' and '.join(events)}, not {event}")
    name = text_of(payload, "tool_name")
    called = (name, *canonical(tools, name, object_of(payload, "tool_input")))
    return asked(payload, called, env, event=event, project_variable=project_variable)


def asked(
    payload: Mapping[str, Any],
    called: tuple[str, str, Mapping[str, Any]],
    env: Mapping[str, str],
    *,
    event: str,
    project_variable: str,
) -> Request:
    """The Request for a tool, with the payload's directory, agent and session.

    ``called`` is its name as the host says it, the canonical one, and the input.
    """
    name, tool, values = called
    cwd = directory_of(dict(payload), "cwd")
    # After a `cd`, cwd is somewhere in the project: its config holds, and all of it is inside.
    project = env.get(project_variable, "")
    within = project.startswith("/") and is_inside(normalise(cwd), normalise(project))
    call = ToolCall(
        tool,
        values,
        cwd,
        agent=optional_text(dict(payload), "agent_type"),
        session=optional_text(dict(payload), "session_id"),
        roots=(project,) if within else (),
        spelling=name,
    )
    return Request(call, project if within else cwd, event)


def sample(tool: str = "Bash", event: str = PRE_TOOL_USE) -> Callable[[str, str], dict[str, Any]]:
    """The payloads by which a host of this protocol asks about a command."""

    def payload(command: str, cwd: str) -> dict[str, Any]:
        return {
            "session_id": "sample",
            "cwd": cwd,
            "hook_event_name": event,
            "tool_name": tool,
            "tool_input": {"command": command},
        }

    return payload


def answer(decision: Decision, request: Request, *, asks: bool = True) -> Answer:
    """The answer to either event."""
    said = verdict(decision, asks=asks)
    if request.event == PERMISSION_REQUEST:
        # A prompt is about to show: silence leaves it to the person, which is to ask.
        if said.word not in ("allow", "deny"):
            return Answer()
        told = {"message": said.reason} if said.word == "deny" else {}
        return _output(PERMISSION_REQUEST, {"decision": {"behavior": said.word, **told}})
    if not said.word:
        return Answer()
    return _output(PRE_TOOL_USE, _decided(said.word, said.reason))


def refuse(reason: str) -> Answer:
    """See Host."""
    text = refusal(reason)
    output = _output(PRE_TOOL_USE, _decided("deny", text))
    return Answer(output.stdout, text, 2)


def _decided(word: str, reason: str) -> dict[str, Any]:
    return {"permissionDecision": word, "permissionDecisionReason": reason}


def _output(event: str, said: dict[str, Any]) -> Answer:
    return Answer(json.dumps({"hookSpecificOutput": {"hookEventName": event, **said}}))
