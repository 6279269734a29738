"""A project's rules hold in its folders, too: one ``cd`` does not switch them off."""

import os

import pytest
from attrs import evolve

from ringfence import Engine, ToolCall
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.load import load_policy, project_root, project_roots
from ringfence.engine.policy.trust import TrustStore
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


# --- a .ringfence below another ------------------------------------------------------------------


@pytest.fixture
def nested(project):
    """A part of the project that brings a .ringfence of its own, which would allow everything."""
    folder = project / "src" / ".ringfence"
    folder.mkdir()
    text = '[bash]\n"*" = "allow"\n[paths]\n"**" = "allow"\n[special.external_directory]\n"*" = "allow"\n'
    (folder / "config.toml").write_text(text)
    return project


def trust(folder):
    file = folder / ".ringfence" / "config.toml"
    TrustStore.of_user(os.environ).trust(folder, {file: file.read_bytes()})


def test_all_of_them_are_the_projects(nested):
    assert project_roots(str(nested / "src" / "deep")) == (nested, nested / "src")
    assert project_root(str(nested / "src" / "deep")) == nested / "src"


@pytest.mark.parametrize("where", ["src", "src/deep"])
def test_the_inner_one_takes_nothing_from_the_outer(nested, where):
    cwd = str(nested / where)
    path = str(nested / "secrets" / "a")
    assert decided(ToolCall.bash("npm publish x", cwd=cwd)) is State.DENY
    assert decided(ToolCall("read", {"path": path}, cwd)) is State.DENY
    assert decided(ToolCall.bash("cat /etc/hosts", cwd=cwd)) is State.ASK


def test_each_is_trusted_by_itself(nested):
    cwd = str(nested / "src")
    trust(nested)
    assert [layer.held for layer in load_policy(cwd).layers] == [False, True]
    # The inner one is not trusted, so its allow is no answer to the outer's deny.
    assert decided(ToolCall.bash("npm publish x", cwd=cwd)) is State.DENY
    trust(nested / "src")
    # Both are: the nearest is the strongest, as everywhere.
    assert decided(ToolCall.bash("npm publish x", cwd=cwd)) is State.ALLOW


def test_a_trusted_inner_one_overrules_no_outer_one_that_is_held(nested):
    trust(nested / "src")
    call = ToolCall.bash("npm publish x", cwd=str(nested / "src"))
    assert decided(call) is State.DENY


def test_the_inner_one_tightens(nested):
    (nested / "src" / ".ringfence" / "config.toml").write_text('[bash]\n"make *" = "deny"\n')
    assert decided(ToolCall.bash("make x", cwd=str(nested / "src"))) is State.DENY
    assert decided(ToolCall.bash("make x", cwd=str(nested))) is State.ALLOW


def test_a_working_directory_that_is_a_link(nested, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(nested / "src" / "deep")
    path = str(nested / "secrets" / "a")
    assert decided(ToolCall("read", {"path": path}, str(link))) is State.DENY
    assert decided(ToolCall.bash("npm publish x", cwd=str(link))) is State.DENY


def test_a_broken_inner_one_hides_no_outer_one(nested):
    (nested / "src" / ".ringfence" / "config.toml").write_text("[bash\n")
    with pytest.raises(ConfigError, match=r"src/\.ringfence/config\.toml"):
        load_policy(str(nested / "src"))


def test_an_agents_rules(nested):
    agents = nested / ".ringfence" / "agents"
    agents.mkdir()
    (agents / "bob.md").write_text("---\npermission:\n  bash:\n    make *: deny\n---\n")
    call = ToolCall.bash("make x", cwd=str(nested / "src"))
    assert decided(call) is State.ALLOW
    assert decided(evolve(call, agent="bob")) is State.DENY


def test_their_own_files_are_asked_about(nested):
    for place in (nested, nested / "src"):
        path = str(place / ".ringfence" / "config.toml")
        call = ToolCall("write", {"path": path, "content": ""}, str(nested / "src" / "deep"))
        assert decided(evolve(call, roots=(str(nested),))) is State.ASK
