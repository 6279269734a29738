"""Outcomes: the states after a command, by its exit status."""

from __future__ import annotations

from collections.abc import Sequence

from ringfence.engine.shell.state import State, join
from ringfence.grammar.frozen import frozen
from ringfence.rules.model import NAME


@frozen
class Outcome:
    """The state after a command, by its exit status; None where it cannot end so.

    Both may be the same State: whoever goes on in both ways copies it.
    """

    success: State | None
    failure: State | None

    @classmethod
    def either(cls, state: State) -> Outcome:
        """The command may succeed or fail."""
        return cls(state, state)

    def joined(self) -> State | None:
        """The state whatever the exit status; None if the command never ends."""
        success, failure = self.success, self.failure
        if success is failure:
            if success is not None:
                success.status = NAME
            return success
        if success is not None:
            success.status = "0"
        if failure is not None and (failure.status == "0" or not failure.status.isdecimal()):
            failure.status = "1"
        return join((success, failure))

    def inverted(self) -> Outcome:
        """The outcome of ``! command``."""
        return Outcome(self.failure, self.success)

    @classmethod
    def ended(cls, state: State | None) -> Outcome:
        """The command ends in ``state``, whatever its exit status; or never, if that is None."""
        return cls(state, state)

    @classmethod
    def any_of(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """One of ``outcomes``, nobody knows which."""
        return cls(join([o.success for o in outcomes]), join([o.failure for o in outcomes]))


def by_answer(state: State, answer: bool | None) -> Outcome:
    """The outcome of a test: None if nobody knows the answer."""
    state.status = {True: "0", False: "1", None: NAME}[answer]
    return by_status(state)


def by_status(state: State) -> Outcome:
    """The outcome of a command that ends with the status that the state holds."""
    if state.status == "0":
        return Outcome(state, None)
    return Outcome(None, state) if state.status.isdecimal() else Outcome.either(state)
