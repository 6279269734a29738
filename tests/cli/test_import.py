"""`ringfence import`: another system's permissions, never looser."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, ToolCall
from ringfence.engine.cli import main
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.imports import from_claude, from_opencode, from_pi, toml
from ringfence.engine.policy.document import parse_toml
from ringfence.engine.policy.model import LayeredPolicy
from ringfence.engine.policy.tables import layer
from ringfence.rules.model import State

CWD = "/home/me/app"
ENV = {"HOME": "/home/me"}

PI = """{
  // what the origin's own page shows
  "defaultPolicy": { "tools": "ask", "bash": "ask", "mcp": "ask", "skills": "ask" },
  "tools": { "read": "allow", "write": "deny", "context7_*": "ask", "mcp": "allow" },
  "bash": { "git *": "ask", "git status": "allow", "rm -rf *": "deny" },
  "mcp": { "*": "ask", "myServer:*": "ask", "mcp_status": "allow", "dangerousServer": "deny" },
  "skills": { "*": "ask", "dangerous-*": "deny" },
  "special": { "doom_loop": "deny", "external_directory": "ask", "tool_call_limit": "ask" },
  "yolo": true
}
"""
CLAUDE = {
    "permissions": {
        "allow": [
            *("Bash(git log:*)", "Bash(npm run test)", "Read(~/notes/**)", "Read(//etc/hosts)"),
            *("Edit(/src/**)", "WebFetch(domain:example.com)", "mcp__github", "mcp__jira__get"),
            *("WebSearch", "Skill(pdf)", "Bash(ls *)", 7),
        ],
        "ask": ["Bash(git push:*)", "Edit", "Read(*.key)"],
        "deny": ["Read(./.env)", "Bash(curl:*)", "WebFetch(domain:evil.com)", "Task(Explore)"],
        "additionalDirectories": ["../docs/", "/srv/data", "~/other"],
        "defaultMode": "acceptEdits",
    }
}
OPENCODE = {
    "permission": {
        "*": "ask",
        "bash": {"*": "ask", "git *": "allow", "rm *": "deny"},
        "edit": {"*": "deny", "packages/web/*.mdx": "allow"},
        "read": {"*": "allow", "*.env": "deny"},
        "external_directory": {"~/projects/*": "allow", "vendor": "deny"},
        "webfetch": "deny",
        "websearch": {"foo*": "deny"},
        "doom_loop": "ask",
        "mymcp_*": "ask",
        "list": "allow",
        "task": 3,
    },
    "agent": {"review": {"permission": {"edit": "deny", "bash": "ask"}, "tools": {"write": False}}},
}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run `ringfence import` on a file of this content: (status, stdout, stderr)."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(source, name, content, *more):
        (tmp_path / name).write_text(content)
        status = main(["import", source, name, *more])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("source", "content"),
    [("pi", PI), ("claude-code", json.dumps(CLAUDE)), ("opencode", json.dumps(OPENCODE))],
)
def test_import(run, source, content, snapshot):
    """The config that is made, and what could not be carried over."""
    status, out, err = run(source, "permissions.json", content)
    assert status == 0
    assert f"{out}\n# on standard error:\n\n{err}" == snapshot


def test_an_agents_file(run):
    """Of pi, in Markdown: the short form for its own tools, too."""
    text = "---\nname: x\npermission:\n  read: allow\n  bash:\n    git status: allow\n---\nText.\n"
    status, out, _ = run("pi", "reviewer.md", text)
    assert status == 0
    assert tomllib.loads(out) == {
        "agents": {"reviewer": {"tools": {"read": "allow"}, "bash": {"git status": "allow"}}}
    }


def test_the_origins_file_works_unchanged():
    """As a config of ours, but for keys that nobody knows."""
    data = json.loads("\n".join(line for line in PI.splitlines() if "//" not in line))
    del data["yolo"], data["special"]["tool_call_limit"]
    made, straight = from_pi(data).tables, data
    for call in CALLS:
        assert decided(made, call) is decided(straight | _asks(straight), call)


def _asks(data):
    defaults = dict.fromkeys(("tools", "bash", "mcp", "skills", "special"), "ask")
    return {"defaultPolicy": {**defaults, **data.get("defaultPolicy", {})}}


def test_write(run, tmp_path):
    """Becomes the user's config, unless there is one."""
    status, out, _ = run("pi", "p.json", '{"bash": {"ls": "allow"}}', "--write")
    path = tmp_path / ".config/ringfence/config.toml"
    assert (status, out) == (0, f"Written: {path}\n")
    assert tomllib.loads(path.read_text())["bash"] == {"ls": "allow"}
    assert run("pi", "p.json", "{}", "--write")[0] == 2
    assert tomllib.loads(path.read_text())["bash"] == {"ls": "allow"}


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.json", "{"), ("x.json", "[]"), ("x.md", "text"), ("x.md", "---\npermission: 1\n---\n")],
)
def test_bad_files(run, name, content):
    """An error that names the file, and no config."""
    status, out, err = run("pi", name, content)
    assert (status, out) == (2, "")
    assert name in err or "jsonc" in err


# --- never looser ------------------------------------------------------------------------------

CALLS = [
    *(
        ToolCall.bash(command, CWD, env=ENV)
        for command in ("git log", "git push x", "rm -rf a", "ls", "curl x", "make")
    ),
    *(
        ToolCall(tool, {"path": path}, CWD, env=ENV)
        for tool in ("read", "write", "edit")
        for path in ("a.py", ".env", "src/a.py", "/etc/hosts", "/home/me/notes/x")
    ),
    ToolCall("fetch", {"url": "https://evil.com"}, CWD, env=ENV),
    ToolCall("mcp__github__create", {}, CWD, env=ENV),
    ToolCall("mcp__jira__get", {}, CWD, env=ENV),
    ToolCall("skill", {"name": "pdf"}, CWD, env=ENV),
]


def decided(tables, call):
    """The answer under tables of a config."""
    document = parse_toml("f", toml(tables))
    policy = LayeredPolicy((layer("t", document, (), document.data),)).for_agent(None, ENV)
    return Engine(policy, NoFileSystem()).decide(call).state


RULES = {  # a rule of Claude Code's, and whether it is about the call at this place of CALLS
    "Bash": set(range(6)),
    "Bash(git:*)": {0, 1},
    "Bash(git push:*)": {1},
    "Bash(make)": {5},
    "Read": {6, 7, 8, 9, 10},
    "Read(./.env)": {7},
    "Read(/src/**)": {8},
    "Edit": set(range(11, 21)),
    "Edit(/src/**)": {13, 18},
    "Read(**)": {6, 7, 8},
    "Read(src/a.py)": {8},
    "Edit(src/a.py)": {13, 18},
    "Write(src/a.py)": {13, 18},
    "WebFetch(domain:evil.com)": {21},
    "WebFetch": {21},
    "mcp__github": {22},
    "mcp__jira__get": {23},
    "Skill(pdf)": {24},
}
LISTS = st.lists(st.sampled_from(sorted(RULES)), max_size=4, unique=True)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(allow=LISTS, ask=LISTS, deny=LISTS)
def test_claude_is_never_loosened(allow, ask, deny):
    """What is refused there is not allowed here, and what is asked about neither."""
    found = from_claude({"permissions": {"allow": allow, "ask": ask, "deny": deny}})
    for place, call in enumerate(CALLS):
        state = decided(found.tables, call)
        if any(place in RULES[rule] for rule in deny):
            partial = any("domain" in rule for rule in deny)
            assert state is State.DENY or (partial and state is State.ASK)
        elif any(place in RULES[rule] for rule in ask):
            assert state is not State.ALLOW


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.sampled_from(["bash", "edit", "read", "webfetch", "skill", "external_directory", "*"]),
        st.sampled_from(["allow", "ask", "deny"]),
        max_size=4,
    )
)
def test_opencode_is_never_loosened(block):
    """A tool's own rule decides, or the one for all."""
    found = from_opencode({"permission": block})
    keys = {
        "bash": range(6),
        "read": range(6, 11),
        "edit": range(11, 21),
        "webfetch": [21],
        "skill": [24],
    }
    for key, places in keys.items():
        names = list(block)
        deciding = [name for name in names if name in (key, "*")]
        if not deciding:
            continue
        wanted = State(block[deciding[-1]])
        for place in places:
            assert decided(found.tables, CALLS[place]).strictness >= wanted.strictness
