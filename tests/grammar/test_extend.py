"""Adding an operator to the grammar without touching Ringfence's files; see docs/grammar.md."""

from pathlib import Path
from typing import Any

import pytest
from helpers.sketch import sketch
from lark.exceptions import GrammarError

from ringfence.grammar import bash
from ringfence.grammar.nodes import Command, Extension

HAND_OVER = r"""
%extend and_or: and_or HAND_OVER newlines_opt pipeline -> hand_over

HAND_OVER: /\|>/
"""


def hand_over(left: Command, operator: Any, _newlines: None, right: Command) -> Extension:
    return Extension((left.span[0], right.span[1]), operator.text, (left, right))


DISOWN = r"""
%extend terminator: DISOWN

DISOWN: /&!/
"""


def test_a_new_operator_joins_commands() -> None:
    """`|>` binds like `&&`; its node holds the commands that it joins."""
    grammar = bash().extend(HAND_OVER, {"hand_over": hand_over})
    script = grammar.parse("a && b |> c | d")
    assert script.problem is None
    (item,) = script.body.items
    assert isinstance(item.command, Extension)
    assert item.command.operator == "|>"
    assert item.command.span == (0, 15)
    assert [type(c).__name__ for c in item.command.commands] == ["AndOr", "Pipeline"]


def test_a_new_terminator_uses_functions_that_are_there() -> None:
    """zsh's `&!` ends a command like `&`."""
    script = bash().extend(DISOWN).parse("a &! b &!\nc")
    assert [item.terminator for item in script.body.items] == ["&!", "&!", None]


def test_extensions_add_up(tmp_path: Path) -> None:
    """An extended grammar can be extended; the text may come from a file."""
    file = tmp_path / "disown.lark"
    file.write_text(DISOWN, encoding="utf-8")
    grammar = bash().extend(file).extend(HAND_OVER, {"hand_over": hand_over})
    assert grammar.parse("a |> b &! c").problem is None


def test_the_built_in_grammar_stays_as_it_is() -> None:
    """Extending makes a new grammar."""
    bash().extend(HAND_OVER, {"hand_over": hand_over})
    assert sketch("a |> b") == "[a] | [>b]"


def test_an_alternative_without_a_function_is_an_error() -> None:
    """A name that no function is given for is found when the grammar is made."""
    with pytest.raises(GrammarError, match="hand_over"):
        bash().extend(HAND_OVER)


def test_a_grammar_that_is_not_lalr_is_an_error() -> None:
    """Lark's own errors come through."""
    with pytest.raises(GrammarError):
        bash().extend("%extend subshell: LPAR compound_list RPAR -> group")
