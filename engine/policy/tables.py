"""From a document to its layers: every key is known, every value is what it may be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ringfence.engine.policy import form
from ringfence.engine.policy.document import Document, Keys, dotted
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.model import (
    HEADLESS,
    NAMED,
    PATHS,
    SPECIAL,
    SURFACES,
    Entry,
    Layer,
)
from ringfence.engine.policy.paths import problem
from ringfence.grammar.regex import compiled
from ringfence.rules.model import Operation, State, is_known
from ringfence.rules.tool_names import canonical_tool, is_unknown_tool

_AGENT_KEYS = form.keys(form.AgentForm)
_KEYS = form.keys(form.ConfigForm)
_ANSWER_KEYS = form.keys(form.Explained)
_OF_PATHS = compiled(r"(read|write|edit|grep|find|ls):", re.IGNORECASE)
_SERVER_KEYS = form.keys(form.OfServer)
_ANSWER_KEYS_SET = frozenset(_ANSWER_KEYS)


def agent_layers(name: str, document: Document) -> list[Layer]:
    """The layers of the single agents in a file. Raises ConfigError."""
    agents = _table(document, ("agents",))
    return [
        layer(f"{name}, agent {agent}", document, ("agents", agent), agents[agent], agent)
        for agent in agents
    ]


def layer(name: str, document: Document, keys: Keys, data: Any, agent: str | None = None) -> Layer:
    """The layer that the table ``data`` at ``keys`` makes. Raises ConfigError."""
    if not isinstance(data, dict):
        raise _no_table(document, keys, data)
    allowed = _KEYS if agent is None else _AGENT_KEYS
    for key, value in data.items():
        if key not in allowed and (home := _home(key)):
            hint = f"write {_spelt(document, (*keys, home, key), value)}"
            raise document.error((*keys, key), "unknown key", hint)
        _known(document, (*keys, key), allowed)
    tables = {s: _entries(document, keys, s) for s in SURFACES if s in data}
    tables[PATHS] = _outside(document, keys)
    if NAMED in data:
        named = _table(document, (*keys, NAMED))
        tables[NAMED] = _paths(document, named, NAMED, lambda pattern: (*keys, NAMED, pattern))
    defaults = {}
    for surface, value in _table(document, (*keys, "defaultPolicy")).items():
        place = (*keys, "defaultPolicy", surface)
        _known(document, place, SURFACES)
        defaults[surface] = (_state(document, place, value), document.source(*place))
    asks = agent is None and not document.file.endswith(".toml")
    headless = _headless(document, (*keys, HEADLESS), data[HEADLESS]) if HEADLESS in data else None
    return Layer(name, document.file, tables, defaults, asks, agent, headless=headless)


def _headless(document: Document, keys: Keys, value: Any) -> State:
    """What a question becomes where nobody can be asked."""
    if value not in ("allow", "deny"):
        shown = f'"{value}"' if isinstance(value, str) else _kind(value)
        raise document.error(keys, f'must be "allow" or "deny", not {shown}')
    return State(value)


def _entries(document: Document, keys: Keys, surface: str) -> tuple[Entry, ...]:
    entries = []
    for pattern, value in _table(document, (*keys, surface)).items():
        place = (*keys, surface, pattern)
        if surface == "special":
            _known(document, place, SPECIAL)
            if pattern == PATHS and isinstance(value, dict):
                continue  # see _paths
        if not pattern or not is_known(pattern):
            raise document.error(place, "is no pattern: it is empty or holds a NUL")
        if surface == "bash" and (wrong := no_command(pattern)):
            raise document.error(place, *wrong)
        if surface == "tools":
            if "(" in pattern:
                hint = "rules for commands stand in the table bash"
                raise document.error(place, "is no tool's name, so it can never match", hint)
            if pattern in SPECIAL:
                hint = f"write {_spelt(document, (*keys, 'special', pattern), value)}"
                raise document.error(place, "is no tool's name, so it can never match", hint)
            if _OF_PATHS.match(pattern):
                hint = "rules for paths stand in the table paths"
                raise document.error(place, "is no tool's name, so it can never match", hint)
            pattern = canonical_tool(pattern)  # noqa: PLW2901  # one name for all spellings
        repeats = 0
        if surface == "special" and pattern == "doom_loop" and isinstance(value, dict):
            value, repeats = _repeats(document, place, value)  # noqa: PLW2901
        local, value = _local(document, place, value) if surface == "mcp" else (None, value)  # noqa: PLW2901
        said = _answer(document, place, value, _SERVER_KEYS if surface == "mcp" else _ANSWER_KEYS)
        source = document.source(*place)
        entry = Entry(surface, pattern, source=source, repeats=repeats, local=local, **said)
        entries.append(entry)
    return tuple(entries)


_CLAUDES = compiled(r"(?:Bash\((?P<inner>.*?)(?::\*)?\)|(?P<word>[\w./-]+):\*)", re.DOTALL)


def no_command(pattern: str) -> tuple[str, str] | None:
    """What is wrong with a pattern that no command can match, and a hint."""
    if pattern != pattern.strip():
        return "begins or ends with a blank, so it can never match", f'write "{pattern.strip()}"'
    claudes = _CLAUDES.fullmatch(pattern)
    if claudes is None:
        return None
    words = claudes["word"] or claudes["inner"]
    hint = f'write "{words} *"' if pattern.rstrip(")").endswith(":*") else f'write "{words}"'
    return "is written as for Claude Code, so it can never match", hint


def _repeats(document: Document, keys: Keys, value: Mapping[str, Any]) -> tuple[Any, int]:
    """The answer for a loop without its ``repeats``, and that."""
    rest = dict(value)
    repeats = rest.pop("repeats", 0)
    if "repeats" in value and (type(repeats) is not int or not 2 <= repeats <= 1000):
        raise document.error((*keys, "repeats"), "must be a whole number from 2 to 1000")
    return rest, repeats


def _local(document: Document, keys: Keys, value: Any) -> tuple[bool | None, Any]:
    """Whether an MCP server works here, if the answer says that, and the answer without it."""
    if not isinstance(value, dict) or "local" not in value or "state" not in value:
        return None, value
    rest = dict(value)
    local = rest.pop("local")
    if not isinstance(local, bool):
        raise document.error((*keys, "local"), f"must be true or false, not {_kind(local)}")
    return local, rest


def _outside(document: Document, keys: Keys) -> tuple[Entry, ...]:
    """What ``special.external_directory`` says of single paths and operations."""
    place = (*keys, "special", PATHS)
    table = _table(document, (*keys, "special")).get(PATHS)
    if not isinstance(table, dict):
        return ()
    if _is_answer(table) or _is_operations(table):
        return _paths(document, {"*": table}, PATHS, lambda _: place)
    for pattern in table:
        if not pattern.startswith(("/", "~", "$")) and pattern not in ("*", "**"):
            hint = "begin it with /, ~/ or $NAME, or write * for everything"
            raise document.error((*place, pattern), "is no pattern of absolute paths", hint)
    return _paths(document, table, PATHS, lambda pattern: (*place, pattern))


def _paths(
    document: Document, table: Mapping[str, Any], surface: str, place: Callable[[str], Keys]
) -> tuple[Entry, ...]:
    """The entries of a table of path patterns; ``place`` says where each pattern stands."""
    entries = []
    for pattern, value in table.items():
        where = place(pattern)
        if not pattern or not is_known(pattern):
            raise document.error(where, "is no pattern: it is empty or holds a NUL")
        if wrong := problem(pattern):
            raise document.error(where, wrong)
        source = document.source(*where)
        if isinstance(value, dict) and not _is_answer(value):
            for operations, said in _by_operation(document, where, value):
                entries.append(
                    Entry(surface, pattern, source=source, operations=operations, **said)
                )
        else:
            entries.append(
                Entry(surface, pattern, source=source, **_answer(document, where, value))
            )
    return tuple(entries)


OPERATIONS = form.keys(form.ByOperation)
_ALSO = {
    Operation.READ: (Operation.ENTER, Operation.TEST),
    Operation.WRITE: (Operation.DELETE,),
}
"""What the word for an operation also stands for, unless the table names it itself."""


def _by_operation(
    document: Document, place: Keys, table: Mapping[str, Any]
) -> Iterator[tuple[frozenset[Operation], dict[str, Any]]]:
    for name in table:
        _known(document, (*place, name), OPERATIONS)
    for name, value in table.items():
        operation, said = Operation(name), _answer(document, (*place, name), value)
        also = (op for op in _ALSO.get(operation, ()) if op.value not in table)
        if operation is Operation.READ and Operation.EXECUTE.value not in table:
            said["of_scripts"] = said["state"] is not State.ALLOW
        yield frozenset((operation, *also)), said


def _is_operations(table: Mapping[str, Any]) -> bool:
    return bool(table) and all(key in OPERATIONS for key in table)


def _is_answer(table: Mapping[str, Any]) -> bool:
    return not _ANSWER_KEYS_SET.isdisjoint(table)


def _answer(
    document: Document, keys: Keys, value: Any, known: tuple[str, ...] = _ANSWER_KEYS
) -> dict[str, Any]:
    """``"deny"``, or ``{state = "deny", reason = "…"}``, as the fields of an Entry."""
    if not isinstance(value, dict):
        return {"state": _state(document, keys, value)}
    for key in value:
        _known(document, (*keys, key), known)
    if "state" not in value:
        raise document.error(keys, f"has a {next(iter(value), 'table')}, but no state")
    reason = value.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise document.error((*keys, "reason"), f"must be a text, not {_kind(reason)}")
    return {
        "state": _state(document, (*keys, "state"), value["state"]),
        "reason": reason,
        "match": _texts(document, (*keys, "match"), value.get("match", [])),
        "not_match": _texts(document, (*keys, "not_match"), value.get("not_match", [])),
    }


def _texts(document: Document, keys: Keys, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise document.error(keys, f"must be a list of texts, not {_kind(value)}")
    for item in value:
        if not isinstance(item, str) or not item:
            shown = "an empty text" if item == "" else _kind(item)
            raise document.error(keys, f"must be a list of texts, but holds {shown}")
    return tuple(value)


def _table(document: Document, keys: Keys) -> dict[str, Any]:
    """The table at ``keys``, empty if it is left out."""
    value: Any = document.data
    for key in keys:
        value = value.get(key, {})
    if not isinstance(value, dict):
        raise _no_table(document, keys, value)
    return value


def _no_table(document: Document, keys: Keys, value: Any) -> ConfigError:
    """The error of what stands in the place of a table, with the form that was meant."""
    hint = None
    if isinstance(value, str) and value in tuple(State):
        inner = {"special": (PATHS,), "defaultPolicy": ("bash",), "agents": ("NAME", "tools", "*")}
        table = keys[-1] if keys else ""
        whole = table not in (*SURFACES, NAMED, *inner)  # of an agent
        place = (*keys, *(("tools", "*") if whole else inner.get(table, ("*",))))
        hint = f"write {_spelt(document, place, value)}"
    return document.error(keys, f"must be a table, not {_kind(value)}", hint)


def _home(key: str) -> str:
    """The table in which a key stands that is none outside; empty if there is no such table."""
    if key in SPECIAL:
        return "special"
    return "tools" if not is_unknown_tool(canonical_tool(key)) else ""


def _spelt(document: Document, keys: Keys, value: Any) -> str:
    """How the form of the file says that ``keys`` are ``value``, what is no answer left out."""
    answer = value if isinstance(value, str) else None
    if document.file.endswith(".toml"):
        said = json.dumps(answer) if answer else "…"
        return f"[{dotted(keys[:-1])}] {dotted(keys[-1:])} = {said}"
    names = keys[1:] if document.file.endswith(".md") else keys  # below `permission`
    text = json.dumps(answer) if answer else "…"
    for name in reversed(names):
        text = f"{{{json.dumps(name)}: {text}}}"
    return text.removeprefix("{").removesuffix("}")


def _state(document: Document, keys: Keys, value: Any) -> State:
    if not isinstance(value, str):
        raise document.error(keys, f'must be "allow", "ask" or "deny", not {_kind(value)}')
    try:
        return State(value)
    except ValueError:
        problem = f'must be "allow", "ask" or "deny", not "{value}"'
        raise document.error(keys, problem, _guess(value, tuple(State))) from None


def _known(document: Document, keys: Keys, names: tuple[str, ...]) -> None:
    if keys[-1] not in names:
        problem = f"unknown key; the keys here are {', '.join(names)}"
        raise document.error(keys, problem, _guess(keys[-1], names))


def _guess(word: str, names: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415  # only errors pay for it

    by_folded = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), by_folded, n=1)
    return f'did you mean "{by_folded[close[0]]}"?' if close else None


def _kind(value: Any) -> str:
    names = {dict: "a table", list: "a list", str: "a string", bool: "true or false"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else "null")
