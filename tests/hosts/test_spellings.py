"""Rules of ``[tools]`` may name a tool as its host does: every host, every tool that it has."""

from __future__ import annotations

import json
from importlib import import_module

import pytest

from ringfence.engine.cli import hook
from ringfence.engine.hosts import HOSTS, host


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home of its own, and a project beside it."""
    (tmp_path / "p").mkdir()
    (tmp_path / "home/.config/ringfence").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "p")


def said(monkeypatch, tmp_path, config, name, tool, values):
    """What the host hears of a call under a config."""
    (tmp_path / "home/.config/ringfence/config.toml").write_text(config)
    payload = asked(name, tool, values, str(tmp_path / "p"))
    if name == "amp":
        monkeypatch.setenv("AGENT_TOOL_NAME", tool)
    answer = hook.respond(host(name), json.dumps(payload).encode(), None)
    assert "could not judge" not in answer.stdout + answer.stderr
    return answer.stdout + answer.stderr


def asked(name, tool, values, cwd):
    """The host's question about any of its tools."""
    sample = dict(host(name).sample("ls", cwd))
    if name == "amp":
        return values
    if name == "cursor":
        about = {"hook_event_name": "preToolUse", "tool_name": tool, "tool_input": values}
        return {**sample, **about}
    if name == "cline":
        return {**sample, "tool_call": {"name": tool, "input": values}}
    for key, value in (("tool_name", tool), ("toolName", tool), ("tool", tool)):
        if key in sample:
            sample[key] = value
    for key in ("tool_input", "toolArgs", "args"):
        if key in sample:
            sample[key] = values
    return sample


TOOLS = [
    (name, tool)
    for name, module in sorted(HOSTS.items())
    for tool in getattr(
        import_module(f"ringfence.engine.hosts.{module}"),
        "TOOLS",
        {} if name == "windsurf" else import_module("ringfence.engine.hosts.claude").TOOLS,
    )
]
VALUES = {
    **dict.fromkeys(("command", "cmd"), "ls"),
    **dict.fromkeys(("path", "file_path", "filePath", "notebook_path", "absolute_path"), "a"),
    "pattern": "x",
    "skill": "s",
    "name": "s",
    "url": "http://x",
}


@pytest.mark.parametrize(("name", "tool"), TOOLS)
def test_denied(monkeypatch, tmp_path, name, tool):
    """Whatever the canonical name of the tool is."""
    if (name, tool) == ("codex", "apply_patch"):
        values = {"command": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}
    else:
        values = VALUES
    config = f'[tools]\n"{tool}" = "deny"\n'
    assert "tools." in said(monkeypatch, tmp_path, config, name, tool, values)


@pytest.mark.parametrize(
    ("name", "tool", "pattern", "denied"),
    [
        ("gemini-cli", "write_file", "write_*", True),
        ("goose", "developer__shell", "developer__*", True),
        ("goose", "developer__shell", "DEVELOPER__SHELL", True),
        ("gemini-cli", "read_file", "write_*", False),
        ("claude-code", "Bash", "run_shell_command", False),  # another host's
        ("claude-code", "Task", "Agent", True),  # its name in another version
        ("claude-code", "Agent", "task", True),
    ],
)
def test_patterns(monkeypatch, tmp_path, name, tool, pattern, denied):
    """Wildcards and any case, as for all that is denied."""
    heard = said(monkeypatch, tmp_path, f'[tools]\n"{pattern}" = "deny"\n', name, tool, VALUES)
    assert ("tools." in heard) is denied


def test_allowed(monkeypatch, tmp_path):
    """A rule that allows may name it so, too."""
    config = '[tools]\n"*" = "ask"\n"read_file" = "allow"\n'
    heard = said(monkeypatch, tmp_path, config, "gemini-cli", "read_file", {"file_path": "a"})
    assert json.loads(heard) == {"decision": "allow"}


def test_an_mcp_tool_allows_nothing_by_its_own_name(monkeypatch, tmp_path):
    """Its server chose it; a rule that denies holds."""
    (tmp_path / "home/.config/ringfence").mkdir(parents=True, exist_ok=True)
    config = '[mcp]\n"*" = "deny"\n[tools]\n"lib__read" = "allow"\n'
    assert "lib" in said(monkeypatch, tmp_path, config, "goose", "lib__read", {})
    config = '[tools]\n"lib__*" = "deny"\n'
    assert "tools.lib__*" in said(monkeypatch, tmp_path, config, "goose", "lib__read", {})


@pytest.mark.parametrize(
    ("name", "tool"), [("cursor", "Shell"), ("cline", "run_commands"), ("codex", "Bash")]
)
def test_the_question_of_an_event(tmp_path, name, tool):
    """Cursor's event for commands names no tool: it is its Shell."""
    config = f'[tools]\n"{tool}" = "deny"\n'
    (tmp_path / "home/.config/ringfence/config.toml").write_text(config)
    content = json.dumps(host(name).sample("ls", str(tmp_path / "p"))).encode()
    answer = hook.respond(host(name), content, None)
    assert "tools." in answer.stdout + answer.stderr
