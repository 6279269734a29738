"""From the grammar's rules to nodes: one method for each rule, named as in bash.lark.

The methods are given the values of the rule's symbols, terminals as Tokens. Lists grow in place
(the grammar is left-recursive), so a long list takes linear time. What is not finished yet
(a simple command still being read, a pipeline) is one of the small classes in base.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ringfence.grammar.builder.base import finished
from ringfence.grammar.builder.compound import CompoundCommands
from ringfence.grammar.builder.lists import Lists
from ringfence.grammar.builder.parameters import Parameters
from ringfence.grammar.builder.simple import SimpleCommands
from ringfence.grammar.machine import Program
from ringfence.grammar.tables import RuleTable


class Builder(Lists, SimpleCommands, CompoundCommands, Parameters):
    """Makes the nodes of one text."""


def program(rules: Sequence[RuleTable], extensions: Mapping[str, Callable[..., Any]]) -> Program:
    """What the machine does for each rule: a Builder's method, or an extension's function.

    An extension's functions come first and are given nodes. Raises AttributeError for a name
    without a function.
    """

    def function(name: str | None) -> Callable[..., Any] | None:
        if name is None:
            return None
        extension = extensions.get(name)
        if extension is not None:
            return lambda _builder, *values: extension(*map(finished, values))
        method: Callable[..., Any] = getattr(Builder, name)
        return method

    made = tuple((rule.size, rule.origin, function(rule.builder)) for rule in rules)
    unused = frozenset(() if extensions else ("BLANK", "ARRAY_BLANK"))
    return Program(
        made, unused, {(Builder.literal, Builder.parts_first, Builder.word): Builder.plain_word}
    )
