"""`env -S` has its own quoting; the right values are what GNU env 9.1 runs (`env -vS`)."""

from __future__ import annotations

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.commands.split_string import split_string
from ringfence.rules.model import UNKNOWN, State


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b  c", ["a", "b", "c"]),
        (" a ", ["a"]),
        ("", []),
        ("a ''", ["a", ""]),
        ("a 'b c' \"d e\"f", ["a", "b c", "d ef"]),
        (r"a\_b", ["a", "b"]),
        (r'"a\_b"', ["a b"]),
        (r"a\tb", ["a\tb"]),
        (r"'a\'b'", ["a'b"]),
        (r"'a\nb'", [r"a\nb"]),
        (r"a\$b\#", ["a$b#"]),
        ("a # b", ["a"]),
        ("a#b", ["a#b"]),
        (r"a\c b", ["a"]),
        ("a${X}b '${X}'", [f"a{UNKNOWN}b", "${X}"]),
    ],
)
def test_words(text, words):
    assert split_string(text) == words


@pytest.mark.parametrize(
    "command",
    [
        "env -S '-C/etc cat passwd'",
        "env -S '--chdir=/etc cat passwd'",
        "env -S '-u X sh -c \"cat /etc/passwd\"'",
        "env -S 'A=b bash -c \"cat ../x\"'",
        "env -S '-S \"cat /etc/passwd\"'",
        "env -S '-i A=/etc/passwd bash -c \"cat \\$A\"'",
        "env -a ls cat /etc/passwd",
    ],
)
def test_options_and_assignments_in_it(command):
    call = ToolCall.bash(command, "/home/me/p", env={"HOME": "/home/me", "PATH": "/usr/bin"})
    assert Engine().decide(call).state is State.ASK
