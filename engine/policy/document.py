"""Config files as data that remembers its lines.

TOML, and JSON with comments and trailing commas. Both become a Document: plain dictionaries, and
beside them the line of every key.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ringfence.engine.policy.errors import ConfigError
from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 18
"""A config file larger than this is refused: it is read before every call."""

MAX_DEPTH = 32

MAX_LINE = 4000
"""Characters of one line of TOML: reading thousands of dotted keys takes the reader very long."""

MAX_LINES = 20
"""Lines of one TOML statement; no value that a config may hold needs two."""

Keys: TypeAlias = tuple[str, ...]


@frozen
class Document:
    """One config file: its top-level table and the line (from 1) of each key in it."""

    file: str
    data: Mapping[str, Any]
    lines: Mapping[Keys, int]

    def line(self, *keys: str) -> int:
        """The line of a key, or that of the nearest table around it."""
        for length in range(len(keys), 0, -1):
            line = self.lines.get(keys[:length])
            if line is not None:
                return line
        return 1

    def source(self, *keys: str) -> str:
        """The place of a key for a person: ``file:line``."""
        return f"{self.file}:{self.line(*keys)}"

    def error(self, keys: Keys, problem: str, hint: str | None = None) -> ConfigError:
        """The error that says what is wrong at a key."""
        return ConfigError(self.file, self.line(*keys), dotted(keys), problem, hint, keys)


def content_of(path: Path) -> bytes | None:
    """The bytes of a config file; None if nothing is there. Raises ConfigError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO has no end
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.islink(path):
            raise ConfigError(str(path), None, "", "is a link that leads nowhere") from error
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(str(path), None, "", f"cannot be read: {reason}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ConfigError(str(path), None, "", "is no regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise ConfigError(str(path), None, "", problem) from error
    finally:
        os.close(handle)
    if len(content) > MAX_BYTES:
        raise ConfigError(str(path), None, "", f"is larger than {MAX_BYTES} bytes")
    return content


def text_of(path: Path, content: bytes) -> str:
    """The text of a file, with plain line ends. Raises ConfigError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(str(path), line, "", "is not UTF-8 text") from error
    return text.replace("\r\n", "\n")


def parse(path: Path, content: bytes) -> Document:
    """The document in a file's content, by its suffix. Raises ConfigError."""
    text = text_of(path, content)
    return parse_toml(str(path), text) if path.suffix == ".toml" else parse_json(str(path), text)


def dotted(keys: Keys) -> str:
    """A key's path as TOML writes it."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else json.dumps(key) for key in keys)


_BARE_KEY = compiled(r"[A-Za-z0-9_-]+")


# --- TOML --------------------------------------------------------------------------------------

_TOML_PLACE = compiled(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TOML_TWICE = compiled(r"Cannot (?:overwrite a value|declare .* twice)")
_TOML_KEY = compiled(r"^\s*\[*(.*?)(?:\]+\s*|\s*=.*)?$")


def parse_toml(file: str, text: str) -> Document:
    """Read TOML; ``file`` is for messages."""
    for number, row in enumerate(text.split("\n"), 1):
        if len(row) > MAX_LINE:
            raise ConfigError(file, number, "", f"the line is longer than {MAX_LINE} characters")
    import tomllib  # noqa: PLC0415 - it loads slowly, and many have no such file

    try:
        data = tomllib.loads(text)
        lines = _toml_lines(file, text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _TOML_PLACE.search(message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        message = message[: place.start()] if place else message
        key, problem = "", f"not valid TOML: {message}"
        if _TOML_TWICE.match(message):
            row = text.split("\n")[line - 1]
            key = _TOML_KEY.sub(r"\1", row).strip()
            problem = "not valid TOML: the key stands here a second time"
        elif place and place[2]:
            problem += f" (column {place[2]})"
        raise ConfigError(file, line, key, problem) from error
    except RecursionError as error:
        raise ConfigError(file, None, "", "is nested too deeply") from error
    return Document(file, data, lines)


def _toml_lines(file: str, text: str) -> dict[Keys, int]:
    """The line of each key in valid TOML.

    A statement of TOML is a run of whole lines, and no shorter run of its first lines is valid:
    so lines are gathered until the TOML reader takes them.
    """
    import tomllib  # noqa: PLC0415 - as above

    lines: dict[Keys, int] = {}
    table: Keys = ()
    statement = ""
    start = 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        try:
            keys = _leaves(tomllib.loads(statement))
        except tomllib.TOMLDecodeError:
            if number - start >= MAX_LINES:
                problem = f"a value is longer than {MAX_LINES} lines"
                raise ConfigError(file, start, "", problem) from None
            continue
        if statement.lstrip().startswith("["):
            table = keys[0]
            keys = [()]
        for key in keys:
            path = table + key
            for length in range(1, len(path) + 1):
                lines.setdefault(path[:length], start)
        statement, start = "", number + 1
    return lines


def _leaves(table: Mapping[str, Any]) -> list[Keys]:
    """The paths of the innermost keys. The tables of a ``[[name]]`` count as one."""
    paths: list[Keys] = []
    for key, value in table.items():
        inner = _leaves(value) if isinstance(value, dict) else []
        paths += [(key, *path) for path in inner] or [(key,)]
    return paths


# --- JSON with comments ------------------------------------------------------------------------


def parse_json(file: str, text: str) -> Document:
    """Read JSON with ``//`` and ``/* */`` comments, and trailing commas."""
    reader = _JsonReader(file, text)
    data = reader.document()
    return Document(file, data, reader.lines)


@define
class _JsonReader:
    """Reads values at a position and notes the line of each key."""

    file: str
    text: str
    position: int = 0
    line: int = 1
    lines: dict[Keys, int] = field(factory=dict)

    def error(self, problem: str, keys: Keys = ()) -> ConfigError:
        column = self.position - (self.text.rfind("\n", 0, self.position) + 1) + 1
        place = f"not valid JSON: {problem} (column {column})"
        return ConfigError(self.file, self.line, dotted(keys), place)

    def document(self) -> dict[str, Any]:
        if self.peek() != "{":
            raise self.error("expected { to open the file's object")
        data = self.object(())
        if self.peek():
            raise self.error("expected nothing after the closing }")
        return data

    def peek(self) -> str:
        """The next character after blanks and comments, empty at the end."""
        blank = _JSON_BLANK.match(self.text, self.position)
        if blank:
            self.position = blank.end()
            self.line += blank[0].count("\n")
        if self.text.startswith("/*", self.position):
            raise self.error("a comment is not closed")
        return self.text[self.position : self.position + 1]

    def take(self, character: str) -> bool:
        """Go past ``character`` if it is next."""
        found = self.peek() == character
        self.position += found
        return found

    def value(self, keys: Keys) -> Any:
        opener = self.peek()
        if len(keys) > MAX_DEPTH:
            raise self.error("is nested too deeply")
        if opener == "{":
            return self.object(keys)
        if opener == "[":
            return self.array(keys)
        try:
            value, self.position = _DECODER.raw_decode(self.text, self.position)
        except ValueError as error:  # JSONDecodeError, or a number too long for Python
            message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise self.error(f"{message[:1].lower()}{message[1:]}", keys) from error
        return value

    def object(self, keys: Keys) -> dict[str, Any]:
        self.take("{")
        members: dict[str, Any] = {}
        while not self.take("}"):
            if self.peek() != '"':
                raise self.error('expected "key" or }', keys)
            key = self.value(keys)
            path = (*keys, key)
            if key in members:
                raise self.error("the key stands here a second time", path)
            self.lines[path] = self.line
            if not self.take(":"):
                raise self.error("expected : after the key", path)
            members[key] = self.value(path)
            if not self.take(",") and self.peek() != "}":
                raise self.error("expected , or }", keys)
        return members

    def array(self, keys: Keys) -> list[Any]:
        self.take("[")
        items: list[Any] = []
        while not self.take("]"):
            items.append(self.value((*keys, str(len(items)))))
            if not self.take(",") and self.peek() != "]":
                raise self.error("expected , or ]", keys)
        return items


_DECODER = json.JSONDecoder()
_JSON_BLANK = compiled(r"(?:[ \t\n\r]+|//[^\n]*|/\*[\s\S]*?\*/)*")
