"""OpenAI Agents SDK: a guardrail on the input of each function tool.

A call that may not run is answered with the reason, and the model goes on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from agents import (
    FunctionTool,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
)

from ringfence.engine.hosts.python.guard import Guard

_LOCAL = ("executor", "editor", "computer", "on_invoke_tool")
"""What a tool that works on this machine has; others run at the provider."""


def guardrail(guard: Guard) -> ToolInputGuardrail[Any]:
    """The guardrail, for ``function_tool(tool_input_guardrails=[guardrail(guard)])``."""

    async def judge(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        text = await guard.objection_async(context.tool_name, context.tool_arguments)
        if text is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(text)

    return ToolInputGuardrail(guardrail_function=judge, name="ringfence")


def guarded(tools: Iterable[Tool], guard: Guard) -> list[Tool]:
    """The tools, each of them judged before all other guardrails.

    Raises TypeError for one that works on this machine and has no guardrails, such as the SDK's
    ShellTool: give the agent a function tool in its place.
    """
    found: list[Tool] = []
    first = guardrail(guard)
    for tool in tools:
        if isinstance(tool, FunctionTool):
            others = tool.tool_input_guardrails or []
            found.append(dataclasses.replace(tool, tool_input_guardrails=[first, *others]))
        elif any(hasattr(tool, name) for name in _LOCAL):
            raise TypeError(f"{type(tool).__name__} has no guardrails, so it cannot be judged")
        else:
            found.append(tool)
    return found
