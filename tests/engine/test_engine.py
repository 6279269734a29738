"""The one door, end to end: real commands, real files, real policies."""

import doctest
import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

import ringfence
import ringfence.engine.engine
from ringfence import Decision, Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.policy import ConfigError
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.grammar import bash
from ringfence.rules.model import State

CWD = "/home/dev/project"
ENV = {"HOME": "/home/dev"}


def policy(**tables):
    """A policy of one layer."""
    return LayeredPolicy((layer(**tables),))


def layer(**tables):
    """One layer."""
    entries = {
        surface: tuple(Entry(surface, p, State(s), "f:1") for p, s in table.items())
        for surface, table in tables.items()
    }
    return Layer("test", "f", entries)


def decide(command, policy=LayeredPolicy()):  # noqa: B008
    """The decision on a bash command, no files looked at."""
    return Engine(policy, NoFileSystem()).decide(ToolCall.bash(command, CWD, env=ENV))


def test_the_public_names():
    """What users need is at the top, where `dir` and `import *` find it."""
    assert set(ringfence.__all__) <= set(dir(ringfence))
    assert all(getattr(ringfence, name) is not None for name in ringfence.__all__)
    assert set(ringfence.__all__) == set(ringfence.engine.__all__)


@pytest.fixture
def user(tmp_path, monkeypatch):
    """A user with a policy, in a folder of their own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".config/ringfence").mkdir(parents=True)
    (tmp_path / ".config/ringfence/config.toml").write_text('[special]\ndoom_loop = "deny"\n')
    (tmp_path / "project").mkdir()
    return tmp_path


def test_of_user(user):
    """The review log, grants and loops are the user's; `load` has none of them."""
    cwd = str(user / "project")
    engine = Engine.of_user(cwd, by="mine")
    call = ToolCall.bash("cat /etc/hosts", cwd, session="s", agent="a")
    assert [str(engine.decide(call).state) for _ in range(3)] == ["ask", "ask", "deny"]
    assert len(engine.offers(engine.decide(evolve(call, session="t")))) > 1
    rows = [json.loads(x) for x in (user / ".local/state/ringfence/review.jsonl").open()]
    assert [(row["by"], row["session"], row["agent"]) for row in rows[:1]] == [("mine", "s", "a")]
    plain = Engine.load(cwd)
    assert (plain.log, plain.grants, plain.loops) == (None, None, None)


def test_the_way_out_names_the_config_that_holds(user):
    """A rule in the user's own file would change nothing where another holds instead."""
    (user / "c.toml").write_text("")
    call = ToolCall.bash("cat /etc/hosts", str(user / "project"))
    other = Engine.load(str(user / "project"), config=str(user / "c.toml"))
    assert f"by a rule in {user}/c.toml." in other.decide(call, asks=False).message
    own = Engine.load(str(user / "project")).decide(call, asks=False).message
    assert "by a rule in ~/.config/ringfence/config.toml (or in .ringfence/" in own


@pytest.mark.usefixtures("user")
def test_a_call_with_roots():
    """Other folders that count as inside."""
    call = ToolCall.bash("cat ../shared/x", CWD, roots=("/home/dev/shared",), env=ENV)
    assert Engine().decide(call).state is State.ALLOW


@pytest.mark.usefixtures("user")
def test_a_grammar_under_the_users_policy():
    """An operator of one's own needs no policy by hand."""
    grammar = bash().extend("%extend terminator: DISOWN\nDISOWN: /&!/")
    engine = Engine.load(None, grammar=grammar)
    assert engine.decide(ToolCall.bash("ls &! ls", CWD)).state is State.ALLOW
    assert Engine.load(None).decide(ToolCall.bash("ls &! (", CWD)).state is State.ASK


def test_example():
    """The example in the docstring holds."""
    assert doctest.testmod(ringfence.engine.engine).failed == 0


@pytest.mark.parametrize(
    ("command", "state"),
    [
        ("cat README.md", "allow"),
        ("cat /etc/hosts", "ask"),
        ("cat ../notes.txt", "ask"),
        ("cat ~/notes.txt", "ask"),
        ("cat ~/project/README.md", "allow"),
        ("make > /dev/null 2>&1", "allow"),
        ('git commit -m "mend /etc/hosts"', "allow"),
        ("bash -c 'cat /etc/hosts'", "ask"),
        ('eval "$(cat x)"', "ask"),
        ("cat (", "ask"),
    ],
)
def test_defaults(command, state):
    """Without any config: outside and unknown ask, all else is allowed by default."""
    decision = decide(command)
    assert (decision.state, decision.default) == (state, True)


@pytest.mark.parametrize(
    ("command", "state"),
    [
        ("git status", "allow"),
        ("git status && rm -rf x", "ask"),
        ("git status; git push", "deny"),
        ("(git log | git push)", "deny"),
        ("for x in a b; do git log $x; done", "allow"),
        ("env A=1 git push", "deny"),
        ("bash -c 'git push'", "deny"),
        ("g=git; $g push", "deny"),
        ("x=$(git push)", "deny"),
        ("git log > ../x", "ask"),
    ],
)
def test_bash_rules(command, state):
    """Each command that would run is judged, wherever it stands."""
    table = {"*": "ask", "env *": "allow", "bash *": "allow", "git *": "allow"}
    assert decide(command, policy(bash={**table, "git push*": "deny"})).state == state


def test_load(tmp_path, monkeypatch):
    """Reads the user's and the project's files; a bad one is an error, never ignored."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "project"
    (project / ".ringfence").mkdir(parents=True)
    config = project / ".ringfence" / "config.toml"
    config.write_text('[bash]\n"ls" = "deny"\n')
    call = ToolCall.bash("ls", str(project))
    assert Engine.load(str(project)).decide(call).state is State.DENY
    config.write_text('[bash]\n"ls" = "no"\n')
    with pytest.raises(ConfigError, match=r"config\.toml:2: bash\.ls"):
        Engine.load(str(project))


COMMANDS = st.sampled_from(
    [
        "ls",
        "cat /etc/hosts",
        "git push && rm x",
        "bash -c 'rm ../x'",
        "cat $(echo x) > /tmp/y",
        "rm $x",
        "eval $x",
        "a b (",
    ]
)
PATTERNS = st.sampled_from(["*", "ls", "git *", "rm *", "cat *", "*x*", "git push && rm x"])
STATES = st.sampled_from(list(State))
TABLES = st.dictionaries(PATTERNS, STATES, max_size=4)


@given(COMMANDS, TABLES, PATTERNS, STATES)
def test_a_deny_at_the_end_never_loosens(command, table, pattern, outside):
    """Adding a deny rule never turns an answer milder."""
    before = policy(bash=table, special={"external_directory": outside})
    after = LayeredPolicy((*before.layers, layer(bash={pattern: "deny"})))
    strictness = [decide(command, p).state.strictness for p in (before, after)]
    assert strictness == sorted(strictness)


@given(COMMANDS, TABLES)
def test_the_external_gate_never_loosens(command, table):
    """allow, ask, deny: each is at least as strict as the one before."""
    answers = [
        decide(command, policy(bash=table, special={"external_directory": state}))
        for state in State
    ]
    strictness = [answer.state.strictness for answer in answers]
    assert strictness == sorted(strictness)


@given(st.text())
def test_any_command_gets_a_decision(command):
    """Whatever the text, the answer is a Decision and its message can be shown."""
    decision = decide(command)
    assert isinstance(decision, Decision)
    assert all(c.isprintable() or c in "\n\t" for c in decision.message)


def test_a_grammar_of_ones_own():
    """What an operator joins is judged, though Ringfence knows nothing else of it."""
    from ringfence.grammar import bash
    from ringfence.grammar.nodes import Extension

    grammar = bash().extend(
        "%extend and_or: and_or TO newlines_opt pipeline -> to\nTO: /\\|>/",
        {"to": lambda left, op, _, right: Extension(left.span, op.text, (left, right))},
    )
    call = ToolCall.bash("ls |> cat /etc/hosts", cwd="/home/dev/project", env={})
    (finding,) = Engine(grammar=grammar).decide(call).findings
    assert finding.path == "/etc/hosts"
