"""Pydantic AI: a capability that looks at each tool call before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import ApprovalRequired, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import SkipToolExecution
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition

from ringfence.engine.hosts.python.guard import Guard, message


@dataclass
class Ringfence(AbstractCapability[Any]):
    """Judges each call, for ``Agent(capabilities=[Ringfence(guard)])``.

    A call that may not run has the reason as its result. With ``defers``, a question defers the
    call (the agent's ``output_type`` needs DeferredToolRequests), with the text as ``message`` in
    its metadata; a call that comes back approved runs, unless a rule denies it.
    """

    guard: Guard
    defers: bool = False

    async def before_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,  # noqa: ARG002 - the protocol's
        tool_def: ToolDefinition,
        args: dict[str, Any],
    ) -> dict[str, Any]:
        """See AbstractCapability."""
        if tool_def.kind == "output":
            return args  # the run's own result: it goes nowhere
        guard = self.guard
        asked = guard.call(tool_def.name, args)
        if self.defers:
            if not ctx.tool_call_approved and (decision := guard.question(asked)) is not None:
                raise ApprovalRequired(metadata={"message": decision.message})
            guard = guard.answered(yes=ctx.tool_call_approved)
        text = message(await guard.judge_async(asked))
        if text is not None:
            raise SkipToolExecution(text)
        return args
