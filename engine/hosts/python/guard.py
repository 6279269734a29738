"""What all Python agents share: a guard that decides calls and asks about them, failing closed."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn, Self

from ringfence.engine.approval import Approver, AsyncApprover, NobodyToAskError, source_of
from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.grants import Offer
from ringfence.engine.hosts.model import HostTool, canonical, refusal, verdict
from ringfence.engine.hosts.payload import PayloadError, read_object
from ringfence.engine.hosts.python.values import plain
from ringfence.engine.policy.model import Entry, Layer
from ringfence.grammar.records import evolve, field, frozen
from ringfence.rules.model import State

Asked = Approver | AsyncApprover | Callable[[Decision], bool | Awaitable[bool]]
"""Who answers a question: an approver, or a function, plain or async, that returns True to allow
this one call."""

CODE = "the agent's code"
"""The source of what a program says of its own tools."""


def _tools(given: Mapping[str, str | HostTool]) -> dict[str, HostTool]:
    return {n: HostTool(t) if isinstance(t, str) else t for n, t in given.items()}


def _absolute(cwd: str | os.PathLike[str] | None) -> str | None:
    return None if cwd is None else os.path.abspath(cwd)


@frozen
class Guard:
    """Decides the calls of an agent that runs in this process.

    ``cwd`` is the working directory; None means this process's at the time of the call.
    ``approver`` answers questions; without one, a question is a refusal that says how to allow the
    call (the policy's ``headless`` may say otherwise). ``tools`` says what the agent's own tools
    are: ``{"run_shell": "bash", "open_file": HostTool("read", {"name": "path"})}``.
    """

    engine: Engine = field(factory=Engine)
    cwd: str | None = field(default=None, converter=_absolute)
    approver: Asked | None = field(default=None, kw_only=True)
    tools: Mapping[str, HostTool] = field(factory=dict, converter=_tools, kw_only=True)
    agent: str | None = field(default=None, kw_only=True)
    session: str | None = field(default=None, kw_only=True)

    @classmethod
    def load(
        cls,
        cwd: str | os.PathLike[str] | None = None,
        *,
        config: str | None = None,
        approver: Asked | None = None,
        tools: Mapping[str, str | HostTool] | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> Self:
        """A guard with the user's and the project's policy, the user's grants and review log.

        The files are read once. Raises ConfigError for one that cannot be used.
        """
        engine = Engine.of_user(_absolute(cwd) or os.getcwd(), config=config)
        return cls(engine, cwd, approver=approver, tools=tools or {}, agent=agent, session=session)

    def knowing(self, *tools: str) -> Self:
        """A guard that judges these tools by their arguments alone, as long as no file says more.

        A tool that is not known is asked about otherwise. What a file says of it holds.
        """
        entries = tuple(Entry("tools", tool, State.ALLOW, CODE) for tool in tools)
        policy = self.engine.policy
        layers = (Layer(CODE, CODE, {"tools": entries}), *policy.layers)
        return evolve(self, engine=evolve(self.engine, policy=evolve(policy, layers=layers)))

    def call(self, tool: str, arguments: Mapping[str, Any] | str) -> ToolCall | Decision:
        """The call of a tool of the agent's, or the refusal of arguments that are none.

        Frameworks give them as a dict, or as the JSON that the model wrote.
        """
        try:
            given = read_object(arguments.encode()) if isinstance(arguments, str) else arguments
            values = {str(key): plain(value) for key, value in given.items()}
            name, renamed = canonical(self.tools, tool, values)
            cwd = self.cwd or os.getcwd()
            return ToolCall(name, renamed, cwd, self.agent, self.session, spelling=tool)
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._refused(ToolCall(tool, {}, self.cwd or "/"), error)

    def decide(self, call: ToolCall | Decision) -> Decision:
        """Allow, ask or deny, and nobody is asked. Never raises: what goes wrong is a deny."""
        if isinstance(call, Decision):
            return call
        try:
            return self.engine.decide(call)
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._refused(call, error)

    def judge(self, call: ToolCall | Decision) -> Decision:
        """Allow or deny, after the approver was asked if need be. Never raises."""
        if isinstance(call, Decision):
            return call
        try:
            return self.engine.approve(call, _Person(self.approver))
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._refused(call, error)

    async def judge_async(self, call: ToolCall | Decision) -> Decision:
        """The same on an event loop; an approver that is not async is asked in a thread."""
        if isinstance(call, Decision):
            return call
        try:
            return await self.engine.approve_async(call, _AsyncPerson(self.approver))
        except Exception as error:  # noqa: BLE001  # the call must not run
            return self._refused(call, error)

    def question(self, call: ToolCall | Decision) -> Decision | None:
        """The ask that a framework is to put to a person; None where allow or deny is certain.

        What the person says is for ``answered``. Never raises.
        """
        quiet = evolve(self, engine=evolve(self.engine, log=None))
        decision = quiet.decide(call)
        if decision.state is not State.ASK:
            return None
        if self.engine.log is not None:
            self.engine.log.record(decision)
        return decision

    def answered(self, *, yes: bool) -> Self:
        """A guard for a call whose ``question`` a framework has put to a person, who said so."""
        # The call was counted with its question.
        return evolve(self, approver=lambda _: yes, engine=evolve(self.engine, loops=None))

    def objection(self, tool: str, arguments: Mapping[str, Any] | str) -> str | None:
        """None if the call may run, else the text for the model that says why it did not."""
        return message(self.judge(self.call(tool, arguments)))

    async def objection_async(self, tool: str, arguments: Mapping[str, Any] | str) -> str | None:
        """The same on an event loop."""
        return message(await self.judge_async(self.call(tool, arguments)))

    def _refused(self, call: ToolCall, error: Exception) -> Decision:
        plainly = isinstance(error, (ApproverError, PayloadError))
        reason = str(error) if plainly else f"internal error {type(error).__name__}"
        if self.engine.log is not None:
            self.engine.log.refused(reason)
        text = refusal(reason)
        return Decision(call, State.DENY, default=False, message=text, resolution="refused")


def message(decision: Decision) -> str | None:
    """The text for the model if the call may not run; None if it may."""
    said = verdict(decision, asks=False)
    return said.reason if said.word == "deny" else None


# --- those who answer ---------------------------------------------------------------------------


class ApproverError(Exception):
    """An approver that gave no answer; the text says what it did instead."""


@frozen
class _Person:
    """Whoever was given as an approver, as the engine asks it."""

    asked: Asked | None

    @property
    def source(self) -> str:
        return source_of(self.asked)

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
        answer = _ask(self.asked, decision, offers)
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise ApproverError("the approver is asynchronous, the tool is not")
        return _answer(answer, offers)


@frozen
class _AsyncPerson:
    """The same on an event loop."""

    asked: Asked | None

    @property
    def source(self) -> str:
        return source_of(self.asked)

    async def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
        call = getattr(self.asked, "approve", self.asked)
        if self.asked is None or inspect.iscoroutinefunction(call):
            answer = _ask(self.asked, decision, offers)
        else:  # it may wait for a person, and the loop must not
            answer = await asyncio.to_thread(_ask, self.asked, decision, offers)
        if inspect.isawaitable(answer):
            try:
                answer = await answer
            except Exception as error:  # noqa: BLE001  # it said neither yes nor no
                _failed(error)
        return _answer(answer, offers)


def _ask(asked: Asked | None, decision: Decision, offers: Sequence[Offer]) -> Any:
    if asked is None:
        raise NobodyToAskError
    approve = getattr(asked, "approve", None)
    try:
        if approve is not None:
            return approve(decision, offers)
        return asked(decision)  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001  # it said neither yes nor no
        _failed(error)


def _failed(error: Exception) -> NoReturn:
    if isinstance(error, NobodyToAskError):
        raise error
    raise ApproverError(f"the approver failed with {type(error).__name__}") from error


def _answer(answer: Any, offers: Sequence[Offer]) -> Offer | None:
    """Only a plain yes is one: a text, such as "no", is true in Python."""
    if answer is True:
        return offers[0]
    if answer is False or answer is None:
        return None
    if isinstance(answer, Offer) and answer in offers:
        return answer
    raise ApproverError("the approver gave an answer that is neither a bool nor one offered")
