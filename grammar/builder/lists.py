"""Scripts, lists and pipelines."""

from __future__ import annotations

from ringfence.grammar.builder.base import (
    Base,
    Chain,
    Items,
    Piped,
    finished,
    list_of,
    plain_text,
    terminated,
)
from ringfence.grammar.machine import Token
from ringfence.grammar.nodes import AndOr, Command, List, ListItem, Pipeline, Script, SimpleCommand
from ringfence.grammar.records import evolve


class Lists(Base):
    """Scripts, lists and pipelines."""

    # --- scripts and lists ---

    def script(self, lines: list[ListItem]) -> Script:
        if not lines:
            start = self.machine.whole()[0]
            return Script((start, start), List((start, start), ()))
        body = list_of(lines)
        return Script(body.span, body)

    def script_last_line(self, lines: list[ListItem], line: list[ListItem]) -> Script:
        lines.extend(line)
        return self.script(lines)

    def lines_none(self) -> list[ListItem]:
        return []

    def lines_blank(self, lines: list[ListItem], _newline: Token) -> list[ListItem]:
        return lines

    def lines_line(
        self, lines: list[ListItem], line: list[ListItem], newline: Token
    ) -> list[ListItem]:
        if line[-1].terminator is None:
            line[-1] = terminated(line[-1], newline)
        lines.extend(line)
        if self._follow_shopt and any(_sets_extglob(item.command) for item in line):
            self.machine.extglob = True
        return lines

    def line(self, items: Items) -> list[ListItem]:
        return items.items

    def line_end(self, items: Items, end: Token) -> list[ListItem]:
        items.items[-1] = terminated(items.items[-1], end)
        return items.items

    def compound_list(self, _newlines: None, items: Items, end: Token | None = None) -> List:
        if end is not None:
            items.items[-1] = terminated(items.items[-1], end)
        return list_of(items.items)

    def body_empty(self, _newlines: None) -> List:
        return List(self.machine.after_last(), ())

    def items_first(self, command: Command | Chain) -> Items:
        node = finished(command)
        return Items([ListItem(node.span, node)])

    def items_more(self, items: Items, separator: Token, command: Command | Chain) -> Items:
        items.items[-1] = terminated(items.items[-1], separator)
        node = finished(command)
        items.items.append(ListItem(node.span, node))
        return items

    def separator(self, terminator: Token, _newlines: Token) -> Token:
        return terminator

    def newlines(self, first: Token, _more: Token | None = None) -> Token:
        return first

    # --- pipelines ---

    def and_or(
        self, left: Command | Chain, operator: Token, _newlines: None, right: Command
    ) -> Chain:
        if not isinstance(left, Chain):
            left = Chain([left])
        left.operators.append(operator.text)
        left.commands.append(right)
        return left

    def piped_more(
        self, left: Command | Piped, operator: Token, _newlines: None, command: Command
    ) -> Piped:
        if not isinstance(left, Piped):
            left = Piped([left])
        left.operators.append(operator.text)
        left.commands.append(command)
        return left

    def pipeline(self, left: Command | Piped) -> Command:
        command: Command = finished(left)
        return command

    def pipeline_negated(self, bang: Token, command: Command | None = None) -> Pipeline:
        pipeline = _as_pipeline(bang, command)
        return evolve(pipeline, negated=not pipeline.negated)

    def pipeline_timed(self, time: Token, command: Command | None = None) -> Pipeline:
        return evolve(_as_pipeline(time, command), timed=True)

    def time_prefix(self, time: Token, _option: Token | None = None) -> Token:
        return time


def _sets_extglob(command: Command) -> bool:
    if isinstance(command, AndOr | Pipeline):
        return any(map(_sets_extglob, command.commands))
    if not isinstance(command, SimpleCommand):
        return False
    words = [plain_text(word) for word in command.words]
    return words[:2] == ["shopt", "-s"] and "extglob" in words[2:]


def _as_pipeline(first: Token, command: Command | None) -> Pipeline:
    if command is None:
        return Pipeline(first.span, ())
    span = (first.span[0], command.span[1])
    if isinstance(command, Pipeline):
        return evolve(command, span=span)
    return Pipeline(span, (command,))
