"""The walk over the syntax tree: lists, pipelines, compound commands, functions, scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from attrs import define, evolve, field

from ringfence.engine.shell import conditions, expansion, patterns, redirections, simple, variables
from ringfence.engine.shell.core import Outcome, Run, World, in_worlds
from ringfence.engine.shell.limits import (
    MAX_ROUNDS,
    MAX_UNSTEADY_ROUNDS,
    STEADY_ROUNDS,
    LimitExceededError,
)
from ringfence.engine.shell.nested import places, process
from ringfence.engine.shell.state import Function, State, is_steady, join, outputs, widen
from ringfence.engine.shell.status import by_answer
from ringfence.engine.shell.texts import as_value, joined
from ringfence.grammar import parse
from ringfence.grammar.nodes import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    CaseClause,
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
from ringfence.rules.model import NAME, UNKNOWN, Field, OpaqueKind, is_known

MAX_PIPED = 4
"""Alternatives of one command's output that the next in a pipeline is tried with."""


@define
class _Loop:
    """Where ``break`` and ``continue`` of one loop lead."""

    broken: list[State] = field(factory=list)
    continued: list[State] = field(factory=list)


@define
class TreeWalker:
    """Evaluates commands. Every method uses up the state it is given.

    ``_loops``, ``_returns`` and ``_exits`` hold the states of those who left a loop, a function
    (or sourced file) and a shell early; the innermost is last. ``_guarded`` counts the conditions
    around the current command, in which ``set -e`` does nothing.
    """

    run: Run
    _loops: list[_Loop] = field(factory=list)
    _returns: list[list[State]] = field(factory=list)
    _exits: list[list[State]] = field(factory=list)
    _guarded: int = 0

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
        for item in body.items:
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
        if failure is None or "errexit" not in failure.options or self._guarded:
            return outcome
        if isinstance(command, AndOr | If | While) or (
            isinstance(command, Pipeline) and command.negated
        ):
            return outcome
        self._exits[-1].append(failure.copy())
        return Outcome(outcome.success, None)

    def _background(self, command: Command, state: State) -> Outcome:
        after = self.subshell(lambda inner: self.execute(command, inner), state)
        if after is not None:
            state.absorb(after)
        state.changed, state.status = True, "0"
        return Outcome(state, None)

    def _guard(self, body: List, state: State) -> Outcome:
        """Evaluate a condition."""
        self._guarded += 1
        try:
            return self.execute_list(body, state)
        finally:
            self._guarded -= 1

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
                return self._subshell(body, state)
            case Group(body=body):
                return self.execute_list(body, state)
            case If():
                return self._if(command, state)
            case While():
                return self._while(command, state)
            case For() | Select():
                return self._for(command, state)
            case ArithmeticFor():
                return self._arithmetic_for(command, state)
            case Case():
                return self._case(command, state)
            case Conditional():
                return conditions.conditional(self.run, command, state)
            case ArithmeticCommand(expression=expression):
                return self._arithmetic(expression, state)
            case _:  # the others have no redirections and do not come here
                return Outcome.either(state)

    def _and_or(self, command: AndOr, state: State) -> Outcome:
        self._guarded += 1
        try:
            outcome = self.execute(command.commands[0], state)
        finally:
            self._guarded -= 1
        rest = list(zip(command.operators, command.commands[1:], strict=True))
        for index, (operator, following) in enumerate(rest):
            guarded = index + 1 < len(rest)
            self._guarded += guarded
            try:
                outcome = self._and_then(operator, outcome, following)
            finally:
                self._guarded -= guarded
        return outcome

    def _and_then(self, operator: str, outcome: Outcome, following: Command) -> Outcome:
        if operator == "||":
            return self._or_else(outcome, following)
        start, other = outcome.success, outcome.failure
        if start is None:
            return outcome
        _set_status(start, "0")
        with self.run.recorder.possibly(other is not None):
            after = self.execute(following, start.copy() if start is other else start)
        if other is not None:
            _set_status(other, "1")
        return Outcome(after.success, join((other, after.failure)))

    def _or_else(self, outcome: Outcome, following: Command) -> Outcome:
        start, other = outcome.failure, outcome.success
        if start is None:
            return outcome
        _set_status(start, "1")
        with self.run.recorder.possibly(other is not None):
            after = self.execute(following, start.copy() if start is other else start)
        if other is not None:
            _set_status(other, "0")
        return Outcome(join((other, after.success)), after.failure)

    def _pipeline(self, command: Pipeline, state: State) -> Outcome:
        if not command.commands:
            return Outcome(state, None)
        if len(command.commands) == 1:
            self._guarded += command.negated
            try:
                outcome = self.execute(command.commands[0], state)
            finally:
                self._guarded -= command.negated
            return outcome.inverted() if command.negated else outcome
        before = state.output
        current: State = state.copy()
        inputs: tuple[str, ...] = (state.input,)
        for index, one in enumerate(command.commands):
            after = self._piped(one, current, inputs)
            if after is None:
                inputs = (UNKNOWN,)
                continue
            state.absorb(after)
            current = state.copy()
            inputs = after.output
            last = index + 1 == len(command.commands)
            state.output = outputs(a + b for a in before for b in inputs) if last else before
        outcome = by_answer(state, {"0": True, "1": False}.get(state.status))
        return outcome.inverted() if command.negated else outcome

    def _piped(self, command: Command, state: State, inputs: Sequence[str]) -> State | None:
        """One command of a pipeline in its subshell, for each text that it may read."""
        texts = inputs if len(inputs) <= MAX_PIPED else (joined(inputs),)

        def evaluate(inner: State) -> Outcome:
            inner.output = ("",)
            return self.execute(command, inner)

        states: list[State | None] = []
        for text in texts:
            start = state.copy()
            start.input, start.input_at = text, None
            with self.run.recorder.possibly(len(texts) > 1):
                states.append(self.subshell(evaluate, start))
        return join(states)

    # --- subshells, functions, scripts ---------------------------------------------------------

    def subshell(self, body: Callable[[State], Outcome], state: State) -> State | None:
        """See Walker."""
        inner = state.copy()
        inner.traps = {}
        saved = self._loops, self._returns, self._guarded
        self._loops, self._returns = [], []
        self._exits.append([])
        try:
            after = join((*_ends(body(inner)), *self._exits[-1]))
            return after if after is None else self._trapped(after)
        finally:
            self._exits.pop()
            self._loops, self._returns, self._guarded = saved

    def _trapped(self, state: State) -> State:
        """Evaluate the traps: that for EXIT when the shell ends, the others whenever."""
        traps, state.traps = state.traps, {}
        for signal, action in traps.items():
            with self.run.recorder.possibly(signal not in ("EXIT", "0")), self.run.nested():
                after = self.script(action.text, action, state.copy()).joined()
            if after is not None:
                state.output = after.output
        return state

    def _subshell(self, body: List, state: State) -> Outcome:
        return process(self.run, state, lambda inner: self.execute_list(body, inner))

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
        return _ended(current)

    def _define(self, command: FunctionDefinition, state: State) -> Outcome:
        name = "".join(getattr(part, "text", "") for part in command.name.parts)
        state.functions[name] = (Function(command, self.run.recorder.anchor),)
        return Outcome(state, None)

    def function(self, definition: FunctionDefinition, state: State) -> Outcome:
        """See Walker."""
        saved, self._loops = self._loops, []
        try:
            return self._returning(lambda inner: self.execute(definition.body, inner), state)
        finally:
            self._loops = saved

    def sourced(self, text: str, at: Field, state: State) -> Outcome:
        """See Walker."""
        return self._returning(lambda inner: self.script(text, at, inner), state)

    def _returning(self, body: Callable[[State], Outcome], state: State) -> Outcome:
        self._returns.append([])
        try:
            outcome = body(state)
            returned = self._returns[-1]
        finally:
            self._returns.pop()
        successes = [s for s in returned if s.status == "0" or not is_known(s.status)]
        failures = [s for s in returned if s.status != "0"]
        return Outcome(
            join((outcome.success, *successes)),
            join((outcome.failure, *failures)),
        )

    def leave(self, how: str, levels: int, state: State) -> Outcome:
        """See Walker."""
        if how in ("break", "continue"):
            if self._loops:
                loop = self._loops[-min(max(levels, 1), len(self._loops))]
                (loop.broken if how == "break" else loop.continued).append(state.copy())
                return Outcome(None, None)
            return Outcome(state, None)
        if how == "return" and self._returns:
            self._returns[-1].append(state.copy())
        else:
            self._exits[-1].append(state.copy())
        return Outcome(None, None)

    def script(self, text: str, at: Field, state: State) -> Outcome:
        """See Walker."""
        recorder = self.run.recorder
        offsets = places(recorder, at.span, text)
        anchor = recorder.span(at.span) if offsets is None else None
        script = parse(text, 0 if offsets is None else offsets)
        with recorder.anchored(anchor):
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

    # --- conditions ----------------------------------------------------------------------------

    def _if(self, command: If, state: State) -> Outcome:
        ends: list[Outcome] = []
        current: State | None = state
        for number, clause in enumerate(command.clauses):
            assert current is not None
            with self.run.recorder.possibly(number > 0 and bool(ends)):
                outcome = self._guard(clause.condition, current)
            start, other = outcome.success, outcome.failure
            if start is not None:
                with self.run.recorder.possibly(other is not None or bool(ends)):
                    start = start.copy() if start is other else start
                    ends.append(self.execute_list(clause.body, start))
            current = other
            if current is None:
                break
        if current is not None:
            _set_status(current, "0")
            if command.otherwise is None:
                ends.append(Outcome(current, None))
            else:
                with self.run.recorder.possibly(bool(ends)):
                    ends.append(self.execute_list(command.otherwise, current))
        return _either_of(ends)

    def _case(self, command: Case, state: State) -> Outcome:
        return in_worlds(self.run, state, lambda world: self._case_in(world, command))

    def _case_in(self, world: World, command: Case) -> Outcome:
        subject = expansion.text(world, command.word).text
        ends: list[Outcome] = []
        current: State | None = world.state
        falling: State | None = None
        for clause in command.clauses:
            matched = False if current is None else self._clause_matches(world, clause, subject)
            start = falling
            if matched is not False and current is not None:
                start = join((falling, current.copy() if matched is None else current))
            if matched:
                current = None
            falling = None
            if start is None:
                continue
            with self.run.recorder.possibly(not matched or bool(ends)):
                outcome = self.execute_list(clause.body, start)
            if clause.terminator == ";&":
                falling = outcome.joined()
            elif clause.terminator == ";;&":
                current = join((current, outcome.joined()))
            else:
                ends.append(outcome)
        if current is not None or falling is not None:
            ends.append(Outcome(join((current, falling)), None))
        return _either_of(ends)

    def _clause_matches(self, world: World, clause: CaseClause, subject: str) -> bool | None:
        """Whether a pattern of the clause matches; None if nobody knows."""
        answers: list[bool | None] = []
        for word in clause.patterns:
            glob = expansion.pattern(world, word)
            if glob == "*":
                answers.append(True)
            elif is_known(glob) and is_known(subject):
                try:
                    answers.append(patterns.matches(glob, subject))
                except patterns.PatternTooComplex:
                    answers.append(None)
            else:
                answers.append(None)
        if True in answers:
            return True
        return None if None in answers else False

    def _arithmetic(self, expression: Word, state: State) -> Outcome:
        def body(world: World) -> Outcome:
            text = expansion.text(world, expression).text
            value = expansion.arithmetic_value(world, text)
            return by_answer(world.state, None if value is None else value != 0)

        return in_worlds(self.run, state, body)

    # --- loops ---------------------------------------------------------------------------------

    def _while(self, command: While, state: State) -> Outcome:
        def condition(inner: State) -> Outcome:
            outcome = self._guard(command.condition, inner)
            return outcome.inverted() if command.until else outcome

        return self._repeat(condition, lambda inner: self.execute_list(command.body, inner), state)

    def _arithmetic_for(self, command: ArithmeticFor, state: State) -> Outcome:
        def condition(inner: State) -> Outcome:
            if not command.condition.parts:
                return Outcome(inner, None)
            return self._arithmetic(command.condition, inner)

        def body(inner: State) -> Outcome:
            outcome = self.execute_list(command.body, inner)
            after = outcome.joined()
            return outcome if after is None else self._arithmetic(command.step, after)

        start = self._arithmetic(command.initial, state).joined()
        return Outcome(None, None) if start is None else self._repeat(condition, body, start)

    def _repeat(
        self,
        condition: Callable[[State], Outcome],
        body: Callable[[State], Outcome],
        state: State,
    ) -> Outcome:
        """A loop: round by round while the condition is known, else up to a fixed point."""
        loop = _Loop()
        self._loops.append(loop)
        ends: list[State] = []
        try:
            last = self._rounds(loop, ends, condition, body, state)
        finally:
            self._loops.pop()
        return _ended(join((last, *ends, *loop.broken)))

    def _rounds(
        self,
        loop: _Loop,
        ends: list[State],
        condition: Callable[[State], Outcome],
        body: Callable[[State], Outcome],
        current: State,
    ) -> State | None:
        """The rounds of a loop; ``ends`` gets the states in which it is over before each."""
        unsteady = 0
        for number in range(MAX_ROUNDS + MAX_UNSTEADY_ROUNDS):
            entry = current.copy()
            outcome = condition(current)
            start, other = outcome.success, outcome.failure
            if other is not None:
                ends.append(other.copy())
            if start is None:
                return None
            with self.run.recorder.possibly(other is not None or bool(loop.broken)):
                after = body(start).joined()
            after = join((after, *loop.continued))
            loop.continued.clear()
            if after is None:
                return None
            unsteady += other is not None or bool(loop.broken) or number >= MAX_ROUNDS
            current = widen(entry, after) if unsteady > STEADY_ROUNDS else after
            if is_steady(entry, current):
                current.output = (joined(entry.output + current.output),)
                return None if other is None else current
        raise LimitExceededError("a loop goes on too long to be evaluated")

    def _for(self, command: For | Select, state: State) -> Outcome:
        return in_worlds(self.run, state, lambda world: self._for_in(world, command))

    def _for_in(self, world: World, command: For | Select) -> Outcome:
        words = (
            list(world.parameters())
            if command.words is None
            else expansion.fields(world, command.words)
        )
        loop = _Loop()
        self._loops.append(loop)
        current: State | None = world.state
        skipped: list[State] = []
        try:
            for round_number, (word, several) in enumerate(_each(words)):
                if current is None:
                    break
                if several or isinstance(command, Select):
                    skipped.append(current.copy())
                inner = World(self.run, current, [])
                where = self.run.recorder.column(word.span)
                value = as_value(word)
                note = f"`${command.name}` is `{expansion.shown(value)}`, {where}"
                variables.assign(inner, command.name, value, steps=(*word.steps, note))
                with self.run.recorder.possibly(bool(skipped or loop.broken) and round_number > 0):
                    after = self.execute_list(command.body, current).joined()
                current = join((after, *loop.continued))
                loop.continued.clear()
        finally:
            self._loops.pop()
        return _ended(join((current, *skipped, *loop.broken)))


def _each(words: Sequence[Field]) -> Iterable[tuple[Field, bool]]:
    """The words of a ``for`` loop, and whether the round may not happen, or many times.

    Past MAX_ROUNDS, one word stands for the rest.
    """
    for word in words[:MAX_ROUNDS]:
        yield word, word.several
        if word.several or word.glob:
            yield word, True
    rest = words[MAX_ROUNDS:]
    if rest:
        word = evolve(rest[0], text=joined(field.text for field in rest))
        yield word, True
        yield word, True


def _set_status(state: State, status: str) -> None:
    state.status = status


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


def _ended(state: State | None) -> Outcome:
    return Outcome(state, state)


def _either_of(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(join(o.success for o in outcomes), join(o.failure for o in outcomes))
