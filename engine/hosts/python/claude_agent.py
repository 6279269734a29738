"""Claude Agent SDK: a PreToolUse hook, which sees every call.

``can_use_tool`` sees only those that no rule, mode or hook has settled before.
"""

from __future__ import annotations

import json
import os
from typing import Any

from claude_agent_sdk import HookMatcher

from ringfence.engine.approval import PROMPT
from ringfence.engine.call import ToolCall
from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Request, canonical
from ringfence.engine.hosts.python.guard import Guard
from ringfence.engine.paths import is_inside, normalise
from ringfence.grammar.records import evolve


def pre_tool_use(guard: Guard, *, timeout: float | None = None) -> HookMatcher:
    """The hook, for ``ClaudeAgentOptions(hooks={"PreToolUse": [pre_tool_use(guard)]})``.

    Without an approver a question goes to Claude's own prompt, which is ``can_use_tool`` if there
    is one. Where the hook fails, the call is blocked; ``timeout`` (seconds; the SDK's own is 60)
    is one such failure, so leave a person time.
    """

    async def hook(payload: Any, _: str | None, __: Any) -> dict[str, Any]:
        try:
            request = claude.read(json.dumps(payload).encode(), os.environ)
            request = evolve(request, call=_known(request, guard))
        except Exception as error:  # noqa: BLE001  # the call must not run
            refused: dict[str, Any] = json.loads(claude.refuse(str(error)).stdout)
            return refused
        if guard.approver is None:
            decision = guard.decide(request.call)
        else:
            decision = await guard.judge_async(request.call)
            if any(verdict.rule.source == PROMPT for verdict in decision.verdicts):
                # A person said yes to the whole call: Claude need not ask once more.
                decision = evolve(decision, default=False)
        said: dict[str, Any] = json.loads(claude.answer(decision, request).stdout or "{}")
        return said

    return HookMatcher(hooks=[hook], timeout=timeout, on_failure="block")


def _known(request: Request, guard: Guard) -> ToolCall:
    """The call with the guard's tools, agent and directory: after a ``cd``, all of it is inside."""
    call = request.call
    tool, values = canonical(guard.tools, call.tool, call.input)
    within = guard.cwd is not None and is_inside(normalise(call.cwd), normalise(guard.cwd))
    roots = (*call.roots, guard.cwd) if within and guard.cwd else call.roots
    return evolve(
        call,
        tool=tool,
        input=values,
        roots=roots,
        agent=guard.agent or call.agent,
        session=guard.session or call.session,
    )
