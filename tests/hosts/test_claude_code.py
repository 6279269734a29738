"""Claude Code's PreToolUse hook: payload in, its own answer out, and never a silent allow."""

import json
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringfence import Engine
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.hosts import host
from ringfence.engine.hosts.model import MAX_REASON
from ringfence.engine.hosts.payload import PayloadError
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules.model import State

CWD = "/home/dev/project"
HOST = host("claude-code")


def payload(tool="Read", tool_input=None, **changes):
    """A payload as the host sends it."""
    fields = {
        "session_id": "s1",
        "transcript_path": "/home/dev/.claude/projects/x/s1.jsonl",
        "cwd": CWD,
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": {"file_path": "/etc/hosts"} if tool_input is None else tool_input,
        "tool_use_id": "toolu_1",
    }
    fields |= changes
    return json.dumps({key: value for key, value in fields.items() if value is not ...}).encode()


def call(*arguments, **changes):
    """The ToolCall that a payload is read as."""
    return HOST.read(payload(*arguments, **changes), {}).call


def answer(content, **tools):
    """The host's answer under a policy with rules for tools: (decision, reason) or None."""
    table = tuple(Entry("tools", name, State(state), "f:1") for name, state in tools.items())
    policy = LayeredPolicy((Layer("t", "f", {"tools": table}),))
    request = HOST.read(content, {})
    decision = Engine(policy, NoFileSystem()).decide(request.call)
    result = HOST.answer(decision, request)
    assert (result.stderr, result.status) == ("", 0)
    if not result.stdout:
        return None
    output = json.loads(result.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    return output["permissionDecision"], output["permissionDecisionReason"]


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        ("Bash", {"command": "ls", "timeout": 9}, ("bash", {"command": "ls", "timeout": 9})),
        ("Read", {"file_path": "/a"}, ("read", {"path": "/a"})),
        ("Write", {"file_path": "/a", "content": "x"}, ("write", {"path": "/a", "content": "x"})),
        ("Edit", {"file_path": "/a"}, ("edit", {"path": "/a"})),
        ("MultiEdit", {"file_path": "/a", "edits": []}, ("edit", {"path": "/a", "edits": []})),
        ("NotebookEdit", {"notebook_path": "/a"}, ("edit", {"path": "/a"})),
        ("Glob", {"pattern": "*", "path": "/a"}, ("find", {"pattern": "*", "path": "/a"})),
        ("Grep", {"pattern": "x"}, ("grep", {"pattern": "x"})),
        ("WebFetch", {"url": "https://e.com"}, ("fetch", {"url": "https://e.com"})),
        ("Skill", {"skill": "pdf"}, ("skill", {"name": "pdf"})),
        ("PowerShell", {"command": "ls"}, ("powershell", {"command": "ls"})),
        ("mcp__echo__say", {"text": "x"}, ("mcp__echo__say", {"text": "x"})),
        ("Tomorrow", {"file_path": "/a"}, ("Tomorrow", {"file_path": "/a"})),
        ("Read", {"path": "/a", "file_path": "/b"}, ("read", {"path": "/a", "file_path": "/b"})),
        ("Read", '{"file_path": "/a"}', ("read", {"path": "/a"})),  # JSON in a string
    ],
)
def test_tools(tool, tool_input, expected):
    """Its tools and their inputs get canonical names; unknown ones keep theirs."""
    read = call(tool, tool_input)
    assert (read.tool, read.input) == expected


def test_who_and_where():
    """A subagent is the agent; the session is kept."""
    read = call(agent_type="Explore", agent_id="a1")
    assert (read.cwd, read.agent, read.session) == (CWD, "Explore", "s1")
    assert call().agent is None


@pytest.mark.parametrize(
    ("variable", "project"),
    [
        ("/home/dev/project", "/home/dev/project"),
        ("/home/dev", "/home/dev"),  # cwd is a subdirectory after a cd
        ("/home/dev/proj", CWD),
        ("", CWD),
        ("relative", CWD),
    ],
)
def test_project_config_after_a_cd(variable, project):
    """The config of the project that the session was started in still holds below it."""
    assert HOST.read(payload(), {"CLAUDE_PROJECT_DIR": variable}).project == project


class TestAnswers:
    """Each decision in the shape that the host reads."""

    def test_no_objection(self):
        """What only defaults allow is left to the host's own rules: no output."""
        assert answer(payload("Read", {"file_path": "a"})) is None

    def test_allow(self):
        """A rule that allows says so, and which."""
        reply = answer(payload("Read", {"file_path": "a"}), read="allow")
        assert reply == ("allow", "Allowed by tools.read (f:1)")

    def test_ask(self):
        """The prompt is the reason that the person sees."""
        verdict, reason = answer(payload())
        assert verdict == "ask"
        assert reason.startswith("Current agent wants to use read on a path outside")

    def test_deny(self):
        """The reason goes to the model."""
        verdict, reason = answer(payload(), read="deny")
        assert verdict == "deny"
        assert "tools.read = deny (f:1)" in reason

    def test_long_reason(self):
        """The host cuts long strings: what is cut must not be the rule at the end."""
        _, reason = answer(payload(tool_input={"paths": ["/x" * 4000 + str(n) for n in range(9)]}))
        assert len(reason) <= MAX_REASON
        assert "special.external_directory = ask" in reason


BAD = {
    "empty": b"",
    "truncated": payload()[:-9],
    "no object": b"[]",
    "not UTF-8": payload().replace(b"s1", b"\xff"),
    "deep": b'{"a":' * 100_000,
    "duplicate keys": payload().replace(b"{", b'{"cwd": "/", ', 1),
    "duplicate keys within": payload(tool_input='{"file_path": "a", "file_path": "/etc/hosts"}'),
    "another event": payload(hook_event_name="PostToolUse"),
    "no event": payload(hook_event_name=...),
    "no cwd": payload(cwd=...),
    "relative cwd": payload(cwd="project"),
    "empty cwd": payload(cwd=""),
    "no tool": payload(tool_name=...),
    "a tool that is no text": payload(tool_name=7),
    "no input": payload(tool_input=...),
    "an input that is a list": payload(tool_input=[]),
    "an input that is broken JSON": payload(tool_input="{"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_payload(name):
    """A payload that is not understood is a PayloadError, never a call."""
    with pytest.raises(PayloadError):
        HOST.read(BAD[name], {})


def test_byte_order_mark():
    """A mark at the beginning is no mistake."""
    assert HOST.read(b"\xef\xbb\xbf" + payload(), {}).call.tool == "read"


@pytest.mark.parametrize(
    "tool_input",
    [{}, {"file_path": None}, {"file_path": 3}, {"file_path": ["/etc/hosts"]}, {"path": "/etc"}],
)
def test_an_input_that_changed(tool_input):
    """A read whose path is missing, odd or elsewhere asks."""
    assert answer(payload(tool_input=tool_input))[0] == "ask"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["cwd", "tool_name", "tool_input", "hook_event_name", "session_id", "agent_type"]


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.integers(0, 400), st.booleans())
@example(changes={"tool_input": {"file_path": "\ud800/../.."}}, length=0, cut=False)
def test_no_payload_crashes_it(changes, length, cut):
    """Whatever is changed or cut: an error that refuses, or an answer."""
    content = payload(**changes)
    content = content[:length] if cut else content
    try:
        request = HOST.read(content, {})
    except PayloadError as error:
        result = HOST.refuse(str(error))
        assert (result.status, "deny" in result.stdout) == (2, True)
        return
    decision = Engine(filesystem=NoFileSystem()).decide(request.call)
    result = HOST.answer(decision, request)
    assert result.stdout or decision.state is State.ALLOW


def hook(content, home, *arguments, **env):
    """Run the program as the host does: (exit status, output, standard error)."""
    result = subprocess.run(
        [sys.executable, "-m", "ringfence.engine.cli", "hook", "claude-code", *arguments],
        input=content,
        capture_output=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", **env},
        check=False,
    )
    return result.returncode, result.stdout.decode(), result.stderr.decode()


class TestProgram:
    """The program as the host starts it."""

    def test_ask(self, tmp_path):
        """Exit status 0, and the answer in JSON; the decision is in the review log."""
        status, output, _ = hook(payload(), tmp_path)
        assert status == 0
        assert json.loads(output)["hookSpecificOutput"]["permissionDecision"] == "ask"
        log = tmp_path / ".local" / "state" / "ringfence" / "review.jsonl"
        entry = json.loads(log.read_text())
        assert (entry["by"], entry["decision"]) == ("hook claude-code", "ask")

    def test_no_objection(self, tmp_path):
        """Nothing on either stream."""
        assert hook(payload(tool_input={"file_path": "a"}), tmp_path) == (0, "", "")

    @pytest.mark.parametrize("content", [b"", payload()[:40], payload(cwd="x")])
    def test_refused(self, tmp_path, content):
        """Every way that this host reads says no: status, output and standard error."""
        status, output, error = hook(content, tmp_path)
        assert status == 2
        assert json.loads(output)["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert error.startswith("Ringfence could not judge this call, so it did not run: ")

    def test_a_bad_config_refuses(self, tmp_path):
        """The stricter policy holds, and the reason names file, line and key."""
        config = tmp_path / ".config" / "ringfence" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[bash]\n"rm *" = "dney"\n')
        status, _, error = hook(payload(tool_input={"file_path": "a"}), tmp_path)
        assert status == 2
        assert f'{config}:2: bash."rm *": must be' in error

    def test_a_project_config_holds_in_its_subdirectories(self, tmp_path):
        """After a cd the project's rules are not forgotten."""
        config = tmp_path / "project" / ".ringfence" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[tools]\nread = "deny"\n')
        content = payload(cwd=f"{tmp_path}/project/src", tool_input={"file_path": "a"})
        project = str(tmp_path / "project")
        _, output, _ = hook(content, tmp_path, CLAUDE_PROJECT_DIR=project)
        assert json.loads(output)["hookSpecificOutput"]["permissionDecision"] == "deny"
