"""What a new bash starts with, and which hidden names patterns match; each was seen in bash 5.2."""

from __future__ import annotations

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.model import Operation, State

FILES = {
    "/etc/x": "",
    "/home/me/app/.env": "",
    "/home/me/app/a": "",
    "/home/me/app/rc": "cat /etc/x",
}


@pytest.fixture
def read(rooted):
    """The names that a command reads, without those that patterns look for."""
    world = rooted(FILES)

    def names(command):
        effects = world.evaluate(command).effects
        found = [e.path for e in effects if e.operation is Operation.READ and not e.listing]
        return [path.removeprefix("/home/me/app/") for path in found]

    return names


@pytest.mark.parametrize(
    "command",
    [
        "shopt -s extglob\ncat @(.env|x)",
        "shopt -s extglob\ncat @(.)env",
        "shopt -s extglob\ncat ?(.)env",
        "shopt -s extglob\ncat +(.)env",
        "shopt -s extglob\ncat *(.|e|n|v)",
        "shopt -s extglob\ncat ?(x).env",
        "bash -O extglob -c 'cat @(.env|x)'",
        "env BASHOPTS=extglob bash -c 'cat @(.env|x)'",
        "GLOBIGNORE=q; cat *",
        "declare GLOBIGNORE=q; cat *env",
        "bash -O dotglob -c 'cat *'",
        "bash -eO dotglob -c 'cat *'",
        "env BASHOPTS=dotglob bash -c 'cat *'",
    ],
)
def test_a_hidden_name(read, command):
    assert ".env" in read(command)


@pytest.mark.parametrize(
    "command",
    [
        "cat *",
        "cat [.]env",
        "shopt -s extglob\ncat !(q)",
        "shopt -s extglob\ncat @(*env|x)",
        "shopt -s extglob\ncat !(.q)",
        "GLOBIGNORE=; cat *",
        "GLOBIGNORE=q; unset GLOBIGNORE; cat *",
        "bash -O dotglob +O dotglob -c 'cat *'",
        "bash -O dotglob -c :; cat *",
    ],
)
def test_no_hidden_name(read, command):
    assert ".env" not in read(command)


@pytest.mark.parametrize(
    "command",
    [
        "env 'BASH_FUNC_ls%%=() { cat /etc/x; }' bash -c ls",
        "env 'BASH_FUNC_ls%%=() { cat /etc/x; }' bash -c 'ls | wc'",
        "bash --rcfile rc -i",
        "bash --init-file rc -i -c :",
        "bash --rcfile <(echo cat /etc/x) -i",
        "bash --rcfile a /etc/x",
        "PS1='$(cat /etc/x)' bash -i",
        "env PS4='$(cat /etc/x)' bash -xc :",
        "env SHELLOPTS=xtrace 'PS4=$(cat /etc/x)' bash -c :",
        'PS4=\'"$(cat "/etc/x")\' bash -x a',
        "env a%=b cat /etc/x",
    ],
)
def test_what_runs_before(rooted, command):
    """Functions, prompts and files of the start are evaluated."""
    assert "/etc/x" in [effect.path for effect in rooted(FILES).evaluate(command).effects]


@pytest.mark.parametrize(
    "command",
    [
        "PS1='\\u@\\h \"$ ' bash -i -c ls",
        "PS4='+ ${BASH_SOURCE}:${LINENO}: ' bash -x a",
        "bash --rcfile a -i",
        "bash -euo pipefail -c ls",
    ],
)
def test_nothing_to_ask(rooted, command):
    evaluation = rooted(FILES).evaluate(command)
    assert not evaluation.opaque
    assert all(effect.path.startswith("/home/me/app") for effect in evaluation.effects)


def test_options_of_a_new_bash_hold(rooted):
    assert rooted(FILES).touched("bash -ec 'false; cat /etc/x'") == []
    assert rooted(FILES).touched("bash -c 'false; cat /etc/x'") == ["/etc/x"]


def test_a_function_is_judged_where_what_is_unknown_is_allowed(tmp_path):
    (tmp_path / "c.toml").write_text(
        '[bash]\n"rm *" = "deny"\n[special]\nexternal_directory = "allow"\n'
    )
    engine = Engine.load(str(tmp_path), config=str(tmp_path / "c.toml"))
    command = "env 'BASH_FUNC_ls%%=() { rm a; }' bash -c ls"
    call = ToolCall.bash(command, str(tmp_path), env={"HOME": "/nowhere", "PATH": "/usr/bin"})
    assert engine.decide(call).state is State.DENY
