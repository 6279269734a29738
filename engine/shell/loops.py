"""Loops: round by round while that is known, else up to a fixed point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ringfence.engine.shell import expansion, variables
from ringfence.engine.shell.control import Loop
from ringfence.engine.shell.core import Walker, World, in_worlds
from ringfence.engine.shell.limits import (
    MAX_ROUNDS,
    MAX_UNSTEADY_ROUNDS,
    STEADY_ROUNDS,
    LimitExceededError,
)
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import State, is_steady, join, widen
from ringfence.engine.shell.texts import as_value, joined
from ringfence.grammar.nodes import ArithmeticFor, For, Select, While
from ringfence.grammar.records import evolve
from ringfence.rules.model import Field


def while_(walker: Walker, command: While, state: State) -> Outcome:
    """Evaluate ``while`` and ``until``."""

    def condition(inner: State) -> Outcome:
        outcome = walker.condition(command.condition, inner)
        return outcome.inverted() if command.until else outcome

    return _repeat(walker, condition, lambda inner: walker.execute_list(command.body, inner), state)


def arithmetic_for(walker: Walker, command: ArithmeticFor, state: State) -> Outcome:
    """Evaluate ``for ((initial; condition; step))``."""

    def condition(inner: State) -> Outcome:
        if not command.condition.parts:
            return Outcome(inner, None)
        return walker.arithmetic(command.condition, inner)

    def body(inner: State) -> Outcome:
        outcome = walker.execute_list(command.body, inner)
        after = outcome.joined()
        return outcome if after is None else walker.arithmetic(command.step, after)

    start = walker.arithmetic(command.initial, state).joined()
    return Outcome(None, None) if start is None else _repeat(walker, condition, body, start)


def _repeat(
    walker: Walker,
    condition: Callable[[State], Outcome],
    body: Callable[[State], Outcome],
    state: State,
) -> Outcome:
    ends: list[State] = []
    with walker.control.loop() as loop:
        last = _rounds(walker, loop, ends, condition, body, state)
    return Outcome.ended(join((last, *ends, *loop.broken)))


def _rounds(
    walker: Walker,
    loop: Loop,
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
        with walker.run.recorder.possibly(other is not None or bool(loop.broken)):
            after = body(start).joined()
        after = join((after, *loop.continued))
        loop.continued.clear()
        if after is None:
            return None
        unsteady += other is not None or bool(loop.broken) or number >= MAX_ROUNDS
        current = widen(entry, after) if unsteady > STEADY_ROUNDS else after
        if is_steady(entry, current):
            if heard := entry.output + current.output:
                current.output = (joined(heard),)
            return None if other is None else current
    raise LimitExceededError("a loop goes on too long to be evaluated")


def for_(walker: Walker, command: For | Select, state: State) -> Outcome:
    """Evaluate ``for name in words`` and ``select``."""
    return in_worlds(walker.run, state, lambda world: _for_in(walker, world, command))


def _for_in(walker: Walker, world: World, command: For | Select) -> Outcome:
    words: Sequence[Field] = world.parameters()
    if command.words is not None:
        words = expansion.fields(world, command.words)
    recorder = walker.run.recorder
    current: State | None = world.state
    skipped: list[State] = []
    with walker.control.loop() as loop:
        for word, several in _each(words):
            if current is None:
                break
            if several or isinstance(command, Select):
                skipped.append(current.copy())
            value = as_value(word)
            note = f"`${command.name}` is `{expansion.shown(value)}`, {recorder.column(word.span)}"
            inner = World(walker.run, current, [])
            variables.assign(inner, command.name, value, steps=(*word.steps, note), at=word.span)
            with recorder.possibly(bool(skipped or loop.broken)):
                after = walker.execute_list(command.body, current).joined()
            current = join((after, *loop.continued))
            loop.continued.clear()
    return Outcome.ended(join((current, *skipped, *loop.broken)))


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
