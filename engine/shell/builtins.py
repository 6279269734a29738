"""Bash's builtins that change the shell or run commands, one function each.

To add one, write its function and name it in BUILTINS. Builtins that only print, or whose
arguments matter but nothing else, are left to the knowledge about commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from ringfence.engine.shell import conditions, declarations, external, files, nested, options
from ringfence.engine.shell.call import Call, operands
from ringfence.engine.shell.directories import cd, dirs, popd, pushd, pwd
from ringfence.engine.shell.expansion import forbid_substitution
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.reading import mapfile, read
from ringfence.engine.shell.state import State
from ringfence.grammar.records import evolve
from ringfence.rules.model import NAME, UNKNOWN, Field, Operation, is_known

# --- nothing, and leaving ----------------------------------------------------------------------


def true(call: Call) -> Outcome:
    """``true`` and ``:``."""
    return call.succeeds()


def false(call: Call) -> Outcome:
    """``false``."""
    return call.fails()


def leave(call: Call) -> Outcome:
    """``exit [n]``, ``return [n]``, ``break [n]``, ``continue [n]``."""
    arguments = call.arguments
    word = arguments[0].text if arguments else ""
    levels = int(word) if word.isdecimal() else 1
    if call.name in ("exit", "return", "logout") and word:
        call.state.status = str(int(word) % 256) if word.isdecimal() else NAME
    return call.run.walker.control.leave(call.name, levels, call.state)


# --- running commands --------------------------------------------------------------------------


def eval_(call: Call) -> Outcome:
    """``eval word…``: the words, joined by spaces, as a script in this very shell."""
    arguments = operands(call.arguments)
    if not arguments:
        return call.succeeds()
    text = " ".join(field.text for field in arguments)
    at = evolve(arguments[0], text=text, span=(arguments[0].span[0], arguments[-1].span[1]))
    if nested.obscured(call.run, call.state, text, at):
        return call.either()
    with call.run.nested(), call.run.recorder.possibly(UNKNOWN in text):
        return call.run.walker.script(text, at, call.state)


def hash_(call: Call) -> Outcome:
    """``hash -p file name``: from then on, ``name`` runs the file, with what nobody knows yet."""
    words = [word for word in call.arguments if not word.text.startswith("-")]
    if words and any(word.text.startswith("-") and "p" in word.text for word in call.arguments):
        call.touch(words[0], Operation.EXECUTE)
        ran = (words[0], Field(UNKNOWN, words[0].span))
        call.run.recorder.command(words[0].span, ran, within=True)
    return call.either()


def source(call: Call) -> Outcome:
    """``source file [argument…]``: the file is read, and evaluated if the project has it."""
    arguments = operands(call.arguments)
    if not arguments:
        return call.fails()
    at, *parameters = arguments
    state = call.state
    if files.is_open(state, at.text):
        path: str | None = at.text
    else:
        path = call.touch(at, Operation.EXECUTE)
    text = UNKNOWN if path is None else files.read(call.world, path)
    if UNKNOWN in text:
        if path is None or files.is_dictated(state, path):
            call.unknown(f"`{call.name}` runs text that is only known at run time", at, runs=True)
        return call.either()
    before = state.parameters
    if parameters:
        state.parameters = (tuple(parameters),)
    anchor = call.run.recorder.span(at.span)
    trusted = path is not None and files.is_kept(call.run, state, path)
    outcome = call.either()
    recorder = call.run.recorder
    origin = Origin(nested.shown(recorder, path), text) if path is not None else recorder.origin
    with (
        call.run.nested(),
        recorder.anchored(anchor),
        recorder.stands_in(origin),
        call.run.lenient(trusted),
    ):
        outcome = call.run.walker.sourced(text, at, state)

    def restore(after: State) -> None:
        if parameters:
            after.parameters = before

    nested.each_state(outcome, restore)
    return outcome


def exec_(call: Call) -> Outcome:
    """``exec command…`` replaces the shell; without one its redirections stay."""
    words = operands(call.arguments, with_values="a")
    if not words:
        return call.succeeds()
    outcome = _inner(call, words)
    after = outcome.joined()
    return outcome if after is None else call.run.walker.control.leave("exit", 1, after)


def command(call: Call) -> Outcome:
    """``command [-p] word…``: no function; with ``-v`` only a question."""
    words = list(call.arguments)
    while words and words[0].text.startswith("-") and len(words[0].text) > 1:
        option = words.pop(0).text
        if option == "--":
            break
        if "v" in option or "V" in option:
            return external.execute(call)
    if not words:
        return call.succeeds()
    return _inner(call, words)


def builtin(call: Call) -> Outcome:
    """``builtin word…``."""
    words = operands(call.arguments)
    return _inner(call, words) if words else call.succeeds()


def _inner(call: Call, words: list[Field]) -> Outcome:
    """The command that ``command``, ``builtin`` or ``exec`` starts; rules see it by itself too."""
    span = (words[0].span[0], words[-1].span[1])
    call.run.recorder.command(span, tuple(words))
    return _dispatch(evolve(call, argv=words), functions=False)


def compgen(call: Call) -> Outcome:
    """``compgen -C script`` runs the script, and expands the words of ``-W`` once more."""
    words = call.arguments
    for option, value in pairwise(words):
        if option.text == "-C":
            with call.run.nested():
                call.run.walker.script(value.text, value, call.state.copy())
        elif option.text == "-W":
            forbid_substitution(call.world, value.text)
    return external.execute(call)


def trap(call: Call) -> Outcome:
    """``trap 'script' signal…``: what it would do is evaluated when the shell ends."""
    words = operands(call.arguments, stop_at=("-", ""))
    if any(a.text in ("-l", "-p") for a in call.arguments[:1]) or len(words) < 2:
        return call.succeeds()
    action, *signals = words
    for signal in signals:
        if action.text in ("", "-"):
            call.state.traps.pop(signal.text, None)
        else:
            call.state.traps[signal.text] = action
    return call.succeeds()


def _dispatch(call: Call, *, functions: bool) -> Outcome:
    from ringfence.engine.shell.simple import dispatch  # noqa: PLC0415 they recurse

    return dispatch(call, functions=functions)


def alias(call: Call) -> Outcome:
    """``alias name=text…``: does nothing unless ``expand_aliases`` is on."""
    for argument in call.arguments:
        name, equals, text = argument.text.partition("=")
        if equals and is_known(text):
            call.state.aliases[name] = text
    return call.succeeds()


def unalias(call: Call) -> Outcome:
    """``unalias name…``."""
    for argument in call.arguments:
        call.state.aliases.pop(argument.text, None)
    return call.succeeds()


BUILTINS: Mapping[str, Callable[[Call], Outcome]] = {
    ":": true,
    "true": true,
    "false": false,
    "[": conditions.test,
    "test": conditions.test,
    ".": source,
    "source": source,
    "alias": alias,
    "unalias": unalias,
    "break": leave,
    "continue": leave,
    "exit": leave,
    "logout": leave,
    "return": leave,
    "builtin": builtin,
    "command": command,
    "compgen": compgen,
    "eval": eval_,
    "exec": exec_,
    "trap": trap,
    "cd": cd,
    "dirs": dirs,
    "popd": popd,
    "pushd": pushd,
    "hash": hash_,
    "pwd": pwd,
    "declare": declarations.declare,
    "export": declarations.declare,
    "local": declarations.declare,
    "readonly": declarations.declare,
    "typeset": declarations.declare,
    "unset": declarations.unset,
    "let": declarations.let,
    "printf": declarations.printf,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": options.getopts,
    "set": options.set_,
    "shift": options.shift,
    "shopt": options.shopt,
}

EXTERNAL_TOO = frozenset(("[", "test", "true", "false", "printf"))
"""Builtins that are programs as well, for callers that are no shell."""
