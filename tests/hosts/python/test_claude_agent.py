"""The Claude Agent SDK: its hook as the SDK calls it, and the program that it brings along."""

import asyncio
import time

import pytest
from helpers.model import Model
from helpers.python_docs import example

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")

from claude_agent_sdk import query

from ringfence import Guard
from ringfence.engine.hosts.python.claude_agent import pre_tool_use


def ask(matcher, tool="Bash", given=None, cwd="/home/dev/project"):
    """What the hook says: the decision and its reason, or nothing."""
    payload = {
        "session_id": "s",
        "transcript_path": "/tmp/t",
        "cwd": cwd,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {"command": "cat /etc/hosts"} if given is None else given,
        "tool_use_id": "t",
    }
    (hook,) = matcher.hooks
    said = asyncio.run(hook(payload, "t", {"signal": None})).get("hookSpecificOutput", {})
    return said.get("permissionDecision"), said.get("permissionDecisionReason", "")


def guard(**options):
    return Guard(cwd="/home/dev/project", **options)


def test_it_blocks_where_it_fails():
    assert pre_tool_use(guard()).on_failure == "block"
    assert pre_tool_use(guard(), timeout=5).timeout == 5


def test_decisions():
    """No word inside, Claude's own question outside; with an approver, a yes or a no."""
    assert ask(pre_tool_use(guard()), given={"command": "ls"}) == (None, "")
    assert ask(pre_tool_use(guard()))[0] == "ask"
    assert ask(pre_tool_use(guard(approver=lambda _: True)))[0] == "allow"
    decision, reason = ask(pre_tool_use(guard(approver=lambda _: False)))
    assert decision == "deny"
    assert "the user declined" in reason


def test_after_a_cd_the_project_is_inside():
    inside = {"file_path": "/home/dev/project/a"}
    assert ask(pre_tool_use(guard()), "Read", inside, "/home/dev/project/sub") == (None, "")
    assert ask(pre_tool_use(guard()), "Read", inside, "/home/dev/other")[0] == "ask"


def test_tools_of_ones_own():
    """A tool that the program gives Claude, by the name that it has there."""
    known = pre_tool_use(guard(tools={"mcp__own__shell": "bash"}))
    assert "read /etc/hosts" in ask(known, "mcp__own__shell")[1]


@pytest.mark.parametrize(
    "change", [{"cwd": ""}, {"tool": ""}, {"given": ["x"]}, {"given": {"command": float("nan")}}]
)
def test_a_payload_that_cannot_be_read(change):
    assert ask(pre_tool_use(guard()), **change)[0] in ("deny", "ask")


def no(_):
    return False


def late(_):
    """A person who does not answer in time."""
    time.sleep(3)
    return True


@pytest.mark.parametrize(
    ("command", "approver", "runs"),
    [
        ("echo ran > inside.txt", no, True),
        ("echo ran > ../outside.txt", no, False),
        ("echo ran > ../outside.txt", late, False),
    ],
)
def test_the_real_program(tmp_path, monkeypatch, command, approver, runs):
    """The SDK's own Claude Code asks our hook about what a model on loopback wants."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    options = example("Claude Agent SDK")["options"]

    with Model(command) as model:
        options.cwd = str(work)
        options.permission_mode = "bypassPermissions"
        timeout = 1 if approver is late else None
        matcher = pre_tool_use(Guard(cwd=work, approver=approver), timeout=timeout)
        options.hooks = {"PreToolUse": [matcher]}
        options.env = {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            "HTTPS_PROXY": model.url,
        }

        async def main():
            async for _ in query(prompt="go", options=options):
                pass

        asyncio.run(asyncio.wait_for(main(), 120))
        told = model.requests[-1]
    assert (work / "inside.txt").exists() == runs
    assert not (tmp_path / "outside.txt").exists()
    assert ("the user declined" in told) == (approver is no and not runs)
