"""A rule for reading a file is also for what runs it as a script: that reads it, and may show it."""

from __future__ import annotations

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.model import State

ASKED = '[paths]\n"**/.env" = { read = "ask", write = "deny" }\n'
DENIED = '[special.external_directory]\n"*" = "allow"\n"/etc/**" = { read = "deny" }\n'


@pytest.fixture
def decided(tmp_path):
    """The state of a command under a config, in a project with a ``.env``."""
    project = tmp_path / "project"
    (project / "test").mkdir(parents=True)
    for file in (".env", "test/.env"):
        (project / file).write_text("KEY=secret\n")

    def decide(command, config):
        (tmp_path / "c.toml").write_text(config)
        engine = Engine.load(str(project), config=str(tmp_path / "c.toml"))
        call = ToolCall.bash(command, str(project), env={"HOME": "/home/me", "PATH": "/usr/bin"})
        return engine.decide(call).state

    return decide


@pytest.mark.parametrize(
    "command",
    [
        ". ./.env",
        "set -a; source .env; env",
        "bash .env",
        "bash -v .env",
        "BASH_ENV=.env bash -c env",
        "python3 .env",
        "make -f .env",
        "./.env",
        ". ./.en?",
    ],
)
def test_a_script_is_read(decided, command):
    assert decided(command, ASKED) is State.ASK


@pytest.mark.parametrize(
    "command",
    [". /etc/profile", "bash -v /etc/passwd", "php /etc/passwd", "perl /etc/shadow"],
)
def test_a_script_outside_is_read(decided, command):
    assert decided(command, DENIED) is State.DENY


@pytest.mark.parametrize(
    ("config", "state"),
    [
        ('"**/.env" = { read = "deny", execute = "allow" }', State.ALLOW),
        ('"**/.env" = { read = "deny", execute = "ask" }', State.ASK),
        # A rule for reading adds to those for executing, and takes nothing away.
        ('"**/.env" = { execute = "deny" }\n".env" = { read = "ask" }', State.DENY),
        ('"**/.env" = { execute = "ask" }\n".env" = { read = "deny" }', State.DENY),
        ('"**/.env" = { execute = "deny" }\n".env" = { read = "allow" }', State.DENY),
        # The later rule counts, as for reading itself.
        ('"**/.env" = { read = "deny" }\n".env" = { read = "allow" }', State.ALLOW),
        ('"**/.env" = { read = "deny" }\n".env" = "allow"', State.ALLOW),
        ('"**/.env" = { write = "deny" }', State.ALLOW),
    ],
)
def test_what_else_is_said_of_it(decided, config, state):
    assert decided(". ./.env", f"[paths]\n{config}\n") is state
