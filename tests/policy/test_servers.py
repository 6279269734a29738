"""MCP servers that work elsewhere: what is in their inputs is no path of here."""

import json
import os

import pytest

from ringfence.engine.call import ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.policy import ConfigError, load_policy
from ringfence.engine.policy.trust import TrustStore
from ringfence.rules.model import State

ELSEWHERE = '[mcp]\n"github" = { state = "allow", local = false }\n'


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A project and its user's files; ``decided`` decides a call of an MCP tool."""
    project = tmp_path / "p"
    project.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def decided(yours="", its="", tool="mcp__github__get", data=None, trusted=False):
        for folder, text in (
            (tmp_path / "XDG_CONFIG_HOME/ringfence", yours),
            (project / ".ringfence", its),
        ):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "config.toml").write_text(text)
        if trusted:
            file = project / ".ringfence/config.toml"
            TrustStore.of_user(os.environ).trust(project, {file: file.read_bytes()})
        data = {"path": "/etc/hosts", "file": "~/x"} if data is None else data
        decision = Engine.load(str(project)).decide(ToolCall(tool, data, str(project)))
        return decision.state

    return decided


@pytest.mark.parametrize(
    ("config", "state"),
    [
        ("", State.ASK),
        ('[mcp]\n"github" = "allow"\n', State.ASK),
        ('[mcp]\n"github" = { state = "allow", local = true }\n', State.ASK),
        (ELSEWHERE, State.ALLOW),
        ('[mcp]\n"github" = { state = "ask", local = false }\n', State.ASK),
        ('[mcp]\n"other" = { state = "allow", local = false }\n', State.ASK),
        ('[mcp]\n"GitHub" = { state = "allow", local = false }\n', State.ASK),  # as any allow
        (ELSEWHERE + '"github:get" = "deny"\n', State.DENY),
        (ELSEWHERE + '"github:*" = "allow"\n', State.ALLOW),  # it says nothing of where
        (ELSEWHERE + '"github:get" = { state = "allow", local = true }\n', State.ASK),
        ('[paths]\n"*" = "deny"\n' + ELSEWHERE, State.ALLOW),
        ('[special]\nexternal_directory = "deny"\n' + ELSEWHERE, State.ALLOW),
    ],
)
def test_what_your_file_says(world, config, state):
    assert world(config) is state


@pytest.mark.parametrize(
    ("tool", "data", "state"),
    [
        ("mcp", {"server": "github", "tool": "get", "path": "/etc/hosts"}, State.ALLOW),
        ("mcp", {"tool": "github:get", "args": {"path": "/etc/hosts"}}, State.ALLOW),
        # Which server this is of, only its own table knows.
        ("mcp", {"tool": "github_get", "path": "/etc/hosts"}, State.ASK),
        ("mcp__github__get__x", {"path": "/etc/hosts"}, State.ASK),  # or of `github__get`
        ("mcp__github", {"path": "/etc/hosts"}, State.ALLOW),
        ("mcp__plugin_x_github__get", {"path": "/etc/hosts"}, State.ASK),
        ("github", {"path": "/etc/hosts"}, State.ASK),
        ("read", {"path": "/etc/hosts"}, State.ASK),
    ],
)
def test_which_calls_it_is_about(world, tool, data, state):
    config = ELSEWHERE + '"mcp_call" = "allow"\n[tools]\n"*" = "allow"\n'
    assert world(config, tool=tool, data=data) is state


def test_commands_are_judged_as_before(world):
    config = ELSEWHERE + '[bash]\n"rm *" = "deny"\n'
    assert world(config, data={"command": "cat /etc/hosts"}) is State.ALLOW
    assert world(config, data={"command": "rm x"}) is State.DENY


def test_a_project_s_file_says_it_once_it_is_trusted(world):
    assert world("", ELSEWHERE) is State.ASK
    assert world("", ELSEWHERE, trusted=True) is State.ALLOW


def test_a_project_s_file_may_take_it_back(world):
    its = '[mcp]\n"*" = { state = "allow", local = true }\n'
    assert world(ELSEWHERE, its) is State.ASK


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[mcp]\n"x" = { local = false }\n', "has a local, but no state"),
        ('[mcp]\n"x" = { state = "allow", local = "no" }\n', "must be true or false"),
        ('[bash]\n"x" = { state = "allow", local = false }\n', "unknown key"),
        ('[paths]\n"x" = { state = "allow", local = false }\n', "unknown key"),
    ],
)
def test_slips(tmp_path, text, said):
    config = tmp_path / "c.toml"
    config.write_text(text)
    with pytest.raises(ConfigError, match=said):
        load_policy(None, config=str(config))


def test_config_show(tmp_path, capsys):
    from ringfence.engine.cli import main

    config = tmp_path / "c.toml"
    config.write_text(ELSEWHERE + '"x" = "ask"\n')
    assert main(["config", "show", "--config", str(config)]) == 0
    assert 'mcp "github" = allow, works elsewhere' in capsys.readouterr().out
    assert main(["config", "show", "--json", "--config", str(config)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["rule"]: row.get("local") for row in rows if 'mcp "' in row["rule"]} == {
        'mcp "github"': False,
        'mcp "x"': None,
    }
