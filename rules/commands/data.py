"""Finding a command's entry in the TOML files of this folder, reading no more than is needed.

A gate starts anew for every tool call, so only the lines of the command that is asked for are
parsed: the entries' headers are found by a search over the files' text. A wheel brings along
``commands.json``, made of these files when it was built, which takes neither the search nor a
TOML parser.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ringfence.grammar.regex import compiled
from ringfence.rules.commands.reading import read_all, read_entry
from ringfence.rules.commands.schema import CommandDataError, Entry

FOLDER = os.path.dirname(__file__)

_HEADER = compiled(r"^\[+(?:\"([^\"]+)\"|'([^']+)'|([\w-]+))(?:[.\]])", re.MULTILINE)
_VERSION = compiled(r"-?\d[\d.]*\Z")
_MERGED = ("options", "persistent", "commands", "modules", "keys", "settings", "variables")


@cache
def _sections() -> Mapping[str, tuple[str, str]]:
    """For each command's name, the file that holds its entry and the entry's lines."""
    result: dict[str, tuple[str, str]] = {}
    for file in sorted(name for name in os.listdir(FOLDER) if name.endswith(".toml")):
        text = _text(file)
        headers = [(m.start(), m[1] or m[2] or m[3]) for m in _HEADER.finditer(text)]
        starts = [
            (start, key)
            for index, (start, key) in enumerate(headers)
            if not index or headers[index - 1][1] != key
        ]
        ends = [start for start, _ in starts[1:]] + [len(text)]
        for (start, key), end in zip(starts, ends, strict=True):
            for name in key.split():
                if name in result:
                    raise CommandDataError(
                        f"{file}: {name} has a second entry"
                        f" (or lines apart from the first, in {result[name][0]})"
                    )
                result[name] = (file, text[start:end])
    return result


def prepared() -> str:
    """The content of ``commands.json``: where each command's entry is, and the entries."""
    places: dict[str, tuple[str, int, int]] = {}
    entries: dict[str, tuple[int, int]] = {}
    text = ""
    for name, (file, lines) in _sections().items():
        if lines not in entries:
            entry = json.dumps(_parsed(name, file, lines), separators=(",", ":"))
            entries[lines] = (len(text), len(text) + len(entry))
            text += entry
        places[name] = (file, *entries[lines])
    return f"{json.dumps(places, separators=(',', ':'))}\n{text}"


@cache
def _prepared() -> tuple[Mapping[str, tuple[str, int, int]], str]:
    try:
        places, _, text = _text("commands.json").partition("\n")
    except FileNotFoundError:
        return {}, ""
    return json.loads(places), text


def _text(name: str) -> str:
    # Not by pathlib: a hook that starts anew would load it for this.
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def names() -> Iterator[str]:
    """All commands that have an entry."""
    return iter(_prepared()[0] or _sections())


def _file(name: str) -> str:
    """The file that holds a command's entry."""
    return (_prepared()[0] or _sections())[name][0]


def _entry(name: str) -> Mapping[str, Any] | None:
    places, text = _prepared()
    if places:
        if name not in places:
            return None
        _, start, end = places[name]
        table: Mapping[str, Any] = json.loads(text[start:end])
        return table
    section = _sections().get(name)
    return None if section is None else _parsed(name, *section)


def _parsed(name: str, file: str, lines: str) -> Mapping[str, Any]:
    import tomllib  # noqa: PLC0415 - it loads slowly

    try:
        (table,) = tomllib.loads(lines).values()
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise CommandDataError(f"{file}: {name}: {error}") from error
    return dict(table)


@cache
def _table(name: str) -> Mapping[str, Any] | None:
    table = _entry(name)
    if table is None:
        return None
    file = _file(name)
    if "like" not in table:
        return dict(table)
    parent = _table(table["like"])
    if parent is None:
        raise CommandDataError(f"{file}: {name}: like {table['like']!r}, which has no entry")
    merged = {**parent, **table}
    for key in _MERGED:
        if key in parent and key in table:
            merged[key] = {**parent[key], **table[key]}
    merged.pop("versions", None)
    return {**merged, "versions": table.get("versions", parent.get("versions", False))}


@cache
def lookup(name: str) -> Entry | None:
    """The entry of the command called ``name`` (a name, or a path to it), or None.

    Raises:
        CommandDataError: the entry breaks the schema.

    """
    base = name.rpartition("/")[2]
    table = _table(base)
    if table is None:
        shorter = _VERSION.sub("", base)
        table = _table(shorter) if shorter != base else None
        if table is None or not table.get("versions"):
            return None
        base = shorter
    return _read(base, table)


def _read(name: str, table: Mapping[str, Any]) -> Entry:
    try:
        return read_entry(name, table)
    except CommandDataError as error:
        raise CommandDataError(f"{_file(name)}: {error}") from error


def problems() -> list[str]:
    """Every way in which the data breaks the schema, subcommands included; empty if none."""
    found = []
    for name in names():
        file = _file(name)
        try:
            table = _table(name)
            if table is not None:
                read_all(name, table)
        except CommandDataError as error:
            message = str(error)
            found.append(message if message.startswith(file) else f"{file}: {message}")
    return found
