"""Finding a command's entry in the TOML files of this folder, reading no more than is needed.

A gate starts anew for every tool call, so only the lines of the command that is asked for are
parsed: the entries' headers are found by a search over the files' text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ringfence.grammar.regex import compiled
from ringfence.rules.commands.reading import read_all, read_entry
from ringfence.rules.commands.schema import CommandDataError, Entry

FOLDER = Path(__file__).parent

_HEADER = compiled(r"^\[+(?:\"([^\"]+)\"|'([^']+)'|([\w-]+))(?:[.\]])", re.MULTILINE)
_VERSION = compiled(r"-?\d[\d.]*\Z")
_MERGED = ("options", "persistent", "commands", "modules", "keys", "settings", "variables")


@cache
def _sections() -> Mapping[str, tuple[str, str]]:
    """For each command's name, the file that holds its entry and the entry's lines."""
    result: dict[str, tuple[str, str]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
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
                        f"{path.name}: {name} has a second entry"
                        f" (or lines apart from the first, in {result[name][0]})"
                    )
                result[name] = (path.name, text[start:end])
    return result


def names() -> Iterator[str]:
    """All commands that have an entry."""
    return iter(_sections())


@cache
def _table(name: str) -> Mapping[str, Any] | None:
    section = _sections().get(name)
    if section is None:
        return None
    file, text = section
    try:
        (table,) = tomllib.loads(text).values()
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise CommandDataError(f"{file}: {name}: {error}") from error
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
        raise CommandDataError(f"{_sections()[name][0]}: {error}") from error


def problems() -> list[str]:
    """Every way in which the data breaks the schema, subcommands included; empty if none."""
    found = []
    for name in names():
        file = _sections()[name][0]
        try:
            table = _table(name)
            if table is not None:
                read_all(name, table)
        except CommandDataError as error:
            message = str(error)
            found.append(message if message.startswith(file) else f"{file}: {message}")
    return found
