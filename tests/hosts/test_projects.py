"""Which projects' rules hold for a host's call: of its own directory, and of all its roots."""

from __future__ import annotations

import json
import os

import pytest

from ringfence.engine.cli import hook
from ringfence.engine.hosts import host
from ringfence.engine.policy.load import contents_of
from ringfence.engine.policy.trust import TrustStore

VARIABLES = {
    "claude-code": "CLAUDE_PROJECT_DIR",
    "codex": "CODEX_PROJECT_DIR",
    "factory-droid": "FACTORY_PROJECT_DIR",
    "gemini-cli": "GEMINI_PROJECT_DIR",
    "kiro": "KIRO_PROJECT_DIR",
    "qwen-code": "QWEN_PROJECT_DIR",
}


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Two projects; the first has a part with rules of its own."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for folder in ("a/part/src", "b"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def rules(folder, text):
    """Give a folder a config."""
    (folder / ".ringfence").mkdir()
    (folder / ".ringfence/config.toml").write_text(text)


def refuses(name, payload):
    """Whether the host hears a refusal by a rule."""
    answer = hook.respond(host(name), json.dumps(payload).encode(), None)
    assert "could not judge" not in answer.stdout + answer.stderr
    return "rm *" in answer.stdout + answer.stderr


@pytest.mark.parametrize("name", sorted(VARIABLES))
@pytest.mark.parametrize("place", ["a", "a/part", "a/part/src"])
def test_a_part_of_the_project(world, monkeypatch, name, place):
    """The host says where the project begins; the rules of each folder from there on hold."""
    rules(world / place, '[bash]\n"rm *" = "deny"\n')
    monkeypatch.setenv(VARIABLES[name], str(world / "a"))
    payload = host(name).sample("rm x", str(world / "a/part/src"))
    assert refuses(name, payload)
    monkeypatch.delenv(VARIABLES[name])
    assert refuses(name, payload)


@pytest.mark.parametrize("denies", ["a", "b"])
@pytest.mark.parametrize("cwd", ["a", "b"])
def test_several_roots(world, denies, cwd):
    """Whichever of them the command runs in: it may reach the others, too."""
    rules(world / denies, '[bash]\n"rm *" = "deny"\n')
    roots = [str(world / "a"), str(world / "b")]
    payload = {**host("cursor").sample("rm x", str(world / cwd)), "workspace_roots": roots}
    assert refuses("cursor", payload)
    payload = {**host("cline").sample("rm x", str(world / cwd)), "workspaceRoots": roots}
    assert refuses("cline", payload)


@pytest.mark.parametrize(("cwd", "refused"), [("b", False), ("a", True)])
def test_a_roots_trusted_rules_loosen_nothing_elsewhere(world, cwd, refused):
    """Trust is for a folder and what is in it, not for the other roots of a workspace."""
    config = world / "home/.config/ringfence/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[bash]\n"rm *" = "deny"\n')
    rules(world / "b", '[bash]\n"rm *" = "allow"\n')
    TrustStore.of_user(os.environ).trust(world / "b", contents_of(world / "b/.ringfence"))
    roots = [str(world / "b"), str(world / "a")]
    payload = {**host("cursor").sample("rm x", str(world / cwd)), "workspace_roots": roots}
    assert refuses("cursor", payload) is refused
