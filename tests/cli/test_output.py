"""What a terminal gets: marks in the right column, colours only where they are wanted."""

import io

import pytest

from ringfence.engine.cli.output import coloured, marked
from ringfence.rules.model import State


@pytest.mark.parametrize(
    ("command", "words", "expected"),
    [
        ("cat /x", "/x", ["cat /x", "    ^^"]),
        ("echo 日本 /x", "/x", ["echo 日本 /x", "          ^^"]),  # two columns each
        ("echo e\u0301 /x", "/x", ["echo e\u0301 /x", "       ^^"]),  # a combining accent has none
        ("echo \x1b /x", "/x", ["echo \\x1b /x", "          ^^"]),  # an escape has four
        ("\tcat /x", "/x", ["\\tcat /x", "      ^^"]),
        ("a\ncat /x\nb", "/x", ["a", "cat /x", "    ^^", "b"]),
        ("cat /x \\\n/y", "/x \\\n/y", ["cat /x \\", "    ^^^^", "/y", "^^"]),
        ("cat x", "", ["cat x"]),
    ],
)
def test_marked(command, words, expected):
    """Carets stand under the words, on the line that the words stand on."""
    start = command.index(words)
    assert marked(command, [(start, start + len(words))], indent="").split("\n") == expected


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "env", "expected"),
    [
        (Terminal(), {}, "\x1b[1;31mdeny\x1b[0m"),
        (Terminal(), {"NO_COLOR": "1"}, "deny"),
        (Terminal(), {"NO_COLOR": ""}, "\x1b[1;31mdeny\x1b[0m"),  # empty means unset
        (Terminal(), {"TERM": "dumb"}, "deny"),
        (io.StringIO(), {}, "deny"),
    ],
)
def test_coloured(monkeypatch, stream, env, expected):
    """Only on a terminal that can, and never against NO_COLOR."""
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert coloured("deny", State.DENY, stream) == expected
