"""The builtins that change or show the working directory."""

from __future__ import annotations

from ringfence.engine.paths import is_inside, join, kernel_path, normalise, real_path
from ringfence.engine.shell import files, variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import World
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import State
from ringfence.engine.shell.state import join as join_states
from ringfence.grammar.records import evolve
from ringfence.rules.model import UNKNOWN, Field, Operation


def _options(call: Call) -> tuple[str, list[Field]]:
    """The option letters, and the operands."""
    letters = ""
    words = list(call.arguments)
    while words and words[0].text[:1] == "-" and words[0].text[1:].strip("LPe@n") == "":
        if words[0].text == "-":
            break
        letters += words.pop(0).text[1:]
    if words and words[0].text == "--":
        words.pop(0)
    return letters, words


def cd(call: Call) -> Outcome:
    """``cd [-L|-P] [directory]``."""
    letters, words = _options(call)
    if len(words) > 1 and not any(word.several for word in words):
        return call.fails()
    if not words:
        return _go_home(call)
    at = words[0]
    text = at.text
    if text == "-":
        text = variables.scalar(call.world, "OLDPWD") or UNKNOWN
        at = evolve(at, steps=(*at.steps, f"`$OLDPWD` is `{text}`"))
    if "cdable_vars" in call.state.options and text.isidentifier():
        return _lost(call, at)  # a variable may hold the directory
    if at.several and text == UNKNOWN:
        # Unquoted and perhaps empty: then it is a plain `cd`, which does not matter here.
        return _lost(call, at)
    return _enter(call, at, text, physical="P" in letters, search=True)


def _go_home(call: Call) -> Outcome:
    """``cd`` without operands names no path; what is done there afterwards counts."""
    home = variables.scalar(call.world, "HOME")
    if not home:
        return call.fails() if home == "" else _lost(call, call.argv[0])
    call.state.change_directory(normalise(join(call.world.directory, home)))
    call.state.entered = call.argv[0]
    return call.succeeds()


def _lost(call: Call, at: Field) -> Outcome:
    """After entering a directory that is only known at run time."""
    call.unknown(f"`{call.name}` enters a directory that is only known at run time", at)
    success = call.state.copy()
    success.change_directory(UNKNOWN)
    return Outcome(success, call.state)


def _enter(call: Call, at: Field, text: str, *, physical: bool, search: bool) -> Outcome:
    """Enter ``text``: the state after success, and the one after failure if it may fail."""
    world, filesystem = call.world, call.run.filesystem
    if text.startswith(UNKNOWN):
        return _lost(call, at)
    here = world.directory
    physical = physical or "physical" in call.state.options
    outcomes: list[State] = []
    bases = [here]
    if search and not text.startswith(("/", "./", "../")) and text not in (".", ".."):
        bases = [*_cdpath(call), here]
    for base in bases:
        if base.startswith(UNKNOWN) and not text.startswith("/"):
            success = call.state.copy()
            success.change_directory(UNKNOWN)
            return Outcome(success, call.state)
        found = False
        for logical in _logical(world, base, text, physical=physical):
            exists = files.directory_exists(world, logical)
            if base is not here and exists is False:
                continue
            target = real_path(logical, filesystem) if physical else logical
            recorded = call.touch(at, Operation.ENTER, path=logical)
            success = call.state.copy()
            success.change_directory(UNKNOWN if recorded is None or UNKNOWN in target else target)
            outcomes.append(success)
            if base is not here:
                success.write(target + "\n")
            found = found or exists is True
        if found:
            return Outcome(join_states(outcomes), None)
        # One that is missing now may be there by the time the command runs: another call, or
        # anything else, can make it. So both ways stay open.
    return Outcome(join_states(outcomes), call.state)


def _logical(world: World, base: str, text: str, *, physical: bool) -> list[str]:
    """Where ``cd`` leads: bash takes ``..`` from the text of ``$PWD``, without ``-P``.

    If that does not exist, it goes where the kernel would. Several where it is in doubt what
    ``$PWD`` holds.
    """
    run = world.run
    kernel = kernel_path(join(base, text), run.filesystem)
    if physical:
        return [kernel]
    shown = [base]
    if base == world.directory and world.shown != base:
        before = world.state.variables.get("OLDPWD")
        moved = before is not run.inherited.get("OLDPWD")  # perhaps into it by its other name
        shown = [world.shown, base] if moved else [world.shown]
    found = []
    for name in shown:
        logical = normalise(join(name, text))
        if files.directory_exists(world, logical) is False:
            logical = kernel
        elif run.logical and is_inside(logical, run.logical):
            logical = run.shell.cwd.rstrip("/") + logical[len(run.logical.rstrip("/")) :] or "/"
        found.append(logical)
    if run.doubtful:
        found.append(kernel)
    return list(dict.fromkeys(found))


def _cdpath(call: Call) -> list[str]:
    """The directories of ``$CDPATH``, absolute."""
    value = variables.scalar(call.world, "CDPATH")
    if not value:
        return []
    here = call.world.directory
    return [
        UNKNOWN if UNKNOWN in entry else normalise(join(here, entry or "."))
        for entry in value.split(":")
        if entry not in ("", ".")
    ]


def pwd(call: Call) -> Outcome:
    """``pwd [-L|-P]``."""
    letters, _ = _options(call)
    directory = call.world.shown
    if "P" in letters and not directory.startswith(UNKNOWN):
        directory = real_path(directory, call.run.filesystem)
    call.state.write(directory + "\n")
    return call.succeeds()


def pushd(call: Call) -> Outcome:
    """``pushd [directory | +n]``."""
    letters, words = _options(call)
    here, state = call.world.directory, call.state
    if not words or words[0].text[:1] in ("+", "-"):
        return _rotate(call, words[0].text if words else "+1")
    if "n" in letters:
        state.stack = (normalise(join(here, words[0].text)), *state.stack)
        return call.succeeds()
    outcome = _enter(call, words[0], words[0].text, physical=False, search=True)
    if outcome.success is not None:
        outcome.success.stack = (here, *outcome.success.stack)
        outcome.success.write(UNKNOWN)
    return outcome


def popd(call: Call) -> Outcome:
    """``popd [+n]``."""
    _, words = _options(call)
    state = call.state
    if not state.stack:
        return call.fails()
    if words:
        index = _index(words[0].text, len(state.stack) + 1)
        if index:
            state.stack = state.stack[: index - 1] + state.stack[index:]
            return call.succeeds()
    target, *rest = state.stack
    outcome = _enter(call, call.argv[0], target, physical=False, search=False)
    if outcome.success is not None:
        outcome.success.stack = tuple(rest)
        outcome.success.write(UNKNOWN)
    return outcome


def dirs(call: Call) -> Outcome:
    """``dirs [-c]``."""
    if any(word.text == "-c" for word in call.arguments):
        call.state.stack = ()
    call.state.write(" ".join((call.world.shown, *call.state.stack)) + "\n")
    return call.succeeds()


def _index(word: str, length: int) -> int | None:
    if not word[1:].isdecimal():
        return None
    number = int(word[1:])
    index = number if word[0] == "+" else length - 1 - number
    return index if 0 <= index < length else None


def _rotate(call: Call, word: str) -> Outcome:
    """``pushd +n``: the stack turned so that its entry ``n`` comes first."""
    entries = (call.world.directory, *call.state.stack)
    index = _index(word, len(entries))
    if index is None or len(entries) < 2:
        return call.fails()
    turned = entries[index:] + entries[:index]
    outcome = _enter(call, call.argv[0], turned[0], physical=False, search=False)
    if outcome.success is not None:
        outcome.success.stack = turned[1:]
    return outcome
