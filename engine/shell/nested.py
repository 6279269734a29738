"""Texts within the command: scripts of ``eval`` and ``bash -c``, functions, their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ringfence.engine.paths import normalise, real_path
from ringfence.engine.shell import startup
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import Run
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.outcome import Outcome, by_status
from ringfence.engine.shell.recorder import Recorder
from ringfence.engine.shell.state import Array, Function, State, Variable
from ringfence.grammar.nodes import Span
from ringfence.rules.model import UNKNOWN, Field

_QUOTING = "\\\"'$"


def places(recorder: Recorder, span: Span, text: str) -> list[int] | None:
    """Where each position of ``text`` stands in the source, if ``span`` writes it out there.

    Only quoting may stand between its characters; None if anything was expanded.
    """
    if recorder.anchor is not None:
        return None
    source, end = recorder.source, span[1]
    position = span[0]
    found: list[int] = []
    for character in text:
        while position < end and source[position] != character:
            if source[position] not in _QUOTING:
                return None
            position += 1
        if position == end:
            return None
        found.append(position)
        position += 1
    if any(c not in _QUOTING for c in source[position:end]):
        return None
    return [*found, position]


def call_function(call: Call, function: Function) -> Outcome:
    """Call a function with the call's arguments as its positional parameters."""
    run, state = call.run, call.state
    before = state.parameters
    state.parameters = (tuple(call.arguments),)
    state.frames = (*state.frames, {})
    recorder = run.recorder
    with run.nested(), recorder.anchored(function.anchor), recorder.stands_in(function.origin):
        outcome = run.walker.function(function.definition, state)

    def leave(after: State) -> None:
        *frames, last = after.frames
        after.frames = tuple(frames)
        after.parameters = before
        for name, variable in last.items():
            if variable is None:
                after.variables.pop(name, None)
            else:
                after.variables[name] = variable

    each_state(outcome, leave)
    return outcome


def each_state(outcome: Outcome, change: Callable[[State], None]) -> None:
    """Apply ``change`` once to every state of an outcome."""
    if outcome.success is not None:
        change(outcome.success)
    if outcome.failure is not None and outcome.failure is not outcome.success:
        change(outcome.failure)


def child(
    run: Run,
    state: State,
    text: str,
    at: Field,
    *,
    parameters: Sequence[Field] = (),
    name: str = "bash",
    options: frozenset[str] = frozenset(),
) -> Outcome:
    """Evaluate ``text`` as a new bash would: with exported variables, in a process of its own."""
    if obscured(run, state, text, at):
        return Outcome.either(state)

    def body(inner: State) -> Outcome:
        inner.variables = {n: v for n, v in inner.variables.items() if v.exported or n == "OLDPWD"}
        inner.functions = {n: f for n, f in inner.functions.items() if n in inner.exports}
        _inherit_name(run, inner)
        inner.parameters = (tuple(parameters),)
        inner.name = name
        inner.options = options | startup.inherited_options(inner)
        inner.aliases = {}
        inner = startup.take_functions(run, inner, at)
        return run.walker.script(text, at, inner)

    with run.nested(), run.recorder.possibly(UNKNOWN in text):
        return process(run, state, body)


def forget_name(run: Run, state: State) -> None:
    """Let ``$PWD`` show where the links in its path lead, as for who inherits no true one."""
    real = tuple(real_path(directory, run.filesystem) for directory in state.directories)
    if real != state.directories or run.logical not in ("", run.shell.cwd):
        state.change_directory(real[0] if len(real) == 1 else UNKNOWN)
        state.directories = real


def _inherit_name(run: Run, state: State) -> None:
    """Take ``$PWD`` as it was set for a new bash: it counts if it names the directory."""
    held = state.variables.pop("PWD", None)
    if held is None:
        return
    names = [value for value in held.values if isinstance(value, str)]
    here = [real_path(directory, run.filesystem) for directory in state.directories]
    true = [n for n in names if n.startswith("/") and real_path(n, run.filesystem) in here]
    if true:
        state.change_directory(UNKNOWN)
        state.directories = tuple(dict.fromkeys((*map(normalise, true), *state.directories)))
    else:
        forget_name(run, state)


def script_file(
    call: Call,
    text: str,
    at: Field,
    *,
    parameters: Sequence[Field],
    path: str,
    trusted: bool,
    origin: Origin | None = None,
) -> None:
    """Evaluate the text of a script file, which the word ``at`` names, as a new bash.

    ``origin`` is where its text stands, by default in the file ``path``.

    A ``trusted`` script is one that the project has: running it is running the project's own
    code, so what is found in it counts, but not what cannot be known.
    """
    run, recorder = call.run, call.run.recorder
    before = call.state.variables.get("BASH_SOURCE")
    call.state.variables["BASH_SOURCE"] = Variable((Array((("0", path),)),), exported=True)
    origin = origin or Origin(shown(recorder, path), text)
    try:
        with (
            recorder.anchored(recorder.span(at.span)),
            recorder.stands_in(origin),
            run.lenient(trusted),
        ):
            given = startup.given_options(call.argv)
            child(run, call.state, text, at, parameters=parameters, name=at.text, options=given)
    finally:
        call.state.variables.pop("BASH_SOURCE")
        if before is not None:
            call.state.variables["BASH_SOURCE"] = before


def shown(recorder: Recorder, path: str) -> str:
    """The path of a script for a person: in the working directory, from there on."""
    return path.removeprefix(f"{recorder.cwd.rstrip('/')}/")


def obscured(run: Run, state: State, text: str, at: Field) -> bool:
    """Whether nothing is known of a script; if only a part is, it is opaque all the same."""
    if UNKNOWN not in text:
        return False
    run.recorder.unknown("a part of the program is only known at run time", at)
    run.recorder.command(at.span, (Field(UNKNOWN, at.span),))
    state.changed = True
    if text.strip(UNKNOWN + " \t\n"):
        return False
    state.write(UNKNOWN)
    return True


def process(run: Run, state: State, body: Callable[[State], Outcome]) -> Outcome:
    """The outcome of ``body`` in a process of its own, of which files and output remain."""
    after = run.walker.subshell(body, state)
    if after is None:
        return Outcome(None, None)
    state.absorb(after)
    state.input = after.input
    return by_status(state)
