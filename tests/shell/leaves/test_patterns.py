"""Patterns match as bash's do."""

import re
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.engine.shell.patterns import (
    PatternTooComplex,
    compile_pattern,
    has_magic,
    matches,
    quote,
    remove,
    replace,
    unquote,
)

MATCHES = [
    ("abc", "abc"),
    ("*", ""),
    ("*.py", "a.py"),
    ("a?c", "abc"),
    ("[a-c]x", "bx"),
    ("[!a-c]x", "dx"),
    ("[^a-c]x", "dx"),
    ("[]x]", "]"),
    ("[!]x]", "y"),
    ("[a-]", "-"),
    ("[-a]", "-"),
    ("[[:alpha:]][[:digit:]]", "q7"),
    ("[[:upper:]_]*", "_x"),
    ("[[=a=]]", "a"),
    ("[[.-.]x]", "-"),
    (r"\*", "*"),
    (r"\[a]", "[a]"),
    (r"[\]]", "]"),
    (r"a\\b", "a\\b"),
    ("a\\", "a\\"),
    ("[abc", "[abc"),
    ("/etc/*", "/etc/a/b"),
    ("@(a|b)c", "bc"),
    ("?(a)b", "b"),
    ("*(ab)c", "ababc"),
    ("+(a|b)", "abba"),
    ("!(a)", "b"),
    ("!(a)", ""),
    ("!(a)", "aa"),
    ("!(*.py)", "x.js"),
    ("a!(b)c", "abbc"),
    ("*(a|*(b)c)", "bbca"),
    ("@(a", "@(a"),
    ("@()", ""),
    ("+(?)x", "abx"),
    (r"@(a\|b)", "a|b"),
    ("@([)|])", ")"),
    ("@(x|)", ""),
]

DIFFERS = [
    ("abc", "abcd"),
    ("?", ""),
    ("*.py", "a.pyc"),
    ("[a-c]", "d"),
    ("[!a-c]", "a"),
    ("[z-a]", "m"),
    ("[[:digit:]]", "x"),
    ("[[:nosuch:]]", "n"),
    (r"\*", "x"),
    ("[]", "]"),
    ("@(a|b)", "ab"),
    ("+(a)", ""),
    ("!(a)", "a"),
    ("!(*.py)", "x.py"),
    ("a!(b)c", "abc"),
    ("@(a", "a"),
]


def in_bash(script: str, *arguments: str) -> str:
    """Standard output of a script of pure expansions."""
    done = subprocess.run(
        ["bash", "-c", "shopt -s extglob; LC_ALL=C.UTF-8\n" + script, "_", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


MATCH_SCRIPT = "while (($#)); do [[ $1 == $2 ]] && echo y || echo n; shift 2; done"


def bash_matches(pairs: list[tuple[str, str]]) -> list[bool]:
    arguments = [argument for pattern, text in pairs for argument in (text, pattern)]
    return [line == "y" for line in in_bash(MATCH_SCRIPT, *arguments).split()]


@pytest.mark.parametrize(("pattern", "text"), MATCHES)
def test_matches(pattern, text):
    """The pattern matches the whole text."""
    assert matches(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), DIFFERS)
def test_does_not_match(pattern, text):
    """The pattern does not match the whole text."""
    assert not matches(pattern, text)


def test_tables_are_what_bash_says():
    """Bash itself gives the answers of both tables."""
    expected = [True] * len(MATCHES) + [False] * len(DIFFERS)
    assert bash_matches(MATCHES + DIFFERS) == expected


PIECES = st.sampled_from(
    ["a", "b", "*", "?", "[ab]", "[!a]", "[a-b]", "@(a|b)", "*(a)", "+(ab|b)", "?(b)", "!(a)",
     "!(a|b*)", "@(a*|!(b))", r"\*", r"\a", "[", "]", "-", "."]
)  # fmt: skip
# Bash 5.2 itself errs on `*` just before a group: `[[ "" == *!(a)a ]]` is true there.
PATTERNS = (
    st.lists(PIECES, max_size=5)
    .map("".join)
    .filter(lambda pattern: not re.search(r"\*[?*+@!]+\(", pattern))
)
TEXTS = st.text("ab*-.()|[", max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PATTERNS, TEXTS), min_size=40, max_size=60))
def test_random_patterns_match_as_in_bash(pairs):
    """On random pairs the answer is bash's."""
    assert [matches(*pair) for pair in pairs] == bash_matches(pairs)


@given(st.text(max_size=20))
def test_quoted_text_matches_itself_alone(text):
    """`quote` takes the meaning from every character, and `unquote` gives the text back."""
    assert compile_pattern(quote(text)).literal == text
    assert unquote(quote(text)) == text
    assert not matches(quote(text), text + "x")


@pytest.mark.parametrize(
    ("pattern", "magic"),
    [("a", False), ("*", True), (r"\*", False), ("[a]", True), ("[a", False), ("?", True),
     ("@(a)", True), ("@(a", False), (r"a\?", False), ("{a,b}", False)],
)  # fmt: skip
def test_has_magic(pattern, magic):
    """Only unquoted characters that take effect are magic."""
    assert has_magic(pattern) is magic


def test_extended_patterns_can_be_off():
    """Without extglob, ``@(a)`` is its own text and ``?(a)`` begins with any character."""
    assert matches("@(a)", "@(a)", extglob=False)
    assert not matches("@(a)", "a", extglob=False)
    assert matches("?(a)", "x(a)", extglob=False)


REMOVE = [
    ("/a/b/c.tar.gz", "*/", False, False, "a/b/c.tar.gz"),
    ("/a/b/c.tar.gz", "*/", False, True, "c.tar.gz"),
    ("/a/b/c.tar.gz", ".*", True, False, "/a/b/c.tar"),
    ("/a/b/c.tar.gz", ".*", True, True, "/a/b/c"),
    ("/a/b", "/*", True, False, "/a"),
    ("/a/b", "/*", True, True, ""),
    ("abc", "x", False, False, "abc"),
    ("abc", "", True, True, "abc"),
    ("aab", "+(a)", False, False, "ab"),
    ("aab", "+(a)", False, True, "b"),
    ("a*b", r"a\*", False, False, "b"),
    ("abab", "!(ab)", True, True, ""),
]


@pytest.mark.parametrize(("text", "pattern", "suffix", "longest", "expected"), REMOVE)
def test_remove(text, pattern, suffix, longest, expected):
    """``${x#p}``, ``##``, ``%`` and ``%%`` cut as bash cuts."""
    assert remove(text, pattern, suffix=suffix, longest=longest) == expected
    operator = ("%" if suffix else "#") * (1 + longest)
    assert in_bash(f'p=$2; printf %s "${{1{operator}$p}}"', text, pattern) == expected


REPLACE = [
    ("a/b/c", "/", "_", "/", "a_b/c"),
    ("a/b/c", "/", "_", "//", "a_b_c"),
    ("aab", "a*", "x", "/", "x"),
    ("abab", "a", "", "//", "bb"),
    ("abab", "ab", "x", "/#", "xab"),
    ("abab", "ab", "x", "/%", "abx"),
    ("abab", "b", "x", "/#", "abab"),
    ("abc", "?(z)", "-", "//", "-a-b-c"),
    ("", "*", "x", "/", "x"),
    ("", "*", "x", "//", "x"),
    ("abc", "*", "x", "//", "x"),
    ("abc", "[ac]", "", "//", "b"),
    ("abc", "z", "x", "//", "abc"),
    ("abc", "", "x", "//", "abc"),
    ("abc", "", "x", "/#", "xabc"),
    ("abc", "", "x", "/%", "abcx"),
]


@pytest.mark.parametrize(("text", "pattern", "new", "operator", "expected"), REPLACE)
def test_replace(text, pattern, new, operator, expected):
    """``${x/p/r}``, ``//``, ``/#`` and ``/%`` replace as bash replaces."""
    every, anchor = operator == "//", operator[1:].strip("/")
    assert replace(text, pattern, new, every=every, anchor=anchor) == expected
    assert in_bash(f'p=$2; printf %s "${{1{operator}$p/$3}}"', text, pattern, new) == expected


def test_replacement_may_use_the_match():
    """A callable is given the matched text."""
    assert replace("ab", "?", lambda match: f"<{match}>", every=True) == "<a><b>"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PATTERNS, TEXTS), min_size=20, max_size=30), st.booleans(), st.booleans())
def test_random_removals_are_bash_s(pairs, suffix, longest):
    """On random pairs `remove` gives what bash gives."""
    operator = ("%" if suffix else "#") * (1 + longest)
    script = f'while (($#)); do p=$2; printf "%s\\n" "${{1{operator}$p}}"; shift 2; done'
    arguments = [argument for pattern, text in pairs for argument in (text, pattern)]
    expected = in_bash(script, *arguments).split("\n")[:-1]
    assert [remove(t, p, suffix=suffix, longest=longest) for p, t in pairs] == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 500 + "b", "a" * 5000),
        ("+(+(+(a)))b", "a" * 20000),
        ("*(*(*(*(a|aa))))!(b)*!(c)*!(d)", "a" * 3000),
        ("@(" * 5000, "a"),
        ("[[:" * 5000, "a"),
        ("[" * 20000, "a"),
        ("*(" * 30 + "a" + ")" * 30, "a" * 1000),
        ("!(!(!(!(!(!(a*)*)*)*)*)*)b", "a" * 500),
    ],
)
def test_hostile_patterns_end_quickly(pattern, text):
    """Whatever the pattern, an answer or PatternTooComplex comes within two seconds."""
    begin = time.monotonic()
    try:
        matches(pattern, text)
        replace(text, pattern, "x", every=True)
    except PatternTooComplex:
        pass
    assert time.monotonic() - begin < 2
