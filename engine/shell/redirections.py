"""Redirections: which files they open, what is then read, and where output goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ringfence.engine.paths import is_exempt
from ringfence.engine.shell import expansion, files, variables
from ringfence.engine.shell.core import Run, World, in_worlds
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import Opened, State
from ringfence.engine.shell.texts import joined
from ringfence.grammar.frozen import frozen
from ringfence.grammar.nodes import Literal, Redirection
from ringfence.grammar.records import evolve
from ringfence.rules.model import NAME, UNKNOWN, Field, Operation, is_known

_READS = frozenset(("<", "<>"))
_BOTH = frozenset(("&>", "&>>", ">&"))
_APPENDS = frozenset((">>", "&>>"))
_BY = "redirection"


@frozen
class Redirected:
    """What a command's redirections do to it.

    ``sink`` is where standard output goes: None if nowhere else, ``""`` if out of sight, or the
    path of a file. ``writes`` is set if any of them writes to a file that is no mere device.
    """

    sink: str | None = None
    append: bool = False
    writes: bool = False
    may_fail: bool = False  # a file may be missing, or no file; a descriptor may be closed


_NONE = Redirected()


def perform(world: World, redirections: Sequence[Redirection]) -> Redirected:
    """Perform ``redirections`` from left to right; the state's ``input`` is what then is read."""
    result = _NONE
    for redirection in redirections:
        operator = redirection.operator
        if operator in ("<<", "<<-", "<<<"):
            _feed(world, redirection, _document(world, redirection))
            document = redirection.document
            world.state.input_at = document.body.span if document else redirection.target.span
        elif operator in ("<&", ">&") and _duplicates(world, redirection):
            result = _duplicated(world, redirection, result)
        else:
            result = _opened(world, redirection, result)
        world.run.overlay.opened = world.state.opened
    return result


def within(
    run: Run,
    redirections: Sequence[Redirection],
    state: State,
    body: Callable[[State], Outcome],
) -> Outcome:
    """The outcome of ``body`` under ``redirections``, which end with it."""
    if not redirections:
        return body(state)

    def evaluate(world: World) -> Outcome:
        before, opened = world.state.input, world.state.opened
        descriptors = tuple(world.state.descriptors)
        redirected = perform(world, redirections)
        files.close_substitutions(world.state, descriptors)
        fed = any(r.operator[0] == "<" and r.fd in (None, "0") for r in redirections)
        restore = before if fed else None
        return collected(world, redirected, body, restore=restore, opened=opened)

    return in_worlds(run, state, evaluate)


def collected(
    world: World,
    redirected: Redirected,
    body: Callable[[State], Outcome],
    *,
    restore: str | None,
    opened: Mapping[str, Opened] | None,
) -> Outcome:
    """The outcome of ``body``, its output sent to the sink, and its input put back after it.

    So is what was ``opened`` before.
    """
    state = world.state
    changed = _changed(state, opened)
    unopened = state.copy() if redirected.may_fail else None
    before = state.output
    if redirected.sink is not None:
        state.output = ("",)
    outcome = body(state)
    for after in _states(outcome):
        if redirected.sink is not None:
            if redirected.sink:
                if redirected.append:
                    files.append(world.run, after, redirected.sink, joined(after.output))
                else:
                    files.write(after, redirected.sink, joined(after.output))
            after.output = before
        if restore is not None:
            after.input = restore
        _reset(after, opened, changed)
    if unopened is not None:
        _reset(unopened, opened, changed)
    if unopened is not None and restore is not None:
        unopened.input = restore
    return or_unopened(outcome, unopened)


def _changed(state: State, before: Mapping[str, Opened] | None) -> frozenset[str]:
    """The descriptors that have something else open than before."""
    if before is None or before is state.opened:
        return frozenset()
    numbers = (*before, *state.opened)
    return frozenset(n for n in numbers if before.get(n) != state.opened.get(n))


def _reset(state: State, before: Mapping[str, Opened] | None, changed: Collection[str]) -> None:
    """Let the ``changed`` descriptors be as ``before``; others may have been opened to stay."""
    if changed and before is not None:
        kept = {n: files_ for n, files_ in state.opened.items() if n not in changed}
        state.opened = {**kept, **{n: before[n] for n in changed if n in before}}


def or_unopened(outcome: Outcome, unopened: State | None) -> Outcome:
    """The outcome where a redirection may have failed before: the command did not run then.

    What it would have written still counts as written: a file that cannot be opened for writing
    is hardly ever one that is then read.
    """
    if unopened is None:
        return outcome
    unopened.status = "1"
    written = outcome.success or outcome.failure
    if written is not None:
        unopened.files = written.files
    return Outcome.any_of((outcome, Outcome(None, unopened)))


def _states(outcome: Outcome) -> list[State]:
    success, failure = outcome.success, outcome.failure
    found = [state for state in (success, failure) if state is not None]
    return found[:1] if success is failure else found


# --- one redirection ---------------------------------------------------------------------------


def _document(world: World, redirection: Redirection) -> str:
    if redirection.operator == "<<<":
        return expansion.text(world, redirection.target).text + "\n"
    document = redirection.document
    if document is None:
        return ""
    if document.quoted:
        return "".join(p.text for p in document.body.parts if isinstance(p, Literal))
    return expansion.document(world, document.body)


def _number(world: World, redirection: Redirection, default: str) -> str:
    """The descriptor that is opened; ``{name}`` gets a new one, which the variable then holds."""
    fd = redirection.fd
    if fd is None:
        return default
    if fd.startswith("{"):
        number = next(str(n) for n in range(10, 1000) if str(n) not in world.state.descriptors)
        variables.assign(world, fd.strip("{}"), number, at=redirection.span)
        return number
    return fd


def _feed(world: World, redirection: Redirection, text: str) -> None:
    number = _number(world, redirection, "0")
    _open(world.state, number, ())
    if number == "0":
        world.state.input = text
        world.state.input_at = None
    else:
        world.state.descriptors[number] = text


def _open(state: State, number: str, opened: Opened) -> None:
    """Remember which files the descriptor has open from now on."""
    if opened or number in state.opened:
        kept = {n: files_ for n, files_ in state.opened.items() if n != number}
        state.opened = {**kept, number: opened} if opened else kept


def _duplicates(world: World, redirection: Redirection) -> bool:
    """Whether ``>&word`` names a descriptor; otherwise it is a file for both outputs."""
    if redirection.operator == "<&":
        return True
    target = expansion.text(world, redirection.target).text
    name = target.rstrip("-")
    return name.isdecimal() or target == "-" or (bool(name) and set(name) <= {NAME})


def _duplicated(world: World, redirection: Redirection, result: Redirected) -> Redirected:
    target = expansion.text(world, redirection.target).text
    source = target.rstrip("-")
    if target not in ("0", "1", "2"):
        result = evolve(result, may_fail=True)
    number = _number(world, redirection, "0" if redirection.operator == "<&" else "1")
    held = world.state.opened
    if held:
        known = source.isdecimal() or not source
        every = [opened for n, opened in held.items() if n == source or not known]
        _open(world.state, number, tuple(dict.fromkeys(one for opened in every for one in opened)))
    if redirection.operator == "<&":
        state = world.state
        text = state.input if source == "0" else state.descriptors.get(source, UNKNOWN)
        if number == "0":
            state.input = text
        else:
            state.descriptors[number] = text
    elif number == "1" and source != "1":
        return evolve(result, sink="")
    elif number not in "012":
        world.state.descriptors.setdefault(number, UNKNOWN)
    return result


def _opened(world: World, redirection: Redirection, result: Redirected) -> Redirected:
    operator = redirection.operator
    reads = operator in _READS
    number = _number(world, redirection, "0" if reads else "1")
    operation = Operation.READ if operator == "<" else Operation.WRITE
    targets = expansion.fields(world, (redirection.target,))
    for target in targets:
        path = _touch(world, target, operation)
        if path is None or not is_exempt(path):
            result = evolve(result, may_fail=True)
        opened = _now_open(world.state, path, operation)
        if operation is Operation.WRITE and path and files.descriptor(path) not in (None, "1"):
            files.write(world.state, path, None)
        if reads:
            text = UNKNOWN if path is None else files.read(world, path)
            _feed(world, evolve(redirection, fd=number), text)
            if operator == "<>" and path is not None and is_known(path) and not is_exempt(path):
                files.write(world.state, path, None)  # what is written through it is not followed
        else:
            result = _sent(world, redirection, number, path, result)
        for one in (number, "2") if operator in _BOTH else (number,):
            _open(world.state, one, opened)
        if operator != "<" and not _is_device(path):
            words = (Field(">", redirection.span), target)
            world.run.recorder.command(redirection.span, words, redirection=True)
            result = evolve(result, writes=True)
    return result


def _now_open(state: State, path: str | None, operation: Operation) -> Opened:
    """What a descriptor has open after ``path`` was opened, itself perhaps a descriptor's."""
    number = None if path is None else files.descriptor(path)
    if number is not None:
        return tuple([(file, operation) for file, _ in state.opened.get(number, ())])
    if path is not None and is_exempt(path):
        return ()
    return ((UNKNOWN if path is None else path, operation),)


def _touch(world: World, target: Field, operation: Operation) -> str | None:
    """Record the file; devices that stand for open files are none. Its path, if known."""
    recorder = world.run.recorder
    if files.descriptor(target.text):
        recorder.reopened(target.text, operation, target, _BY)
        return target.text
    if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return target.text
    return recorder.effect(target.text, operation, target, _BY, world.directory)


def _is_device(path: str | None) -> bool:
    """Whether the path is known, and no file that keeps what is written."""
    return path is not None and (is_exempt(path) or files.descriptor(path) is not None)


def _sent(
    world: World, redirection: Redirection, number: str, path: str | None, result: Redirected
) -> Redirected:
    device = _is_device(path)
    if path is not None and not is_known(path):
        files.write(world.state, path, None)  # another such name may be another file
    elif path is not None and not device:
        if number != "1":  # what goes through another descriptor is not followed
            files.write(world.state, path, None)
        elif redirection.operator not in _APPENDS:
            files.write(world.state, path, "")
    if number not in "012":
        world.state.descriptors[number] = UNKNOWN
    if number == "1":
        if path in ("/dev/stdout", "/dev/fd/1"):
            return result
        sink = path if path and not device and is_known(path) else ""
        return evolve(result, sink=sink, append=redirection.operator in _APPENDS)
    return result
