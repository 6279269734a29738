"""The syntax tree as text for a person and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ringfence.engine.escape import visible
from ringfence.grammar.nodes import Node
from ringfence.grammar.records import names


def tree_json(value: Any) -> Any:
    """A node as ``{"type": …, "span": [start, end], …}``, fields that say nothing left out."""
    if isinstance(value, Node):
        told = {name: tree_json(item) for name, item in _told(value)}
        return {"type": type(value).__name__, "span": list(value.span), **told}
    if isinstance(value, tuple):
        return [tree_json(item) for item in value]
    return value


def tree_text(node: Node, *, label: str = "", depth: int = 0) -> str:
    """A node a line, children indented: ``words Word 4:8``."""
    start, end = node.span
    head = f"{'  ' * depth}{label}{type(node).__name__} {start}:{end}"
    below = []
    for name, value in _told(node):
        children = value if isinstance(value, tuple) else (value,)
        nodes = [child for child in children if isinstance(child, Node)]
        below += [tree_text(child, label=f"{name} ", depth=depth + 1) for child in nodes]
        if not nodes:
            head += f" {name}={visible(repr(value))}"
    return "\n".join([head, *below])


def _told(node: Node) -> Iterator[tuple[str, Any]]:
    """The fields other than the span that differ from their defaults."""
    for name in names(type(node)):
        value = getattr(node, name)
        if name != "span" and value not in (None, False, ()):
            yield name, value
