"""OpenAI Agents SDK: a guardrail on the input of each function tool.

Of the SDK's own tools that work on this machine, what executes them is wrapped. A call that may not
run is answered with the reason, and the model goes on.
"""

from __future__ import annotations

import dataclasses
import inspect
import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from agents import (
    ApplyPatchTool,
    CustomTool,
    FunctionTool,
    LocalShellTool,
    ShellTool,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
)
from agents.editor import ApplyPatchEditor, ApplyPatchOperation

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.hosts.python.decorator import ToolRefusedError
from ringfence.engine.hosts.python.guard import Guard, message
from ringfence.grammar.records import frozen

_LOCAL = ("executor", "editor", "computer", "on_invoke_tool")
"""What a tool that works on this machine has; others run at the provider."""

_FILES = {"create_file": "write", "update_file": "edit", "delete_file": "delete"}
"""What the operations of a patch are."""

Executor = Callable[[Any], Any]
Calls = Sequence[ToolCall | Decision]


def guardrail(guard: Guard) -> ToolInputGuardrail[Any]:
    """The guardrail, for ``function_tool(tool_input_guardrails=[guardrail(guard)])``."""
    return _Gate(guard).guardrail()


def guarded(tools: Iterable[Tool], guard: Guard, *, approvals: bool = False) -> list[Tool]:
    """The tools, each of them judged before all other guardrails.

    With ``approvals``, a question interrupts the run as one of the SDK's own (``needs_approval``):
    ``result.interruptions``, ``state.approve`` and ``state.reject``. LocalShellTool has none.

    Raises TypeError for one that works on this machine and cannot be judged, as ComputerTool.
    """
    gate = _Gate(guard, approvals)
    return [gate.tool(tool) for tool in tools]


@frozen
class _Gate:
    """Puts ``guard`` before tools."""

    guard: Guard
    approvals: bool = False

    def tool(self, tool: Tool) -> Tool:
        """The tool, judged."""
        match tool:
            case FunctionTool():
                others = tool.tool_input_guardrails or []
                return dataclasses.replace(
                    tool,
                    tool_input_guardrails=[self.guardrail(), *others],
                    needs_approval=self._needs(
                        tool.needs_approval, lambda given: [self.guard.call(tool.name, given)]
                    ),
                )
            case ShellTool(executor=executor) if executor is not None:
                return dataclasses.replace(
                    tool,
                    executor=self._executor(executor, tool.name),
                    needs_approval=self._needs(tool.needs_approval, self._commands),
                )
            case LocalShellTool():
                return dataclasses.replace(tool, executor=self._local_executor(tool.executor))
            case ApplyPatchTool():
                return dataclasses.replace(
                    tool,
                    editor=_Editor(tool.editor, self),
                    needs_approval=self._needs(tool.needs_approval, self.files),
                )
            case CustomTool():
                return self._custom(tool)
        # A ShellTool without an executor runs in a container at the provider.
        if any(getattr(tool, name, None) is not None for name in _LOCAL):
            raise TypeError(f"{type(tool).__name__} has nothing by which it could be judged")
        return tool

    def guardrail(self) -> ToolInputGuardrail[Any]:
        """The guardrail of a function tool."""

        async def judge(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
            context = data.context
            call = self.guard.call(context.tool_name, context.tool_arguments)
            approved = context.is_tool_approved(context.tool_name, context.tool_call_id)
            decision = await self.judged([call], approved=approved is True)
            if decision is None:
                return ToolGuardrailFunctionOutput.allow()
            return ToolGuardrailFunctionOutput.reject_content(message(decision) or "")

        return ToolInputGuardrail(guardrail_function=judge, name="ringfence")

    async def judged(self, calls: Calls, *, approved: bool) -> Decision | None:
        """None if all of the calls may run, else the decision about the first that may not."""
        guard = self.guard.answered(yes=approved) if self.approvals else self.guard
        for call in calls:
            decision = await guard.judge_async(call)
            if message(decision) is not None:
                return decision
        return None

    async def check(self, calls: Calls, *, approved: bool) -> None:
        """Raises ToolRefusedError, whose text the SDK gives to the model."""
        decision = await self.judged(calls, approved=approved)
        if decision is not None:
            raise ToolRefusedError(message(decision) or "", decision)

    # --- how each tool's call reads --------------------------------------------------------------

    def files(self, operation: ApplyPatchOperation) -> Calls:
        """The files of one operation of a patch."""
        calls = [self.guard.call(_FILES[operation.type], {"path": operation.path})]
        if operation.move_to is not None:
            calls.append(self.guard.call("write", {"path": operation.move_to}))
        return calls

    def _commands(self, action: Any) -> Calls:
        """The commands of one call, each alone and, should they share a shell, as one script."""
        commands = list(action.commands)
        scripts = commands if len(commands) < 2 else ["\n".join(commands), *commands]
        return [self.guard.call("bash", {"command": script}) for script in scripts]

    def _local_command(self, action: Any) -> Calls:
        command = shlex.join(action.command)
        if action.env:
            pairs = [f"{name}={value}" for name, value in action.env.items()]
            command = f"env {shlex.join(pairs)} {command}"
        values = {"command": command}
        if action.working_directory:
            values["workdir"] = action.working_directory
        return [self.guard.call("bash", values)]

    # --- what stands before each tool ------------------------------------------------------------

    def _executor(self, executor: Executor, name: str) -> Executor:
        async def execute(request: Any) -> Any:
            approved = request.ctx_wrapper.is_tool_approved(name, request.data.call_id)
            await self.check(self._commands(request.data.action), approved=approved is True)
            return await _result(executor(request))

        return execute

    def _local_executor(self, executor: Executor) -> Executor:
        # It knows no approvals, so a question is one for the guard's approver; and an exception
        # would end the run.
        gate = _Gate(self.guard)

        async def execute(request: Any) -> Any:
            calls = gate._local_command(request.data.action)
            decision = await gate.judged(calls, approved=False)
            if decision is not None:
                return message(decision)
            return await _result(executor(request))

        return execute

    def _custom(self, tool: CustomTool) -> CustomTool:
        def calls(given: str) -> Calls:
            return [self.guard.call(tool.name, {"input": given})]

        async def invoke(context: Any, given: str) -> Any:
            approved = context.is_tool_approved(tool.name, context.tool_call_id)
            await self.check(calls(given), approved=approved is True)
            return await _result(tool.on_invoke_tool(context, given))

        needs = self._needs(tool.needs_approval, calls)
        return dataclasses.replace(tool, on_invoke_tool=invoke, needs_approval=needs)

    def _needs(self, own: Any, calls: Callable[[Any], Calls]) -> Any:
        """``needs_approval``, which the tool may have by itself, too."""
        if not self.approvals:
            return own

        async def needs(context: Any, asked: Any, call_id: str) -> bool:
            if await _result(own(context, asked, call_id) if callable(own) else own):
                return True
            return any(self.guard.question(call) is not None for call in calls(asked))

        return needs


@frozen
class _Editor:
    """The editor of an ApplyPatchTool."""

    editor: ApplyPatchEditor
    gate: _Gate

    async def create_file(self, operation: ApplyPatchOperation) -> Any:
        """See ApplyPatchEditor."""
        return await self._edited(operation)

    async def update_file(self, operation: ApplyPatchOperation) -> Any:
        """See ApplyPatchEditor."""
        return await self._edited(operation)

    async def delete_file(self, operation: ApplyPatchOperation) -> Any:
        """See ApplyPatchEditor."""
        return await self._edited(operation)

    async def _edited(self, operation: ApplyPatchOperation) -> Any:
        # An operation does not say of which call it is. With approvals, one that is to be asked
        # about comes this far only if the call was approved.
        await self.gate.check(self.gate.files(operation), approved=True)
        return await _result(getattr(self.editor, operation.type)(operation))


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
