"""OpenAI Codex CLI: the PreToolUse and the PermissionRequest hook.

PreToolUse knows a deny alone: an ask or a bare allow counts as a failure of the hook, and the call
runs. So a question becomes a refusal that says how to allow it, and everything else is silence.
"""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.call import Decision
from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Answer, Host, HostTool, Request
from ringfence.grammar.records import evolve
from ringfence.rules.model import State

TOOLS: Mapping[str, HostTool] = {
    "Bash": HostTool("bash"),
    "apply_patch": HostTool("patch", {"command": "patch"}),
}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    request = claude.read(content, env, tools=TOOLS, project_variable="CODEX_PROJECT_DIR")
    patch = _patch(request.call.command or "")
    if patch is None:
        return request
    return evolve(
        request,
        call=evolve(request.call, tool="patch", input={"patch": patch}, spelling="apply_patch"),
    )


def _patch(command: str) -> str | None:
    """The patch, if the command is nothing but ``apply_patch`` with a here-document.

    Codex runs no such program: it applies the patch itself.
    """
    if not command.startswith("apply_patch"):
        return None
    from ringfence.grammar import TooComplex, nodes, parse  # noqa: PLC0415 - patches are few

    try:
        script = parse(command)
    except TooComplex:
        return None
    match script:
        case nodes.Script(
            body=nodes.List(items=(nodes.ListItem(terminator=end, command=simple),)), problem=None
        ) if end != "&":
            pass
        case _:
            return None
    match simple:
        case nodes.SimpleCommand(
            assignments=(),
            arguments=(word,),
            redirections=(nodes.Redirection(operator="<<", fd=None | "0", document=document),),
        ) if command[slice(*word.span)] == "apply_patch" and document and document.terminated:
            parts = document.body.parts
            texts = [part.text for part in parts if isinstance(part, nodes.Literal)]
            return "".join(texts) if len(texts) == len(parts) else None
    return None


def _answer(decision: Decision, request: Request) -> Answer:
    if request.event == claude.PERMISSION_REQUEST:
        return claude.answer(decision, request)
    if decision.state is State.ALLOW:
        return Answer()
    return claude.answer(decision, request, asks=False)


def _asks(request: Request) -> bool:
    return request.event == claude.PERMISSION_REQUEST


HOST = Host("codex", _read, _answer, claude.refuse, claude.sample(), asks=_asks)
