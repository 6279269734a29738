"""Where options and operands stand: kinds by position, and what options mean for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from ringfence.rules.commands.arguments import Given, Item, Piece
from ringfence.rules.commands.schema import Entry, Value


def paths_among(entry: Entry, items: Sequence[Item]) -> list[str]:
    """The operands of those kinds that are paths."""
    texts = [item.text for item in items if isinstance(item, Piece)]
    kinds = kinds_of(entry.operands, len(texts))
    return [text for text, kind in zip(texts, kinds, strict=False) if kind.operation]


def has_kind(item: Item, kind: str) -> bool:
    """Whether the item is an option with a value of that kind."""
    if not isinstance(item, Given) or item.option is None:
        return False
    return any(value.kind == kind for value in item.option.values)


def names_module(item: Item) -> TypeGuard[Given]:
    """Whether the option names the module or command whose words follow."""
    return isinstance(item, Given) and bool(item.values) and has_kind(item, "module")


def moves(item: Item, *, later: bool) -> TypeGuard[Given]:
    """Whether the option moves the command (or, ``later``, the operands behind) elsewhere."""
    if not isinstance(item, Given) or item.option is None or not item.values:
        return False
    return any(v.kind == "base" and v.has("later") == later for v in item.option.values)


def kinds_of(values: Sequence[Value], count: int) -> list[Value]:
    """The kinds of ``count`` operands: the repeated one leaves room for those behind it."""
    position = next((i for i, value in enumerate(values) if value.repeats), None)
    if position is None:
        return list(values[:count])
    head = list(values[:position])
    tail = list(values[position + 1 :])
    room = count - len(head) - len(tail)
    if room >= 1:
        return head + [values[position]] * room + tail
    # Too few words: those behind the repeated operand are missing first.
    return [*head, values[position]][:count]
