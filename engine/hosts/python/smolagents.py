"""smolagents: it has no hook before a call, so each tool itself is made to ask.

That holds for tools, whichever agent calls them. The Python that a CodeAgent writes is not judged,
only what of it calls a tool: its own interpreter confines the rest.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any

from smolagents import FinalAnswerTool, MultiStepAgent, Tool

from ringfence.engine.hosts.python.decorator import ToolRefusedError
from ringfence.engine.hosts.python.guard import Guard, message
from ringfence.engine.hosts.python.values import named_by


def guarded(tool: Tool, guard: Guard) -> Tool:
    """The tool, which from now on raises ToolRefusedError where it may not run.

    The agent's model is told the reason as the error of its call.
    """
    forward = tool.forward
    signature = inspect.signature(forward)
    # What `@tool` makes of a function says that it takes `self`, which it does not.
    own = [p for p in signature.parameters.values() if p.name != "self"]
    named = named_by(signature.replace(parameters=own))

    @wraps(forward)
    def judged(*args: Any, **kwargs: Any) -> Any:
        decision = guard.judge(guard.call(tool.name, named(args, kwargs)))
        text = message(decision)
        if text is not None:
            raise ToolRefusedError(text, decision)
        return forward(*args, **kwargs)

    tool.forward = judged
    return tool


def guard_agent(agent: MultiStepAgent, guard: Guard) -> None:
    """Do so with every tool of an agent, and of the agents that it manages."""
    for tool in agent.tools.values():
        if not isinstance(tool, FinalAnswerTool):
            guarded(tool, guard)
    for managed in agent.managed_agents.values():
        guard_agent(managed, guard)
