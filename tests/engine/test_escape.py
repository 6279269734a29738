"""Text from outside is shown with nothing in it that cannot be seen."""

import shlex
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.escape import quoted, shorten, visible
from ringfence.grammar.ansi import decode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat /etc/hosts", "cat /etc/hosts"),
        ("a\x1b[2Kb", r"a\x1b[2Kb"),
        ("a\rb\n", r"a\rb\n"),
        ("\x00\x07\x7f\x9b", r"\x00\x07\x7f\x9b"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),  # right-to-left override, isolate
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),  # zero width
        ("a\u00a0b\u3000", r"a\xa0b\u3000"),  # blanks that are no space
        ("a\u2028b", r"a\u2028b"),
        ("\U000e0041", r"\U000e0041"),  # a tag
        ("a\ufe0f", r"a\ufe0f"),  # a variation selector
        ("\u3164", r"\u3164"),  # a letter that draws nothing
        ("\udcff", r"\udcff"),  # a byte that was no UTF-8
        ("Grüße 日本 é", "Grüße 日本 é"),
    ],
)
def test_visible(text, expected):
    """Controls, formats, odd blanks and invisible letters become escapes."""
    assert visible(text) == expected


def test_kept():
    """A command may keep its lines."""
    assert visible("a\nb\x1b", keep="\n") == "a\nb\\x1b"


@given(st.text())
def test_nothing_unseen_is_left(text):
    """No character of the output is a control, a format or a surrogate."""
    assert not {unicodedata.category(c) for c in visible(text)} & {"Cc", "Cf", "Cs", "Co", "Cn"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat 'a b'", """'cat '"'"'a b'"'"''"""),
        ("cat <<'X' > /tmp/a\n\ttwo\\n\nX", r"$'cat <<\'X\' > /tmp/a\n\ttwo\\n\nX'"),
        ("\x1b[2J\u202e\xa0\udcff", r"$'\x1b[2J\u202e\u00a0\xff'"),
    ],
)
def test_quoted(text, expected):
    """In one line, as bash and zsh read it."""
    assert quoted(text) == expected


@given(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")))
def test_what_is_quoted_is_what_a_shell_reads(text):
    """And each character of it can be seen."""
    word = quoted(text)
    assert visible(word) == word
    read = decode(word[2:-1]) if word.startswith("$'") else "".join(shlex.split(word))
    assert read == text


@given(st.text(max_size=300), st.integers(60, 200))
def test_shorten(text, limit):
    """Keeps both ends and says how much is gone."""
    short = shorten(text, limit)
    assert len(short) <= limit + 10
    assert short == text or (short[0] == text[0] and short[-1] == text[-1] and " more … " in short)
