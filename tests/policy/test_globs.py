"""Globs on whole paths: what they match, and that none takes long."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.engine.policy.globs import glob
from ringfence.engine.policy.paths import may_cover
from ringfence.rules.model import BELOW, NAME, UNKNOWN


def expression(pattern):
    """The obvious regular expression, which would go back; None for a set that is none."""
    end = "(?:/.*)?" if pattern.endswith("/**") else ""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    made = []
    pieces = re.findall(
        r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|[^*?\[]+|\[", pattern.removesuffix("/**")
    )
    for piece in pieces:
        if piece[0] == "[" and len(piece) > 1:
            inner = piece[1:-1]
            made.append(f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]")
        else:
            made.append(parts.get(piece, re.escape(piece)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for piece in made:  # by itself: `[]` with what follows could be one
                re.compile(piece)
            return re.compile("".join(made) + end, re.DOTALL)
    except re.error:
        return None


PIECES = st.sampled_from(
    ["a", "b", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[", "]"]
)


@settings(max_examples=3000, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=6).map("".join), st.text("ab/[]\n", max_size=7))
def test_agrees_with_a_regular_expression(pattern, path):
    """The same answers, found in another way."""
    expected = expression(pattern)
    if expected is not None:
        assert glob(pattern).matches(path) is (expected.fullmatch(path) is not None)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/a/**", "/a", True),
        ("/a/**", "/ab", False),
        ("/a/**/b", "/a/b", True),
        ("/a/**/b", "/a/x/y/b", True),
        ("/a/**/b", "/a/xb", False),
        ("/*.py", "/x.py", True),
        ("/*.py", "/x/y.py", False),
        ("/**.py", "/x/y.py", True),
        ("/[[]a]*", "/[a]b", True),
        ("/[+--]", "/-", True),
        ("/[z-a]", "/[z-a]", True),  # no set, so it is text
        ("/[]", "/[]", True),
        ("/[!]", "/[!]", True),
        ("/a[b", "/a[b", True),
    ],
)
def test_matches(pattern, path, expected, recwarn):
    """Says nothing on standard error, whatever the pattern is."""
    assert glob(pattern).matches(path) is expected
    assert not recwarn.list


@pytest.mark.parametrize(
    "pattern", ["/" + "*a" * 300 + "b", "/" + "**/" * 300 + "b", "/" + "**a*/" * 300 + "b"]
)
@pytest.mark.parametrize("path", ["/" + "a" * 3000, "/a" * 1500])
def test_many_stars_end(pattern, path):
    """An expression that goes back would not within the age of the world."""
    assert not glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "path", "may"),
    [
        ("/p/**/.env", "/p/*.py", False),
        ("/p/**/.env", "/p/src/*", False),  # bash's star matches no leading dot
        ("/p/**/.env", "/p/.e*", True),
        ("/p/**/.env", "/p/.*", True),
        ("/p/**/.env", f"/p/{NAME}", True),
        ("/p/**/.env", f"/p/{BELOW}", True),
        ("/p/**/.env", f"/p/{BELOW}.py", False),
        ("/p/**/.env", f"/p/{BELOW}/.env", True),
        ("/p/a/b/.env", f"/p/{BELOW}/.env", True),
        ("/p/a/b/.env", f"/p/{BELOW}/.envrc", False),
        ("/p/src/**", "/p/*.md", False),
        ("/p/src/**", "/p/*", True),
        ("/p/src/**", "/p/s?c/x", True),
        ("/p/src/**", f"/p/{UNKNOWN}", True),
        ("/p/*.key", "/p/a*", True),
        ("/p/*.key", "/p/a*.pem", False),
        ("/p/*.KEY", "/p/a*.key", True),  # as some disks take names
        ("/p/a/b", "/p/*", False),
        ("/p/a/**/b", "/p/*/*/*/b", True),
        ("/p/a/**/b", "/p/*/*/c", False),
        ("/p/a/**/b", "/p/[ab]/b", True),
    ],
)
def test_may_cover(pattern, path, may):
    """What a pattern of bash's may match is compared by how the names begin and end."""
    assert may_cover(pattern, path) is may
