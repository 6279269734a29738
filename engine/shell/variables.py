"""Variables in one world: looking them up, the shell's own ones, and assigning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias

from ringfence.engine.shell.core import World
from ringfence.engine.shell.limits import MAX_ELEMENTS
from ringfence.engine.shell.state import Array, Value, Variable
from ringfence.engine.shell.texts import bounded, joined
from ringfence.grammar.nodes import Span
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, Field, is_known
from ringfence.rules.naming import LOADERS


class Absent(Enum):
    """A variable that nothing is known of: not in the environment, never assigned."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
Found: TypeAlias = Value | Absent

_NAMES = frozenset(
    (
        *("BASHPID", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "LINENO", "OPTIND", "PPID"),
        *("RANDOM", "SECONDS", "SHLVL", "SRANDOM", "UID", "BASH_SUBSHELL"),
        *("BASH_VERSION", "HOSTNAME", "HOSTTYPE", "LOGNAME", "MACHTYPE", "OSTYPE", "USER"),
        *("BASHOPTS", "SHELLOPTS", "HISTCMD"),
    )
)
"""Variables that the shell sets itself, to a number or a name."""

_CONSTANTS = {"BASH": "/bin/bash", "SHELL": "/bin/bash", "IFS": " \t\n", "PATH": UNKNOWN}
_SUBSCRIPTED = compiled(r"(?P<name>[A-Za-z_]\w*)\[(?P<subscript>.*)\]\Z", re.DOTALL)


def resolve(world: World, name: str) -> str:
    """The variable that ``name`` stands for: itself, or what a name reference leads to."""
    for _ in range(8):
        variable = world.state.variables.get(name)
        if variable is None or not variable.reference:
            return name
        target = world.value(name)
        if not isinstance(target, str) or not target:
            return name
        name = target
    return name


def lookup(world: World, name: str) -> Found:
    """The value of the variable ``name``; ABSENT if nothing is known of it."""
    name = resolve(world, name)
    subscripted = _SUBSCRIPTED.match(name)
    if subscripted:
        return element(world, subscripted["name"], subscripted["subscript"])
    if name in world.state.variables:
        return world.value(name)
    if name == "PWD":
        return world.shown
    if name == "DIRSTACK":
        return Array().append((world.shown, *world.state.stack))
    if name in _NAMES:
        return NAME
    return _CONSTANTS.get(name, ABSENT)


def scalar(world: World, name: str) -> str | None:
    """The text that ``$name`` gives, or None if the variable is unset or absent."""
    return first(lookup(world, name))


def first(found: Found) -> str | None:
    """The text of a value: of an array, that of its element 0."""
    if isinstance(found, Array):
        return found.get("0")
    return found if isinstance(found, str) else None


def element(world: World, name: str, subscript: str) -> Found:
    """The element of the array ``name`` at the expanded ``subscript``."""
    value = lookup(world, name)
    if not (isinstance(value, Array) and value.associative):
        from ringfence.engine.shell.expansion import forbid_substitution  # noqa: PLC0415 as below

        forbid_substitution(world, subscript)
    if isinstance(value, Array):
        key = subscript if value.associative else index(world, value, subscript)
        if key is None or not is_known(key):
            return Array(value.elements, loose=True).get("") if value.elements else UNKNOWN
        return value.get(key)
    if isinstance(value, str):
        return value if index(world, Array((("0", value),)), subscript) == "0" else None
    return value


def index(world: World, array: Array, subscript: str) -> str | None:
    """The subscript of an indexed array as digits, or None if unknown; negative from the end."""
    from ringfence.engine.shell.expansion import arithmetic_value  # noqa: PLC0415 they recurse

    if subscript.isdecimal():
        return str(int(subscript))
    if not is_known(subscript):
        return None
    number = arithmetic_value(world, subscript)
    if number is None:
        return None
    if number < 0:
        number += 1 + max((int(k) for k, _ in array.elements if k.isdecimal()), default=-1)
    return str(number)


def number(world: World, name: str) -> str | None:
    """What arithmetic sees of ``name``: its text, ``""`` if unset, None if unknown."""
    found = lookup(world, name)
    if found is ABSENT:
        return None
    text = first(found) or ""
    return text if is_known(text) else None


def separators(world: World) -> str:
    """``$IFS``, or its default if nobody knows it."""
    if "IFS" not in world.state.variables:
        return " \t\n"
    value = first(world.value("IFS"))
    return " \t\n" if value is None or not is_known(value) else value


def steps_of(world: World, name: str) -> tuple[str, ...]:
    """How the variable came by its value, for a person."""
    name = resolve(world, name)
    variable = world.state.variables.get(name.partition("[")[0])
    return variable.steps if variable else ()


def assign(
    world: World,
    name: str,
    value: Value,
    *,
    steps: Iterable[str] = (),
    subscript: str | None = None,
    append: bool = False,
    attributes: Mapping[str, Any] = MappingProxyType({}),
    at: Span | None = None,
) -> bool:
    """Set a variable, or an element of it; False if it is readonly, or its name is none.

    Where it stands, ``at``, is recorded of a variable that says which code runs.

    ``subscript`` is expanded already; ``attributes`` are those of Variable that change. An
    ``append``ed text is added, as a number if the variable is an integer.
    """
    name = resolve(world, name)
    subscripted = _SUBSCRIPTED.match(name)
    if subscripted:
        name, subscript = subscripted["name"], subscripted["subscript"]
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return False
    state = world.state
    if name in LOADERS and at is not None:
        text = first(value)
        words = (Field(f"{name}={text or ''}", at),)
        world.run.recorder.command(at, words, within=True)  # no rule for `read` means it
    if name == "BASH_ARGV0" and isinstance(value, str):
        state.name = value
    before = state.variables.get(name)
    if before is not None and before.readonly:
        return False
    held = lookup(world, name)
    old: Value = UNKNOWN if held is ABSENT and append and subscript is None else _present(held)
    variable = before or Variable(exported=name in state.exports)
    if "allexport" in state.options:
        variable = evolve(variable, exported=True)
    if attributes:
        variable = evolve(variable, **attributes)
    if isinstance(value, str):
        value = _converted(world, variable, value, old if append and subscript is None else None)
    if subscript is not None and isinstance(value, str | None):
        value = _with_element(world, old, subscript, value or "", append=append)
    elif append and not (variable.integer and isinstance(value, str)):
        value = _appended(old, value)
    elif isinstance(value, str) and isinstance(old, Array):
        value = old.put("0", value)
    if isinstance(value, Array) and len(value.elements) > MAX_ELEMENTS:
        value = evolve(value, elements=(("0", joined(value.texts)),), loose=True)
    state.variables[name] = evolve(variable, values=(value,), steps=tuple(steps))
    return True


def _present(found: Found) -> Value:
    return None if isinstance(found, Absent) else found


def _converted(world: World, variable: Variable, text: str, old: Value) -> str:
    if variable.integer:
        from ringfence.engine.shell.expansion import arithmetic_value  # noqa: PLC0415 they recurse

        value = arithmetic_value(world, f"{old}+{text}" if isinstance(old, str) and old else text)
        return NAME if value is None else str(value)
    if variable.lower or variable.upper:
        return text.lower() if variable.lower else text.upper()
    return text


def _with_element(world: World, old: Value, subscript: str, text: str, *, append: bool) -> Value:
    array = old if isinstance(old, Array) else Array((("0", old),) if old else ())
    key = subscript if array.associative else index(world, array, subscript)
    if key is None or not is_known(key):
        return evolve(array.append((text,)), loose=True)
    if append:
        text = (array.get(key) or "") + text
    return array.put(key, bounded(text))


def _appended(old: Value, value: Value) -> Value:
    if isinstance(value, Array):
        base = old if isinstance(old, Array) else Array((("0", old),) if old else ())
        if base.associative:
            for key, text in value.elements:
                base = base.put(key, text)
            return base
        return base.append(value.texts)
    if isinstance(old, Array):
        return old.put("0", bounded((old.get("0") or "") + (value or "")))
    return bounded((old or "") + (value or ""))


def unset(world: World, name: str) -> None:
    """``unset name``: known to be unset from now on."""
    subscripted = _SUBSCRIPTED.match(name)
    if subscripted:
        key = subscripted["subscript"]
        element(world, subscripted["name"], key)  # bash evaluates the subscript in any case
        array = lookup(world, subscripted["name"])
        if isinstance(array, Array) and key not in ("@", "*"):
            where = key if array.associative else index(world, array, key)
            world.state.variables[subscripted["name"]] = Variable(
                (array.without(where) if where is not None else evolve(array, loose=True),)
            )
            return
        name = subscripted["name"]
    variable = world.state.variables.get(name)
    if variable is not None and variable.readonly:
        return
    state = world.state
    scopes = [index for index, scope in enumerate(state.frames) if name in scope]
    if scopes and scopes[-1] < len(state.frames) - 1:
        # The local variable of a function further out goes; what it hid is there again.
        frames = [dict(scope) for scope in state.frames]
        hidden = frames[scopes[-1]].pop(name)
        state.frames = tuple(frames)
        state.variables[name] = hidden or Variable((None,))
        return
    state.variables[name] = Variable((None,))


def exported(world: World) -> dict[str, str]:
    """The variables that a program started here would see, with their texts."""
    return {
        name: text
        for name, variable in world.state.variables.items()
        if variable.exported and (text := first(world.value(name))) is not None
    }
