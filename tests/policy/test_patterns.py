"""Patterns: ``*`` is any text, a final `` *`` may be missing, unknown parts are not guessed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.policy.patterns import matches, may_match
from ringfence.rules.model import BELOW, NAME, UNKNOWN

MATCHING = [
    ("git status", "git status"),
    ("*", ""),
    ("*", "a\nb"),  # newlines are text like any other
    ("git *", "git log"),
    ("git *", "git"),  # the trailing " *" also matches nothing
    ("* install *", "npm install x"),
    ("* install *", "npm install"),
    ("a*b*c", "a b b c"),
    ("a*a", "aa"),
    ("rm -rf *", "rm -rf a b"),
    ("git log [a]", "git log [a]"),  # nothing but * is special
    ("git *", f"git {UNKNOWN}"),
]

NOT_MATCHING = [
    ("git status", "git status -s"),
    ("git *", "gitk"),
    ("git *", "git-foo x"),
    ("a*a", "a"),  # the two ends may not share a character
    ("ab*ba", "aba"),
    ("*.py", "x.pyc"),
    ("?", "x"),
    ("git log", f"git {UNKNOWN}"),  # it may be something else
    ("", "x"),
]


@pytest.mark.parametrize(("pattern", "text"), MATCHING)
def test_matches(pattern, text):
    """Holds whatever unknown parts turn out to be."""
    assert matches(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), NOT_MATCHING)
def test_does_not_match(pattern, text):
    """Is anchored at both ends and literal but for the star."""
    assert not matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("rm -rf *", f"rm {UNKNOWN} x", True),
        ("rm -rf *", f"rm {NAME}", True),
        ("rm *", UNKNOWN, True),
        ("rm *", f"{UNKNOWN} x", True),
        ("git push", f"git {UNKNOWN}", True),
        ("git push", f"git {UNKNOWN} --force", False),
        ("rm *", f"git {UNKNOWN}", False),
        ("*.py", f"cat {BELOW}.txt", False),
        ("*", f"cat {BELOW}.txt", True),
        ("rm *", "rm x", True),  # without unknowns it is the same as matches
        ("rm *", "cp x", False),
    ],
)
def test_may_match(pattern, text, expected):
    """Some value of the unknown parts would match."""
    assert may_match(pattern, text) is expected


SHORT = st.text(alphabet="ab *", max_size=8)


@given(SHORT, st.text(alphabet="ab ", max_size=8))
def test_agrees_with_a_regular_expression(pattern, text):
    """Means the same as the obvious regular expression, which would backtrack."""
    forms = [pattern, pattern[:-2]] if pattern.endswith(" *") else [pattern]
    expressions = [".*".join(map(re.escape, form.split("*"))) for form in forms]
    expected = any(re.fullmatch(expression, text, re.DOTALL) for expression in expressions)
    assert matches(pattern, text) is expected


@given(SHORT, st.text(alphabet="ab ", max_size=5), st.text(alphabet="ab ", max_size=5), SHORT)
def test_what_matches_with_a_value_may_match_without(pattern, before, after, value):
    """Never misses a value: a strict rule cannot be dodged by hiding text in a variable."""
    if matches(pattern, before + value + after):
        assert may_match(pattern, before + UNKNOWN + after)


@given(SHORT, SHORT, SHORT)
def test_a_sure_match_holds_for_every_value(pattern, text, value):
    """Never guesses: what matches with an unknown part matches with any value of it."""
    if matches(pattern, text.replace(" ", UNKNOWN)):
        assert matches(pattern, text.replace(" ", value))
