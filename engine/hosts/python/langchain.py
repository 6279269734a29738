"""LangChain and LangGraph: middleware around every tool call of ``create_agent``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from ringfence.engine.hosts.python.guard import Guard, message

Result: TypeAlias = ToolMessage | Command[Any]


class RingfenceMiddleware(AgentMiddleware):
    """Judges each tool call; one that may not run becomes a ToolMessage with the reason.

    With ``interrupts``, a question interrupts the graph (which then needs a checkpointer), with
    ``{"tool", "arguments", "message"}`` as its value; it is resumed with ``Command(resume=True)``
    to allow this call, and with anything else to decline it.
    """

    def __init__(self, guard: Guard, *, interrupts: bool = False) -> None:
        super().__init__()
        self.guard = guard
        self.interrupts = interrupts

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """See AgentMiddleware."""
        guard, call = self._asked(request)
        text = message(guard.judge(call))
        return handler(request) if text is None else _refused(request, text)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """See AgentMiddleware."""
        guard, call = self._asked(request)
        text = message(await guard.judge_async(call))
        return await handler(request) if text is None else _refused(request, text)

    def _asked(self, request: ToolCallRequest) -> tuple[Guard, Any]:
        """The guard that knows the person's answer, and the call."""
        name, arguments = request.tool_call["name"], request.tool_call["args"]
        call = self.guard.call(name, arguments)
        if not self.interrupts:
            return self.guard, call
        decision = self.guard.question(call)
        if decision is None:
            return self.guard.answered(yes=False), call
        # Outside of everything that catches exceptions: an interrupt is one.
        shown = {"tool": name, "arguments": arguments, "message": decision.message}
        return self.guard.answered(yes=interrupt(shown) is True), call


def _refused(request: ToolCallRequest, text: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")
