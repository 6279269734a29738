"""What the parts of the Builder share: what is still being read, and small helpers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ringfence.grammar.machine import Machine, Offsets, Token
from ringfence.grammar.nodes import (
    AndOr,
    Assignment,
    Command,
    List,
    ListItem,
    Literal,
    Node,
    Pipeline,
    Redirection,
    SimpleCommand,
    Span,
    Word,
)
from ringfence.grammar.records import define, field

SubParse = Callable[[str, str, Offsets], Any]
"""(text, start rule, offsets) → what the rule makes; for texts nested in a token."""


@define
class Simple:
    """A simple command still being read."""

    start: int
    end: int
    assignments: list[Assignment] = field(factory=list)
    arguments: list[Word | Assignment] = field(factory=list)
    redirections: list[Redirection] = field(factory=list)

    def node(self) -> SimpleCommand:
        span = (self.start, self.end)
        if self.arguments and self.arguments[0].span == span:
            span = self.arguments[0].span  # of a word alone: one tuple for both
        return SimpleCommand(
            span,
            tuple(self.assignments),
            tuple(self.arguments),
            tuple(self.redirections),
        )


@define
class Chain:
    """Commands joined by ``&&`` and ``||``, still being read."""

    commands: list[Command]
    operators: list[str] = field(factory=list)

    def node(self) -> Command:
        if not self.operators:
            return self.commands[0]
        return AndOr(around(self.commands), tuple(self.commands), tuple(self.operators))


@define
class Piped(Chain):
    """Commands joined by ``|`` and ``|&``, still being read."""

    def node(self) -> Command:
        if not self.operators:
            return self.commands[0]
        return Pipeline(around(self.commands), tuple(self.commands), tuple(self.operators))


@define
class Items:
    """The items of a list, still being read; the last has no terminator yet."""

    items: list[ListItem]


class Base:
    """What all parts of the Builder share."""

    machine: Machine

    def __init__(self, sub_parse: SubParse, *, follow_shopt: bool = False) -> None:
        self._sub_parse = sub_parse
        self._follow_shopt = follow_shopt

    def attach(self, machine: Machine) -> None:
        """Called with the machine before it runs."""
        self.machine = machine

    # --- general ---

    def nothing(self, *_values: Any) -> None:
        return None

    def token(self, token: Token) -> Token:
        return token


def join(first: Token, last: Token) -> Span:
    """The span from the first token to the last."""
    return (first.span[0], last.span[1])


def around(nodes: Sequence[Node]) -> Span:
    """The span from the first node, of at least one, to the last; a node alone shares its own."""
    if len(nodes) == 1:
        return nodes[0].span
    return (nodes[0].span[0], nodes[-1].span[1])


def list_of(items: list[ListItem]) -> List:
    """The list of at least one item."""
    return List(around(items), tuple(items))


def terminated(item: ListItem, end: Token) -> ListItem:
    """The item with what ended it."""
    return ListItem((item.span[0], end.span[1]), item.command, end.text)


def finished(value: Any) -> Any:
    """The node of what was still being read; everything else as it is."""
    return value.node() if isinstance(value, Chain | Simple) else value


def literal_word(token: Token) -> Word:
    """A word of one plain token."""
    return Word(token.span, (Literal(token.span, token.text),))


def plain_text(word: Word) -> str:
    """The text of a word that is hardly ever anything but plain text."""
    return "".join(getattr(part, "text", "?") for part in word.parts)
