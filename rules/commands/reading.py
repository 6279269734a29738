"""Making entries of the TOML tables about commands, with errors that name the entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ringfence.grammar.records import evolve
from ringfence.rules.commands.schema import (
    CommandDataError,
    Entry,
    Option,
    Syntax,
    Value,
    When,
)
from ringfence.rules.model import Operation

_KEYS = frozenset(
    (
        "like",
        "versions",
        "syntax",
        "stops",
        "apart",
        "operands",
        "after",
        "default",
        "implied",
        "options",
        "persistent",
        "commands",
        "modules",
        "keys",
        "settings",
        "variables",
        "when",
        "glued",
        "abbreviations",
        "assignments",
        "hyphen-operands",
        "skip",
        "bundled",
        "stdin",
        "inputs",
        "appends-input",
        "other-user",
    )
)
_WHEN_KEYS = frozenset(
    (
        "given",
        "absent",
        "operands",
        "options",
        "implied",
        "default",
        "operation",
        "tree",
        "in-place",
        "stdin",
        "follow",
        "through",
        "hidden",
    )
)


def read_entry(name: str, table: Mapping[str, Any]) -> Entry:
    """Make an Entry of its TOML table.

    Raises:
        CommandDataError: the table breaks the schema; the message names the entry.

    """
    try:
        return _entry(name, table)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise CommandDataError(f"{name}: {error}") from error


def read_all(name: str, table: Mapping[str, Any]) -> Entry:
    """Like read_entry, but subcommands are checked too, all the way down."""
    entry = read_entry(name, table)
    for key, subtable in (*entry.commands.items(), *entry.modules.items()):
        read_all(f"{name} {key}", subtable)
    return entry


@lru_cache(maxsize=1024)
def subentry(entry: Entry, name: str) -> Entry | None:
    """The entry of the subcommand ``name``, or the one for any other (``*``), or None."""
    table = entry.modules.get(name) or entry.commands.get(name) or entry.commands.get("*")
    if table is None:
        return None
    child = read_entry(f"{entry.name} {name}", table)
    return evolve(
        child,
        persistent={**entry.persistent, **child.persistent},
        settings=child.settings or entry.settings,
        abbreviations=child.abbreviations or entry.abbreviations,
    )


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    if unknown := table.keys() - _KEYS:
        raise ValueError(f"no such key: {', '.join(sorted(unknown))}")
    after = table.get("after")
    entry = Entry(
        name=name,
        syntax=Syntax(table.get("syntax", "getopt")),
        stops=_boolean(table, "stops"),
        apart=_boolean(table, "apart"),
        operands=_values(table.get("operands", ())),
        after=None if after is None else _values(after),
        default=table.get("default"),
        implied=_implied(table.get("implied", ())),
        options=_options(table.get("options", {})),
        persistent=_options(table.get("persistent", {})),
        commands=_split_names(table.get("commands", {})),
        modules=_split_names(table.get("modules", {})),
        keys={key: Value.parse(text) for key, text in table.get("keys", {}).items()},
        settings={
            key.lower(): Value.parse(text) for key, text in table.get("settings", {}).items()
        },
        variables={key: Value.parse(text) for key, text in table.get("variables", {}).items()},
        when=tuple(_when(item) for item in table.get("when", ())),
        glued=_boolean(table, "glued"),
        abbreviations=_boolean(table, "abbreviations"),
        assignments=_boolean(table, "assignments"),
        hyphen_operands=_pattern(table.get("hyphen-operands")),
        skip=_pattern(table.get("skip")),
        bundled=_boolean(table, "bundled"),
        stdin=table.get("stdin", ""),
        inputs=table.get("inputs", ""),
        appends_input=_boolean(table, "appends-input"),
        other_user=_boolean(table, "other-user"),
    )
    known = {*entry.options, *entry.persistent}
    for when in entry.when:
        if entry.syntax is Syntax.GETOPT and (odd := when.options.keys() - known):
            raise ValueError(f"when changes options that are not listed: {', '.join(sorted(odd))}")
    return entry


def _boolean(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise TypeError(f"{key} must be true or false")
    return value


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return None if text is None else re.compile(text)


def _values(texts: Any) -> tuple[Value, ...]:
    if isinstance(texts, str):
        raise TypeError(f"a list of values was expected, not {texts!r}")
    values = tuple(Value.parse(text) for text in texts)
    if sum(value.repeats for value in values) > 1:
        raise ValueError("only one operand may repeat")
    return values


def _implied(texts: Any) -> tuple[tuple[Value, str], ...]:
    """Texts of the form ``kind path``."""
    pairs = [text.rpartition(" ") for text in texts]
    return tuple((Value.parse(kind), path) for kind, _, path in pairs)


def _options(table: Mapping[str, Any]) -> dict[str, Option]:
    result: dict[str, Option] = {}
    for key, kinds in table.items():
        names = tuple(key.split())
        values = _values([kinds] if isinstance(kinds, str) else kinds)
        role = ""
        if len(values) == 1 and values[0].is_flag:
            role, values = values[0].kind, ()
        for name in names:
            if not name.startswith(("-", "+")):
                raise ValueError(f"an option begins with a hyphen: {name!r}")
            if name in result:
                raise ValueError(f"option given twice: {name}")
            result[name] = Option(names, values, role)
    return result


def _split_names(table: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    result: dict[str, Mapping[str, Any]] = {}
    for key, subtable in table.items():
        for name in key.split():
            if name in result:
                raise ValueError(f"subcommand given twice: {name}")
            result[name] = subtable
    return result


def _when(table: Mapping[str, Any]) -> When:
    if unknown := table.keys() - _WHEN_KEYS:
        raise ValueError(f"no such key in when: {', '.join(sorted(unknown))}")
    operands = table.get("operands")
    implied = table.get("implied")
    operation = table.get("operation")
    return When(
        given=frozenset(table.get("given", "").split()),
        absent=frozenset(table.get("absent", "").split()),
        operands=None if operands is None else _values(operands),
        options=_options(table.get("options", {})),
        implied=None if implied is None else _implied(implied),
        default=table.get("default"),
        operation=None if operation is None else Operation(operation),
        tree=_boolean(table, "tree"),
        in_place=_boolean(table, "in-place"),
        stdin=table.get("stdin"),
        follow=_boolean(table, "follow") if "follow" in table else None,
        through=_boolean(table, "through") if "through" in table else None,
        hidden=_boolean(table, "hidden"),
    )
