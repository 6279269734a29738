"""From config files to a policy.

Layers, the strongest last: built-in defaults, the user's file
(``$XDG_CONFIG_HOME/ringfence/config.toml``), the project's (``.ringfence/config.toml`` in the
working directory), the user's for one agent, the project's for one agent (``agents.NAME`` in the
same two files, or ``agents/NAME.md`` beside them, whose front matter holds it under
``permission``). Instead of ``.toml`` a file may be ``.json`` or ``.jsonc``; two of them side by
side are an error, since one would be ignored.

A project's layers are *held*, they only tighten, until the user trusts them (``trust``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from ringfence.engine.policy.document import Document, Keys, read
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.model import (
    HEADLESS,
    NAMED,
    PATHS,
    SPECIAL,
    SURFACES,
    Entry,
    Layer,
    LayeredPolicy,
)
from ringfence.engine.policy.trust import TrustStore
from ringfence.engine.state import user_folder
from ringfence.rules.model import Operation, State, is_known
from ringfence.rules.tool_names import canonical_tool

SUFFIXES = (".toml", ".json", ".jsonc")
_AGENT_KEYS = ("defaultPolicy", *SURFACES, NAMED, HEADLESS)
_KEYS = (*_AGENT_KEYS, "agents", "$schema")


def load_policy(
    cwd: str | None,
    *,
    config: str | None = None,
    env: Mapping[str, str] | None = None,
) -> LayeredPolicy:
    """The policy for work in ``cwd`` (None: no project's file is looked for).

    ``config`` names one file that is used instead of the user's and the project's. ``env`` is
    where HOME and XDG_CONFIG_HOME are looked up, by default this process's variables. Raises
    ConfigError.
    """
    variables: Mapping[str, str] = os.environ if env is None else env
    agents: list[tuple[str, str, Document]] = []
    if config is not None:
        document = read(Path(config))
        if document is None:
            raise ConfigError(config, None, "", "there is no such file")
        found = [("config", document)]
    else:
        folders = [("global", user_folder(variables))]
        if cwd is not None:
            folders.append(("project", Path(cwd, ".ringfence")))
        found = [(name, document) for name, folder in folders if (document := _find(folder))]
        agents = [
            (name, path.stem, document)
            for name, folder in folders
            for path in agent_files(folder)
            if (document := _agent(path))
        ]
    layers = [_layer(name, document, (), document.data) for name, document in found]
    for name, document in found:
        layers += _agent_layers(name, document)
    for name, agent, document in agents:
        keys = ("permission",)
        layers.append(
            _layer(f"{name}, agent {agent}", document, keys, document.data[keys[0]], agent)
        )
    # Stable: the user's layers for an agent before the project's.
    layers.sort(key=lambda layer: (layer.agent is not None, layer.name.startswith("project")))
    if any(layer.name.startswith("project") for layer in layers) and cwd is not None:
        folder = Path(cwd, ".ringfence")
        trusted = TrustStore.of_user(variables).trusts(project_of(cwd), config_files(folder))
        layers = [evolve(la, held=la.name.startswith("project") and not trusted) for la in layers]
    return LayeredPolicy(tuple(layers))


def project_of(cwd: str) -> Path:
    """The folder under which a project is trusted: links resolved."""
    return Path(os.path.realpath(cwd))


def config_files(folder: Path) -> list[Path]:
    """The config files that there are in a ``.ringfence`` folder, those of agents included."""
    names = (folder / f"config{suffix}" for suffix in SUFFIXES)
    return [path for path in (*names, *agent_files(folder)) if path.exists()]


def agent_files(folder: Path) -> list[Path]:
    """The Markdown files of agents beside a config."""
    try:
        return sorted(path for path in (folder / "agents").iterdir() if path.suffix == ".md")
    except OSError:
        return []


def _agent(path: Path) -> Document | None:
    from ringfence.engine.policy.front_matter import read_agent  # noqa: PLC0415 - few have any

    return read_agent(path)


def _find(folder: Path) -> Document | None:
    found = [document for suffix in SUFFIXES if (document := read(folder / f"config{suffix}"))]
    if len(found) > 1:
        problem = f"stands beside {Path(found[0].file).name}: only one of them can hold"
        raise ConfigError(found[1].file, None, "", problem, "merge them into one file")
    return found[0] if found else None


def _agent_layers(name: str, document: Document) -> list[Layer]:
    agents = _table(document, ("agents",))
    return [
        _layer(f"{name}, agent {agent}", document, ("agents", agent), agents[agent], agent)
        for agent in agents
    ]


def _layer(name: str, document: Document, keys: Keys, data: Any, agent: str | None = None) -> Layer:
    if not isinstance(data, dict):
        raise document.error(keys, f"must be a table, not {_kind(data)}")
    allowed = _KEYS if agent is None else _AGENT_KEYS
    for key in data:
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
        if surface == "tools":
            if "(" in pattern:
                hint = "rules for commands stand in the table bash"
                raise document.error(place, "is no tool's name, so it can never match", hint)
            pattern = canonical_tool(pattern)  # noqa: PLW2901  # one name for all spellings
        repeats = 0
        if surface == "special" and pattern == "doom_loop" and isinstance(value, dict):
            value, repeats = _repeats(document, place, value)  # noqa: PLW2901
        state, reason = _answer(document, place, value)
        source = document.source(*place)
        entries.append(Entry(surface, pattern, state, source, reason, repeats=repeats))
    return tuple(entries)


def _repeats(document: Document, keys: Keys, value: Mapping[str, Any]) -> tuple[Any, int]:
    """The answer for a loop without its ``repeats``, and that."""
    rest = dict(value)
    repeats = rest.pop("repeats", 0)
    if "repeats" in value and (type(repeats) is not int or not 2 <= repeats <= 1000):
        raise document.error((*keys, "repeats"), "must be a whole number from 2 to 1000")
    return rest, repeats


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
        source = document.source(*where)
        if isinstance(value, dict) and not _is_answer(value):
            for operations, (state, reason) in _by_operation(document, where, value):
                entries.append(Entry(surface, pattern, state, source, reason, operations))
        else:
            state, reason = _answer(document, where, value)
            entries.append(Entry(surface, pattern, state, source, reason))
    return tuple(entries)


OPERATIONS = tuple(op.value for op in Operation if op is not Operation.UNKNOWN)
_ALSO = {
    Operation.READ: (Operation.ENTER, Operation.TEST),
    Operation.WRITE: (Operation.DELETE,),
}
"""What the word for an operation also stands for, unless the table names it itself."""


def _by_operation(
    document: Document, place: Keys, table: Mapping[str, Any]
) -> Iterator[tuple[frozenset[Operation], tuple[State, str | None]]]:
    for name in table:
        _known(document, (*place, name), OPERATIONS)
    for name, value in table.items():
        operation = Operation(name)
        also = (op for op in _ALSO.get(operation, ()) if op.value not in table)
        yield frozenset((operation, *also)), _answer(document, (*place, name), value)


def _is_operations(table: Mapping[str, Any]) -> bool:
    return bool(table) and all(key in OPERATIONS for key in table)


def _is_answer(table: Mapping[str, Any]) -> bool:
    return "state" in table or "reason" in table


def _answer(document: Document, keys: Keys, value: Any) -> tuple[State, str | None]:
    """``"deny"``, or ``{state = "deny", reason = "…"}`` with words for whoever is refused."""
    if not isinstance(value, dict):
        return _state(document, keys, value), None
    for key in value:
        _known(document, (*keys, key), ("state", "reason"))
    if "state" not in value:
        raise document.error(keys, "has a reason, but no state")
    reason = value.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise document.error((*keys, "reason"), f"must be a text, not {_kind(reason)}")
    return _state(document, (*keys, "state"), value["state"]), reason


def _table(document: Document, keys: Keys) -> dict[str, Any]:
    """The table at ``keys``, empty if it is left out."""
    value: Any = document.data
    for key in keys:
        value = value.get(key, {})
    if not isinstance(value, dict):
        raise document.error(keys, f"must be a table, not {_kind(value)}")
    return value


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
