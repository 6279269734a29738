"""`ringfence import` and rules for paths: the source's order and patterns, evaluated beside ours."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.imports import from_claude, from_opencode, from_pi, toml
from ringfence.engine.imports.model import respelled
from ringfence.engine.policy.document import parse_toml
from ringfence.engine.policy.model import LayeredPolicy
from ringfence.engine.policy.paths import covers, resolved
from ringfence.engine.policy.tables import layer
from ringfence.rules.model import State

CWD = "/home/me/app"
ENV = {"HOME": "/home/me"}
STATES = ("allow", "ask", "deny")
PATHS = ("x", ".env", "secrets", "secrets/x", "src", "src/a", "src/secrets/x", "src/a/b")
OUTSIDE = ("/srv", "/srv/a/x", "/srv/b", "/home/me/notes/x")
STATE = st.sampled_from(STATES)


def decided(found, tool, path):
    """The answer of an import to a tool for files."""
    document = parse_toml("f.toml", toml(found.tables))
    policy = LayeredPolicy((layer("t", document, (), document.data),)).for_agent(None, ENV)
    call = ToolCall(tool, {"path": path}, CWD, env=ENV)
    return Engine(policy, NoFileSystem()).decide(call).state


def claude(**lists):
    """Of Claude Code's permissions."""
    return from_claude({"permissions": lists})


def opencode(**block):
    """Of opencode's permissions."""
    return from_opencode({"permission": block})


def pi(**tools):
    """Of the tools of pi."""
    return from_pi({"tools": tools})


@pytest.mark.parametrize(
    ("found", "tool", "path", "state"),
    [
        # A refusal stays behind what it is to win over, though its pattern stood before it.
        (
            claude(allow=["Read(./secrets/**)", "Edit(./**)"], deny=["Edit(./secrets/**)"]),
            *("edit", "secrets/x", "deny"),
        ),
        (
            claude(allow=["Read(./secrets/**)", "Edit(./**)"], deny=["Edit(./secrets/**)"]),
            *("read", "secrets/x", "allow"),
        ),
        (
            claude(allow=["Read(//srv/a/**)", "Edit(//srv/**)"], deny=["Edit(//srv/a/**)"]),
            *("write", "/srv/a/x", "deny"),
        ),
        (
            opencode(read={".env": "allow"}, edit={"*": "allow", ".env": "deny"}),
            *("edit", ".env", "deny"),
        ),
        (
            pi(**{"read:/srv/*": "ask", "write:*": "ask", "write:/srv/*": "deny"}),
            *("write", "/srv/b", "deny"),
        ),
        # What goes to the end with it must not win over what it stood before.
        (
            opencode(
                read={"*": "ask", "src/*": "allow", "src/a": "deny"},
                edit={"src/*": "ask"},
            ),
            *("read", "src/a", "deny"),
        ),
    ],
)
def test_the_order_of_operations(found, tool, path, state):
    """One pattern has one place for all operations, and none of them becomes looser by it."""
    assert str(decided(found, tool, path)) == state


def test_what_becomes_stricter_is_told():
    """By name; where the pattern has another spelling, nothing needs to."""
    read = {"/*.*": "allow", "/srv/a": "deny", "x": "ask"}
    found = opencode(read=read, edit={"/*.*": "ask"})
    assert found.notes == [
        "read of /**.** = allow: cannot stand before and after other rules, so it is deny"
    ]
    found = opencode(read={**read, "src/*": "allow", "src/a": "deny"}, edit={"src/*": "ask"})
    assert not found.notes
    assert decided(found, "read", "src/b") is State.ALLOW
    assert decided(found, "read", "src/a") is State.DENY
    assert decided(found, "edit", "src/b") is State.ASK
    home = opencode(read={"~/*": "allow", "~/x": "deny"}, edit={"~/*": "deny"})
    assert decided(home, "write", "/home/me/y") is State.DENY
    found = claude(allow=["Read(./src/**)"], ask=["Read(./x/**)"], deny=["Edit(./src/**)"])
    assert list(found.tables["paths"]) == ["./src/**", "./x/**"]  # they cannot meet


@pytest.mark.parametrize(
    "pattern", ["./a/$HOME/**", "/x[ab]c", "${A}/b", "$A/*", "~/**", "/srv/[[]x", "*", "/a/b.c"]
)
def test_another_spelling_means_the_same(pattern):
    """Letters of variables and in brackets stay as they are."""
    env = {"HOME": "/home/me", "A": "/a"}
    texts = ("/home/me/app/a/home/me/x", "/xac", "/a/b", "/home/me/x", "/srv/[x", "/a/b.c", "/a")
    first = resolved(pattern, env, CWD)
    for text in respelled(pattern):
        again = resolved(text, env, CWD)
        assert [covers(first, one) for one in texts] == [covers(again, one) for one in texts], text


# --- against the source's own semantics --------------------------------------------------------


def meant_by_claude(rules, tool, path):
    """Deny before ask before allow, where a rule is for the path or for a folder above it."""
    said = [state for name, pattern, state in rules if tool == name and ignores(pattern, path)]
    return max(map(State, said), key=lambda state: state.strictness, default=None)


def ignores(pattern, path):
    """Whether gitignore's patterns, as far as they are used here, match: exactly, or from above."""
    whole = path if path.startswith("/") else f"{CWD}/{path}"
    base = pattern[1:] if pattern.startswith("//") else None
    if base is None and pattern.startswith("~"):
        base = f"/home/me{pattern[1:]}"
    if base is None:
        inner = pattern.removeprefix("./").lstrip("/")
        anywhere = "/" not in pattern.rstrip("/")
        base = f"{CWD}/**/{inner}" if anywhere else f"{CWD}/{inner}"
    base = re.escape(base.rstrip("/")).replace(r"/\*\*/", "/(.*/)?").replace(r"\*\*", ".*")
    return re.fullmatch(f"{base.replace(chr(92) + '*', '[^/]*')}(/.*)?", whole) is not None


CLAUDE = ("./**", "/src/**", "src/a", "./secrets/**", "secrets", "~/notes/**", "//srv/**")
CLAUDE_RULES = st.lists(
    st.tuples(st.sampled_from(["Read", "Edit"]), st.sampled_from([*CLAUDE, "//srv/a/**"]), STATE),
    max_size=6,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(CLAUDE_RULES)
def test_claude(rules):
    """No path is treated milder than there."""
    lists = {s: [f"{name}({pattern})" for name, pattern, of in rules if of == s] for s in STATES}
    found = claude(**lists)
    for tool, name in (("read", "Read"), ("edit", "Edit"), ("write", "Edit")):
        for path in (*PATHS, *OUTSIDE):
            meant = meant_by_claude(rules, name, path)
            if meant is not None:
                assert decided(found, tool, path).strictness >= meant.strictness, (tool, path)


def last_match(rules, path):
    """opencode's and pi's way: the last rule that matches, a star across folders."""
    said = None
    for pattern, state in rules.items():
        pattern = pattern.replace("~", "/home/me")  # noqa: PLW2901
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        if re.fullmatch(expression, path, re.DOTALL):
            said = State(state)
    return said


OPENCODE = st.dictionaries(
    st.sampled_from(["*", "src/*", "src/**", "src/?", "secrets/*", "*x", ".env", "src", "*/x"]),
    STATE,
    max_size=4,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(OPENCODE, OPENCODE, st.booleans())
def test_opencode(read, edit, edit_first):
    """As above."""
    block = {"edit": edit, "read": read} if edit_first else {"read": read, "edit": edit}
    found = opencode(**block)
    for tool, rules in (("read", read), ("edit", edit)):
        for path in PATHS:
            meant = last_match(rules, path)
            if meant is not None:
                assert decided(found, tool, path).strictness >= meant.strictness, (tool, path)


PI = st.dictionaries(
    st.tuples(
        st.sampled_from(["read", "write", "edit"]),
        st.sampled_from(["*", "/srv/*", "/srv/a/*", "~/notes/*", "/srv/b"]),
    ),
    STATE,
    max_size=5,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(PI)
def test_pi(rules):
    """As above."""
    found = pi(**{f"{tool}:{pattern}": state for (tool, pattern), state in rules.items()})
    for tool in ("read", "write", "edit"):
        of_tool = {pattern: state for (name, pattern), state in rules.items() if name == tool}
        for path in OUTSIDE:
            meant = last_match(of_tool, path)
            if meant is not None:
                assert decided(found, tool, path).strictness >= meant.strictness, (tool, path)
