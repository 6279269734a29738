"""What an import makes, and what all of them need."""

from __future__ import annotations

import re
from typing import Any

from attrs import define, field

from ringfence.rules.model import State

Tables = dict[str, Any]


@define
class Import:
    """The tables of a config, and what could not be carried over."""

    tables: Tables = field(factory=dict)
    notes: list[str] = field(factory=list)

    def put(self, keys: tuple[str, ...], value: Any) -> None:
        """Set a rule; one that stands there already goes to the end, where it wins."""
        table = self.tables
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        table.pop(keys[-1], None)
        table[keys[-1]] = value

    def path(self, keys: tuple[str, ...], operation: str, state: str) -> None:
        """Set what a path pattern says of one operation, last of all that is said of that."""
        table = self.tables
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        pattern = keys[-1]
        while not isinstance(entry := table.setdefault(pattern, {}), dict) or operation in entry:
            pattern = _respelled(pattern)  # the order of the other operations must not change
        entry[operation] = state

    def note(self, what: str, why: str) -> None:
        """Tell what was left out, or became stricter."""
        self.notes.append(f"{what}: {why}")


def _respelled(pattern: str) -> str:
    """A pattern that matches the same, as another key."""
    for place in reversed(range(len(pattern))):
        if pattern[place].isalnum() and pattern[place - 1 : place] != "[":
            return f"{pattern[:place]}[{pattern[place]}]{pattern[place + 1 :]}"
    return f"{pattern}*"


def is_state(value: Any) -> bool:
    """Whether a value is an answer: allow, ask or deny."""
    return isinstance(value, str) and value in tuple(State)


READS, WRITES = ("read", "find", "grep", "ls"), ("edit", "write", "patch")


def command(
    found: Import, what: str, pattern: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule for single commands; one of a whole line would hide the rules for its parts."""
    if state == "allow" and re.search(r"[;&|\n]", pattern):
        found.note(what, "holds for no single command, so it is not allowed")
    else:
        found.put((*above, "bash", pattern), state)


def whole_tool(
    found: Import, what: str, tool: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule about a part of what a tool does, which cannot be told apart here."""
    if state == "allow":
        found.note(what, "cannot be told apart here, so it is not allowed")
    else:
        found.note(what, f"cannot be told apart here, so all of {tool} is asked about")
        for each in WRITES if tool == "edit" else (tool,):
            found.put((*above, "tools", each), "ask")
