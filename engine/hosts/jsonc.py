"""Editing JSON with comments in place: what is not edited stays as it is, byte for byte.

An edit is made of the spans of the parsed text. What was added can be taken out again, and the text
is then what it was; only a container that an edit leaves empty is written as ``[]`` or ``{}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from lark import Lark, Token, Transformer
from lark.exceptions import LarkError

from ringfence.grammar.records import frozen
from ringfence.grammar.regex import compiled

Key = str | int

_GRAMMAR: Final = r"""
start: BOM? _value
_value: object | array | atom
object: "{" (member ("," member)* ","?)? "}"
member: STRING ":" _value
array: "[" (_value ("," _value)* ","?)? "]"
atom: STRING | NUMBER | CONSTANT

STRING: /"(?:[^"\\\x00-\x1f]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/
NUMBER: /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/
CONSTANT: "true" | "false" | "null"
BOM: "\ufeff"
COMMENT: /\/\/[^\r\n]*/ | /\/\*(?:[^*]|\*(?!\/))*\*\//
WS: /[ \t\r\n]+/
%ignore COMMENT
%ignore WS
"""
_BLANK: Final = " \t\r\n"
_COMMENT: Final = compiled(r"//[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/")


class JsoncError(ValueError):
    """A text that is no JSON with comments, or not of the form that an edit needs."""


@frozen
class Part:
    """A member of an object or an item of an array: where it begins and ends, and its comma."""

    key: Key
    start: int
    node: Node
    comma: int | None = None


@frozen
class Node:
    """A value: its span in the text, what it says, and the parts of a container."""

    start: int
    end: int
    value: Any
    parts: tuple[Part, ...] = ()

    def at(self, path: Sequence[Key]) -> Node | None:
        """The node at a path of keys and indexes below this one. Raises JsoncError."""
        node = self
        for key in path:
            found = [part.node for part in node.parts if part.key == key]
            if len(found) > 1:
                raise JsoncError(f"its key {key} stands twice in one object")
            if not found:
                return None
            node = found[0]
        return node


class _Builder(Transformer[Token, Node]):
    """Makes nodes while the text is parsed, so that depth costs no recursion."""

    def start(self, children: list[Any]) -> Node:
        node: Node = children[-1]
        return node

    def atom(self, children: list[Token]) -> Node:
        (token,) = children
        return Node(token.start_pos or 0, token.end_pos or 0, json.loads(token))

    def member(self, children: list[Any]) -> Part:
        key, _, node = children
        return Part(json.loads(key), key.start_pos, node)

    def object(self, children: list[Any]) -> Node:
        parts = _with_commas(children)
        value = {part.key: part.node.value for part in parts}
        return Node(children[0].start_pos, children[-1].end_pos, value, parts)

    def array(self, children: list[Any]) -> Node:
        items = (child for child in children if isinstance(child, Node))
        numbered = iter([Part(i, node.start, node) for i, node in enumerate(items)])
        parts = _with_commas([next(numbered) if isinstance(c, Node) else c for c in children])
        value = [part.node.value for part in parts]
        return Node(children[0].start_pos, children[-1].end_pos, value, parts)


def _with_commas(children: list[Any]) -> tuple[Part, ...]:
    """The parts among the children, each with the comma that follows it."""
    return tuple(
        Part(part.key, part.start, part.node, behind.start_pos if behind == "," else None)
        for part, behind in pairwise(children)
        if isinstance(part, Part)
    )


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Builder(), keep_all_tokens=True)


def parse(text: str) -> Node:
    """The value that the text holds. Raises JsoncError."""
    try:
        node: Any = _parser().parse(text)
    except LarkError as error:
        line, column = getattr(error, "line", -1), getattr(error, "column", -1)
        where = f" (line {line}, column {column})" if line > 0 else ""
        raise JsoncError(f"it is not JSON, with or without comments{where}") from error
    found: Node = node
    return found


def with_item(text: str, path: Sequence[Key], value: Any, *, first: bool = False) -> str:
    """The text with ``value`` in the array at ``path``, as its last or first item.

    Objects and the array that are not there are made. Raises JsoncError.
    """
    root = parse(text)
    for depth in range(len(path), -1, -1):
        node = root.at(path[:depth])
        if node is None:
            continue
        inside = list(path[depth:])
        kind, what = (dict, "an object") if inside else (list, "a list")
        if not isinstance(node.value, kind):
            name = ".".join(map(str, path[:depth]))
            raise JsoncError(f"its key {name} is not {what}" if name else f"it is not {what}")
        if not inside:
            return _added(text, root, node, None, value, first=first)
        made: Any = [value]
        for key in reversed(inside[1:]):
            made = {key: made}
        return _added(text, root, node, str(inside[0]), made)
    raise AssertionError  # the root is always there


def with_member(text: str, key: str, value: Any) -> str:
    """The text with one more member of its outermost object. Raises JsoncError."""
    root = parse(text)
    if not isinstance(root.value, dict):
        raise JsoncError("it is not an object")
    return _added(text, root, root, key, value)


def replaced(text: str, path: Sequence[Key], value: Any) -> str:
    """The text with another value at ``path``, which must be there. Raises JsoncError."""
    root = parse(text)
    node = root.at(path)
    if node is None:
        raise JsoncError("there is nothing to replace")
    written = _written(text, root, value, _indent_at(text, node.start), "\n" in text)
    return text[: node.start] + written + text[node.end :]


def without(text: str, path: Sequence[Key]) -> str:
    """The text without the member or item at ``path``, which must be there.

    Objects and arrays that it leaves empty go too, but for the outermost. Raises JsoncError.
    """
    root = parse(text)
    holder = root.at(path[:-1])
    node = root.at(path)
    if holder is None or node is None:
        raise JsoncError("there is nothing to take out")
    index = next(i for i, part in enumerate(holder.parts) if part.node is node)
    cut = _cut(text, holder, index)
    left = parse(cut).at(path[:-1])
    if left is None or left.parts or not path[:-1]:
        return cut
    if cut[left.start + 1 : left.end - 1].strip(_BLANK):
        return cut  # a comment stands in it
    return without(cut, path[:-1])


def _cut(text: str, holder: Node, index: int) -> str:
    """The text without one part of a container, and without the comma that it needed."""
    part = holder.parts[index]
    behind = text[part.node.end :]
    if part.comma is not None:
        between, behind = text[part.node.end : part.comma], text[part.comma + 1 :]
        if index + 1 < len(holder.parts) and not between.strip(_BLANK):
            return text[: part.start] + behind.lstrip(_BLANK)  # the next one takes its place
        behind = between + behind
        if index + 1 < len(holder.parts):
            return text[: part.start] + behind
    token = holder.start + 1
    head = text[: part.start]
    if index:
        comma = holder.parts[index - 1].comma
        assert comma is not None
        token = comma
        if part.comma is None:
            token = holder.parts[index - 1].node.end
            head = head[:comma] + head[comma + 1 :]
    blank = head[len(head.rstrip(_BLANK)) :]
    comments = _COMMENT.findall(text, token, part.start)
    if not (comments and comments[-1].startswith("//")) or behind.lstrip(" \t")[:1] in "\r\n":
        head = head.removesuffix(blank)
    if not index and len(head) == holder.start + 1 and behind.lstrip(_BLANK)[:1] in ("]", "}"):
        behind = behind.lstrip(_BLANK)
    return head + behind


def _added(
    text: str, root: Node, holder: Node, key: str | None, value: Any, *, first: bool = False
) -> str:
    """The text with one more part in a container: in its own style, at its end or beginning."""
    newline = "\r\n" if "\r\n" in text else "\n"
    inner = text[holder.start + 1 : holder.end - 1]
    empty = not inner.strip(_BLANK)
    lines = "\n" in inner or (empty and ("\n" in text or holder is root))
    outer = _indent_at(text, holder.start)
    indent = outer + _unit(text, root)
    if holder.parts and _begins_line(text, holder.parts[0].start):
        indent = _indent_at(text, holder.parts[0].start)
    written = _written(text, root, value, indent, lines)
    if key is not None:
        written = f"{json.dumps(key, ensure_ascii=False)}: {written}"
    if first and holder.parts:
        at = holder.start + 1 + len(inner) - len(inner.lstrip(_BLANK))
        gap = f"{newline}{indent}" if lines else " "
        return f"{text[:at]}{written},{gap}{text[at:]}"
    at = holder.start + 1 + len(inner.rstrip(_BLANK))
    if lines:
        written = f"{newline}{indent}{written}"
        if empty and "\n" not in inner:
            written += f"{newline}{outer}"
    elif not empty:
        written = f" {written}"
    if not holder.parts:
        return text[:at] + written + text[at:]
    last = holder.parts[-1]
    if last.comma is not None:
        return f"{text[:at]}{written},{text[at:]}"
    return f"{text[: last.node.end]},{text[last.node.end : at]}{written}{text[at:]}"


def _written(text: str, root: Node, value: Any, indent: str, lines: bool) -> str:
    if not lines:
        return json.dumps(value, ensure_ascii=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    dumped = json.dumps(value, ensure_ascii=False, indent=_unit(text, root))
    return dumped.replace("\n", f"{newline}{indent}")


def _unit(text: str, root: Node) -> str:
    """What the text is indented by."""
    if root.parts and _begins_line(text, root.parts[0].start):
        return _indent_at(text, root.parts[0].start) or "  "
    return "  "


def _begins_line(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return "\n" in text[:at] and not line.strip(_BLANK)


def _indent_at(text: str, at: int) -> str:
    """The blanks at the beginning of the line that ``at`` is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    found = re.match(r"[ \t]*", line)
    return found[0] if found else ""
