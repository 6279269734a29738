"""What an import makes, and what all of them need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ringfence.engine.policy.paths import problem
from ringfence.engine.policy.tables import no_command
from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled
from ringfence.rules.model import State, is_known
from ringfence.rules.wildcards import matches_all

Tables = dict[str, Any]


@define
class Import:
    """The tables of a config, and what could not be carried over."""

    tables: Tables = field(factory=dict)
    notes: list[str] = field(factory=list)

    def put(self, keys: tuple[str, ...], value: Any) -> None:
        """Set a rule; one that stands there already goes to the end, where it wins."""
        table = self._table(keys)
        table.pop(keys[-1], None)
        table[keys[-1]] = value

    def path(self, keys: tuple[str, ...], operation: str, state: str) -> None:
        """Set what a path pattern says of one operation, last of all that is said of that.

        A pattern stands in one place for all operations. Where the others must stay before the
        rules that come after them, the pattern is spelt in another way that means the same; where
        there is none, they go to the end with it, and become as strict as those rules are.
        """
        if wrong := problem(keys[-1]):
            if state == "allow":
                self.note(keys[-1], f"{wrong}, so it is not allowed")
                return
            wider = compiled(r"\{[^{}]*\}|\[\[:\w+:\]\]").sub("*", keys[-1].strip())
            self.note(keys[-1], f"{wrong}, so it is for more")
            keys = (*keys[:-1], "*" if problem(wider) else wider)
        table = self._table(keys)
        pattern = keys[-1]
        entry = table.setdefault(pattern, {})
        entry.pop(operation, None)
        patterns = list(table)
        behind = [p for p in patterns[patterns.index(pattern) + 1 :] if may_overlap(pattern, p)]
        if not any(_unlike(table[other], operation, state) for other in behind):
            entry[operation] = state  # nothing comes between
            return
        strictest = {}
        for other, said in entry.items():
            rules = {table[name].get(other) for name in behind} - {None}
            if rules - {said}:
                strictest[other] = max(rules | {said}, key=_strictness)
        respelt = next((text for text in respelled(pattern) if text not in table), None)
        if strictest and respelt is not None:
            table[respelt] = {operation: state}
            return
        for other, said in strictest.items():
            if said != entry[other]:
                why = f"cannot stand before and after other rules, so it is {said}"
                self.note(f"{other} of {pattern} = {entry[other]}", why)
        del table[pattern]
        table[pattern] = {**entry, **strictest, operation: state}

    def stricter(self, keys: tuple[str, ...], operation: str, state: str) -> dict[str, str]:
        """The patterns that say more than ``state`` of what one more pattern may match, too."""
        found = {}
        for pattern, said in self._table(keys).items():
            of_this = said.get(operation) if isinstance(said, dict) else said
            if of_this and _strictness(of_this) > _strictness(state):
                found[pattern] = of_this
        return {other: said for other, said in found.items() if may_overlap(keys[-1], other)}

    def wider(self, keys: tuple[str, ...], state: str, operation: str = "") -> None:
        """Set a rule that matches more than it was to: what is refused of that stays refused.

        With an ``operation``, in a table of paths.
        """
        refused = self.stricter(keys, operation, "ask")
        for pattern, said in {keys[-1]: state, **(refused if state == "ask" else {})}.items():
            if operation:
                self.path((*keys[:-1], pattern), operation, said)
            else:
                self.put((*keys[:-1], pattern), said)
            if pattern != keys[-1]:
                why = f"matches more than it did, so what {pattern} refuses stays refused"
                self.note(f"{keys[-1]}", why)

    def of_tool(self, tool: str, above: tuple[str, ...] = ()) -> str | None:
        """What is said so far of a whole tool, by the tables for one agent or by those for all."""
        for tables in (self._table((*above, "")), self.tables):
            said = [
                state
                for pattern, state in tables.get("tools", {}).items()
                if matches_all(pattern.split("*"), tool)
            ]
            said = said[-1:] or [tables.get("defaultPolicy", {}).get("tools")]
            if said[0]:
                return str(said[0])
        return None

    def _table(self, keys: tuple[str, ...]) -> Tables:
        """The table that a rule with these keys stands in."""
        table = self.tables
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        return table

    def note(self, what: str, why: str) -> None:
        """Tell what was left out, or became stricter."""
        self.notes.append(f"{what}: {why}")


def _strictness(state: str) -> int:
    return State(state).strictness


def _unlike(entry: Tables, operation: str, state: str) -> bool:
    """Whether a rule of an entry may decide otherwise: a strict one, of unknown operations too."""
    strict = {said for said in entry.values() if said != State.ALLOW} if state != "allow" else set()
    return bool((strict | {entry.get(operation, state)}) - {state})


_ALL = ("*", "**", "/**")
_FIXED = compiled(r"\$(?:\{\w+\}|\w+)|\[!?\]?[^]/]*\]|([^\W_])")


def respelled(pattern: str) -> Iterator[str]:
    """Path patterns that match the same, as other keys: one letter stands in brackets."""
    if pattern in _ALL:
        yield from _ALL
        return
    for found in reversed(list(_FIXED.finditer(pattern))):
        if found[1]:
            yield f"{pattern[: found.start()]}[{found[1]}]{pattern[found.end() :]}"


def may_overlap(pattern: str, other: str) -> bool:
    """Whether two patterns may match the same text: no, if they begin in different ways.

    Those of paths are compared if both are absolute, or both start in the same folder.
    """
    bases = [re.match(r"/|\./|~/|", text) for text in (pattern, other)]
    if bases[0] and bases[1] and bases[0][0] != bases[1][0]:
        return True
    one, two = (re.split(r"[*?\[$]", text, maxsplit=1)[0].casefold() for text in (pattern, other))
    one, two = one.rstrip("/ "), two.rstrip("/ ")  # `x/**` is for `x`, and `x *` too
    return one.startswith(two) or two.startswith(one)


def is_state(value: Any) -> bool:
    """Whether a value is an answer: allow, ask or deny."""
    return isinstance(value, str) and value in tuple(State)


def is_tool(name: str) -> bool:
    """Whether a tool may have this name, or match it: any other is an error in a config of ours."""
    return (
        bool(name)
        and is_known(name)
        and re.search(r"\(|^(read|write|edit|grep|find|ls):", name, re.IGNORECASE) is None
    )


READS, WRITES = ("read", "find", "grep", "ls"), ("edit", "write", "patch")


def command(
    found: Import, what: str, pattern: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule for single commands; one of a whole line would hide the rules for its parts."""
    pattern = pattern.strip()
    if wrong := no_command(pattern):
        found.note(what, f"{wrong[0]}, and is left out")
    elif state == "allow" and re.search(r"[;&|\n]", pattern):
        found.note(what, "holds for no single command, so it is not allowed")
    else:
        found.put((*above, "bash", pattern), state)


def whole_tool(
    found: Import, what: str, tool: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule about a part of what a tool does, which cannot be told apart here."""
    if state == "allow":
        found.note(what, "cannot be told apart here, so it is not allowed")
    elif not is_tool(tool):
        found.note(what, "is about no tool, so it is left out")
    else:
        for each in WRITES if tool == "edit" else (tool,):
            if found.of_tool(each, above) == State.DENY:
                found.note(what, f"cannot be told apart here, so all of {each} stays refused")
            else:
                found.note(what, f"cannot be told apart here, so all of {each} is asked about")
                found.put((*above, "tools", each), "ask")


def ask_about_all(found: Import) -> None:
    """Where it is not known which tools a rule is about."""
    for surface in ("tools", "bash", "mcp", "skills"):
        found.put((surface, "*"), "ask")


def literal(path: str) -> str:
    """The pattern of this very path."""
    return re.sub(r"([*?\[$])", r"[\1]", path)
