"""Every host: what its payloads mean, and how it is answered."""

from __future__ import annotations

import io
import json
import os

import pytest

from ringfence import Engine
from ringfence.engine.cli import main
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.hosts import HOSTS, host
from ringfence.engine.hosts.model import Answer, Host
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules.model import State

CWD = "/home/dev/shop"
CLAUDE = {"session_id": "s", "cwd": CWD, "hook_event_name": "PreToolUse"}
CODEX = {**CLAUDE, "model": "m", "turn_id": "1"}
GEMINI = {"session_id": "s", "cwd": CWD, "hook_event_name": "BeforeTool"}
CURSOR = {"conversation_id": "c", "cursor_version": "3", "workspace_roots": [CWD]}
COPILOT = {"sessionId": "s", "timestamp": 1, "cwd": CWD}
CLINE = {"clineVersion": "4", "hookName": "tool_call", "taskId": "1", "workspaceRoots": [CWD]}
GOOSE = {"event": "PreToolUse", "session_id": "s", "working_dir": CWD}
QWEN = {**CLAUDE, "permission_mode": "yolo", "tool_call_id": "c1"}
KIRO = {"hook_event_name": "preToolUse", "cwd": CWD}
SURF = {"trajectory_id": "t", "execution_id": "e"}
PATCH = "*** Begin Patch\n*** Update File: a.py\n*** Delete File: /etc/x\n*** End Patch"


def tool(common, name, values):
    return {**common, "tool_name": name, "tool_input": values}


# (host, payload, tool, paths outside that it touches)
CALLS = [
    ("claude-code", tool(CLAUDE, "Bash", {"command": "cat /etc/x"}), "bash", ["/etc/x"]),
    ("claude-code", tool(CLAUDE, "Read", {"file_path": "/etc/x"}), "read", ["/etc/x"]),
    (
        "claude-code",
        {**tool(CLAUDE, "Bash", {"command": "ls"}), "hook_event_name": "PermissionRequest"},
        "bash",
        [],
    ),
    ("factory-droid", tool(CLAUDE, "Execute", {"command": "cat /etc/x"}), "bash", ["/etc/x"]),
    ("codex", tool(CODEX, "Bash", {"command": "cat ../x"}), "bash", ["/home/dev/x"]),
    ("codex", tool(CODEX, "apply_patch", {"command": PATCH}), "patch", ["/etc/x"]),
    (
        "codex",
        tool(CODEX, "Bash", {"command": f"apply_patch <<'E'\n{PATCH}\nE"}),
        "patch",
        ["/etc/x"],
    ),
    ("codex", tool(CODEX, "mcp__git__push", {"repo": "x"}), "mcp__git__push", []),
    (
        "gemini-cli",
        tool(GEMINI, "run_shell_command", {"command": "cat x", "dir_path": ".."}),
        "bash",
        ["/home/dev", "/home/dev/x"],
    ),
    ("gemini-cli", tool(GEMINI, "read_file", {"file_path": "/etc/x"}), "read", ["/etc/x"]),
    (
        "gemini-cli",
        tool(GEMINI, "read_many_files", {"include": ["a", "/etc/x"]}),
        "read",
        ["/etc/x"],
    ),
    ("gemini-cli", tool(GEMINI, "glob", {"pattern": "/etc/*"}), "find", ["/etc/*"]),
    ("gemini-cli", tool(GEMINI, "grep_search", {"pattern": "/etc/x"}), "grep", []),
    (
        "gemini-cli",
        {
            **tool(GEMINI, "mcp_git_push", {}),
            "mcp_context": {"server_name": "git", "tool_name": "push"},
        },
        "mcp__git__push",
        [],
    ),
    (
        "qwen-code",
        tool(QWEN, "run_shell_command", {"command": "cat x", "directory": "/srv"}),
        "bash",
        ["/srv", "/srv/x"],
    ),
    ("qwen-code", tool(QWEN, "read_file", {"file_path": "/etc/x"}), "read", ["/etc/x"]),
    ("qwen-code", tool(QWEN, "notebook_edit", {"notebook_path": "/x"}), "edit", ["/x"]),
    ("qwen-code", tool(QWEN, "grep_search", {"pattern": "/etc/x", "path": "/y"}), "grep", ["/y"]),
    ("qwen-code", tool(QWEN, "mcp__git__push", {"repo": "x"}), "mcp__git__push", []),
    (
        "cursor",
        {**CURSOR, "hook_event_name": "beforeShellExecution", "command": "cat /etc/x", "cwd": ""},
        "bash",
        ["/etc/x"],
    ),
    (
        "cursor",
        {**CURSOR, "hook_event_name": "beforeReadFile", "file_path": "/etc/x", "content": "y"},
        "read",
        ["/etc/x"],
    ),
    (
        "cursor",
        {
            **CURSOR,
            "hook_event_name": "beforeMCPExecution",
            "mcp_server_name": "git",
            "tool_name": "push",
            "tool_input": '{"path": "/etc/x"}',
        },
        "mcp__git__push",
        ["/etc/x"],
    ),
    (
        "cursor",
        {**tool(CURSOR, "Delete", {"file_path": "/etc/x"}), "hook_event_name": "preToolUse"},
        "delete",
        ["/etc/x"],
    ),
    (
        "copilot-cli",
        {**COPILOT, "toolName": "bash", "toolArgs": '{"command": "cat /etc/x"}'},
        "bash",
        ["/etc/x"],
    ),
    ("copilot-cli", {**COPILOT, "toolName": "view", "toolArgs": {"path": "/x"}}, "read", ["/x"]),
    ("copilot-cli", tool(CLAUDE, "create", {"path": "/etc/x"}), "write", ["/etc/x"]),
    (
        "cline",
        {**CLINE, "tool_call": {"name": "run_commands", "input": {"commands": ["ls", "cat /x"]}}},
        "bash",
        ["/x"],
    ),
    (
        "cline",
        {**CLINE, "preToolUse": {"toolName": "read_files", "parameters": {"files": '[{"path": "/x"}]'}}},
        "read",
        ["/x"],
    ),
    ("goose", tool(GOOSE, "developer__shell", {"command": "cat /etc/x"}), "bash", ["/etc/x"]),
    ("goose", tool(GOOSE, "git__push", {}), "mcp__git__push", []),
    ("kiro", tool(KIRO, "execute_bash", {"command": "cat /etc/x"}), "bash", ["/etc/x"]),
    ("kiro", tool(KIRO, "fs_read", {"operations": [{"path": "/etc/x"}]}), "read", ["/etc/x"]),
    ("kiro", tool(KIRO, "fs_write", {"command": "create", "path": "/x"}), "write", ["/x"]),
    ("kiro", tool(KIRO, "@git/push", {}), "mcp__git__push", []),
    (
        "windsurf",
        {**SURF, "agent_action_name": "pre_run_command",
         "tool_info": {"command_line": "cat /etc/x", "cwd": CWD}},
        "bash",
        ["/etc/x"],
    ),
    (
        "windsurf",
        {**SURF, "agent_action_name": "pre_write_code", "tool_info": {"file_path": "/etc/x"}},
        "write",
        ["/etc/x"],
    ),
    ("amp", {"cmd": "cat /etc/x"}, "bash", ["/etc/x"]),
    (
        "opencode",
        {"tool": "edit", "args": {"filePath": "/etc/x"}, "cwd": CWD, "session": "s"},
        "edit",
        ["/etc/x"],
    ),
    ("pi", {"tool": "bash", "args": {"command": "cat /etc/x"}, "cwd": CWD}, "bash", ["/etc/x"]),
]  # fmt: skip
ENV = {"AGENT_TOOL_NAME": "Bash"}


@pytest.mark.parametrize(("name", "payload", "canonical", "outside"), CALLS)
def test_payloads(name, payload, canonical, outside):
    """Tools and inputs become canonical, whatever the host calls them; so do directories."""
    request = host(name).read(json.dumps(payload).encode(), ENV)
    decision = Engine(filesystem=NoFileSystem()).decide(request.call)
    assert request.call.tool == canonical
    found = {finding.path for finding in decision.findings}
    assert found == set(outside)


def answers(name):
    """The host's own words for each decision, and for a refusal without one."""
    one = host(name)
    payloads = [payload for which, payload, _, paths in CALLS if which == name and paths]
    assert payloads, f"CALLS above has no call of {name} that touches a path outside: add one"
    payload = payloads[0]
    request = one.read(json.dumps(payload).encode(), ENV)
    said = {}
    for state in ("allow", "ask", "deny"):
        entries = (Entry("special", "external_directory", State(state), "config.toml:1"),)
        tables = {"special": entries}
        if state == "allow":
            tables["tools"] = (Entry("tools", request.call.tool, State.ALLOW, "config.toml:2"),)
        policy = LayeredPolicy((Layer("t", "config.toml", tables),))
        decision = Engine(policy, NoFileSystem()).decide(request.call)
        said[state] = shown(one.answer(decision, request))
    policy = LayeredPolicy(
        (Layer("t", "c", {"special": (Entry("special", "external_directory", State.ALLOW, "c"),)}),)
    )
    decision = Engine(policy, NoFileSystem()).decide(request.call)
    said["nothing objects"] = shown(one.answer(decision, request))
    said["no decision"] = shown(one.refuse("the payload is not a JSON object"))
    return said


def shown(answer: Answer):
    output = json.loads(answer.stdout) if answer.stdout else None
    return {"stdout": output, "stderr": answer.stderr, "status": answer.status}


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_answers(name, snapshot, monkeypatch):
    """Each decision in the host's own words; where it cannot ask, a refusal that says how to go on."""
    from ringfence.engine import terminal

    monkeypatch.setenv("HOME", "/home/dev")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(terminal, "known", False)
    monkeypatch.setattr(os, "getcwd", lambda: CWD)
    assert answers(name) == snapshot


GOOD = json.dumps(tool(CLAUDE, "Bash", {"command": "ls"})).encode()


def test_adding_a_host(monkeypatch, tmp_path):
    """A host is a module and a row."""
    import sys
    import types

    module = types.ModuleType("ringfence.engine.hosts.mine")
    claude = host("claude-code")
    module.HOST = Host("mine", claude.read, claude.answer, claude.refuse, claude.sample)
    monkeypatch.setitem(sys.modules, "ringfence.engine.hosts.mine", module)
    monkeypatch.setitem(HOSTS, "mine", "mine")
    assert host("mine").read(GOOD, {}).call.command == "ls"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(GOOD)))
    assert main(["hook", "mine"]) == 0
