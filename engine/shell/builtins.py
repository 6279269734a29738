"""Bash's builtins that change the shell or run commands, one function each.

To add one, write its function and name it in BUILTINS. Builtins that only print, or whose
arguments matter but nothing else, are left to the knowledge about commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve

from ringfence.engine.shell import conditions, expansion, files, nested, variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import Outcome
from ringfence.engine.shell.directories import cd, dirs, popd, pushd, pwd
from ringfence.engine.shell.reading import mapfile, read
from ringfence.engine.shell.state import Array, State, Variable
from ringfence.engine.shell.texts import bounded
from ringfence.rules.model import NAME, UNKNOWN, Field, Operation, is_known

_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[(?P<subscript>.*)\])?(?P<append>\+)?=", re.DOTALL)
_OPTION_LETTERS = {
    "e": "errexit",
    "f": "noglob",
    "u": "nounset",
    "x": "xtrace",
    "a": "allexport",
    "B": "braceexpand",
    "E": "errtrace",
    "T": "functrace",
    "n": "noexec",
    "v": "verbose",
}


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
        call.state.status = word if word.isdecimal() else NAME
    return call.run.walker.leave(call.name, levels, call.state)


# --- running commands --------------------------------------------------------------------------


def eval_(call: Call) -> Outcome:
    """``eval word…``: the words, joined by spaces, as a script in this very shell."""
    arguments = _operands(call.arguments)
    if not arguments:
        return call.succeeds()
    text = " ".join(field.text for field in arguments)
    at = evolve(arguments[0], text=text, span=(arguments[0].span[0], arguments[-1].span[1]))
    if nested.obscured(call.run, call.state, text, at):
        return call.either()
    with call.run.nested(), call.run.recorder.possibly(UNKNOWN in text):
        return call.run.walker.script(text, at, call.state)


def source(call: Call) -> Outcome:
    """``source file [argument…]``: the file is read, and evaluated if the project has it."""
    arguments = _operands(call.arguments)
    if not arguments:
        return call.fails()
    at, *parameters = arguments
    state = call.state
    if files.is_open(state, at.text):
        path: str | None = at.text
    else:
        path = call.touch(at, Operation.READ)
    text = UNKNOWN if path is None else files.read(call.world, path)
    if UNKNOWN in text:
        if path is None or files.is_dictated(state, path):
            call.unknown(f"`{call.name}` runs text that is only known at run time", at)
        return call.either()
    before = state.parameters
    if parameters:
        state.parameters = (tuple(parameters),)
    anchor = call.run.recorder.span(at.span)
    trusted = path is not None and files.written_text(state, path) is None
    outcome = call.either()
    with call.run.nested(), call.run.recorder.anchored(anchor), call.run.lenient(trusted):
        outcome = call.run.walker.sourced(text, at, state)

    def restore(after: State) -> None:
        if parameters:
            after.parameters = before

    nested.each_state(outcome, restore)
    return outcome


def exec_(call: Call) -> Outcome:
    """``exec command…`` replaces the shell; without one its redirections stay."""
    words = _operands(call.arguments, with_values="a")
    if not words:
        return call.succeeds()
    outcome = _dispatch(evolve(call, argv=words), functions=False)
    after = outcome.joined()
    return outcome if after is None else call.run.walker.leave("exit", 1, after)


def command(call: Call) -> Outcome:
    """``command [-p] word…``: no function; with ``-v`` only a question."""
    words = list(call.arguments)
    while words and words[0].text.startswith("-") and len(words[0].text) > 1:
        option = words.pop(0).text
        if option == "--":
            break
        if "v" in option or "V" in option:
            return _plain(call)
    if not words:
        return call.succeeds()
    return _dispatch(evolve(call, argv=words), functions=False)


def builtin(call: Call) -> Outcome:
    """``builtin word…``."""
    words = _operands(call.arguments)
    return _dispatch(evolve(call, argv=words), functions=False) if words else call.succeeds()


def trap(call: Call) -> Outcome:
    """``trap 'script' signal…``: what it would do is evaluated when the shell ends."""
    operands = _operands(call.arguments, stop_at=("-", ""))
    if any(a.text in ("-l", "-p") for a in call.arguments[:1]) or len(operands) < 2:
        return call.succeeds()
    action, *signals = operands
    for signal in signals:
        if action.text in ("", "-"):
            call.state.traps.pop(signal.text, None)
        else:
            call.state.traps[signal.text] = action
    return call.succeeds()


def _dispatch(call: Call, *, functions: bool) -> Outcome:
    from ringfence.engine.shell.simple import dispatch  # noqa: PLC0415 they recurse

    return dispatch(call, functions=functions)


def _plain(call: Call) -> Outcome:
    """A builtin that does nothing but print: the knowledge about commands has it."""
    from ringfence.engine.shell.external import execute  # noqa: PLC0415 they recurse

    return execute(call)


def _operands(
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


# --- variables ---------------------------------------------------------------------------------


def declare(call: Call) -> Outcome:
    """``declare``, ``typeset``, ``local``, ``export``, ``readonly``: attributes and values."""
    attributes = _initial_attributes(call)
    options = ""
    done = False
    for index, argument in enumerate(call.arguments, 1):
        text = argument.text
        if not done and index not in call.assignments and text[:1] in ("-", "+"):
            done = text == "--"
            options += text[1:] if text.startswith("-") else ""
            _read_attributes(attributes, text)
            continue
        done = True
        if "f" in options or "F" in options:
            _function_attributes(call, text, attributes)
        elif "p" not in options:
            _declared(call, index, argument, attributes, everywhere="g" in options)
    return call.succeeds()


def _initial_attributes(call: Call) -> dict[str, Any]:
    match call.name:
        case "export":
            return {"exported": True}
        case "readonly":
            return {"readonly": True}
        case _:
            return {}


_ATTRIBUTES = {
    "x": "exported",
    "r": "readonly",
    "i": "integer",
    "l": "lower",
    "u": "upper",
    "n": "reference",
    "A": "associative",
    "a": "indexed",
}


def _read_attributes(attributes: dict[str, Any], option: str) -> None:
    for letter in option[1:]:
        if letter in _ATTRIBUTES:
            attributes[_ATTRIBUTES[letter]] = option[0] == "-"


def _function_attributes(call: Call, name: str, attributes: Mapping[str, Any]) -> None:
    if attributes.get("exported") or call.name == "export":
        call.state.exports |= {name}


def _declared(
    call: Call,
    index: int,
    argument: Field,
    given: Mapping[str, Any],
    *,
    everywhere: bool,
) -> None:
    from ringfence.engine.shell.simple import perform_assignment  # noqa: PLC0415 they recurse

    state = call.state
    attributes = {k: v for k, v in given.items() if k not in ("associative", "indexed")}
    assignment = call.assignments.get(index)
    found = _NAME.match(argument.text)
    name = assignment.name if assignment else found["name"] if found else argument.text
    if not re.fullmatch(r"[A-Za-z_]\w*(\[.*\])?", name):
        if UNKNOWN in argument.text:
            call.unknown("which variable is set is only known at run time", argument)
        return
    if state.frames and not everywhere and call.name in ("local", "declare", "typeset"):
        scope = state.frames[-1]
        scope.setdefault(name, state.variables.get(name))
        if not given.get("reference"):
            state.variables[name] = Variable((None,))
    keyed = bool(given.get("associative"))
    if keyed or given.get("indexed"):
        held = state.variables.get(name)
        if held is None or not any(isinstance(value, Array) for value in held.values):
            state.variables[name] = Variable((Array(associative=keyed),))
    if assignment is not None:
        perform_assignment(call.world, assignment, attributes, associative=keyed)
    elif found is not None:
        where = call.run.recorder.column(argument.span)
        value = bounded(argument.text[found.end() :])
        step = f"`${name}` was set to `{expansion.shown(value)}` {where}"
        variables.assign(
            call.world,
            name,
            value,
            steps=(*argument.steps, step),
            subscript=found["subscript"],
            append=bool(found["append"]),
            attributes=attributes,
        )
    elif attributes and name in state.variables:
        state.variables[name] = evolve(state.variables[name], **attributes)
    elif name not in state.variables and call.name not in ("export", "readonly"):
        state.variables[name] = evolve(Variable((None,)), **attributes)


def unset(call: Call) -> Outcome:
    """``unset [-fvn] name…``."""
    options = "".join(a.text for a in call.arguments if a.text.startswith("-"))
    for argument in _operands(call.arguments):
        name = argument.text
        if "f" in options or (name in call.state.functions and name not in call.state.variables):
            call.state.functions.pop(name, None)
        else:
            variables.unset(call.world, name)
    return call.succeeds()


def let(call: Call) -> Outcome:
    """``let expression…``."""
    value: int | None = None
    for argument in call.arguments:
        value = expansion.arithmetic_value(call.world, argument.text)
    if value is None:
        return call.either()
    return call.succeeds() if value else call.fails()


def printf(call: Call) -> Outcome:
    """``printf [-v name] format argument…``."""
    words = call.arguments
    if len(words) < 3 or words[0].text != "-v":
        return _plain(call)
    rest = [evolve(call.argv[0]), *words[2:]]
    before = call.state.output
    call.state.output = ("",)
    _plain(evolve(call, argv=rest))
    printed = call.world.pick(call.state.output, lambda texts: texts[0])
    call.state.output = before
    where = call.run.recorder.column(words[1].span)
    step = f"`${words[1].text}` was set to `{expansion.shown(printed)}` {where}"
    variables.assign(call.world, words[1].text, printed, steps=(step,))
    return call.succeeds()


# --- parameters and options --------------------------------------------------------------------


def set_(call: Call) -> Outcome:
    """``set [-+options] [--] [argument…]``."""
    words = list(call.arguments)
    state = call.state
    if not words:
        return _plain(call)
    options = set(state.options)
    while words and words[0].text[:1] in ("-", "+") and len(words[0].text) > 1:
        word = words.pop(0).text
        if word == "--":
            state.parameters = (tuple(words),)
            words = []
            break
        if word[1:].endswith("o"):
            name = words.pop(0).text if words else ""
            (options.add if word[0] == "-" else options.discard)(name)
        for letter in word[1:]:
            if letter in _OPTION_LETTERS:
                change = options.add if word[0] == "-" else options.discard
                change(_OPTION_LETTERS[letter])
    state.options = frozenset(options)
    if words:
        state.parameters = (tuple(words[1:] if words[0].text == "-" else words),)
    return call.succeeds()


def shopt(call: Call) -> Outcome:
    """``shopt -s option…`` and ``-u``."""
    letters = "".join(a.text[1:] for a in call.arguments if a.text.startswith("-"))
    names = {a.text for a in call.arguments if not a.text.startswith("-")}
    if "s" in letters:
        call.state.options |= names
    elif "u" in letters:
        call.state.options -= names
    return call.succeeds()


def shift(call: Call) -> Outcome:
    """``shift [n]``."""
    word = call.arguments[0].text if call.arguments else "1"
    parameters = call.world.parameters()
    if not word.isdecimal() or any(p.several for p in parameters[: int(word)]):
        at = call.arguments[0] if call.arguments else call.argv[0]
        call.state.parameters = ((Field(UNKNOWN, at.span, several=True),),)
        return call.either()
    if int(word) > len(parameters):
        return call.fails()
    call.state.parameters = (parameters[int(word) :],)
    return call.succeeds()


def getopts(call: Call) -> Outcome:
    """``getopts options name``: takes the options one by one where they are known."""
    operands = call.arguments
    if len(operands) < 2:
        return call.fails()
    words = tuple(operands[2:]) or call.world.parameters()
    position = variables.scalar(call.world, "OPTIND") or "1"
    if not position.isdecimal():
        position = "1"
    index = int(position) - 1
    if any(not w.known for w in words) or index >= len(words):
        if index >= len(words):
            variables.assign(call.world, operands[1].text, "?")
            return call.fails()
        variables.assign(call.world, operands[1].text, NAME)
        variables.assign(call.world, "OPTARG", UNKNOWN)
        variables.assign(call.world, "OPTIND", str(index + 2))
        return call.either()
    word = words[index].text
    if not word.startswith("-") or word in ("-", "--"):
        if word == "--":
            variables.assign(call.world, "OPTIND", str(index + 2))
        return call.fails()
    return _option(call, words, index)


def _option(call: Call, words: Sequence[Field], index: int) -> Outcome:
    """One option for ``getopts``; of a cluster, the one after those already taken."""
    spec, name = call.arguments[0].text, call.arguments[1].text
    word = words[index]
    taken = call.state.descriptors.pop("getopts", "")
    letter, rest = word.text[1 + len(taken)], word.text[2 + len(taken) :]
    following = index + 2
    variables.assign(call.world, name, letter if letter in spec.replace(":", "") else "?")
    if letter + ":" in spec:
        value = Field(rest, word.span, steps=word.steps)
        if not rest:
            value = words[index + 1] if index + 1 < len(words) else value
            following += 1
        variables.assign(call.world, "OPTARG", value.text, steps=value.steps)
    elif rest:
        call.state.descriptors["getopts"] = taken + letter
        following = index + 1
    variables.assign(call.world, "OPTIND", str(following))
    return call.succeeds()


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
    "eval": eval_,
    "exec": exec_,
    "trap": trap,
    "cd": cd,
    "dirs": dirs,
    "popd": popd,
    "pushd": pushd,
    "pwd": pwd,
    "declare": declare,
    "export": declare,
    "local": declare,
    "readonly": declare,
    "typeset": declare,
    "unset": unset,
    "let": let,
    "printf": printf,
    "read": read,
    "mapfile": mapfile,
    "readarray": mapfile,
    "getopts": getopts,
    "set": set_,
    "shift": shift,
    "shopt": shopt,
}

EXTERNAL_TOO = frozenset(("[", "test", "true", "false", "printf"))
"""Builtins that are programs as well, for callers that are no shell."""
