"""A project's rules hold in its folders, too: one ``cd`` does not switch them off."""

import os

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.policy.load import project_root
from ringfence.rules.model import State


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / "home" / "p"
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "secrets").mkdir()
    (folder / ".ringfence").mkdir()
    config = '[bash]\n"npm publish *" = "deny"\n[paths]\n"secrets/**" = "deny"\n'
    (folder / ".ringfence" / "config.toml").write_text(config)
    return folder


def decided(call):
    return Engine.load(call.cwd).decide(call).state


@pytest.mark.parametrize("where", ["", "src", "src/deep"])
def test_a_command(project, where):
    call = ToolCall.bash("npm publish x", cwd=str(project / where))
    assert decided(call) is State.DENY


@pytest.mark.parametrize("where", ["src", "src/deep"])
def test_a_path(project, where):
    up = "../" * (where.count("/") + 1)
    assert decided(ToolCall.bash(f"cat {up}secrets/a", cwd=str(project / where))) is State.DENY
    path = str(project / "secrets" / "a")
    assert decided(ToolCall("read", {"path": path}, str(project / where))) is State.DENY


def test_with_the_project_as_a_root(project):
    call = ToolCall(
        "read",
        {"path": str(project / "secrets" / "a")},
        str(project / "src"),
        roots=(str(project),),
    )
    assert decided(call) is State.DENY


def test_its_config_is_ringfences_own_there(project):
    call = ToolCall.bash("echo > ../.ringfence/config.toml", cwd=str(project / "src"))
    call = ToolCall(call.tool, call.input, call.cwd, roots=(str(project),))
    assert decided(call) is State.ASK


def test_a_folder_that_another_user_made_does_not_count(project, monkeypatch):
    assert project_root(str(project / "src")) == project
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert project_root(str(project / "src")) == project / "src"
