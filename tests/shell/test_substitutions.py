"""A substitution is seen wherever a word, a pattern or an expression may hold one."""

from __future__ import annotations

import pytest

PLACES = [
    ": X", "X", "X | cat", "a=X", "a+=X", "a=X b", "a=(X)", "a=([X]=1)", "a=([k]=X)", "a[X]=1", "a=(1)X",
    "declare a=X", "declare a=(X)", "declare a[X]=1", "export a=X", "local X", "readonly a=X",
    "case X in a) ;; esac", "case a in X) ;; esac", "case a in b|X) ;; esac", "shopt -s extglob\ncase a in @(b|X)) ;; esac",
    "[[ X ]]", "[[ -n X ]]", "[[ X -eq 1 ]]", "[[ a == X ]]", "[[ a != X ]]", "[[ a < X ]]",
    "[[ a == ?(X) ]]", "[[ a == c@(b|X)d ]]", "[[ a == ?(b|@(X)) ]]",
    "[[ a =~ X ]]", "[[ a =~ cX ]]", "[[ a =~ X$ ]]", "[[ a =~ (X) ]]", "[[ a =~ ^(b|(c X))$ ]]",
    "[[ a && X ]]", "[[ ! X ]]", "[[ ( X ) ]]",
    "for x in X; do :; done", "for x in a X; { :; }", "select x in X; do break; done",
    "for ((i=X; i<1; i++)); do :; done", "for ((i=0; i<X; i++)); do :; done",
    "(( X ))", "((a[X]))", ": $((X))", ": $((1 + (X)))", ": $[X]", 'echo "$((X))"', "let X", "let a=X",
    ": ${a:-X}", ": ${a:=X}", ": ${a:?X}", ": ${a#X}", ": ${a%%X}", ": ${a/X/b}", ": ${a/b/X}", ": ${a^X}",
    ": ${a:X}", ": ${a:1:X}", ": ${a[X]}", ": ${#a[X]}", ": ${!a[X]}", ': "${a:-X}"', ': "${a[X]}"', ': "${a:-"X"}"',
    ': "b X"', ': $"b X"', ': "b"X', ": ${@:-X}", ": ${*:?X}", ": ${a[@]:-X}", ": ${a[@]:?X}", ": ${a[@]+b}X", ": ${a[@]/X/b}", "set -- 1; : ${@#X}", ": ${1:-X}",
    ": ${1:?X}", ": ${!a:-X}", ": ${!a:?X}", ": ${@:X}", ": ${@:1:X}", ": ${a[@]:X}", ": ${a[X]:-b}", ": ${a[X]:?b}",
    ": ${a//X}", ": ${a/#X/b}", ": ${a/%b/X}", ": ${a,,X}", ": ${a~X}", ": ${a-X}", ": ${a=X}", ": ${a?X}", "a=1; : ${a:+X}",
    ": b{X,c}", ": {c,X}", ": ~X", "shopt -s extglob\n: @(X)", ": [X]*",
    "cat <<< X", "cat <<E\nX\nE", "cat <<-E\n\tX\n\tE", "cat <<E\n${a:-X}\nE", "cat <<E\n$((X))\nE",
    ": > X", ": 2>> X", ": >& X", ": < X", ": {fd}> X", "{ :; } > X", "( : ) > X", "f() { :; } > X; f",
    "if X; then :; fi", "while X; do break; done", "until X; do :; done", "! X", "time X", "( X )", "{ X; }",
    "f() { : X; }; f", "f() ( X ); f", "coproc : X", "coproc n { : X; }", "X &", ": && X", ": || X; X",
    "eval X", "eval ': X'", 'eval ": X"', "trap ': X' EXIT", "bash -c ': X'", "test X", "[ X ]", "printf -v a X",
    "[[ -v a[X] ]]", "read a <<< X", "mapfile a < <(: X)",
    ": $(: X)", ": $(( $(: X) ))",
    "exec 3< X", "cd X", "echo X > b", "x=1 : X", "command : X", "env X", "xargs X", "find . -name X",
]  # fmt: skip
SUBSTITUTIONS = [
    "$(cat /etc/x)",
    '"$(cat /etc/x)"',
    "b$(cat /etc/x)",
    "${n:-$(cat /etc/x)}",
    "$(cat /etc/x; echo )",
    "$(cat </etc/x)",
    "`cat /etc/x`",
]


PROCESSES = ["<(cat /etc/x)", ">(cat /etc/x)", "b<(cat /etc/x)"]
NO_PROCESSES = ("((", "$[", '"', "<<E", "<<-E")
"""In quotes and in arithmetic there is no process substitution."""


@pytest.mark.parametrize("substitution", SUBSTITUTIONS)
@pytest.mark.parametrize("place", PLACES)
def test_a_substitution_is_seen(world, place, substitution):
    """Whatever becomes of its text: the command in it runs."""
    if place == ': "${a:-"X"}"' and substitution.startswith('"'):
        pytest.skip("quotes that end each other")
    assert "/etc/x" in {effect.path for effect in world.effects(place.replace("X", substitution))}


@pytest.mark.parametrize("substitution", PROCESSES)
@pytest.mark.parametrize("place", [p for p in PLACES if not any(no in p for no in NO_PROCESSES)])
def test_a_process_substitution_is_seen(world, place, substitution):
    """The command in it runs too."""
    assert "/etc/x" in {effect.path for effect in world.effects(place.replace("X", substitution))}


@pytest.mark.parametrize(
    "command",
    [
        "a=1; : ${a:-$(cat /etc/x)}",
        "a=(1); : ${a[@]:-$(cat /etc/x)}",
        ": ${a:+$(cat /etc/x)}",
        "a=1; : ${a:?$(cat /etc/x)}",
        "set -- 1; : ${@:?$(cat /etc/x)}",
        ": '$(cat /etc/x)'",
        "cat <<'E'\n$(cat /etc/x)\nE",
        ': "<(cat /etc/x)"',
        ": $((1 <(2)))",
    ],
)
def test_what_does_not_run_is_not_seen(world, command):
    """A default that is not needed, and text."""
    assert world.touched(command) == []
