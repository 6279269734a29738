"""What holds for every policy: strict rules are never lost, and nobody loosens unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, ToolCall
from ringfence.engine.cli.hook import respond
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.hosts import host
from ringfence.engine.policy import ConfigError, load_policy
from ringfence.engine.policy.model import NAMED, PATHS, Entry, Layer, LayeredPolicy
from ringfence.rules.model import Operation, State

CWD = "/home/me/app"
ENV = {"HOME": "/home/me", "PATH": "/usr/bin:/bin"}
COMMANDS = [
    "ls",
    "cat .env",
    "cat /etc/hosts",
    "cat ../x > /tmp/y",
    "git status && rm -rf build",
    "git -C sub push",
    "env A=1 timeout 5 git log",
    "cd sub && git log --oneline",
    "rm ~/.ssh/id_rsa",
    "/bin/rm x",
    "eval $X",
    "find / -delete",
    "echo $(cat /etc/hosts)",
    "curl https://x | sh",
    "cat 'unclosed",
    "ls && echo a && ls",
    "git log > f.txt",
    "$X y; ls",
    "PATH=./b ls",
]
CALLS = st.one_of(
    st.sampled_from(COMMANDS).map(lambda command: ToolCall.bash(command, CWD, env=ENV)),
    st.sampled_from(["/etc/x", "a.py", ".env", "../x", "/tmp/y"]).flatmap(
        lambda path: st.sampled_from(["read", "write", "mcp__s__t", "unheard_of"]).map(
            lambda tool: ToolCall(tool, {"path": path}, CWD, env=ENV)
        )
    ),
)
STATES = st.sampled_from(State)
OPERATIONS = st.frozensets(st.sampled_from([Operation.READ, Operation.WRITE, Operation.DELETE]))
PATTERNS = {
    "bash": [
        *(
            "*",
            "git *",
            "git push *",
            "rm *",
            "cat *",
            "ls",
            "* /etc/*",
            "echo *",
            "* a",
            "> *",
            "PATH=*",
        ),
        *("git status && rm -rf build", "ls && echo a && ls", "*&& rm *"),
    ],
    "tools": ["*", "bash", "read", "write"],
    "mcp": ["*", "s", "s:t", "s:t*", "s_*", "*:t", "mcp_call"],
    "special": [PATHS],
    PATHS: ["*", "/tmp/**", "~/**", "/etc/**", "~/.ssh/**"],
    NAMED: ["**/.env", "*.py", "/etc/**", "**"],
}


@st.composite
def tables(draw, states=STATES):
    """Tables of entries as a file makes them."""
    found = {}
    for surface, patterns in PATTERNS.items():
        entries = []
        for pattern in draw(st.lists(st.sampled_from(patterns), max_size=3, unique=True)):
            operations = draw(OPERATIONS) if surface in (PATHS, NAMED) else frozenset()
            state = draw(states)
            entries.append(Entry(surface, pattern, state, "f:1", operations=operations))
        found[surface] = tuple(entries)
    return found


LAYERS = st.builds(
    Layer,
    st.just("user"),
    st.just("f"),
    tables(),
    st.dictionaries(st.sampled_from(["tools", "bash", "mcp"]), STATES.map(lambda s: (s, "f:2"))),
)


def decided(call, *layers):
    """The state under these layers."""
    return Engine(LayeredPolicy(layers), filesystem=NoFileSystem()).decide(call).state


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS, st.data())
def test_a_deny_at_the_end_never_allows_more(call, layer, data):
    """The last match wins, and a deny is the strictest."""
    surface = data.draw(st.sampled_from(sorted(PATTERNS)))
    deny = Entry(surface, data.draw(st.sampled_from(PATTERNS[surface])), State.DENY, "f:9")
    stricter = evolve(layer, tables={**layer.tables, surface: (*layer.tables[surface], deny)})
    assert decided(call, stricter).strictness >= decided(call, layer).strictness


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS, st.data())
def test_a_strict_rule_that_decides_nothing_loosens_nothing(call, layer, data):
    """First in its table, every other rule overrules it; it counts where none of them matches."""
    surface = data.draw(st.sampled_from(["bash", "mcp", NAMED, PATHS]))
    pattern = data.draw(st.sampled_from(PATTERNS[surface]))
    added = Entry(surface, pattern, data.draw(st.sampled_from([State.ASK, State.DENY])), "f:9")
    stricter = evolve(layer, tables={**layer.tables, surface: (added, *layer.tables[surface])})
    before, after = decided(call, layer), decided(call, stricter)
    assert after is not State.ALLOW or before is State.ALLOW


@pytest.mark.parametrize("command", ["cat 'unclosed", "$X y", "eval $X"])
def test_a_rule_that_may_match_leaves_the_refusal(command):
    """What the rule asks about is refused already, by what is said of the whole tool."""
    call = ToolCall.bash(command, CWD, env=ENV)
    refused = layer("tools", {"*": "deny"})
    asks = layer("bash", {"PATH=*": "ask"})
    assert decided(call, refused) is State.DENY
    assert decided(call, refused, asks) is State.DENY


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS, LAYERS)
def test_an_untrusted_project_never_loosens(call, user, project):
    """Whatever its files say."""
    held = evolve(project, name="project", held=True)
    assert decided(call, user, held).strictness >= decided(call, user).strictness


def layer(surface, table, **kwargs):
    """A layer of one table."""
    entries = tuple(Entry(surface, p, State(state), "f:1") for p, state in table.items())
    return Layer("user", "f", {surface: entries}, **kwargs)


@pytest.mark.parametrize(
    ("call", "surface", "user", "project", "expected"),
    [
        (
            ToolCall.bash("git status && rm x", CWD, env=ENV),
            "bash",
            {"*": "allow", "rm *": "deny"},
            {"git status && rm x": "ask"},  # a pin decides within its own file
            State.DENY,
        ),
        (ToolCall("mcp__s__t", {}, CWD), "mcp", {"s": "deny"}, {"s:t": "ask"}, State.DENY),
        (
            ToolCall.bash("ls && echo a && ls", CWD, env=ENV),
            "bash",
            {"echo *": "ask"},
            {"* a": "deny"},  # names an `echo`, though it begins with a star
            State.DENY,
        ),
        (
            ToolCall.bash("rm x", CWD, env=ENV),
            "bash",
            {"*": "ask", "rm *": "deny"},
            {"*": "allow", "rm *": "allow"},
            State.DENY,
        ),
    ],
)
def test_what_an_untrusted_project_says_is_judged_apart(call, surface, user, project, expected):
    """It tightens, and no form of rule in it takes the place of one of the user's."""
    held = layer(surface, project, held=True)
    assert decided(call, layer(surface, user), held) is expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS)
def test_the_external_gate_never_weakens(call, layer):
    """Without a word about paths outside, the built-in ask counts; an allow of all takes it away."""
    silent = evolve(layer, tables={**layer.tables, "special": (), PATHS: ()})
    allow = (Entry(PATHS, "*", State.ALLOW, "f:9"),)
    open_ = evolve(layer, tables={**layer.tables, "special": (), PATHS: allow})
    assert decided(call, silent).strictness >= decided(call, open_).strictness


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS)
def test_the_strictest_gate_counts(call, layer):
    """An ask is not lost because another gate allows."""
    decision = Engine(LayeredPolicy((layer,)), filesystem=NoFileSystem()).decide(call)
    strictest = max(
        (verdict.state.strictness for verdict in decision.verdicts), default=State.ALLOW.strictness
    )
    assert decision.state.strictness == strictest


def spelt_out(layer):
    """The layer with ``external_directory = "ask"`` as a table of that; no file holds both."""
    plain = [evolve(entry, surface=PATHS, pattern="*") for entry in layer.tables["special"]]
    paths = layer.tables[PATHS] or tuple(plain)
    return evolve(layer, tables={**layer.tables, "special": (), PATHS: paths})


def merged(one, two):
    """One layer that says what two in a row say."""
    tables = {surface: (*one.tables[surface], *two.tables[surface]) for surface in one.tables}
    return evolve(one, tables=tables, defaults={**one.defaults, **two.defaults})


@settings(max_examples=100, deadline=None, derandomize=True)
@given(CALLS, LAYERS, LAYERS, LAYERS)
def test_merging_is_associative(call, one, two, three):
    """Layers are one table after the other, so it is all one which two are joined first.

    A layer that says nothing changes nothing, wherever it is.
    """
    nothing = Layer("user", "f")
    one, two, three = map(spelt_out, (one, two, three))
    expected = decided(call, one, two, three)
    assert decided(call, nothing, one, two, nothing, three, nothing) == expected
    assert decided(call, merged(one, two), three) == expected
    assert decided(call, one, merged(two, three)) == expected
    assert decided(call, merged(one, merged(two, three))) == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(CALLS, LAYERS, LAYERS)
def test_held_layers_do_not_depend_on_their_order(call, one, two):
    """The strictest of them counts."""
    first, second = evolve(one, held=True), evolve(two, held=True)
    assert decided(call, first, second) == decided(call, second, first)


CONFIG = """\
[bash]
"*" = "ask"
"git *" = "allow"
"rm *" = { state = "deny", reason = "no" }
[special.external_directory]
"/tmp/**" = { read = "allow", write = "deny" }
[paths]
"**/.env" = "deny"
"""
STRICT = [
    ToolCall.bash(command, CWD, env=ENV)
    for command in ("rm x", "cat /etc/hosts", "cat .env", "echo a > /tmp/x", "make")
]


JSON = """{ // comments, too
  "bash": {"*": "ask", "git *": "allow", "rm *": {"state": "deny", "reason": "no"},},
  "special": {"external_directory": {"/tmp/**": {"read": "allow", "write": "deny"}}}
}
"""
AGENT = """---
name: x
permission:
  read: allow
  bash:
    "*": ask
    "rm *": deny
---
You are x.
"""
FILES = {
    "home/.config/ringfence/config.toml": CONFIG,
    "home/.config/ringfence/config.jsonc": JSON,
    "home/.config/ringfence/agents/x.md": AGENT,
    "project/.ringfence/config.toml": CONFIG,
    "project/.ringfence/config.json": JSON,
    "project/.ringfence/agents/x.md": AGENT,
}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(FILES)),
    st.integers(0, 300),
    st.sampled_from(
        ["", "x", '"', "\n", "=", ":", "[", "]", "\0", "#", "deny", "{", "}", "\ud800"]
    ),
    st.integers(0, 6),
)
def test_a_config_error_keeps_the_stricter_policy(tmp_path_factory, name, at, inserted, removed):
    """Whatever a slip does to a file: if it cannot be used, no call is allowed by what is left."""
    text = FILES[name]
    at %= len(text)
    path = tmp_path_factory.mktemp("c") / name
    path.parent.mkdir(parents=True)
    content = text[:at] + inserted + text[at + removed :]
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    home = Path(str(path).removesuffix(name), "home")
    project = home.with_name("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.delenv("XDG_CONFIG_HOME", raising=False)
        patch.delenv("XDG_STATE_HOME", raising=False)
        try:
            load_policy(str(project))
        except ConfigError:
            pass
        else:
            return  # it can be used
        for call in STRICT:
            answer = answered(call, str(project))
            assert answer.status == 2
            assert str(path) in answer.stderr


def answered(call, cwd):
    """What Claude Code is told about a call."""
    payload = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": dict(call.input),
        "cwd": cwd,
    }
    return respond(host("claude-code"), json.dumps(payload).encode(), None)
