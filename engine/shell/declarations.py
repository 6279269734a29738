"""The builtins that make and change variables: ``declare`` and its like, ``unset``, ``let``…."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ringfence.engine.shell import expansion, external, variables
from ringfence.engine.shell.call import Call, operands
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import Array, Variable
from ringfence.engine.shell.texts import bounded
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Field

_NAME = compiled(r"(?P<name>[A-Za-z_]\w*)(?:\[(?P<subscript>.*)\])?(?P<append>\+)?=", re.DOTALL)


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
        return
    if state.frames and not everywhere and call.name in ("local", "declare", "typeset"):
        scope = state.frames[-1]
        outer = state.variables.get(name)
        scope.setdefault(name, outer)
        # In `local x=$x` the value is still that of the variable outside.
        replaced = assignment is not None and not assignment.append
        if not given.get("reference") and not (replaced and not (outer and outer.reference)):
            state.variables[name] = Variable((None,))
        elif replaced and outer is not None:
            state.variables[name] = Variable(outer.values, steps=outer.steps)
    keyed = bool(given.get("associative"))
    if keyed or given.get("indexed"):
        held = state.variables.get(name)
        if held is None or not any(isinstance(value, Array) for value in held.values):
            state.variables[name] = Variable((Array(associative=keyed),))
    if assignment is not None:
        perform_assignment(call.world, assignment, attributes, associative=keyed)
    elif found is not None:
        where = call.run.recorder.column(argument.span)
        written = argument.text[found.end() :]
        value: str | Array = bounded(written)
        if (keyed or given.get("indexed")) and written.startswith("("):
            # Bash reads it as a list.
            value = Array((("0", UNKNOWN),), associative=keyed, loose=True)
        step = f"`${name}` was set to `{expansion.shown(written)}` {where}"
        variables.assign(
            call.world,
            name,
            value,
            steps=(*argument.steps, step),
            subscript=found["subscript"],
            append=bool(found["append"]),
            attributes=attributes,
            at=argument.span,
        )
    elif attributes and name in state.variables:
        state.variables[name] = evolve(state.variables[name], **attributes)
    elif name not in state.variables and call.name not in ("export", "readonly"):
        state.variables[name] = evolve(Variable((None,)), **attributes)
    elif attributes.get("exported"):
        state.exports |= {name}  # once it has a value


def unset(call: Call) -> Outcome:
    """``unset [-fvn] name…``."""
    options = "".join(a.text for a in call.arguments if a.text.startswith("-"))
    for argument in operands(call.arguments):
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
        value = expansion.arithmetic_value(call.world, argument.text, argument.span)
    if value is None:
        return call.either()
    return call.succeeds() if value else call.fails()


def printf(call: Call) -> Outcome:
    """``printf [-v name] format argument…``."""
    words = call.arguments
    if len(words) < 3 or words[0].text != "-v":
        return external.execute(call)
    rest = [evolve(call.argv[0]), *words[2:]]
    before = call.state.output
    call.state.output = ("",)
    external.execute(evolve(call, argv=rest))
    printed = call.world.pick(call.state.output, lambda texts: texts[0])
    call.state.output = before
    where = call.run.recorder.column(words[1].span)
    step = f"`${words[1].text}` was set to `{expansion.shown(printed)}` {where}"
    variables.assign(call.world, words[1].text, printed, steps=(step,), at=call.span)
    return call.succeeds()
