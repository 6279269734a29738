"""Simple commands: assignments, redirections, and finding what the command word names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Any

from ringfence.engine.shell import expansion, external, files, redirections, variables
from ringfence.engine.shell.builtins import BUILTINS, EXTERNAL_TOO
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import Run, World, in_worlds
from ringfence.engine.shell.nested import call_function, each_state
from ringfence.engine.shell.outcome import Outcome, by_status
from ringfence.engine.shell.quoting import shell_quoted
from ringfence.engine.shell.state import Array, State, Variable, join
from ringfence.engine.shell.texts import as_value
from ringfence.grammar.nodes import (
    ArrayLiteral,
    Assignment,
    CommandSubstitution,
    Node,
    SimpleCommand,
    Span,
    Word,
)
from ringfence.grammar.records import evolve, names
from ringfence.rules.model import UNKNOWN, Field, Operation, is_known
from ringfence.rules.naming import LOADERS

_EXEC = ("exec", "--")
_BEFORE_EXEC = ("builtin", "command", "-p", *_EXEC)
MAX_SHOWN = 200
"""The longest value that a step shows."""


def execute(run: Run, command: SimpleCommand, state: State) -> Outcome:
    """Evaluate a simple command, which uses ``state`` up."""
    before = tuple(state.descriptors)

    def body(world: World) -> Outcome:
        run.overlay.links, run.overlay.opened = world.state.links, world.state.opened
        argv, assignments = _arguments(world, command)
        if argv and state.entered is not None:
            _at_home(world)
        if not argv:
            outcome = _without_words(world, command)
        else:
            outcome = _with_words(world, command, argv, assignments)
        for after in (outcome.success, outcome.failure):
            if after is not None and after.descriptors:
                files.close_substitutions(after, before)
        return outcome

    return in_worlds(run, state, body)


def _at_home(world: World) -> None:
    """Record the plain ``cd`` that this command makes use of."""
    at = world.state.entered
    world.state.entered = None
    if at is not None:
        home = world.directory
        world.run.recorder.effect(home, Operation.ENTER, at, "cd", home)


# --- assignments -------------------------------------------------------------------------------


def perform_assignment(
    world: World,
    assignment: Assignment,
    attributes: Mapping[str, Any] = MappingProxyType({}),
    *,
    associative: bool = False,
) -> bool:
    """Make an assignment; False if the variable is readonly."""
    subscript = None
    if assignment.subscript is not None:
        subscript = expansion.text(world, assignment.subscript).text
    if isinstance(assignment.value, ArrayLiteral):
        held = world.state.variables.get(assignment.name)
        keyed = associative or any(
            isinstance(value, Array) and value.associative
            for value in (held.values if held else ())
        )
        where = world.run.recorder.column(assignment.span)
        source = world.run.recorder.text(assignment.value.span)
        step = f"`${assignment.name}` was set to `{source}` {where}"
        return variables.assign(
            world,
            assignment.name,
            _array(world, assignment.value, associative=keyed),
            steps=(step,) if len(source) <= MAX_SHOWN else (),
            append=assignment.append,
            attributes=attributes,
            at=assignment.span,
        )
    value = expansion.text(world, assignment.value, assignment=True)
    name = variables.resolve(world, assignment.name)
    if name in LOADERS:
        words = (evolve(value, text=f"{name}={value.text}"),)
        world.run.recorder.command(assignment.span, words)
    if assignment.name == "PS4":  # expanded again for each command that `set -x` shows
        expansion.forbid_substitution(world, value.text)
    where = world.run.recorder.column(assignment.span)
    step = f"`${assignment.name}` was set to `{expansion.shown(value.text)}` {where}"
    steps = (*value.steps, step) if len(value.text) <= MAX_SHOWN else value.steps
    return variables.assign(
        world,
        assignment.name,
        value.text,
        steps=steps,
        subscript=subscript,
        append=assignment.append,
        attributes=attributes,
    )


def _array(world: World, literal: ArrayLiteral, *, associative: bool) -> Array:
    array = Array(associative=associative)
    if associative and literal.elements and literal.elements[0].subscript is None:
        words = tuple(e.value for e in literal.elements if e.value is not None)
        texts = [as_value(f) for f in expansion.fields(world, words)]
        for key, text in zip(texts[::2], [*texts[1::2], ""], strict=False):  # key value key value
            array = array.put(key, text) if is_known(key) else evolve(array, loose=True)
        return array
    # Elements without a subscript are added in one go: one by one takes quadratic time.
    for plain, group in groupby(literal.elements, lambda element: element.subscript is None):
        elements = tuple(group)
        if plain:
            words = tuple(e.value for e in elements if e.value is not None)
            array = array.append(as_value(f) for f in expansion.fields(world, words))
            continue
        for element in elements:
            key = expansion.text(world, element.subscript).text
            text = expansion.text(world, element.value).text
            where = key if associative else variables.index(world, array, key)
            if where is None or not is_known(where):
                array = evolve(array.append((text,)), loose=True)
            else:
                array = array.put(where, text)
    return array


def _without_words(world: World, command: SimpleCommand) -> Outcome:
    """Assignments and redirections alone: they change the shell itself."""
    state = world.state
    before, opened = state.input, state.opened
    redirected = redirections.perform(world, command.redirections)
    state.input, state.opened = before, opened
    unopened = state.copy() if redirected.may_fail else None
    made = [perform_assignment(world, assignment) for assignment in command.assignments]
    if not all(made):
        return Outcome(None, state)
    if not _substitutes((command.assignments, command.redirections)):
        state.status = "0"  # else it is that of the last substitution
    return redirections.or_unopened(by_status(state), unopened)


def _substitutes(node: object) -> bool:
    """Whether a command substitution stands anywhere in ``node``."""
    if isinstance(node, CommandSubstitution):
        return True
    if isinstance(node, tuple):
        return any(map(_substitutes, node))
    if not isinstance(node, Node):
        return False
    return any(_substitutes(getattr(node, name)) for name in names(type(node)))


# --- the command word --------------------------------------------------------------------------


def _arguments(
    world: World, command: SimpleCommand
) -> tuple[list[Field], Mapping[int, Assignment]]:
    """The fields of all arguments; assignments among them by their place."""
    argv: list[Field] = []
    assignments: dict[int, Assignment] = {}
    for argument in command.arguments:
        if isinstance(argument, Word):
            static = expansion.static(argument)
            if static is None:
                argv.extend(expansion.fields(world, (argument,)))
            else:
                argv.append(static)
        else:
            assignments[len(argv)] = argument
            value = (
                ""
                if isinstance(argument.value, ArrayLiteral)
                else (expansion.text(world, argument.value, assignment=True).text)
            )
            argv.append(Field(f"{argument.name}={value}", argument.span))
    return argv, assignments


def _with_words(
    world: World,
    command: SimpleCommand,
    argv: list[Field],
    assignments: Mapping[int, Assignment],
) -> Outcome:
    run = world.run
    before, opened = world.state.input, world.state.opened
    redirected = redirections.perform(world, command.redirections)
    saved: dict[str, Variable | None] = {}
    if command.assignments:
        saved = {a.name: world.state.variables.get(a.name) for a in command.assignments}
    for assignment in command.assignments:
        perform_assignment(world, assignment, {"exported": True})
    span = (command.arguments[0].span[0], command.arguments[-1].span[1])
    run.recorder.command(span, tuple(argv), writes=redirected.writes)
    persists = argv[-1].text in _EXEC and all(word.text in _BEFORE_EXEC for word in argv[:-1])
    if persists and redirected.sink:  # all that is printed from here on goes there
        files.write(world.state, redirected.sink, None)
        redirected = evolve(redirected, sink="")

    def body(_: State) -> Outcome:
        return dispatch(Call(world, argv, span, assignments))

    if command.redirections:
        fed = any(r.operator[0] == "<" and r.fd in (None, "0") for r in command.redirections)
        outcome = redirections.collected(
            world,
            redirected,
            body,
            restore=before if fed and not persists else None,
            opened=None if persists else opened,
        )
    else:
        outcome = body(world.state)
    last = Variable((UNKNOWN if argv[-1].several else as_value(argv[-1]),), steps=argv[-1].steps)

    def finish(after: State) -> None:
        _restore(after, saved)
        after.variables["_"] = last

    if saved:
        each_state(outcome, finish)
    else:
        for after in (outcome.success, outcome.failure):
            if after is not None:
                after.variables["_"] = last
    return outcome


def _restore(state: State, saved: Mapping[str, Variable | None]) -> None:
    for name, variable in saved.items():
        if variable is None:
            state.variables.pop(name, None)
        else:
            state.variables[name] = variable


def dispatch(call: Call, *, functions: bool = True, builtins: bool = True) -> Outcome:
    """Evaluate what the command word names: a function, a builtin or a program."""
    state = call.state
    name = call.argv[0].text
    if functions and is_known(name):
        if name in state.aliases and "expand_aliases" in state.options:
            return _alias(call)
        if name in state.functions:
            return _functions(call)
    if builtins and name in BUILTINS:
        if name not in _KEEP_STATUS and state.status != "0":
            state.status = "1"  # what a builtin that fails leaves
        outcome = BUILTINS[name](call)
        if name in _MAY_FAIL or (name in _DECLARE and _asks(call)):
            return Outcome.any_of((outcome, Outcome(None, state.copy())))
        return outcome
    if functions and "command_not_found_handle" in state.functions and "/" not in name:
        with call.run.recorder.possibly():
            handler = evolve(call.argv[0], text="command_not_found_handle")
            inner = evolve(call.world, state=state.copy())
            _functions(evolve(call, world=inner, argv=[handler, *call.argv]))
    return external.execute(call)


_KEEP_STATUS = frozenset(
    ["eval", "source", ".", "exit", "return", "command", "builtin", "exec", "trap"]
)
"""Builtins that see, or pass on, the status of the command before."""

_MAY_FAIL = frozenset(["alias", "unalias", "shopt", "unset", "hash", "type", "pwd"])
_DECLARE = frozenset(["declare", "typeset", "local", "export", "readonly"])


def _asks(call: Call) -> bool:
    """``declare -F name`` and ``-p`` fail if there is no such thing."""
    options = (field.text for field in call.arguments if field.text.startswith("-"))
    return any(set(option) & set("fFp") for option in options)


def arguments(run: Run, argv: Sequence[Field], state: State, span: Span) -> Outcome:
    """Evaluate a command whose words a program starts: no functions, few builtins."""
    if not argv:
        return Outcome.either(state)

    def body(world: World) -> Outcome:
        run.recorder.command(span, tuple(argv))
        call = Call(world, list(argv), span)
        return dispatch(call, functions=False, builtins=argv[0].text in EXTERNAL_TOO)

    return in_worlds(run, state, body)


def _functions(call: Call) -> Outcome:
    """Call each function that the name may stand for; None stands for no function."""
    state, name = call.state, call.argv[0].text
    options = state.functions[name]
    outcomes = []
    for option in options:
        with call.run.recorder.possibly(len(options) > 1):
            inner = state.copy() if len(options) > 1 else state
            one = evolve(call, world=evolve(call.world, state=inner))
            if option is None:
                outcomes.append(dispatch(one, functions=False))
            else:
                outcomes.append(call_function(one, option))
    if len(outcomes) == 1:
        return outcomes[0]
    return Outcome(join(o.success for o in outcomes), join(o.failure for o in outcomes))


def _alias(call: Call) -> Outcome:
    """Evaluate an alias as the text that bash would read, its arguments quoted."""
    head, *rest = call.argv
    text = call.state.aliases.pop(head.text)
    try:
        line = " ".join([text, *(shell_quoted(field.text) for field in rest)])
        return call.run.walker.script(line, head, call.state)
    finally:
        call.state.aliases[head.text] = text
