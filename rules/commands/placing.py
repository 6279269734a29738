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


def option_kinds(items: Sequence[Item]) -> frozenset[str]:
    """The kinds of values that the options among the items take."""
    kinds: frozenset[str] = frozenset()
    for item in items:
        if isinstance(item, Given) and item.option is not None:
            kinds = kinds | item.option.kinds if kinds else item.option.kinds
    return kinds


def names_module(item: Item) -> TypeGuard[Given]:
    """Whether the option names the module or command whose words follow."""
    if not isinstance(item, Given) or item.option is None:
        return False
    return bool(item.values) and "module" in item.option.kinds


def moves(item: Item, *, later: bool) -> TypeGuard[Given]:
    """Whether the option moves the command (or, ``later``, the operands behind) elsewhere."""
    if not isinstance(item, Given) or item.option is None or "base" not in item.option.kinds:
        return False
    if not item.values:
        return False
    return any(v.kind == "base" and v.has("later") == later for v in item.option.values)


def kinds_of(values: Sequence[Value], count: int) -> list[Value]:
    """The kinds of ``count`` operands: the repeated one leaves room for those behind it."""
    for position, value in enumerate(values):  # noqa: B007 - of use where the loop ends early
        if value.repeats:
            break
    else:
        return list(values[:count])
    head = list(values[:position])
    tail = list(values[position + 1 :])
    room = count - len(head) - len(tail)
    if room >= 1:
        return head + [values[position]] * room + tail
    # Too few words: those behind the repeated operand are missing first.
    return [*head, values[position]][:count]
