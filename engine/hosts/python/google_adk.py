"""Google ADK: a plugin for all agents of an app, or a callback for one agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from ringfence.engine.hosts.python.guard import Guard, message

Callback = Callable[[BaseTool, dict[str, Any], ToolContext], Awaitable[dict[str, Any] | None]]


class RingfencePlugin(BasePlugin):
    """Judges each tool call, for ``App(plugins=[RingfencePlugin(guard)])``.

    A call that may not run has ``{"error": reason}`` as its response. With ``confirms``, a question
    is a confirmation that ADK requests (``adk_request_confirmation``), with the text as its hint.
    """

    def __init__(self, guard: Guard, *, confirms: bool = False) -> None:
        super().__init__("ringfence")
        self.guard = guard
        self.confirms = confirms

    async def before_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,
    ) -> dict[str, Any] | None:
        """See BasePlugin."""
        return await _judged(self.guard, tool, tool_args, tool_context, self.confirms)


def before_tool(guard: Guard, *, confirms: bool = False) -> Callback:
    """The same for one agent: ``LlmAgent(before_tool_callback=before_tool(guard))``."""

    async def callback(
        tool: BaseTool,
        args: dict[str, Any],
        tool_context: ToolContext,
    ) -> dict[str, Any] | None:
        return await _judged(guard, tool, args, tool_context, confirms)

    return callback


async def _judged(
    guard: Guard, tool: BaseTool, args: dict[str, Any], context: ToolContext, confirms: bool
) -> dict[str, Any] | None:
    call = guard.call(tool.name, args)
    if confirms:
        answer = context.tool_confirmation
        if answer is None and (decision := guard.question(call)) is not None:
            context.request_confirmation(hint=decision.message)
            # It is no result: the model, told of it, would make the call again.
            context.actions.skip_summarization = True
            return {"error": "This call waits for a person to confirm it."}
        guard = guard.answered(yes=answer is not None and answer.confirmed)
    text = message(await guard.judge_async(call))
    return None if text is None else {"error": text}
