"""One call of a command: its world, its expanded words and where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringfence.engine.shell.core import Run, World
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import State
from ringfence.grammar.nodes import Assignment, Span
from ringfence.grammar.records import define, field
from ringfence.rules.model import Field, Operation


@define
class Call:
    """A command word with its arguments, in one world.

    ``assignments`` holds, by their place in ``argv``, the arguments that bash reads as
    assignments (of ``declare`` and its like).
    """

    world: World
    argv: list[Field]
    span: Span
    assignments: Mapping[int, Assignment] = field(factory=dict)

    @property
    def run(self) -> Run:
        """The run."""
        return self.world.run

    @property
    def state(self) -> State:
        """The state, to be changed in place."""
        return self.world.state

    @property
    def name(self) -> str:
        """The command word."""
        return self.argv[0].text

    @property
    def arguments(self) -> list[Field]:
        """The words after the command word."""
        return self.argv[1:]

    def succeeds(self) -> Outcome:
        """The outcome of a command that never fails."""
        self.state.status = "0"
        return Outcome(self.state, None)

    def fails(self) -> Outcome:
        """The outcome of a command that cannot succeed."""
        self.state.status = "1"
        return Outcome(None, self.state)

    def either(self) -> Outcome:
        """The outcome of a command that may do both."""
        state = self.world.state
        return Outcome(state, state)

    def touch(self, at: Field, operation: Operation, *, path: str | None = None) -> str | None:
        """Record that an argument names a path; its absolute form, if there is one."""
        return self.run.recorder.effect(
            at.text if path is None else path, operation, at, self.name, self.world.directory
        )

    def unknown(self, reason: str, at: Field, *, runs: bool = False) -> None:
        """Record that what the argument ``at`` does, or ``runs``, is only known at run time."""
        self.run.recorder.unknown(reason, at, runs=runs)


def operands(
    arguments: Sequence[Field], *, with_values: str = "", stop_at: Sequence[str] = ("-",)
) -> list[Field]:
    """The words after the options; an option letter in ``with_values`` takes the next word."""
    words = list(arguments)
    while words and words[0].text.startswith("-") and words[0].text not in stop_at:
        option = words.pop(0).text
        if option == "--":
            break
        if option[-1] in with_values and words:
            words.pop(0)
    return words
