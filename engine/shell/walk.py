"""The walk over the syntax tree: lists, pipelines, compound commands, functions, scripts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from ringfence.engine.shell import branches, conditions, expansion, loops, redirections, simple
from ringfence.engine.shell.control import Control
from ringfence.engine.shell.core import Run, World, in_worlds
from ringfence.engine.shell.nested import places, process
from ringfence.engine.shell.outcome import Outcome, by_answer
from ringfence.engine.shell.state import Function, State, join, outputs, without
from ringfence.engine.shell.texts import joined
from ringfence.grammar.nodes import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    Command,
    Conditional,
    Coprocess,
    Extension,
    For,
    FunctionDefinition,
    Group,
    If,
    List,
    Pipeline,
    Redirection,
    Script,
    Select,
    SimpleCommand,
    Span,
    Subshell,
    While,
    Word,
)
from ringfence.grammar.records import define, field
from ringfence.rules.model import NAME, UNKNOWN, Field, OpaqueKind

MAX_PIPED = 4
"""Alternatives of one command's output that the next in a pipeline is tried with."""


@define
class TreeWalker:
    """Evaluates commands. Every method uses up the state it is given."""

    run: Run
    control: Control = field(factory=Control)

    # --- lists ---------------------------------------------------------------------------------

    def execute_script(self, script: Script, state: State) -> Outcome:
        """See Walker."""
        outcome = self.execute_list(script.body, state)
        if script.problem is not None and outcome.joined() is not None:
            problem = script.problem
            self.run.recorder.obscure(problem.message, problem.span, OpaqueKind.SYNTAX)
        return outcome

    def execute_list(self, body: List, state: State) -> Outcome:
        """See Walker."""
        outcome = Outcome(state, None)
        current: State | None = state  # `$?` is still that of the command before the list
        for number, item in enumerate(body.items):
            if number:
                current = outcome.joined()
            if current is None:
                return outcome
            if item.terminator == "&":
                outcome = self._background(item.command, current)
            else:
                outcome = self._checked(item.command, self.execute(item.command, current))
        return outcome

    def _checked(self, command: Command, outcome: Outcome) -> Outcome:
        """Under ``set -e``, a failure ends the shell, unless something looks at it."""
        failure = outcome.failure
        if failure is None or "errexit" not in failure.options or self.control.guarded:
            return outcome
        if isinstance(command, AndOr | If | While) or (
            isinstance(command, Pipeline) and command.negated
        ):
            return outcome
        self.control.exits[-1].append(failure.copy())
        return Outcome(outcome.success, None)

    def _background(self, command: Command, state: State) -> Outcome:
        after = self.subshell(partial(self.execute, command), state)
        if after is not None:
            state.absorb(after)
        state.changed, state.status = True, "0"
        return Outcome(state, None)

    def condition(self, body: List, state: State) -> Outcome:
        """See Walker."""
        with self.control.guard():
            return self.execute_list(body, state)

    # --- commands ------------------------------------------------------------------------------

    def execute(self, command: Command, state: State) -> Outcome:
        """See Walker."""
        match command:
            case SimpleCommand():
                return simple.execute(self.run, command, state)
            case Pipeline():
                return self._pipeline(command, state)
            case AndOr():
                return self._and_or(command, state)
            case FunctionDefinition():
                return self._define(command, state)
            case Coprocess():
                return self._background(command.command, state)
            case Extension():
                return self._extension(command, state)
            case _:
                return redirections.within(
                    self.run,
                    command.redirections,
                    state,
                    lambda inner: self._compound(command, inner),
                )

    def _compound(self, command: Command, state: State) -> Outcome:
        match command:
            case Subshell(body=body):
                return process(self.run, state, partial(self.execute_list, body))
            case Group(body=body):
                return self.execute_list(body, state)
            case If():
                return branches.if_(self, command, state)
            case While():
                return loops.while_(self, command, state)
            case For() | Select():
                return loops.for_(self, command, state)
            case ArithmeticFor():
                return loops.arithmetic_for(self, command, state)
            case Case():
                return branches.case(self, command, state)
            case Conditional():
                return conditions.conditional(self.run, command, state)
            case ArithmeticCommand(expression=expression):
                return self.arithmetic(expression, state)
            case _:  # the others have no redirections and do not come here
                return Outcome.either(state)

    def _and_or(self, command: AndOr, state: State) -> Outcome:
        with self.control.guard():
            outcome = self.execute(command.commands[0], state)
        rest = list(zip(command.operators, command.commands[1:], strict=True))
        for index, (operator, following) in enumerate(rest):
            with self.control.guard(index + 1 < len(rest)):
                outcome = self._then(operator, outcome, following)
        return outcome

    def _then(self, operator: str, outcome: Outcome, following: Command) -> Outcome:
        """What follows ``&&`` or ``||``, where the outcome before lets it run."""
        if operator not in ("&&", "||"):  # an extension's: nobody knows when it runs
            start = outcome.joined()
            if start is None:
                return outcome
            skipped = start.copy()
            with self.run.recorder.possibly(True):
                after = self.execute(following, start)
            return Outcome.any_of((after, Outcome.either(skipped)))
        if operator == "||":
            outcome = outcome.inverted()
        start, other = outcome.success, outcome.failure
        if start is None:
            after = Outcome(None, None)
        else:
            if start is other:
                start = start.copy()
            start.status = "0" if operator == "&&" else "1"
            with self.run.recorder.possibly(other is not None):
                after = self.execute(following, start)
        if other is not None:
            other.status = "1" if operator == "&&" else "0"
        if operator == "&&":
            return Outcome(after.success, join((other, after.failure)))
        return Outcome(join((other, after.success)), after.failure)

    def _pipeline(self, command: Pipeline, state: State) -> Outcome:
        if not command.commands:
            return Outcome(state, None)
        if len(command.commands) == 1:
            with self.control.guard(command.negated):
                outcome = self.execute(command.commands[0], state)
            return outcome.inverted() if command.negated else outcome
        before = state.output
        inputs: tuple[str, ...] = (state.input,)
        for index, one in enumerate(command.commands):
            last = index + 1 == len(command.commands)
            pipes = ("0",) * (index > 0) + ("1",) * (not last)
            after = self._piped(one, state, inputs, pipes, heard=bool(before) or not last)
            if after is None:
                inputs = (UNKNOWN,)
                continue
            state.absorb(after)
            inputs = after.output
            state.output = before
            if last and before:
                state.output = outputs(a + b for a in before for b in inputs)
        last_one = {"0": True, "1": False}.get(state.status)
        if "pipefail" in state.options:
            last_one = None  # whichever command failed
        outcome = by_answer(state, last_one)
        return outcome.inverted() if command.negated else outcome

    def _piped(
        self,
        command: Command,
        state: State,
        inputs: Sequence[str],
        pipes: Collection[str],
        *,
        heard: bool,
    ) -> State | None:
        """One command of a pipeline in its subshell, for each text that it may read."""
        texts = inputs if len(inputs) <= MAX_PIPED else (joined(inputs),)

        def evaluate(inner: State) -> Outcome:
            inner.output = ("",) if heard else ()
            return self.execute(command, inner)

        if len(texts) == 1:
            start = state.copy()
            start.input, start.input_at = texts[0], None
            return self.shell(evaluate, start)
        states: list[State | None] = []
        for text in texts:
            start = state.copy()
            start.input, start.input_at = text, None
            start.opened = without(start.opened, pipes)
            with self.run.recorder.possibly():
                states.append(self.shell(evaluate, start))
        return join(states)

    # --- subshells, functions, scripts ---------------------------------------------------------

    def subshell(self, body: Callable[[State], Outcome], state: State) -> State | None:
        """See Walker."""
        return self.shell(body, state.copy())

    def shell(self, body: Callable[[State], Outcome], state: State) -> State | None:
        """As ``subshell``, but ``state`` is used up."""
        state.traps = {}
        control = self.control
        around = control.enter_shell()
        try:
            ends = _ends(body(state))
            exits = control.exits[-1]
            after = ends[0] if len(ends) == 1 and not exits else join((*ends, *exits))
            return self._trapped(after) if after is not None and after.traps else after
        finally:
            control.leave_shell(around)

    def _trapped(self, state: State) -> State:
        """Evaluate the traps: that for EXIT when the shell ends, the others whenever."""
        traps, state.traps = state.traps, {}
        for signal, action in traps.items():
            with self.run.recorder.possibly(signal not in ("EXIT", "0")), self.run.nested():
                after = self.script(action.text, action, state.copy()).joined()
            if after is not None:
                state.output = after.output
        return state

    def _extension(self, command: Extension, state: State) -> Outcome:
        """An operator of which only this much is known: its commands run."""
        current: State | None = state
        for one in command.commands:
            if current is None:
                break
            inner = current.copy()
            inner.input = UNKNOWN
            if command.subshells:
                process(self.run, inner, partial(self.execute, one))
                current.absorb(inner)
            else:
                current = join((current, self.execute(one, inner).joined()))
        return Outcome.ended(current)

    def _define(self, command: FunctionDefinition, state: State) -> Outcome:
        name = "".join(getattr(part, "text", "") for part in command.name.parts)
        recorder = self.run.recorder
        state.functions[name] = (Function(command, recorder.anchor, recorder.origin),)
        return Outcome(state, None)

    def function(self, definition: FunctionDefinition, state: State) -> Outcome:
        """See Walker."""
        with self.control.function():
            return self.control.returning(partial(self.execute, definition.body), state)

    def sourced(self, text: str, at: Field, state: State) -> Outcome:
        """See Walker."""
        return self.control.returning(lambda inner: self.script(text, at, inner), state)

    def script(self, text: str, at: Field, state: State) -> Outcome:
        """See Walker."""
        recorder = self.run.recorder
        offsets = places(recorder, at.span, text)
        anchor = recorder.span(at.span) if offsets is None else None
        script = self.run.grammar.parse(
            text,
            0 if offsets is None else offsets,
            extglob="extglob" in state.options,
            follow_shopt=True,
        )
        origin = recorder.origin
        if origin is not None and origin.text is not text:
            origin = origin.without_lines()
        with recorder.anchored(anchor), recorder.stands_in(origin):
            return self.execute_script(script, state)

    def arguments(self, argv: Sequence[Field], state: State, span: Span) -> Outcome:
        """See Walker."""
        return simple.arguments(self.run, argv, state, span)

    def redirect(self, redirected: Sequence[Redirection], state: State) -> Outcome:
        """See Walker."""

        def body(world: World) -> Outcome:
            redirections.perform(world, redirected)
            return Outcome(world.state, None)

        return in_worlds(self.run, state, body)

    def arithmetic(self, expression: Word, state: State) -> Outcome:
        """See Walker."""

        def body(world: World) -> Outcome:
            text = expansion.text(world, expression).text
            value = expansion.arithmetic_value(world, text, expression.span)
            return by_answer(world.state, None if value is None else value != 0)

        return in_worlds(self.run, state, body)


def _ends(outcome: Outcome) -> tuple[State | None, ...]:
    """The states of an outcome, each with its status."""
    success, failure = outcome.success, outcome.failure
    if success is failure:
        if success is not None:
            success.status = NAME
        return (success,)
    if success is not None:
        success.status = "0"
    if failure is not None:
        failure.status = failure.status if failure.status not in ("0", NAME) else "1"
    return success, failure
