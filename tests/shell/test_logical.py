"""Where `cd ..` leads: bash goes by the name of the directory that it has inherited in $PWD.

Each was run: bash takes a $PWD that names the directory, whatever links it leads through.
"""

from __future__ import annotations

import pytest

from ringfence.engine.shell import Shell, evaluate
from ringfence.rules.model import Operation


@pytest.fixture
def read(rooted):
    """What is read, by a command, the working directory and $PWD."""
    root = rooted({
        "/r/p/sub": None,
        "/r/p/k": "@sub",
        "/links/l": "@/r/p",
        "/links/other": None,
    }).filesystem  # fmt: skip

    def paths(command, cwd="/r/p", pwd="/links/l"):
        env = {"HOME": "/home/me", "PATH": "/usr/bin", **({"PWD": pwd} if pwd else {})}
        effects = evaluate(command, Shell(cwd, env, root)).effects
        return [effect.path for effect in effects if effect.operation is Operation.READ]

    return paths


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat x", ["/r/p/x"]),
        ("cat ../x", ["/r/x"]),
        ("cat $PWD/x", ["/r/p/x"]),
        ("cat ~+/x", ["/r/p/x"]),
        ("cd ..; cat x", ["/links/x"]),
        ("cd -P ..; cat x", ["/r/x"]),
        ("set -P; cd ..; cat x", ["/r/x"]),
        ("pushd ..; cat x", ["/links/x"]),
        ("cd $PWD/..; cat x", ["/links/x"]),
        ('cd "$(dirname "$PWD")"; cat x', ["/links/x"]),
        ("bash -c 'cd ..; cat x'", ["/links/x"]),
        ("cd sub; cd ..; cat x", ["/r/p/x"]),
        ("cd k; cd ..; cat x", ["/r/p/x"]),
        ("env -C k bash -c 'cd ..; cat x'", ["/r/p/x"]),
        # It may have been entered by either name.
        ("cd /r/p; cd ..; cat x", ["/links/x", "/r/x"]),
        # A bash without $PWD goes where it is.
        ("env -u PWD bash -c 'cd ..; cat x'", ["/links/x", "/r/x"]),
        ("env -i bash -c 'cd ..; cat x'", ["/links/x", "/r/x"]),
    ],
)
def test_the_name_that_is_inherited(read, command, expected):
    assert read(command) == expected


@pytest.mark.parametrize(
    ("cwd", "pwd", "expected"),
    [
        ("/r/p", "/r/p", ["/r/x"]),
        ("/r/p", "/links/l/.", ["/links/x"]),
        ("/r/p", "/links/other", ["/r/x"]),
        ("/r/p", "links/l", ["/r/x"]),
        ("/r/p", None, ["/r/x"]),
        ("/links/l", "/links/l", ["/links/x"]),
        ("/links/l", "/r/p", ["/r/x"]),
        ("/links/l", "/nowhere", ["/r/x"]),
        ("/links/l", None, ["/links/x", "/r/x"]),  # it may have been left out
    ],
)
def test_the_name_that_is_true(read, cwd, pwd, expected):
    assert read("cd ..; cat x", cwd, pwd) == expected


def test_a_name_that_a_new_bash_is_given(read):
    assert read("cd sub; PWD=/r/p/k bash -c 'cd ..; cat x'", pwd="/r/p") == ["/r/p/x"]
    assert read("cd sub; PWD=/r bash -c 'cd ../..; cat x'", pwd="/r/p") == ["/r/x"]
