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


OPERATOR = "\n%extend and_or: and_or FOO pipeline -> foo\n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("FOO: /(/", 1, "/(/ is no regular expression"),  # of no rule, but meant for one
        ("# a/b\n%extend terminator: FOO\nFOO: /a(/i", 3, "/a(/ is no regular expression"),
        ('%extend terminator: FOO\nFOO: "z".."a"', 2, "FOO is no regular expression"),
        ("%extend terminator: FOO\nFOO: /x*/", 2, "FOO matches an empty text"),
        ("%extend terminator: FOO\nFOO: /(x)\\1/", 2, "use (?:…)"),
        ("%extend terminator: FOO\nFOO: /(?P<AMP>x)/", 2, "use (?:…)"),
        ("\n%extend terminator FOO\nFOO: /x/", 2, "Unexpected token"),
        ("%extend terminator: (FOO\nFOO: /x/", 1, "Expected one of: _RPAR"),
        ("FOO: /x/\n&&&", 2, "Unexpected input"),
        ("\n%extend terminator: FOO", 2, "'FOO' used but not defined"),
        ("\n%extend foo: FOO\nFOO: /x/", 2, "it wasn't defined before"),
        ("\nAMP: /x/", 2, "defined more than once"),
        ("FOO: /x/ -> y", 1, "Aliasing not allowed"),
        ("\n%import nowhere.X", 2, "No such file"),
        ("\n%extend and_or: and_or FOO pipeline\nFOO: /~/", 2, "needs a name for its function"),
        (OPERATOR.replace("foo", "bar") + "FOO: /~/", 2, "no function is given for -> bar"),
        (OPERATOR + "FOO: /~/", 2, "-> foo is given 3 values (and_or FOO pipeline): "),
        (OPERATOR.replace("foo", "no") + "FOO: /~/", 2, "what is given for -> no is no function"),
        (OPERATOR.replace("foo", "and_or") + "FOO: /~/", 2, "-> and_or is given 3 values"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, problem: str) -> None:
    """Always as one class of error, and never later than here: a command would be opaque then."""
    functions: dict[str, Any] = {"foo": lambda left, right: left or right, "no": 3}
    with pytest.raises(GrammarError) as raised:
        bash().extend(text, functions)
    assert str(raised.value).startswith(f"extension, line {line}: ")
    assert problem in str(raised.value)


def test_the_line_is_that_of_the_last_text(tmp_path: Path) -> None:
    """Whatever it was added to; a file is named."""
    file = tmp_path / "slip.lark"
    file.write_text("\n\n%extend terminator FOO\n", encoding="utf-8")
    with pytest.raises(GrammarError) as raised:
        bash().extend(DISOWN).extend(file)
    assert str(raised.value).startswith(f"{file}, line 3: Unexpected token")


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
