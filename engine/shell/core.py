"""What every part of the evaluator works on: the run, and one world of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from ringfence.engine.filesystem import FileSystem
from ringfence.engine.paths import is_inside
from ringfence.engine.shell.control import Control
from ringfence.engine.shell.limits import (
    MAX_DEPTH,
    MAX_SCRIPT_STEPS,
    MAX_STEPS,
    MAX_WORLDS,
    LimitExceededError,
)
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.overlay import Overlay
from ringfence.engine.shell.recorder import Recorder
from ringfence.engine.shell.state import State, Value, Variable, join_values
from ringfence.engine.shell.texts import joined
from ringfence.grammar import Grammar
from ringfence.grammar.nodes import (
    Command,
    FunctionDefinition,
    List,
    Redirection,
    Script,
    Span,
    Word,
)
from ringfence.grammar.records import define, evolve, field, frozen
from ringfence.rules.model import UNKNOWN, Field

T = TypeVar("T")


@frozen
class Shell:
    """The shell that would run a command: where, with which variables, seeing which files."""

    cwd: str
    env: Mapping[str, str]
    filesystem: FileSystem


class Walker(Protocol):
    """The walk over the tree, as the parts that it calls see it."""

    run: Run
    control: Control

    def execute(self, command: Command, state: State) -> Outcome:
        """Evaluate a command in ``state``, which is used up."""

    def execute_list(self, body: List, state: State) -> Outcome:
        """Evaluate a list of commands in ``state``, which is used up."""

    def execute_script(self, script: Script, state: State) -> Outcome:
        """Evaluate a parsed script in ``state``, which is used up; past a problem it is opaque."""

    def redirect(self, redirections: Sequence[Redirection], state: State) -> Outcome:
        """Perform ``redirections`` in ``state``, which is used up."""

    def subshell(self, body: Callable[[State], Outcome], state: State) -> State | None:
        """Evaluate ``body`` in a copy of ``state``; its state at the end, or None."""

    def sourced(self, text: str, at: Field, state: State) -> Outcome:
        """Evaluate a script in ``state`` itself, up to its ``return``."""

    def condition(self, body: List, state: State) -> Outcome:
        """Evaluate a list whose exit status is looked at."""

    def arithmetic(self, expression: Word, state: State) -> Outcome:
        """Evaluate ``((expression))``."""

    def function(self, definition: FunctionDefinition, state: State) -> Outcome:
        """Evaluate a function's body up to its ``return``."""

    def script(self, text: str, at: Field, state: State) -> Outcome:
        """Evaluate the script ``text``, given by the field ``at``, in ``state`` itself."""

    def arguments(self, argv: Sequence[Field], state: State, span: Span) -> Outcome:
        """Evaluate the simple command ``argv``, whose words are expanded already."""


@define
class Run:
    """One evaluation: what is fixed, what is found, and what it has cost so far."""

    shell: Shell
    recorder: Recorder
    overlay: Overlay
    grammar: Grammar
    inherited: Mapping[str, Variable]  # the variables of the environment as they came
    walker: Walker = field(init=False)
    steps: int = 0
    allowed_steps: int = MAX_STEPS
    depth: int = 0
    logical: str = ""  # the working directory as ``$PWD`` shows it, if by another name
    doubtful: bool = False  # whether it may show where the links of that name lead

    @property
    def filesystem(self) -> FileSystem:
        """The port to the file system, with the links that the command has made itself."""
        return self.overlay

    def step(self) -> None:
        """Count one simple command, or one word list, in one world."""
        self.steps += 1
        if self.steps > self.allowed_steps:
            raise LimitExceededError("the command does too much to be evaluated")

    @contextmanager
    def lenient(self, really: bool) -> Iterator[None]:
        """Within, nothing is opaque, and a limit ends the part alone, not the evaluation."""
        if not really:
            yield
            return
        steps, allowed = self.steps, self.allowed_steps
        self.allowed_steps = min(allowed, steps + MAX_SCRIPT_STEPS)
        try:
            with self.recorder.silent():
                yield
        except LimitExceededError:
            if self.steps > allowed:
                raise
        finally:
            self.allowed_steps = allowed

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Count one level of functions, substitutions and nested scripts."""
        if self.depth >= MAX_DEPTH:
            raise LimitExceededError("the command is nested too deeply to be evaluated")
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def _any_parameters(options: Sequence[tuple[Field, ...]]) -> tuple[Field, ...]:
    """Parameters of which nothing is known, in place of too many alternatives."""
    span = next((field.span for fields in options for field in fields), (0, 0))
    return (Field(UNKNOWN, span, several=True),)


@define
class World:
    """One choice among the alternatives of a state, made as the evaluation asks for them.

    What has been chosen once stays so: ``$x/$x`` never mixes two values of ``x``.
    """

    run: Run
    state: State
    script: list[int]
    joins: bool = False
    perhaps: bool = False
    taken: list[tuple[int, int]] = field(factory=list)

    def pick(self, options: Sequence[T], combine: Callable[[Sequence[T]], T]) -> T:
        """One of ``options``, another in each world."""
        if len(options) == 1:
            return options[0]
        if not self.perhaps:
            self.perhaps = True
            self.run.recorder.uncertain += 1
        if self.joins:
            return combine(options)
        index = self.script[len(self.taken)] if len(self.taken) < len(self.script) else 0
        self.taken.append((index, len(options)))
        return options[index]

    @property
    def directory(self) -> str:
        """The working directory."""
        if len(self.state.directories) > 1:
            self.state.directories = (self.pick(self.state.directories, joined),)
        return self.state.directories[0]

    @property
    def shown(self) -> str:
        """The working directory as ``$PWD`` shows it."""
        run, directory = self.run, self.directory
        cwd = run.shell.cwd
        if run.logical in ("", cwd) or not is_inside(directory, cwd):
            return directory
        return run.logical.rstrip("/") + directory[len(cwd.rstrip("/")) :] or "/"

    def value(self, name: str) -> Value:
        """The value of a variable that is set in the state, or declared there."""
        variable = self.state.variables[name]
        if len(variable.values) > 1:
            chosen = self.pick(variable.values, join_values)
            variable = evolve(variable, values=(chosen,))
            self.state.variables[name] = variable
        return variable.values[0]

    def parameters(self) -> tuple[Field, ...]:
        """The positional parameters from ``$1`` on."""
        if len(self.state.parameters) > 1:
            chosen = self.pick(self.state.parameters, _any_parameters)
            self.state.parameters = (chosen,)
        return self.state.parameters[0]

    def following(self) -> list[int] | None:
        """The choices of the next world, or None after the last."""
        taken = list(self.taken)
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return None
        index, _ = taken.pop()
        return [*(index for index, _ in taken), index + 1]


def worlds(run: Run, state: State, body: Callable[[World], T]) -> list[T]:
    """The results of ``body`` in every world of ``state``, which is used up.

    Past MAX_WORLDS, one last world in which what has alternatives is joined stands for the rest.
    """
    results: list[T] = []
    script: list[int] | None = []
    while script is not None:
        run.step()
        joins = len(results) >= MAX_WORLDS
        world = World(run, state.copy(), script, joins)
        try:
            results.append(body(world))
        finally:
            run.recorder.uncertain -= world.perhaps
        script = world.following() if world.taken and not joins else None
    return results


def in_worlds(run: Run, state: State, body: Callable[[World], Outcome]) -> Outcome:
    """The joined outcome of ``body`` in every world of ``state``."""
    outcomes = worlds(run, state, body)
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome.any_of(outcomes)
