"""pi-permission-system."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ringfence.engine.imports.model import Import, is_state, is_tool
from ringfence.engine.imports.opencode import path_rule
from ringfence.engine.policy.model import SURFACES
from ringfence.grammar.regex import compiled
from ringfence.rules.model import is_known

_BUILT_INS = ("bash", "read", "write", "edit", "grep", "find", "ls")


def from_pi(data: Mapping[str, Any]) -> Import:
    """A file of pi-permission-system (``pi-permissions.jsonc``); what it leaves out is asked."""
    found = Import()
    defaults = data.get("defaultPolicy", {})
    for surface in SURFACES:
        state = defaults.get(surface, "ask") if isinstance(defaults, dict) else "ask"
        if not is_state(state):
            found.note(f"defaultPolicy.{surface}", f"is no answer, so it is ask: {state!r}")
            state = "ask"
        found.put(("defaultPolicy", surface), state)
    _pi_tables(found, data, ())
    return found


def _pi_tables(found: Import, data: Mapping[str, Any], above: tuple[str, ...]) -> None:
    named = {
        match[1]
        for key in ("tools", "special")
        for match in map(_PI_PATH.match, _names(data.get(key)))
        if match
    }
    shared = {
        operation: sum(operation in _OPERATIONS[tool] for tool in named) > 1
        for operation in ("read", "write")
    }
    for key, table in data.items():
        if key in ("defaultPolicy", "$schema"):
            continue
        if key in _BUILT_INS and is_state(table):  # the short form of agents' files
            found.put((*above, "tools", key), table)
        elif key not in SURFACES or not isinstance(table, dict):
            found.note(key, "there is no such table here")
        else:
            for name, state in table.items():
                if is_state(state) and _PI_PATH.match(name) and key in ("tools", "special"):
                    _pi_path(found, name, state, above, shared)
                elif not name or not is_known(name) or (key == "tools" and not is_tool(name)):
                    found.note(f"{key}.{name}", "can match nothing, so it is left out")
                elif key == "special" and name not in _SPECIAL:
                    found.note(f"{key}.{name}", "is no rule that is known here")
                elif is_state(state):
                    found.put((*above, key, name), state)
                else:
                    strict = "deny" if _says(state, "deny") else "ask"
                    found.note(f"{key}.{name}", f"has a form not known here, so it is {strict}")
                    found.put((*above, key, name), strict)


_SPECIAL = ("external_directory", "doom_loop")
_PI_PATH = compiled(r"(read|write|edit|grep|find|ls|external_directory):(?=.)", re.DOTALL)


def _says(form: Any, word: str) -> bool:
    """Whether ``word`` is a value anywhere in a form that is not known."""
    if isinstance(form, Mapping):
        return any(_says(value, word) for value in form.values())
    if isinstance(form, list):
        return any(_says(value, word) for value in form)
    return bool(form == word)


def _names(table: Any) -> list[str]:
    return [str(name) for name in table] if isinstance(table, dict) else []


_OPERATIONS = {
    **dict.fromkeys(("read", "grep", "find", "ls"), ("read",)),
    **dict.fromkeys(("write", "edit"), ("write",)),
    "external_directory": ("read", "write"),
}


def _pi_path(
    found: Import, name: str, state: str, above: tuple[str, ...], shared: Mapping[str, bool]
) -> None:
    """A rule of a tool for some paths, ``read:/srv/*``.

    ``shared`` says of which operations several tools have such rules.
    """
    tool, _, pattern = name.partition(":")
    if state == "allow":
        found.note(name, "holds for single paths of one tool, so it is not allowed")
        return
    if tool == "external_directory":
        found.note(name, "becomes a rule for all that is done to these paths")
    for operation in _OPERATIONS[tool]:
        path_rule(found, pattern, operation, state, above, shared=shared[operation])
