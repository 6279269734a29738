"""The process that judges: whatever becomes of the engine there, the proxy has an answer."""

import json
import os
import signal
import time

import pytest

from ringfence import Engine
from ringfence.engine.log import ReviewLog
from ringfence.engine.loops import LoopStore
from ringfence.engine.mcp import judge
from ringfence.engine.mcp.judge import Bench, Case, Judge
from ringfence.engine.mcp.proxy import Proxy

INSIDE = Case("mcp__notes__read", {"path": "a.md"}, "/home/dev/project", "s")


@pytest.fixture
def bench(tmp_path):
    """Makes a bench, which is ended at last."""
    made = []

    def make(load=Engine):
        made.append(Bench(Judge(load, ReviewLog(tmp_path / "log", "mcp-proxy"))))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Odd(Engine):
    """An engine that does what a call is named like."""

    def approve(self, call, approver):
        match call.tool:
            case "hang":
                time.sleep(60)
            case "exit":
                os._exit(0)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise KeyError
            case "garbage":
                raise SystemExit
            case "print":
                os.write(1, b"to the client?")
            case "deep":
                return self.approve(call, approver)
        return super().approve(call, approver)


TIME_LIMIT = judge.TIME_LIMIT


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A machine that tests keep busy is no reason to refuse."""
    monkeypatch.setattr(judge, "TIME_LIMIT", 60)
    monkeypatch.setattr(judge, "START_LIMIT", 60)


@pytest.mark.parametrize("tool", ["exit", "kill", "raise", "garbage", "deep"])
def test_an_engine_that_ends(bench, tool, tmp_path):
    """The call is refused, the reason is in the log, and the next one is judged."""
    bench = bench(Odd)
    said = bench(Case(tool, {}, "/home/dev/project", "s"))
    assert said.objection.startswith("Ringfence could not judge this call, so it did not run: ")
    assert json.loads((tmp_path / "log").read_text())["decision"] == "deny"
    assert not (bench(INSIDE).objection or "").startswith("Ringfence could not judge")


def test_an_engine_that_hangs(bench, monkeypatch):
    """It is refused within a second."""
    monkeypatch.setattr(judge, "TIME_LIMIT", TIME_LIMIT)
    bench = bench(Odd)
    assert "no answer within 0.8 seconds" in bench(Case("hang", {}, "/", "s")).objection
    assert TIME_LIMIT + judge.GRACE < 1


def test_nothing_is_printed(bench, capfd):
    """Standard output is the client's."""
    bench(Odd)(Case("print", {}, "/", "s"))
    assert capfd.readouterr().out == ""


def test_a_process_that_is_gone(bench):
    bench = bench()
    assert "is gone" not in (bench(INSIDE).objection or "")
    os.kill(bench.process, signal.SIGKILL)
    for _ in range(2):
        assert "is gone; start this server anew" in bench(INSIDE).objection


def test_signals_are_for_the_server(bench):
    """A Ctrl-C at the terminal reaches the whole group."""
    bench = bench()
    bench(INSIDE)
    os.kill(bench.process, signal.SIGINT)
    assert "is gone" not in (bench(INSIDE).objection or "")


def test_arguments_of_any_depth(bench):
    """As deep as JSON is read, and deeper: judged or refused, never an exception."""
    value = "/etc/hosts"
    for _ in range(5000):
        value = [value]
    assert bench()(Case("t", {"a": value}, "/home/dev/project", "s")).objection


def test_a_judgement_comes_as_it_was_made(bench):
    case = Case("mcp__notes__read", {"path": "/etc/hosts\udc80"}, "/home/dev/project", "s", "ask")
    said = bench()(case)
    assert said.question is not None
    assert (said.question, list(said.answers)) == (
        Judge(Engine)(case).question,
        Judge(Engine)(case).answers,
    )


# --- loops --------------------------------------------------------------------------------------


def call(arguments, **params):
    params = {"name": "read", "arguments": arguments, **params}
    return json.dumps({"id": 1, "method": "tools/call", "params": params}).encode() + b"\n"


def test_a_loop(tmp_path):
    """The same call in a row is asked about, as `special.doom_loop` says; another begins anew."""
    proxy = looping(tmp_path)
    assert [bool(proxy.from_client(call({"path": "a"})).to_client) for _ in range(3)] == [
        False,
        False,
        True,
    ]
    assert not proxy.from_client(call({"path": "b"})).to_client


def test_a_question_and_its_answer_are_one_call(tmp_path):
    proxy = looping(tmp_path)
    start = {"method": "initialize", "params": {"capabilities": {"elicitation": {}}}}
    proxy.from_client(json.dumps(start).encode())
    questions = []
    for _ in range(3):
        question = json.loads(proxy.from_client(call({"path": "/etc/hosts"})).to_client)
        questions.append(question["params"]["message"])
        content = {"answer": "Once (nothing is kept)"}
        answer = {"id": question["id"], "result": {"action": "accept", "content": content}}
        assert proxy.from_client(json.dumps(answer).encode()).to_server
    assert ["doom_loop" in question for question in questions] == [False, False, True]


def looping(tmp_path):
    config = tmp_path / "rules.toml"
    config.write_text('[special]\ndoom_loop = "ask"\n[mcp]\n"notes:read" = "allow"')

    def load():
        return Engine.load(None, config=str(config), loops=LoopStore(tmp_path / "loops.json"))

    return Proxy(Judge(load), "notes", "/home/dev/project")
