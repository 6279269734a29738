"""Operators that a grammar adds: nothing behind them is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.paths import outside
from ringfence.engine.shell import Shell, evaluate
from ringfence.grammar import Grammar, bash
from ringfence.grammar.nodes import Command, Extension

HAND_OVER = r"""
%extend and_or: and_or HAND_OVER newlines_opt pipeline -> hand_over

HAND_OVER: /\|>/
"""


@pytest.fixture(scope="module", params=[True, False])
def grammar(request: pytest.FixtureRequest) -> Grammar:
    def hand_over(left: Command, operator: Any, _newlines: None, right: Command) -> Extension:
        span = (left.span[0], right.span[1])
        return Extension(span, operator.text, (left, right), subshells=request.param)

    return bash().extend(HAND_OVER, {"hand_over": hand_over})


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat /etc/x |> cat /etc/y", ["/etc/x", "/etc/y"]),
        ("ls |> cat /etc/y", ["/etc/y"]),
        ("eval 'ls |> cat /etc/y'", ["/etc/y"]),
        ("ls |> echo /etc/y", []),
    ],
)
def test_both_sides_of_an_unknown_operator_run(grammar, command, paths):
    """What an operator does is not known, but its commands are."""
    found = evaluate(command, Shell("/w", {"HOME": "/h"}, NoFileSystem()), grammar)
    assert [e.path for e in found.effects if outside(e.path, "/w", NoFileSystem())] == paths
    assert not found.opaque


def test_what_a_shell_is_handed_over_is_opaque(grammar):
    """Nobody knows what such an operator feeds to its right side."""
    found = evaluate("ls |> sh", Shell("/w", {"HOME": "/h"}, NoFileSystem()), grammar)
    assert [one.text for one in found.opaque] == ["sh"]


@pytest.mark.parametrize("first", ["true", "false"])
def test_an_operator_that_reuses_a_rule_hides_nothing(first):
    """An alternative of `and_or` that the walk does not know may run its right side."""
    grammar = bash().extend(
        "%extend and_or: and_or MAYBE newlines_opt pipeline -> and_or\nMAYBE: /\\|>/\n"
    )
    shell = Shell("/home/me/app", {"HOME": "/home/me"}, NoFileSystem())
    found = evaluate(f"{first} |> cat /etc/y", shell, grammar)
    assert [e.path for e in found.effects] == ["/etc/y"]


def test_a_substitution_of_newer_bash_is_opaque():
    """`${ command; }` is an error in bash 5.2 and runs in 5.3."""
    shell = Shell("/home/me/app", {"HOME": "/home/me"}, NoFileSystem())
    assert evaluate("echo ${ cat /etc/x; }", shell).opaque
    assert not evaluate('echo "${x!r}"', shell).opaque
