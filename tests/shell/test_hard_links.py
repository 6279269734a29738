"""A hard link is another name of a file: what is done by it is done to the file."""

from __future__ import annotations

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.model import Operation, State

WRITE_DENIED = '[paths]\n".env" = { write = "deny" }\n'
READ_ALLOWED = '[special.external_directory]\n"*" = { read = "allow", write = "deny" }\n'


@pytest.mark.parametrize(
    "command",
    [
        "ln /etc/x z; echo > z",
        "ln -t d /etc/x a; echo > d/x",
        "cp -l /etc/x z; echo > z",
        "link /etc/x z; echo > z",
        "cp -rl /etc z; echo > z/x",
        "ln /etc/x z; mv z w; echo > w",
        "ln -s /srv/a /etc/x d; echo > d/x",
        "ln -s /etc/x; echo > x",
    ],
)
def test_the_new_name_leads_to_the_file(rooted, command):
    files = {"/etc/x": "", "/home/me/app/a": "", "/home/me/app/d": None}
    effects = rooted(files).evaluate(command).effects
    assert "/etc/x" in [effect.path for effect in effects if effect.operation is Operation.WRITE]


@pytest.mark.parametrize(
    "command",
    [
        "ln FILE z",
        "cp -l FILE z",
        "cp --link FILE z",
        "link FILE z",
        "cp -al FILE z",
        "echo FILE | cpio -pdl out",
        "cmake -E create_hardlink FILE z",
        'python3 -c \'import os; os.link("FILE", "z")\'',
        'perl -e \'link "FILE", "z"\'',
        'ruby -e \'File.link("FILE", "z")\'',
        'php -r \'link("FILE", "z");\'',
        'node -e \'require("fs").linkSync("FILE", "z")\'',
    ],
)
@pytest.mark.parametrize(
    ("file", "config", "state"),
    [
        (".env", WRITE_DENIED, State.DENY),
        ("/etc/hosts", READ_ALLOWED, State.DENY),
        (".ringfence/config.toml", "", State.ASK),
    ],
)
def test_who_may_not_write_may_not_link(tmp_path, command, file, config, state):
    """A later call could write by the new name, which says nothing of the file."""
    project = tmp_path / "p"
    (project / ".ringfence").mkdir(parents=True)
    (project / ".ringfence/config.toml").write_text("")
    (project / ".env").write_text("")
    (tmp_path / "c.toml").write_text(config)
    engine = Engine.load(str(project), config=str(tmp_path / "c.toml"))
    env = {"HOME": "/nowhere", "PATH": "/usr/bin"}
    call = ToolCall.bash(command.replace("FILE", file), str(project), env=env)
    assert engine.decide(call).state is state


def test_a_link_inside_is_no_matter(tmp_path):
    (tmp_path / "a").write_text("")
    call = ToolCall.bash("ln a b && cat b && rm b", str(tmp_path), env={"HOME": "/nowhere"})
    assert Engine().decide(call).state is State.ALLOW
