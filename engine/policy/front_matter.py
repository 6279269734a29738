"""Agents in Markdown: ``permission`` in a file's YAML front matter is that agent's table.

The tools that every agent has may stand in it without ``tools`` around them: ``read: allow``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ringfence.engine.policy.document import Document, Keys, dotted, text_of
from ringfence.engine.policy.errors import ConfigError
from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled

KEY = "permission"
SHORT = ("bash", "read", "write", "edit", "grep", "find", "ls")
"""Tools whose answers may stand outside ``tools``."""

_OPENED = compiled(r"\s*---[ \t]*(?:[ \t]#[^\n]*)?\n")
_ALMOST = compiled(r"^\W{0,3}---", re.MULTILINE)
_KEY_LINE = compiled(rf"^[ \t]*{KEY}[ \t]*:", re.MULTILINE)
_CLOSED = compiled(r"^---[ \t]*$", re.MULTILINE)


def read_agent(path: Path, content: bytes) -> Document | None:
    """The front matter of a file as a document; None if it has none, or no ``permission``.

    Raises ConfigError.
    """
    text = text_of(path, content).replace("\r", "\n")
    opened = _OPENED.match(text)
    if opened is None:
        if _ALMOST.search(text) and (found := _KEY_LINE.search(text)):
            problem = "stands in no front matter: that begins in the first line, with ---"
            raise ConfigError(str(path), text.count("\n", 0, found.start()) + 1, KEY, problem)
        return None
    above = opened[0].count("\n")
    closed = _CLOSED.search(text, opened.end())
    if closed is None:
        problem = "the front matter is not closed by a line of ---"
        raise ConfigError(str(path), above, "", problem)
    data, lines = _parsed(str(path), text[opened.end() : closed.start()].removesuffix("\n"), above)
    if data is None:
        return None
    if not isinstance(data, dict):
        raise ConfigError(str(path), above + 1, "", "the front matter is no table of keys")
    if KEY not in data:
        _misspelt(Document(str(path), data, lines))
        return None
    document = Document(str(path), data, lines)
    table = data[KEY]
    short = [name for name in SHORT if isinstance(table, dict) and isinstance(table.get(name), str)]
    return _spelt_out(document, short) if short else document


def names_of(path: Path, document: Document) -> tuple[str, ...]:
    """The names by which an agent may go: that of its file, and the one it gives itself."""
    name = document.data.get("name")
    return tuple(dict.fromkeys((path.stem, *([name] if isinstance(name, str) else ()))))


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
        if name == "bash" and table[name] == "deny":
            # No default, which any rule for a command would overrule, but the agent's last word.
            table[name] = {"*": table[name]}
            lines[KEY, name, "*"] = document.line(KEY, name)
            continue
        tools[name] = table.pop(name)
        lines[(KEY, "tools", name)] = document.line(KEY, name)
    table["tools"] = tools
    return Document(document.file, {**document.data, KEY: table}, lines)


def _misspelt(document: Document) -> None:
    """Raise ConfigError for a key that must be meant to be KEY."""
    from difflib import get_close_matches  # noqa: PLC0415 - few files have no such key

    for key in map(str, document.data):
        if get_close_matches(key.casefold(), (KEY,), cutoff=0.85):
            raise document.error((key,), "unknown key", f'did you mean "{KEY}"?')


def _parsed(file: str, matter: str, above: int) -> tuple[Any, dict[Keys, int]]:
    """What YAML says, and the line of each key; ``above`` it stand so many lines."""
    import yaml  # noqa: PLC0415 - few projects have such files

    try:
        node = yaml.compose(matter, Loader=yaml.SafeLoader)
        lines = _Lines(file, above + 1)
        if node is not None:
            lines.note(node, ())
        return yaml.safe_load(matter), lines.found
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + above + 1 if mark is not None else None
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise ConfigError(file, line, "", f"not valid YAML: {problem}") from error
    except ConfigError:
        raise
    except (RecursionError, ValueError, TypeError, OverflowError) as error:
        raise ConfigError(file, None, "", "not valid YAML: it cannot be read") from error


@define
class _Lines:
    """The lines of the keys of nested mappings, each of which may stand there once.

    In KEY, each must be a text.
    """

    file: str
    first: int
    found: dict[Keys, int] = field(factory=dict)
    seen: set[int] = field(factory=set)

    def note(self, node: Any, keys: Keys) -> None:
        """Take in a node and all in it. Raises ConfigError."""
        if id(node) in self.seen:
            return
        self.seen.add(id(node))
        if node.id == "sequence":
            for number, item in enumerate(node.value):
                self.note(item, (*keys, str(number)))
        if node.id == "mapping":
            pairs = [(key, value) for key, value in node.value if key.id == "scalar"]
            self.once(pairs, keys)
            # What others refer to is looked at as part of KEY, if it is.
            for key, value in sorted(pairs, key=lambda pair: bool(keys) or pair[0].value != KEY):
                self.note(value, (*keys, str(key.value)))

    def once(self, pairs: list[tuple[Any, Any]], keys: Keys) -> None:
        """Note the keys of one mapping. Raises ConfigError."""
        there = set()
        for key, _ in pairs:
            place, line = (*keys, str(key.value)), key.start_mark.line + self.first
            self.found.setdefault(place, line)
            kind = key.tag.rpartition(":")[2]
            if place[0] == KEY and kind not in ("str", "merge"):
                problem = f"YAML takes this key for a value of the type {kind}"
                raise ConfigError(self.file, line, dotted(place), problem, "put it in quotes")
            if (kind, key.value) in there:
                problem = "not valid YAML: the key stands here a second time"
                raise ConfigError(self.file, line, dotted(place), problem)
            there.add((kind, key.value))
