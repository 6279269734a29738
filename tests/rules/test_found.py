"""Which names the expression of find lets through to an action."""

import shlex

import pytest

from ringfence.rules.commands.found import found_names
from ringfence.rules.model import NAME


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("-name '*.pyc' -delete", "*.pyc"),
        ("-iname a?b -type f -delete", "a*b"),
        ("-name '[ab].c' -delete", "*.c"),
        ("-type f -name x -name y -delete", "x"),  # one that holds is enough
        ("( -name a -o -name b ) -delete", "a b"),
        ("-type f -a ( -name a -or ( -name b ) ) -delete", "a b"),
        ("-name a -o -name b -delete", "b"),  # what binds is `-a`
        ("-name a -prune -o -name b -delete", "b"),
        ("-fprintf -name x -name y -delete", "y"),  # a file called -name, a format
        ("-newer -name -name y -delete", "y"),
        ("-exec rm -name z ; -name y -delete", "y"),
        # Anything may be found.
        ("-delete", None),
        ("-type f -delete", None),
        ("-delete -name x", None),
        ("-exec rm -name z ; -delete", None),
        ("-newer -name -ls -delete", None),
        ("! -name x -delete", None),
        ("-not ( -name x ) -delete", None),
        ("( -name x -o -type d ) -delete", None),
        ("-name x -o -delete", None),
        ("-name x , -delete", None),
        ("( -name x , -type f ) -delete", None),
        ("-name a\\*b -delete", "a*b"),
        (r"-name 'a\*b' -delete", None),
        (") -name x -delete", None),
        (f"( {' -o '.join(f'-name {letter}' for letter in 'abcdefghi')} ) -delete", None),
    ],
)
def test_before_an_action(expression, expected):
    """Only what stands before it, and must hold."""
    words = shlex.split(expression)
    names = found_names(words, words.index("-delete"))
    shown = None if names is None else " ".join(names).replace(NAME, "*")
    assert shown == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", None),
        ("-name '*.py'", "*.py"),
        ("-name a -o -name b", "a b"),
        ("-name a -prune -o -name b", "a b"),
        ("-name a -o -type f", None),
        ("( -name a", None),
        ("-name", None),
    ],
)
def test_without_an_action(expression, expected):
    """What is printed is what the whole expression holds for."""
    names = found_names(shlex.split(expression))
    assert (None if names is None else " ".join(names).replace(NAME, "*")) == expected
