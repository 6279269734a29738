"""From call to decision: what is collected, how verdicts combine, what failures become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ringfence.engine.shell as shell_package
from ringfence import Decision, Engine, ToolCall
from ringfence.engine import messages, pipeline
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules.gates import GATES, Gate
from ringfence.rules.model import (
    Certainty,
    CommandLine,
    Effect,
    Opaque,
    Operation,
    State,
)

CWD = "/home/dev/project"


class FakeEvaluation:
    """What the evaluator would say."""

    def __init__(self, effects=(), opaque=(), commands=()):
        self.effects, self.opaque, self.commands = effects, opaque, commands


@pytest.fixture
def evaluation(monkeypatch):
    """Makes the evaluator answer, or fail, as the test says."""

    def set_to(answer):
        def evaluate(_command, _shell, _grammar):
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr(shell_package, "evaluate", evaluate, raising=False)
        monkeypatch.setattr(shell_package, "Shell", lambda *a: a, raising=False)

    return set_to


def effect(path, operation=Operation.READ, certainty=Certainty.CERTAIN):
    """An effect of ``cat``."""
    return Effect(path, operation, (4, 5), "x", "cat", certainty)


def policy(**tables):
    """A policy of one layer."""
    entries = {
        surface: tuple(Entry(surface, p, State(s), "f:1") for p, s in table.items())
        for surface, table in tables.items()
    }
    return LayeredPolicy((Layer("test", "f", entries),))


def decide(policy=LayeredPolicy(), command="cat x"):  # noqa: B008
    """The decision on a bash command in CWD."""
    return Engine(policy, NoFileSystem()).decide(ToolCall.bash(command, CWD, env={}))


class TestCombining:
    """Any deny wins; ask is one prompt; a decision knows whether only defaults spoke."""

    @pytest.mark.parametrize(
        ("tables", "outside", "state", "default"),
        [
            ({}, False, "allow", True),
            ({}, True, "ask", True),
            ({"bash": {"*": "allow"}}, False, "allow", False),
            ({"bash": {"*": "allow"}}, True, "ask", True),  # the default asks, no rule
            ({"bash": {"*": "ask"}}, True, "ask", False),
            ({"special": {"external_directory": "ask"}}, True, "ask", False),
            ({"special": {"external_directory": "deny"}}, True, "deny", False),
            ({"special": {"external_directory": "allow"}}, True, "allow", True),  # a no-op
            ({"special": {"external_directory": "allow"}, "bash": {"*": "deny"}}, True, "deny", 0),
            ({"bash": {"*": "deny"}}, True, "deny", False),
        ],
    )
    def test_states(self, evaluation, tables, outside, state, default):
        """The strictest verdict decides."""
        effects = (effect("/etc/hosts"),) if outside else (effect(f"{CWD}/x"),)
        evaluation(FakeEvaluation(effects, (), (CommandLine("cat x", (0, 5), ("cat", "x")),)))
        decision = decide(policy(**tables))
        assert (decision.state, decision.default) == (state, bool(default))
        assert bool(decision.message) is (state != "allow")

    @pytest.mark.parametrize(
        ("table", "state", "default"),
        [
            ({"git *": "allow"}, "allow", True),  # nobody spoke for rm
            ({"git *": "allow", "rm *": "allow"}, "allow", False),
            ({"git *": "ask"}, "ask", False),  # one rule is enough to ask
        ],
    )
    def test_an_allow_of_which_a_part_rests_on_a_default(self, evaluation, table, state, default):
        """A host must not skip its own prompt for a part that no rule allows."""
        commands = tuple(
            CommandLine(text, (0, 1), tuple(text.split())) for text in ("git status", "rm x")
        )
        evaluation(FakeEvaluation(commands=commands))
        decision = decide(policy(bash=table))
        assert (decision.state, decision.default) == (state, default)

    def test_every_verdict_is_kept(self, evaluation):
        """A denied call still says what else would have asked."""
        evaluation(FakeEvaluation((effect("/etc/hosts"),)))
        decision = decide(policy(bash={"*": "deny"}))
        assert [(v.gate, str(v.state)) for v in decision.verdicts] == [
            ("external_directory", "ask"),
            ("bash", "deny"),
        ]


class TestFindings:
    """What is outside, once each."""

    def test_inside_is_no_finding(self, evaluation):
        """Effects inside stay effects; a sibling with the same beginning is outside."""
        paths = [CWD, f"{CWD}/a", f"{CWD}2/a", "/dev/null", "/home/dev"]
        evaluation(FakeEvaluation(tuple(map(effect, paths))))
        decision = decide()
        assert [f.path for f in decision.findings] == [f"{CWD}2/a", "/home/dev"]
        assert len(decision.effects) == len(paths)

    def test_duplicates(self, evaluation):
        """The same path and operation is one finding, certain if it once is, in order."""
        effects = (
            effect("/b", certainty=Certainty.POSSIBLE),
            effect("/a"),
            effect("/b"),
            effect("/b", Operation.WRITE),
        )
        evaluation(FakeEvaluation(effects))
        found = [
            (f.path, str(f.effect.operation), str(f.effect.certainty)) for f in decide().findings
        ]
        assert found == [
            ("/b", "read", "certain"),
            ("/a", "read", "certain"),
            ("/b", "write", "certain"),
        ]

    def test_a_cwd_that_is_not_tidy(self, evaluation):
        """A trailing slash or a dot in cwd changes nothing."""
        evaluation(FakeEvaluation((effect(f"{CWD}/x"),)))
        call = ToolCall.bash("cat x", f"{CWD}/./", env={})
        assert Engine(filesystem=NoFileSystem()).decide(call).state is State.ALLOW

    def test_bash_with_a_directory_of_its_own(self, evaluation):
        """A `workdir` outside is entered: that is an effect."""
        evaluation(FakeEvaluation())
        call = ToolCall("bash", {"command": "ls", "workdir": "../other"}, CWD, env={})
        decision = Engine(filesystem=NoFileSystem()).decide(call)
        found = [(f.path, str(f.effect.operation)) for f in decision.findings]
        assert found == [("/home/dev/other", "enter")]


class TestFailures:
    """Nothing that goes wrong becomes an allow."""

    @pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), MemoryError()])
    def test_the_evaluator_fails(self, evaluation, error):
        """The whole command is opaque then, and the exception is named."""
        evaluation(error)
        decision = decide()
        assert decision.state is State.ASK
        assert decision.opaque[0].reason == (
            f"Ringfence failed while this call was read ({type(error).__name__})"
        )

    def test_the_evaluator_fails_under_a_policy_that_allows_everything(self, evaluation):
        """Even then: what was not read was not allowed."""
        evaluation(ValueError())
        everything = policy(bash={"*": "allow"}, special={"external_directory": "allow"})
        assert decide(everything).state is State.ASK

    def test_a_deny_holds_though_the_evaluator_fails(self, evaluation):
        """The line itself is still judged."""
        evaluation(ValueError())
        assert decide(policy(bash={"cat *": "deny"})).state is State.DENY

    def test_a_gate_fails(self, evaluation, monkeypatch):
        """The other gates are still heard, and the answer is ask at least."""

        def fail(_facts, _policy):
            raise ZeroDivisionError

        evaluation(FakeEvaluation())
        monkeypatch.setattr(pipeline, "GATES", (Gate("broken", "Fails.", fail), *GATES))
        assert decide().state is State.ASK
        assert decide(policy(bash={"*": "deny"})).state is State.DENY

    def test_the_message_fails(self, evaluation, monkeypatch):
        """The decision stands, with a plain message."""

        def fail(_decision):
            raise ZeroDivisionError

        evaluation(FakeEvaluation((effect("/etc/hosts"),)))
        monkeypatch.setattr(messages, "decision_message", fail)
        decision = decide()
        assert decision.state is State.ASK
        assert decision.message == "ask (this could not be explained: ZeroDivisionError)"

    @pytest.mark.parametrize("cwd", ["", "project", "./x", "~/x", "C:\\x"])
    def test_cwd_must_be_absolute(self, cwd):
        """Without knowing where, nothing can be decided: that is the caller's mistake."""
        with pytest.raises(ValueError, match="cwd must be an absolute path"):
            Engine().decide(ToolCall.bash("ls", cwd))

    @pytest.mark.parametrize("data", [{}, {"command": None}, {"command": ["ls"]}])
    def test_bash_without_a_command(self, data):
        """Is not understood, so it is asked about."""
        decision = Engine().decide(ToolCall("bash", data, CWD))
        assert (decision.state, len(decision.opaque)) == (State.ASK, 1)

    def test_an_input_that_contains_itself(self):
        """Ends, and asks."""
        data = {"x": []}
        data["x"].append(data)
        assert Engine().decide(ToolCall("query", data, CWD)).state is State.ASK

    @given(
        st.sampled_from(["read", "find", "bash", "mcp__a__b", "x"]),
        st.dictionaries(
            st.sampled_from(["path", "command", "cwd", "url", "pattern", "files", "x"]),
            st.recursive(
                st.none() | st.integers() | st.text(),
                lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
                max_leaves=4,
            ),
        ),
    )
    def test_any_input_gets_a_decision(self, tool, data):
        """Whatever an agent sends, the answer is a Decision."""
        call = ToolCall(tool, data, CWD, env={"HOME": "/home/dev"})
        assert isinstance(Engine(filesystem=NoFileSystem()).decide(call), Decision)


def test_opaque_asks(evaluation):
    """A part that cannot be known is asked about by the external gate."""
    evaluation(FakeEvaluation(opaque=(Opaque("unknown", (0, 1), "c"),)))
    assert decide().state is State.ASK


@pytest.mark.parametrize(
    ("env", "home"),
    [({"HOME": "/h"}, "/h"), ({}, "/process"), (None, "/process")],
)
def test_home(monkeypatch, env, home):
    """HOME comes from the call, then from this process."""
    monkeypatch.setenv("HOME", "/process")
    call = ToolCall("read", {"path": "~/x"}, CWD, env=env)
    decision = Engine(filesystem=NoFileSystem()).decide(call)
    assert [f.path for f in decision.findings] == [f"{home}/x"]
