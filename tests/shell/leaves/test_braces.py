"""Braces expand as in bash, whatever parts the word has."""

import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.engine.shell.braces import TooManyWords, expand_braces
from ringfence.grammar.nodes import (
    DoubleQuoted,
    Escaped,
    Literal,
    ParameterExpansion,
    SingleQuoted,
    Word,
    WordPart,
)


def word(text: str) -> Word:
    r"""A word of unquoted text, ``'…'`` and ``\x``."""
    parts: list[WordPart] = []
    at = 0
    while at < len(text):
        if text[at] == "'":
            end = text.index("'", at + 1) + 1
            parts.append(SingleQuoted((at, end), text[at + 1 : end - 1]))
        elif text[at] == "\\":
            end = at + 2
            parts.append(Escaped((at, end), text[at + 1]))
        else:
            end = next((i for i in range(at, len(text)) if text[i] in "'\\"), len(text))
            parts.append(Literal((at, end), text[at:end]))
        at = end
    return Word((0, len(text)), tuple(parts))


def texts(words: tuple[Word, ...]) -> list[str]:
    return ["".join(getattr(part, "text", "?") for part in w.parts) for w in words]


def expanded(text: str) -> list[str]:
    return texts(expand_braces(word(text)))


def in_bash(text: str) -> list[str]:
    """What bash makes of an argument that holds only the test's own small alphabet."""
    done = subprocess.run(
        ["bash", "-c", f"set -f; printf '%s\\n' start {text}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n")[1:-1]


CASES = [
    ("a", ["a"]),
    ("{a,b}", ["a", "b"]),
    ("x{a,b}y", ["xay", "xby"]),
    ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
    ("{a,{b,c}}", ["a", "b", "c"]),
    ("{a,b{c,d}e}f", ["af", "bcef", "bdef"]),
    ("{..,y}/z", ["../z", "y/z"]),
    (".{.,}/", ["../", "./"]),
    ("/{etc,usr/{bin,lib}}/x", ["/etc/x", "/usr/bin/x", "/usr/lib/x"]),
    ("{,a}", ["a"]),
    ("x{,a}", ["x", "xa"]),
    ("{}", ["{}"]),
    ("{a}", ["{a}"]),
    ("{a,b", ["{a,b"]),
    ("a,b}", ["a,b}"]),
    ("{a,{b,c}", ["{a,b", "{a,c"]),
    ("{a}{b,c}", ["{a}b", "{a}c"]),
    ("{a{b,c}}", ["{ab}", "{ac}"]),
    ("{a},b}", ["a}", "b"]),
    ("{}{a,b}", ["{}a", "{}b"]),
    ("x{},b}", ["x}", "xb"]),
    ("{1..3}", ["1", "2", "3"]),
    ("{3..1}", ["3", "2", "1"]),
    ("{01..10..4}", ["01", "05", "09"]),
    ("{-1..1}", ["-1", "0", "1"]),
    ("{-01..1}", ["-01", "000", "001"]),
    ("{a..e..2}", ["a", "c", "e"]),
    ("{e..a..-2}", ["e", "c", "a"]),
    ("{1..5..0}", ["1", "2", "3", "4", "5"]),
    ("{1..a}", ["{1..a}"]),
    ("{1..}", ["{1..}"]),
    ("{1..2..}", ["{1..2..}"]),
    ("{1..2}{a,b}", ["1a", "1b", "2a", "2b"]),
    ("{1...3}", ["{1...3}"]),
    ("{a..{b,c}}", ["a..b", "a..c"]),
    ("'{a,b}'", ["{a,b}"]),
    (r"\{a,b}", ["{a,b}"]),
    (r"{a\,b}", ["{a,b}"]),
    (r"{a\,b,c}", ["a,b", "c"]),
    ("{'a b',c}", ["a b", "c"]),
    ("{'1'..3}", ["{1..3}"]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_expansion(text, expected):
    """The words are those that bash makes."""
    assert expanded(text) == expected
    assert in_bash(text) == expected


ALPHABET = st.sampled_from(
    ["{", "}", ",", "..", ".", "a", "1", "c", "3", "-", "0", "''", r"\{", r"\,"]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ALPHABET, max_size=12).map("".join))
def test_random_words_expand_as_in_bash(text):
    """On random words of the characters that matter, the result is bash's."""
    assert [t for t in expanded(text) if t] == [t for t in in_bash(text) if t]


def test_other_parts_are_carried_along():
    """An expansion or a quoted text between the braces is one unit and stays what it is."""
    variable = ParameterExpansion((3, 5), "x")
    quoted = DoubleQuoted((6, 9), (Literal((7, 8), ","),))
    parts = (Literal((0, 3), "p{a"), variable, Literal((5, 6), ","), quoted, Literal((9, 10), "}"))
    first, second = expand_braces(Word((0, 10), parts))
    assert first.parts == (Literal((0, 3), "pa"), variable)
    assert second.parts == (Literal((0, 1), "p"), quoted)
    assert first.span == second.span == (0, 10)


def test_a_word_without_braces_is_itself():
    """Nothing is made anew for the ordinary word."""
    plain = word("a.b")
    assert expand_braces(plain)[0] is plain


TOO_MANY = [
    "{1..100000}",
    "{1..999999999999999999}",
    "{1..100}{1..100}",
    "{a,b}" * 30,
    "{" * 20000,
    "{" * 3000 + "a,b" + "}" * 3000,
]


@pytest.mark.parametrize("text", TOO_MANY)
def test_too_many_words(text):
    """Past the limits TooManyWords is raised, quickly."""
    begin = time.monotonic()
    with pytest.raises(TooManyWords):
        expand_braces(word(text))
    assert time.monotonic() - begin < 2
