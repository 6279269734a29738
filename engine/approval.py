"""Asking a person: the protocols for embedders, and what their answers make of a decision."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Final, Protocol

from ringfence.engine.call import Decision
from ringfence.engine.grants import Grant, Offer, Scope
from ringfence.engine.messages import (
    changed_reason,
    no_prompt_reason,
    unoffered_reason,
    user_denied_reason,
)
from ringfence.engine.pipeline import decided
from ringfence.grammar.records import evolve
from ringfence.rules.model import Rule, State

PROMPT: Final = "the prompt"
"""The source of the rule that an answer is, unless the approver says another."""


class NobodyToAskError(Exception):
    """Nobody could be asked. The policy's ``headless`` answer holds."""


class Approver(Protocol):
    """Someone who can be asked, such as a dialogue of an agent."""

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
        """One of ``offers`` to allow the call, None to decline. Raises NobodyToAskError.

        ``decision.message`` is the prompt: all causes of the call in one text. Each offer's ``str``
        says what it keeps; the first keeps nothing. An approver with an attribute ``source``
        (a text such as ``my-agent's dialogue``) is named by it in the review log.
        """


class AsyncApprover(Protocol):
    """The same for an event loop."""

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Awaitable[Offer | None]:
        """See Approver."""


def check(approver: object, *, waits: bool) -> None:
    """Raise TypeError for what cannot be asked, before there is anything to ask.

    Without ``waits``, nobody awaits what an asynchronous approver returns.
    """
    from inspect import iscoroutinefunction  # noqa: PLC0415 - it loads slowly

    approve = getattr(approver, "approve", None)
    if not callable(approve):
        name = type(approver).__name__
        raise TypeError(f"{name} is no approver: it has no method approve(decision, offers)")
    if not waits and iscoroutinefunction(approve):
        raise TypeError(_NOT_AWAITED)


def source_of(approver: object) -> str:
    """What the review log calls the place where the answer was given."""
    source = getattr(approver, "source", PROMPT)
    return source if isinstance(source, str) else PROMPT


def ask(approver: Approver, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
    """The answer of an approver. Raises TypeError for what is none: nobody has declined then."""
    answer: object = approver.approve(decision, offers)
    if isinstance(answer, Awaitable):
        if isinstance(answer, Coroutine):
            answer.close()
        raise TypeError(_NOT_AWAITED)
    return _answer(answer)


async def ask_async(
    approver: Approver | AsyncApprover, decision: Decision, offers: Sequence[Offer]
) -> Offer | None:
    """The same on an event loop; an approver that is not asynchronous is asked in a thread."""
    from asyncio import to_thread  # noqa: PLC0415 - as above
    from inspect import iscoroutinefunction  # noqa: PLC0415

    answer: object
    if iscoroutinefunction(approver.approve):
        answer = approver.approve(decision, offers)
    else:  # it may wait for a person, and the loop must not
        answer = await to_thread(approver.approve, decision, offers)
    return _answer(await answer if isinstance(answer, Awaitable) else answer)


_NOT_AWAITED = "the approver is asynchronous: await Engine.approve_async instead of approve"


def _answer(answer: object) -> Offer | None:
    if answer is None or isinstance(answer, Offer):
        return answer
    problem = f"the approver returned {type(answer).__name__}"
    raise TypeError(f"{problem}, neither one of the offers nor None, which declines")


def allowed(
    decision: Decision, offer: Offer, kept: Sequence[Grant], note: str = "", source: str = PROMPT
) -> Decision:
    """The decision after a person allowed it; ``kept`` are the grants as they were stored."""
    how = "allowed once" if offer.scope is Scope.ONCE or not kept else _granted(kept)
    notes = (*decision.notes, note) if note else decision.notes
    rule = Rule(State.ALLOW, f"the user's answer: {how}", source)
    verdicts = tuple(evolve(v, rule=rule) if v.state is State.ASK else v for v in decision.verdicts)
    return evolve(decided(decision, verdicts), resolution=how, notes=notes)


def _granted(kept: Sequence[Grant]) -> str:
    return f"granted {', '.join(grant.id for grant in kept)} ({kept[0].where})"


def declined(decision: Decision) -> Decision:
    """The decision after a person said no: the message is for the agent."""
    return _refused(decision, user_denied_reason(decision), "declined")


def unoffered(decision: Decision) -> Decision:
    """The decision where the approver's answer was none of those that it was offered."""
    how = "refused: the answer was not among the offers"
    return _refused(decision, unoffered_reason(decision), how)


def changed(decision: Decision) -> Decision:
    """The decision where the answer was to another question: ``decision`` is what holds now."""
    return _refused(decision, changed_reason(decision), "refused: changed while it was asked about")


def unanswered(decision: Decision, config: str = "") -> Decision:
    """The decision where nobody could be asked, under the one ``config`` if there is one."""
    if decision.headless is State.ALLOW:
        how = "allowed: nobody to ask (headless)"
        # No rule allowed it: what the host itself would ask or forbid stays as it is.
        return evolve(decision, state=State.ALLOW, default=True, message="", resolution=how)
    return _refused(decision, no_prompt_reason(decision, config), "refused: nobody to ask")


def _refused(decision: Decision, message: str, how: str) -> Decision:
    return evolve(decision, state=State.DENY, message=message, resolution=how)
