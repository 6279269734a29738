"""`ringfence import`: another system's permissions, never looser."""

from __future__ import annotations

import json
import tomllib

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, ToolCall
from ringfence.engine.cli import main
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.imports import from_claude, from_opencode, from_pi, toml
from ringfence.engine.policy.document import parse_toml
from ringfence.engine.policy.model import LayeredPolicy
from ringfence.engine.policy.tables import agent_layers, layer
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


def test_paths_of_the_origins_tools():
    """A refusal of some paths is kept, for all that does the same; an allow is not."""
    tools = {"read": "allow", "write": "allow", "read:/srv/*": "deny", "write:/tmp/*": "allow"}
    found = from_pi({"tools": tools, "special": {"external_directory:/opt/*": "deny"}})
    assert found.notes[0].startswith("write:/tmp/*: holds for single paths")
    calls = [file("/srv/a/b"), file("/opt/x", "write"), file("/tmp/x", "write"), file("a")]
    assert [str(decided(found.tables, one)) for one in calls] == ["deny", "deny", "ask", "allow"]


@pytest.mark.parametrize(
    ("form", "state"),
    [
        ({"action": "deny"}, "deny"),
        ({"when": [{"then": "deny"}]}, "deny"),
        ({"action": "allow"}, "ask"),
        (["allow"], "ask"),
        (None, "ask"),
    ],
)
def test_forms_that_nobody_knows(form, state):
    """What an unknown form allows is asked about, since its conditions are not known."""
    data = {"defaultPolicy": {"bash": "allow", "tools": "allow"}, "bash": {"rm *": form}}
    found = from_pi(data)
    assert found.tables["bash"] == {"rm *": state}
    assert found.notes == [f"bash.rm *: has a form not known here, so it is {state}"]


@pytest.mark.parametrize(
    ("source", "content"),
    [
        ("pi", {"tools": {"(x)": "deny", "Read:/x": "deny", "read:": "ask", "": "deny"}}),
        ("pi", {"bash": {"": "deny", "a\0b": "deny"}}),
        ("opencode", {"permission": {"(x)": "deny", "a(b": {"c": "deny"}, "read:x": "deny"}}),
        ("claude-code", {"permissions": []}),
    ],
)
def test_what_is_made_can_be_loaded(run, source, content):
    """What matches nothing there is left out, and told."""
    status, out, err = run(source, "p.json", json.dumps(content))
    assert status == 0
    assert tomllib.loads(out) is not None
    assert "not carried over" in err


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
    assert name in err


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
    document = parse_toml("f.toml", toml(tables))
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


def bash(command):
    """A call of bash."""
    return ToolCall.bash(command, CWD, env=ENV)


def file(path, tool="read"):
    """A call of a tool for files."""
    return ToolCall(tool, {"path": path}, CWD, env=ENV)


FETCH = ToolCall("fetch", {"url": "https://evil.com"}, CWD, env=ENV)


def mcp(name):
    """A call of an MCP tool."""
    return ToolCall(f"mcp__{name}", {}, CWD, env=ENV)


@pytest.mark.parametrize(
    ("lists", "call", "state"),
    [
        # A rule for a folder is one for all that is in it.
        ({"deny": ["Read(secrets)"]}, file("a/secrets/b"), "deny"),
        ({"deny": ["Read(./secrets/)"]}, file("secrets/b"), "deny"),
        ({"deny": ["Edit(~/.ssh)"]}, file("/home/me/.ssh/id", "write"), "deny"),
        ({"deny": ["Read(src/*)"]}, file("src/a/b"), "deny"),
        # A refusal of a server wins over an allow for one of its tools, and of some over it all.
        ({"allow": ["mcp__g__x"], "deny": ["mcp__g"]}, mcp("g__x"), "deny"),
        ({"allow": ["mcp__g__x"], "deny": ["mcp__g__*"]}, mcp("g__x"), "deny"),
        ({"allow": ["mcp__g"], "deny": ["mcp__g__get_*"]}, mcp("g__get_x"), "deny"),
        ({"allow": ["mcp__g__x"], "deny": ["mcp__*"]}, mcp("g__x"), "deny"),
        # A whole line there allows none of its commands.
        ({"allow": ["Bash(ls && rm x)"], "deny": ["Bash(rm:*)"]}, bash("ls && rm x"), "deny"),
        ({"allow": ["Bash(rm x)"], "deny": ["Bash(rm:*)"]}, bash("rm x"), "deny"),
        ({"allow": ["Bash(ls)", "Read"], "deny": ["*"]}, bash("ls"), "deny"),
        ({"allow": ["Read"], "deny": ["*"]}, file("a"), "deny"),
        # A part of what is refused as a whole is refused, too.
        ({"deny": ["WebFetch", "WebFetch(domain:x.y)"]}, FETCH, "deny"),
        ({"deny": ["*", "WebFetch(domain:x.y)"]}, FETCH, "deny"),
        ({"deny": ["Task(Explore)"]}, ToolCall("Agent", {}, CWD, env=ENV), "ask"),
        ({"deny": ["Agent"]}, ToolCall("Task", {}, CWD, env=ENV), "deny"),
        # What cannot be read may be about anything.
        ({"deny": ["Bash(ls", "Read"]}, bash("ls"), "ask"),
        ({"deny": ["Bash(ls", "Read"]}, file("a"), "deny"),
        ({"ask": {"Bash": True}}, bash("ls"), "ask"),
        ({"deny": "Bash"}, bash("ls"), "deny"),
        ({"deny": [7]}, mcp("g__x"), "ask"),
        ({"deny": ["Read(a\\\\*b)"]}, file("x"), "ask"),
        ({"deny": ["Read(**/*.{pem,key})"]}, file("a/b.pem"), "deny"),
        ({"deny": ["Read(./a/../.env)"]}, file(".env"), "deny"),
        ({"deny": ["Read(~root/x)"]}, file("a"), "deny"),
        ({"deny": ["mcp__*__rm"], "allow": ["mcp__z"]}, mcp("mcp__z__rm"), "deny"),
        ({"deny": ["mcp__*__rm"], "allow": ["mcp__z"]}, mcp("mcp__z__ls"), "allow"),
        ({"deny": ["Bash( rm * )"]}, bash("rm x"), "deny"),
        # A dollar there is one.
        ({"deny": ["Read(//srv/$X/**)"]}, file("/srv/$X/a"), "deny"),
        # Folders there are no patterns.
        ({"additionalDirectories": "/x"}, file("/etc/x"), "ask"),
        ({"additionalDirectories": [""]}, file("/etc/x"), "ask"),
        ({"additionalDirectories": ["/srv/*"]}, file("/srv/a/x"), "ask"),
        ({"additionalDirectories": ["/srv/*"]}, file("/srv/x"), "ask"),
        ({"additionalDirectories": ["/srv/a"]}, file("/srv/a/x"), "allow"),
    ],
)
def test_what_claude_refuses(lists, call, state):
    """Is refused here, where its order and its patterns are others."""
    assert str(decided(from_claude({"permissions": lists}).tables, call)) == state


@pytest.mark.parametrize(
    ("config", "call", "state"),
    [
        # A pattern without a star is one path; a star crosses folders, and leaves the project.
        ({"read": {"*": "ask", "notes.txt": "allow"}}, file("notes.txt"), "allow"),
        ({"read": {"*": "ask", "notes.txt": "allow"}}, file("a/notes.txt"), "ask"),
        ({"edit": {"*": "deny", "*/x": "allow"}}, file("x", "edit"), "deny"),
        ({"read": {"*.env": "deny"}, "external_directory": "allow"}, file("/srv/x.env"), "deny"),
        ({"edit": {"*secret*": "deny"}}, file("a/secret/b", "edit"), "deny"),
        ({"read": {"fil?.txt": "deny"}}, file("file.txt"), "deny"),
        (
            {"edit": {"../x/*": "deny"}, "external_directory": "allow"},
            file("../x/a", "write"),
            "ask",
        ),
        # MCP tools are named as any other there.
        ({"my_*": "deny"}, mcp("my__x"), "deny"),
        ({"my_*": "deny", "my_get": "allow"}, mcp("my__get"), "allow"),
        ({"my_get": "allow", "my_*": "deny"}, mcp("my__get"), "deny"),
        ({"*": "deny", "m*": "allow"}, mcp("x__y"), "deny"),
        ({"bash": {"*": "allow", "rm ?": "deny"}}, bash("rm x"), "deny"),
        ({"bash": {"rm *": "deny", "ls && rm x": "allow"}}, bash("ls && rm x"), "deny"),
        # What matches more here must not win over what was refused before it.
        ({"bash": {"*": "deny", "l?": "ask"}}, bash("ls x"), "deny"),
        ({"bash": {"*": "allow", "rm *": "deny", "r?": "ask"}}, bash("rm x"), "deny"),
        ({"bash": {"*": "allow", "cp *": "deny", "l?": "ask"}}, bash("ls"), "ask"),
        ({"webfetch": {"*": "deny", "x": "ask"}}, FETCH, "deny"),
        ({"*": "deny", "webfetch": {"x": "ask"}}, FETCH, "deny"),
        ({"webfetch": {"x": "deny", "*": "allow"}}, FETCH, "allow"),
        # Variables and homes.
        ({"edit": {"a/$X": "deny"}}, file("a/$X", "edit"), "deny"),
        ({"edit": {"~x/*": "deny"}}, file("~x/y", "edit"), "deny"),
        ({"edit": {"*": "deny", "./x": "allow"}}, file("x", "edit"), "deny"),
        (
            {"read": {"$HOME/a*": "deny"}, "external_directory": "allow"},
            file("/home/me/ab"),
            "deny",
        ),
    ],
)
def test_what_opencode_says(config, call, state):
    """Its patterns are others, and mean here what they mean there, or more is refused."""
    assert str(decided(from_opencode({"permission": config}).tables, call)) == state


@pytest.mark.parametrize(
    "tools",
    [{"*": False}, {"bash": False, "my_*": False, "write": False}, {"*": False, "bash": True}],
)
def test_tools_that_opencode_switches_off(tools):
    """Stay off, whatever is allowed of them."""
    block = {"bash": {"ls": "allow"}, "my_get": "allow", "edit": {"a": "allow"}}
    made = from_opencode({"permission": block, "tools": tools}).tables
    calls = [bash("ls"), mcp("my__get"), file("a", "write")]
    assert [str(decided(made, call)) for call in calls] == ["deny"] * 3


def test_an_agent_of_opencode_that_refuses_all():
    """Refuses also what is allowed to the others."""
    block = {"bash": {"*": "ask", "ls": "allow"}, "my_x": "allow", "external_directory": "allow"}
    found = from_opencode({"permission": block, "agent": {"a": {"permission": {"*": "deny"}}}})
    document = parse_toml("f.toml", toml(found.tables))
    layers = (layer("t", document, (), document.data), *agent_layers("t", document))
    engine = Engine(LayeredPolicy(layers).for_agent("a", ENV), NoFileSystem())
    calls = [bash("ls"), mcp("my__x"), file("/etc/x"), ToolCall("skill", {"name": "x"}, CWD)]
    assert [str(engine.decide(evolve(call, agent="a")).state) for call in calls] == ["deny"] * 4


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


@pytest.mark.parametrize(
    ("source", "variable", "below", "name", "content"),
    [
        ("opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.json", OPENCODE),
        ("opencode", "XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc", OPENCODE),
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude", "settings.json", CLAUDE),
        ("pi", "PI_CODING_AGENT_DIR", ".pi/agent", "pi-permissions.jsonc", {"bash": {"x": "deny"}}),
    ],
)
@pytest.mark.parametrize("moved", [False, True])
def test_where_a_host_keeps_them(
    tmp_path, monkeypatch, capsys, source, variable, below, name, content, moved
):
    """Where `install` would write, there `import` reads: variables count for both."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for other in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(other, raising=False)
    folder = tmp_path / "elsewhere" if moved else tmp_path / below
    if moved:
        monkeypatch.setenv(variable, str(folder))
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(json.dumps(content))
    assert main(["import", source]) == 0
    assert capsys.readouterr().out.startswith(f"# Made from {folder / name} by")
