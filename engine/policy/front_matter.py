"""Agents in Markdown: ``permission`` in a file's YAML front matter is that agent's table.

The tools that every agent has may stand in it without ``tools`` around them: ``read: allow``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ringfence.engine.policy.document import Document, Keys, text_of
from ringfence.engine.policy.errors import ConfigError

KEY = "permission"
SHORT = ("bash", "read", "write", "edit", "grep", "find", "ls")
"""Tools whose answers may stand outside ``tools``."""


def read_agent(path: Path, content: bytes) -> Document | None:
    """The front matter of a file as a document; None if it has none, or no ``permission``.

    Raises ConfigError.
    """
    text = text_of(path, content)
    if not text.startswith("---\n"):
        return None
    matter, ended, _ = text[4:].partition("\n---")
    if not ended:
        return None
    data, lines = _parsed(str(path), matter)
    if not isinstance(data, dict) or KEY not in data:
        return None
    document = Document(str(path), data, lines)
    table = data[KEY]
    short = [name for name in SHORT if isinstance(table, dict) and isinstance(table.get(name), str)]
    return _spelt_out(document, short) if short else document


def _spelt_out(document: Document, short: list[str]) -> Document:
    """The document with the short forms where they belong."""
    table, lines = dict(document.data[KEY]), dict(document.lines)
    tools = table.get("tools", {})
    if not isinstance(tools, dict):
        raise document.error((KEY, "tools"), "must be a table")
    tools = dict(tools)
    for name in short:
        if name in tools:
            raise document.error((KEY, name), "the tool stands in the table tools, too")
        tools[name] = table.pop(name)
        lines[(KEY, "tools", name)] = document.line(KEY, name)
    table["tools"] = tools
    return Document(document.file, {**document.data, KEY: table}, lines)


def _parsed(file: str, matter: str) -> tuple[Any, dict[Keys, int]]:
    import yaml  # noqa: PLC0415 - few projects have such files

    try:
        node = yaml.compose(matter, Loader=yaml.SafeLoader)
        lines: dict[Keys, int] = {}
        if node is not None:
            _note_lines(node, (), lines, set())
        return yaml.safe_load(matter), lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark is not None else None
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise ConfigError(file, line, "", f"not valid YAML: {problem}") from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(file, None, "", "not valid YAML: it cannot be read") from error


def _note_lines(node: Any, keys: Keys, lines: dict[Keys, int], seen: set[int]) -> None:
    """The line of each key of nested mappings; the file's first line holds ``---``."""
    if node.id != "mapping" or id(node) in seen:
        return
    seen.add(id(node))
    for key, value in node.value:
        if key.id == "scalar":
            place = (*keys, str(key.value))
            lines[place] = key.start_mark.line + 2
            _note_lines(value, place, lines, seen)
