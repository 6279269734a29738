"""The one door: an Engine decides calls, and asks about them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ringfence.engine.analyses import Analyses
from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.escape import visible
from ringfence.engine.filesystem import FileSystem, RealFileSystem
from ringfence.engine.log import ReviewLog
from ringfence.engine.pipeline import (
    Collected,
    combine,
    decide,
    decided,
    environment,
    gather,
    judge,
)
from ringfence.engine.policy import LayeredPolicy, load_policy
from ringfence.engine.state import StateError
from ringfence.engine.tools import home_of
from ringfence.grammar.records import evolve, field, frozen
from ringfence.rules.model import State, Verdict

if TYPE_CHECKING:  # few calls ask, and not every call parses
    from ringfence.engine.approval import Approver, AsyncApprover
    from ringfence.engine.grants import Grant, GrantStore, Offer
    from ringfence.engine.loops import LoopStore
    from ringfence.grammar import Grammar

BY_GRANT: Final = "granted before"
"""The resolution of a call that would be asked about, were it not for grants."""


@frozen
class Engine:
    """Decides tool calls under one policy, looking at one file system.

    Without arguments: the built-in defaults (ask about everything outside the working directory,
    allow the rest) on the real file system. ``Engine.load`` reads the config files instead.
    With a ``log``, decisions are written down for review. With ``grants``, what the user has
    allowed before is not asked again. With ``loops``, calls that a session repeats are counted,
    if the policy says something of them. ``grammar`` is one that extends bash's
    (``ringfence.grammar.bash().extend``).

    >>> Engine().decide(ToolCall.bash("cat /etc/hosts", cwd="/home/dev/project")).state
    <State.ASK: 'ask'>
    """

    policy: LayeredPolicy = field(factory=LayeredPolicy)
    filesystem: FileSystem = field(factory=RealFileSystem)
    log: ReviewLog | None = None
    grammar: Grammar | None = None
    grants: GrantStore | None = None
    loops: LoopStore | None = None
    project: str | None = None  # the folder that grants for a project are for; None: the call's
    _analyses: Analyses = field(factory=Analyses, init=False, repr=False, eq=False)

    @classmethod
    def load(
        cls,
        cwd: str | None,
        *,
        config: str | None = None,
        filesystem: FileSystem | None = None,
        log: ReviewLog | None = None,
        grants: GrantStore | None = None,
        loops: LoopStore | None = None,
        grammar: Grammar | None = None,
        roots: Iterable[str] = (),
        project: str | None = None,
    ) -> Engine:
        """An engine with the policy of the user's files and of the projects in ``cwd``.

        ``roots`` are other folders of the same work, whose projects hold, too. ``config`` is a file
        to use instead of all of them. ``project`` is the folder that grants for a project are for,
        by default ``cwd``. Nothing is written down, granted before or counted but with a ``log``,
        ``grants`` and ``loops``: ``of_user`` has them all. Raises ConfigError for a file that
        cannot be used: never go on without it, since what it forbids would be allowed.
        """
        policy = load_policy(cwd, config=config, roots=roots)
        files = filesystem or RealFileSystem()
        return cls(policy, files, log, grammar, grants=grants, loops=loops, project=project or cwd)

    @classmethod
    def of_user(
        cls,
        cwd: str,
        *,
        by: str = "python",
        config: str | None = None,
        filesystem: FileSystem | None = None,
        grammar: Grammar | None = None,
    ) -> Engine:
        """The same with all that the user has: the review log, grants, and counts of loops.

        ``by`` says in the log who decided, such as the name of the program. Loops are counted for
        calls with a ``session``.
        """
        from ringfence.engine.grants import GrantStore  # noqa: PLC0415 - as above
        from ringfence.engine.loops import LoopStore  # noqa: PLC0415 - as above

        return cls.load(
            cwd,
            config=config,
            filesystem=filesystem,
            log=ReviewLog.of_user(by),
            grants=GrantStore.of_user(),
            loops=LoopStore.of_user(),
            grammar=grammar,
        )

    def decide(self, call: ToolCall, asks: bool = True) -> Decision:
        """Allow, ask or deny, with everything that the answer rests on.

        Unless the caller ``asks`` a person, the policy's ``headless`` answer stands for an ask.
        Raises ValueError if ``call.cwd`` is not absolute; whatever else goes wrong is an ask.
        """
        decision = self._decided(call)
        if decision.state is State.ASK and not asks:
            decision = self._unanswered(decision)
        return self._recorded(decision)

    def approve(self, call: ToolCall, approver: Approver) -> Decision:
        """Decide, and let ``approver`` answer if the answer is ask: allow or deny comes back.

        What the answer keeps is stored with the engine's ``grants``; an answer that was not
        offered counts as a no. Raises as ``decide``, what the approver raises, except
        NobodyToAskError, and TypeError for an approver that is none or must be awaited.
        """
        from ringfence.engine.approval import (  # noqa: PLC0415 - as above
            NobodyToAskError,
            ask,
            check,
            source_of,
        )

        check(approver, waits=False)
        start, decision = time.perf_counter(), self._decided(call)
        if decision.state is State.ASK:
            offers = self.offers(decision)
            try:
                answer = ask(approver, decision, offers)
            except NobodyToAskError:
                decision = self._unanswered(decision)
            else:
                decision = self._answered(decision, answer, offers, source_of(approver))
        return self._recorded(evolve(decision, duration=time.perf_counter() - start))

    async def approve_async(self, call: ToolCall, approver: Approver | AsyncApprover) -> Decision:
        """The same for an event loop, on which no approver is waited for without ``await``."""
        from ringfence.engine.approval import (  # noqa: PLC0415 - as above
            NobodyToAskError,
            ask_async,
            check,
            source_of,
        )

        check(approver, waits=True)
        start, decision = time.perf_counter(), self._decided(call)
        if decision.state is State.ASK:
            offers = self.offers(decision)
            try:
                answer = await ask_async(approver, decision, offers)
            except NobodyToAskError:
                decision = self._unanswered(decision)
            else:
                decision = self._answered(decision, answer, offers, source_of(approver))
        return self._recorded(evolve(decision, duration=time.perf_counter() - start))

    def offers(self, decision: Decision) -> tuple[Offer, ...]:
        """The answers to a decision that asks: the first keeps nothing, then the narrowest."""
        from ringfence.engine.grants.offers import offers  # noqa: PLC0415 - as above

        home = home_of(environment(decision.call))
        found = offers(decision, self.filesystem, home, self.project)
        return found if self.grants is not None else found[:1]

    def trace(self, call: ToolCall) -> tuple[LayeredPolicy, Collected, Decision]:
        """The policy for a call, what was found about it, and the decision, to be explained.

        It is not written down and counts for no loop. Raises as ``decide``.
        """
        env = environment(call)
        policy = self.policy.for_agent(call.agent, env)
        collected = gather(
            call, policy, self.filesystem, self.grammar, env=env, analyses=self._analyses
        )
        decision = combine(call, collected, judge(collected, policy))
        if decision.state is State.ASK and self.grants is not None:
            decision = self._granted(decision, self.grants)
        return policy, collected, decision

    def _decided(self, call: ToolCall) -> Decision:
        start = time.perf_counter()
        env = environment(call)
        policy = self.policy.for_agent(call.agent, env)
        repeated = self._repeated(call, policy)
        decision = decide(
            call,
            policy,
            self.filesystem,
            self.grammar,
            repeated=repeated,
            env=env,
            analyses=self._analyses,
            headless=policy.headless,
            started=start,
        )
        if decision.state is not State.ASK or self.grants is None:
            return decision
        decision = self._granted(decision, self.grants)
        return evolve(decision, duration=time.perf_counter() - start)

    def _repeated(self, call: ToolCall, policy: LayeredPolicy) -> int:
        if self.loops is None or not call.session or not policy.watches_loops:
            return 0
        try:
            return self.loops.count(call)
        except StateError as error:
            _complain(f"whether this call is repeated is not known: {error}")
            return 0

    def _granted(self, decision: Decision, store: GrantStore) -> Decision:
        from ringfence.engine.grants import GrantError, granted  # noqa: PLC0415 - as above

        try:
            grants = store.read()
        except GrantError as error:
            note = f"No grant counts: {error}"
            return decided(evolve(decision, notes=(*decision.notes, note)), decision.verdicts)
        verdicts = granted(decision, grants, str(store.path))
        if verdicts is decision.verdicts:
            return decision
        decision = decided(decision, verdicts)
        by_grants = BY_GRANT if decision.state is State.ALLOW else ""
        return evolve(decision, resolution=by_grants)

    def _answered(
        self, decision: Decision, offer: Offer | None, offers: tuple[Offer, ...], source: str
    ) -> Decision:
        from ringfence.engine.approval import (  # noqa: PLC0415 - as above
            allowed,
            changed,
            declined,
            unoffered,
        )
        from ringfence.engine.grants import GrantError  # noqa: PLC0415 - as above

        if offer is None:
            return declined(decision)
        if offer not in offers:
            return unoffered(decision)
        _, _, again = self.trace(decision.call)
        if again.state is not State.ALLOW and _asked(again) - _asked(decision):
            return changed(again)  # a link, a file, a rule: what was answered is not what would run
        kept: tuple[Grant, ...] = ()
        note = ""
        if offer.grants and self.grants is not None:
            try:
                kept = self.grants.add(offer.grants)
            except GrantError as error:
                note = f"The answer holds for this call alone: {error}"
        return allowed(decision, offer, kept, note, source)

    def _unanswered(self, decision: Decision) -> Decision:
        from ringfence.engine.approval import unanswered  # noqa: PLC0415 - as above

        return unanswered(decision, self.policy.config)

    def _recorded(self, decision: Decision) -> Decision:
        if self.log is not None:
            self.log.record(decision)
        return decision


def _asked(decision: Decision) -> set[Verdict]:
    """What is asked or refused."""
    return {verdict for verdict in decision.verdicts if verdict.state is not State.ALLOW}


def _complain(text: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"ringfence: {visible(text)}\n")
