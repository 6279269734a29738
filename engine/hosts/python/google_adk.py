"""Google ADK: a plugin for all agents of an app, or a callback for one agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from ringfence.engine.hosts.python.guard import Guard

Callback = Callable[[BaseTool, dict[str, Any], ToolContext], Awaitable[dict[str, Any] | None]]


class RingfencePlugin(BasePlugin):
    """Judges each tool call, for ``App(plugins=[RingfencePlugin(guard)])``.

    A call that may not run has ``{"error": reason}`` as its response.
    """

    def __init__(self, guard: Guard) -> None:
        super().__init__("ringfence")
        self.guard = guard

    async def before_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: ToolContext,  # noqa: ARG002 - the protocol's
    ) -> dict[str, Any] | None:
        """See BasePlugin."""
        return await _judged(self.guard, tool, tool_args)


def before_tool(guard: Guard) -> Callback:
    """The same for one agent: ``LlmAgent(before_tool_callback=before_tool(guard))``."""

    async def callback(
        tool: BaseTool,
        args: dict[str, Any],
        tool_context: ToolContext,  # noqa: ARG001 - the protocol's, by name
    ) -> dict[str, Any] | None:
        return await _judged(guard, tool, args)

    return callback


async def _judged(guard: Guard, tool: BaseTool, args: dict[str, Any]) -> dict[str, Any] | None:
    text = await guard.objection_async(tool.name, args)
    return None if text is None else {"error": text}
