"""Where ``break``, ``continue``, ``return`` and ``exit`` lead, and where ``set -e`` looks away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeAlias

from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import State, join
from ringfence.grammar.records import define, field
from ringfence.rules.model import is_known

_AS_BEFORE = nullcontext()


@define
class Loop:
    """The states in which one loop was left, or its next round begun, early."""

    broken: list[State] = field(factory=list)
    continued: list[State] = field(factory=list)


Around: TypeAlias = tuple[list[Loop], list[list[State]], int]
"""What is around a shell: its loops and functions, and the conditions."""


@define
class Control:
    """The loops, functions and shells around the current command, the innermost last.

    Of a function (or sourced file) and of a shell, the states in which they were left early are
    kept. ``guarded`` counts the conditions around, in which ``set -e`` does nothing.
    """

    loops: list[Loop] = field(factory=list)
    returns: list[list[State]] = field(factory=list)
    exits: list[list[State]] = field(factory=list)
    guarded: int = 0

    def leave(self, how: str, levels: int, state: State) -> Outcome:
        """Leave ``levels`` loops, the function or the shell; what follows is not reached."""
        if how in ("break", "continue"):
            if not self.loops:
                return Outcome(state, None)
            loop = self.loops[-min(max(levels, 1), len(self.loops))]
            (loop.broken if how == "break" else loop.continued).append(state.copy())
        elif how == "return" and self.returns:
            self.returns[-1].append(state.copy())
        elif how == "return":
            # In a subshell of a function it leaves the subshell; elsewhere it is only an error.
            self.exits[-1].append(state.copy())
            state.status = "1"
            return Outcome(None, state)
        else:
            self.exits[-1].append(state.copy())
        return Outcome(None, None)

    def guard(self, really: bool = True) -> AbstractContextManager[None]:
        """Within, a failure is looked at by a condition."""
        return self._guard() if really else _AS_BEFORE

    @contextmanager
    def _guard(self) -> Iterator[None]:
        self.guarded += 1
        try:
            yield
        finally:
            self.guarded -= 1

    @contextmanager
    def loop(self) -> Iterator[Loop]:
        """Within, ``break`` and ``continue`` are for the loop that is given."""
        self.loops.append(Loop())
        try:
            yield self.loops[-1]
        finally:
            self.loops.pop()

    @contextmanager
    def function(self) -> Iterator[None]:
        """Within, the loops outside cannot be left."""
        saved, self.loops = self.loops, []
        try:
            yield
        finally:
            self.loops = saved

    def enter_shell(self) -> Around:
        """Go where only the last of ``exits`` can be reached by leaving early; what was before."""
        around = (self.loops, self.returns, self.guarded)
        self.loops, self.returns = [], []
        self.exits.append([])
        return around

    def leave_shell(self, around: Around) -> None:
        """Go back to where ``enter_shell`` was called."""
        self.exits.pop()
        self.loops, self.returns, self.guarded = around

    def returning(self, body: Callable[[State], Outcome], state: State) -> Outcome:
        """The outcome of ``body``, which a ``return`` may end."""
        self.returns.append([])
        try:
            outcome = body(state)
            returned = self.returns[-1]
        finally:
            self.returns.pop()
        successes = [s for s in returned if s.status == "0" or not is_known(s.status)]
        failures = [s for s in returned if s.status != "0"]
        return Outcome(join((outcome.success, *successes)), join((outcome.failure, *failures)))
