"""Bash syntax: from text to a tree of frozen attrs classes, by a declarative LALR grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ringfence.grammar.errors import TooComplex, caret

if TYPE_CHECKING:
    from ringfence.grammar.grammar import Grammar, bash
    from ringfence.grammar.machine import Offsets
    from ringfence.grammar.nodes import Script

__all__ = ["Grammar", "TooComplex", "bash", "caret", "parse"]


def parse(
    text: str, offsets: Offsets = 0, *, extglob: bool = False, follow_shopt: bool = False
) -> Script:
    """Parse a bash script with the grammar that comes with Ringfence; see Grammar.parse."""
    from ringfence.grammar.grammar import bash  # noqa: PLC0415 - see __getattr__

    return bash().parse(text, offsets, extglob=extglob, follow_shopt=follow_shopt)


def __getattr__(name: str) -> Any:
    """``Grammar`` and ``bash`` are loaded when they are asked for: not every call parses."""
    if name in ("Grammar", "bash"):
        from ringfence.grammar import grammar  # noqa: PLC0415

        return getattr(grammar, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
