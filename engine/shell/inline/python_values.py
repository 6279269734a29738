"""The values that a Python program's expressions may have, as far as `python` follows them.

An expression has a tuple of possible values; ANYTHING among them stands for all others.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import TypeAlias

from ringfence.engine.shell.outputs.call import below
from ringfence.engine.shell.outputs.places import last_name, parent
from ringfence.grammar.records import field, frozen
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Operation, is_known

MAX_VALUES = 12
"""How many possible values of one expression are told apart."""


@frozen
class Text:
    """A string, or what a path, a number or bytes look like as one; may hold unknowns."""

    text: str
    kind: str = "text"  # or "path", "number"


@frozen
class Items:
    """A list, tuple or set. With ``many``, each item stands for any number of such."""

    items: tuple[Values, ...]
    many: bool = False


@frozen
class Table:
    """A dict with the keys that are known; others are in ``rest``."""

    entries: tuple[tuple[str, Values], ...]
    rest: Values = ()


@frozen
class Named:
    """A module, or something in it, by its full name: ``os.path.join``."""

    name: str


@frozen
class Local:
    """A function that the program defines."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@frozen
class Plain:
    """Something that names no file: an open file, its content, a module of the project."""

    what: str


Value: TypeAlias = Text | Items | Table | Named | Local | Plain
Values: TypeAlias = tuple[Value, ...]

ANYTHING = Plain("anything")
"""A value of which nothing is known."""

CONTENT = Plain("content")
"""What stands in a file."""

HANDLE = Plain("handle")
"""An open file."""

ARCHIVE = Plain("archive")
"""An open archive, whose methods take paths."""

NAMESPACE = Plain("namespace")
"""A module's names as a dict, or something out of it: what a call of it does is not known."""

UNKNOWN_VALUES: Values = (ANYTHING,)
NUMBER: Values = (Text(NAME, "number"),)


def union(*several: Values) -> Values:
    """All values of ``several``, each once; beyond MAX_VALUES, anything."""
    found = tuple(dict.fromkeys(value for values in several for value in values))
    return found if len(found) <= MAX_VALUES else UNKNOWN_VALUES


def text_of(value: Value) -> str:
    """The value as a string; UNKNOWN if it is none."""
    return value.text if isinstance(value, Text) else UNKNOWN


def texts(values: Values) -> tuple[str, ...]:
    """The values as strings."""
    return tuple(dict.fromkeys(map(text_of, values))) or (UNKNOWN,)


def combine(function: Callable[..., str], *several: Values, kind: str = "text") -> Values:
    """``function`` applied to every combination of the values' texts."""
    combinations = islice(product(*map(texts, several)), MAX_VALUES + 1)
    return union(tuple(Text(function(*combination), kind) for combination in combinations))


def elements(values: Values) -> Values:
    """What iterating over ``values`` gives.

    An empty list alone may be filled in a way that is not followed.
    """
    empty = Items(())
    found: list[Values] = []
    for value in values:
        if value == empty and len(values) > 1:
            continue
        if isinstance(value, Items):
            found += value.items or (UNKNOWN_VALUES,)
        elif isinstance(value, Table):
            found.append(tuple(Text(key) for key, _ in value.entries) or UNKNOWN_VALUES)
        elif isinstance(value, Text) and is_known(value.text) and len(value.text) <= MAX_VALUES:
            found.append(tuple(map(Text, value.text)))
        else:
            found.append(UNKNOWN_VALUES)
    return union(*found)


def listing(*items: Values) -> Values:
    """A list of any number of the items."""
    return (Items(items, many=True),)


def subscript(values: Values, index: Values) -> Values:
    """``values[index]``."""
    found: list[Values] = []
    keys = texts(index)
    for value in values:
        if isinstance(value, Items):
            found.append(_item(value, keys))
        elif isinstance(value, Table):
            entries = dict(value.entries)
            found.append(
                union(*(entries.get(key, value.rest or UNKNOWN_VALUES) for key in keys))
                if all(map(is_known, keys))
                else union(*entries.values(), value.rest)
            )
        else:
            found.append((NAMESPACE,) if value == NAMESPACE else UNKNOWN_VALUES)
    return union(*found)


def _item(value: Items, keys: Sequence[str]) -> Values:
    found: list[Values] = []
    for key in keys:
        number = int(key) if key.removeprefix("-").isdecimal() and len(key) < 9 else None
        if number is None or value.many:
            found += value.items or (UNKNOWN_VALUES,)
        elif -len(value.items) <= number < len(value.items):
            found.append(value.items[number])
        else:
            found.append(UNKNOWN_VALUES)
    return union(*found)


def part(values: Values, lower: int | None, upper: int | None) -> Values:
    """``values[lower:upper]``."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Items):
            found.append(value if value.many else Items(value.items[lower:upper]))
        elif isinstance(value, Text) and is_known(value.text):
            found.append(Text(value.text[lower:upper]))
        else:
            found.append(ANYTHING)
    return union(tuple(found))


@frozen
class Arguments:
    """The arguments of a call; ``spread`` if there may be more than are told."""

    node: ast.Call
    positional: tuple[Values, ...] = ()
    keywords: Mapping[str, Values] = field(factory=dict)
    spread: bool = False

    def get(self, position: int | None, keyword: str = "") -> Values | None:
        """An argument by position or keyword, or None if it is not given."""
        if position is not None and position < len(self.positional):
            return self.positional[position]
        if position is not None and self.spread:
            return UNKNOWN_VALUES
        return self.keywords.get(keyword)

    def operation(self, position: int) -> Operation:
        """Read or write, as the mode at ``position`` says."""
        modes = texts(self.get(position, "mode") or (Text("r"),))
        writes = any(set(mode) & set(f"wax+{UNKNOWN}") for mode in modes)
        return Operation.WRITE if writes else Operation.READ


# --- paths -------------------------------------------------------------------------------------


def join(first: str, *others: str) -> str:
    """``os.path.join``: an unknown part may be an absolute path."""
    path = first
    for other in others:
        if other.startswith(UNKNOWN) and not path.startswith("/"):
            path = UNKNOWN
        else:
            path = posixpath.join(path, other)
    return path


def directory_name(path: str) -> str:
    """``os.path.dirname``."""
    return posixpath.dirname(path) if is_known(path) else parent(path)


def path_parent(path: str) -> str:
    """``Path.parent``: that of a name alone is ``.``."""
    return parent(path)


def stem(path: str) -> str:
    """The last name without its suffix."""
    name = last_name(path)
    head, dot, _ = name.rpartition(".")
    return head if dot and head else name


def with_name(path: str, name: str) -> str:
    """``Path.with_name``."""
    head = parent(path)
    return name if head == "." else join(head, name)


def with_suffix(path: str, suffix: str) -> str:
    """``Path.with_suffix``."""
    return with_name(path, stem(path) + suffix)


def glob_root(pattern: str) -> str:
    """The directory that a glob is looked for in: the components before the first magic one."""
    components = pattern.split("/")
    for index, component in enumerate(components):
        if any(character in component for character in "*?["):
            return "/".join(components[:index]) or ("/" if index else ".")
    return pattern


def globbed(pattern: str) -> str:
    """Any path that a glob gives."""
    if "**" in pattern:
        return below(pattern.partition("**")[0].rpartition("/")[0]) if "/" in pattern else BELOW
    components = []
    for component in pattern.split("/"):
        text = component
        for character in "*?":
            text = text.replace(character, NAME)
        components.append(NAME if "[" in text else text)
    return "/".join(components)


# --- strings -----------------------------------------------------------------------------------

_SAFE_METHODS = frozenset(
    (
        *("strip", "rstrip", "lstrip", "lower", "upper", "replace", "removeprefix"),
        *("removesuffix", "title", "capitalize", "casefold", "swapcase"),
    )
)
_KEEPING = frozenset(("strip", "rstrip", "lstrip", "lower", "upper", "decode", "encode", "title"))


def string_method(text: str, name: str, arguments: Sequence[Values]) -> Values:
    """What a method of a string gives."""
    if name in ("decode", "encode", "as_posix", "expandtabs", "__str__", "__fspath__"):
        return (Text(text),)
    if name == "join":
        return _joined(text, arguments)
    if name == "format":
        return _formatted(text, arguments)
    known = [texts(values)[0] for values in arguments]
    if not is_known(text) or not all(map(is_known, known)) or len(text) > 10_000:
        return (Text(text),) if name in _KEEPING and not arguments else UNKNOWN_VALUES
    if name in _SAFE_METHODS and len(known) <= 2:
        try:
            return (Text(getattr(text, name)(*known)),)
        except TypeError:
            return UNKNOWN_VALUES
    if name in ("split", "rsplit", "splitlines") and len(known) < 2 and "" not in known:
        return (Items(tuple((Text(piece),) for piece in getattr(text, name)(*known))),)
    if name in ("partition", "rpartition") and len(known) == 1 and known[0]:
        return (Items(tuple((Text(piece),) for piece in getattr(text, name)(*known))),)
    return UNKNOWN_VALUES


def _joined(separator: str, arguments: Sequence[Values]) -> Values:
    if len(arguments) != 1 or not all(isinstance(v, Items) and not v.many for v in arguments[0]):
        return UNKNOWN_VALUES
    found = []
    for value in arguments[0]:
        items = value.items if isinstance(value, Items) else ()
        found.append(combine(lambda *pieces: separator.join(pieces), *items))
    return union(*found)


def _formatted(template: str, arguments: Sequence[Values]) -> Values:
    """``template.format(…)`` with plain ``{}``; other fields are unknown."""
    pieces = template.replace("{{", "\1").replace("}}", "\2").split("{}")
    filled = [(Text(piece),) for piece in _named_fields(pieces)]
    values: list[Values] = [filled[0]]
    for index, piece in enumerate(filled[1:]):
        values += [arguments[index] if index < len(arguments) else UNKNOWN_VALUES, piece]
    return combine(lambda *parts: "".join(parts), *values)


def _named_fields(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        text, depth = "", 0
        for character in piece:
            if character == "{":
                depth += 1
                text += UNKNOWN
            elif character == "}":
                depth -= 1
            elif depth <= 0:
                text += character
        yield text.replace("\1", "{").replace("\2", "}")


def percent_formatted(template: str, values: Values) -> Values:
    """``template % values`` with plain ``%s`` and numbers."""
    pieces = template.replace("%%", "\1").split("%")
    if len(pieces) == 1:
        return (Text(template),)
    value = values[0] if len(values) == 1 else ANYTHING
    arguments = list(value.items) if isinstance(value, Items) and not value.many else [values]
    parts: list[Values] = [(Text(pieces[0].replace("\1", "%")),)]
    for index, piece in enumerate(pieces[1:]):
        argument = arguments[index] if index < len(arguments) else UNKNOWN_VALUES
        if piece[:1] == "s":
            parts.append(argument)
        elif piece[:1] in ("d", "i"):
            parts.append(argument if isinstance(argument[0], Text) else NUMBER)
        else:
            parts.append(UNKNOWN_VALUES)
        parts.append((Text(piece[1:].replace("\1", "%")),))
    return combine(lambda *texts_: "".join(texts_), *parts)
