"""smolagents: it has no hook before a call, so each tool itself is made to ask.

That holds for tools, whichever agent calls them. The Python that a CodeAgent writes is judged as
the program of ``python3 -c`` before its interpreter gets it, and so are the tools that it calls.
"""

from __future__ import annotations

import inspect
import shlex
from functools import wraps
from typing import Any

from smolagents import CodeAgent, FinalAnswerTool, MultiStepAgent, Tool
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.remote_executors import RemotePythonExecutor

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


class GuardedExecutor(PythonExecutor):
    """An interpreter of a CodeAgent, which gets no code that may not run."""

    def __init__(self, executor: PythonExecutor, guard: Guard) -> None:
        self._executor = executor
        self._guard = guard

    def __call__(self, code_action: str) -> CodeOutput:
        """See PythonExecutor. Raises ToolRefusedError."""
        guard = self._guard
        command = f"python3 -c {shlex.quote(code_action)}"
        decision = guard.judge(guard.call("bash", {"command": command}))
        text = message(decision)
        if text is not None:
            raise ToolRefusedError(text, decision)
        return self._executor(code_action)

    def send_tools(self, tools: dict[str, Tool]) -> None:
        """See PythonExecutor."""
        self._executor.send_tools(tools)

    def send_variables(self, variables: dict[str, Any]) -> None:
        """See PythonExecutor."""
        self._executor.send_variables(variables)

    def __getattr__(self, name: str) -> Any:
        if name == "_executor":  # in a copy that is being made
            raise AttributeError(name)
        return getattr(self._executor, name)


def guard_agent(agent: MultiStepAgent, guard: Guard) -> None:
    """Do so with every tool of an agent, its code, and those of the agents that it manages.

    Code that runs on another machine is not judged.
    """
    if isinstance(agent, CodeAgent) and not isinstance(agent.python_executor, RemotePythonExecutor):
        agent.python_executor = GuardedExecutor(agent.python_executor, guard)
    for tool in agent.tools.values():
        if not isinstance(tool, FinalAnswerTool):
            guarded(tool, guard)
    for managed in agent.managed_agents.values():
        guard_agent(managed, guard)
