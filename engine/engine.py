"""The one door: an Engine decides calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.filesystem import FileSystem, RealFileSystem
from ringfence.engine.log import ReviewLog
from ringfence.engine.pipeline import decide, environment
from ringfence.engine.policy import LayeredPolicy, load_policy

if TYPE_CHECKING:
    from ringfence.grammar import Grammar  # not every call parses


@frozen
class Engine:
    """Decides tool calls under one policy, looking at one file system.

    Without arguments: the built-in defaults (ask about everything outside the working directory,
    allow the rest) on the real file system. ``Engine.load`` reads the config files instead.
    With a ``log``, decisions are written down for review. ``grammar`` is one that extends bash's
    (``ringfence.grammar.bash().extend``).

    >>> Engine().decide(ToolCall.bash("cat /etc/hosts", cwd="/home/dev/project")).state
    <State.ASK: 'ask'>
    """

    policy: LayeredPolicy = field(factory=LayeredPolicy)
    filesystem: FileSystem = field(factory=RealFileSystem)
    log: ReviewLog | None = None
    grammar: Grammar | None = None

    @classmethod
    def load(
        cls,
        cwd: str | None,
        *,
        config: str | None = None,
        filesystem: FileSystem | None = None,
        log: ReviewLog | None = None,
    ) -> Engine:
        """An engine with the policy of the user's files and of the project in ``cwd``.

        ``config`` is a file to use instead of both. Raises ConfigError for a file that cannot
        be used: never go on without it, since what it forbids would be allowed.
        """
        return cls(load_policy(cwd, config=config), filesystem or RealFileSystem(), log)

    def decide(self, call: ToolCall) -> Decision:
        """Allow, ask or deny, with everything that the answer rests on.

        Raises ValueError if ``call.cwd`` is not absolute; whatever else goes wrong is an ask.
        """
        policy = self.policy.for_agent(call.agent, environment(call))
        decision = decide(call, policy, self.filesystem, self.grammar)
        if self.log is not None:
            self.log.record(decision)
        return decision
