"""Outcomes from exit statuses and answers."""

from __future__ import annotations

from ringfence.engine.shell.core import Outcome
from ringfence.engine.shell.state import State
from ringfence.rules.model import NAME


def by_answer(state: State, answer: bool | None) -> Outcome:
    """The outcome of a test: None if nobody knows the answer."""
    state.status = {True: "0", False: "1", None: NAME}[answer]
    return by_status(state)


def by_status(state: State) -> Outcome:
    """The outcome of a command that ends with the status that the state holds."""
    if state.status == "0":
        return Outcome(state, None)
    return Outcome(None, state) if state.status.isdecimal() else Outcome.either(state)
