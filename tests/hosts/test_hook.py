"""``ringfence hook``: whatever goes wrong ends in the host's own refusal, and in time."""

import argparse
import io
import json
import os
import re
import signal
import sys
import time

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.approval import unanswered
from ringfence.engine.cli import hook
from ringfence.engine.hosts import HOSTS, host
from ringfence.engine.hosts.model import Answer, Host, Request
from ringfence.engine.hosts.payload import PayloadError


def ask_through(monkeypatch, read, answer=lambda decision, _: Answer(decision.state)):
    """Run the hook for a host that is made of ``read`` and ``answer``: its exit status."""
    fake = Host("fake", read, answer, lambda reason: Answer("refused", reason, 2), dict)
    monkeypatch.setattr(hook, "host", {"fake": fake}.get)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"payload")))
    return hook.run(argparse.Namespace(host="fake", config=None, start_resident=False))


def read_call(_content, _env):
    """A host's question about a plain call."""
    return Request(ToolCall("ls", {}, "/srv"), "/srv")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """No config and no log of this user's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)


def test_answer(monkeypatch, capsys):
    """The host's own answer to the decision."""
    assert ask_through(monkeypatch, read_call) == 0
    assert capsys.readouterr().out == "allow\n"


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(), MemoryError(), KeyboardInterrupt(), SystemExit(0)]
)
@pytest.mark.parametrize("place", ["read", "answer"])
def test_any_failure_refuses(monkeypatch, capsys, error, place):
    """Even one that would end the program with success."""

    def fail(*_):
        raise error

    answer = fail if place == "answer" else lambda *_: Answer()
    assert ask_through(monkeypatch, fail if place == "read" else read_call, answer) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("refused\n", f"internal error {type(error).__name__}\n")


def hangs_in_python(*_):
    """Waits, and catches everything."""
    while True:
        try:
            time.sleep(30)
        except BaseException:  # noqa: BLE001
            continue


def hangs_in_c(*_):
    """A regular expression holds the interpreter's lock: no signal handler would run."""
    re.match(r"(a*)*b", "a" * 40)


def kills_itself(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(*_):
    os._exit(0)


@pytest.mark.parametrize("hang", [hangs_in_python, hangs_in_c])
def test_a_hang_is_refused_within_a_second(monkeypatch, capsys, hang):
    """The host would give up waiting and let the call run."""
    start = time.monotonic()
    assert ask_through(monkeypatch, hang) == 2
    assert time.monotonic() - start < 3  # loading the engine comes first
    assert "no answer within 0.9 seconds" in capsys.readouterr().err


@pytest.mark.parametrize("end", [kills_itself, leaves])
def test_a_death_is_refused(monkeypatch, capsys, end):
    """Even with success for an exit status."""
    assert ask_through(monkeypatch, end) == 2
    assert "ended without an answer" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_who_can_ask(name, monkeypatch, tmp_path):
    """Where a host cannot ask, the log says so, and the answer is that nobody was asked."""
    project = tmp_path / "p"
    project.mkdir()
    monkeypatch.chdir(project)
    asking = host(name)
    for variable, value in asking.environment.items():
        monkeypatch.setenv(variable, value)
    content = json.dumps(asking.sample("cat /etc/hosts", str(project))).encode()
    request = asking.read(content, os.environ)
    decision = Engine().decide(request.call)
    assert decision.state == "ask"
    asked, unasked = (asking.answer(d, request) for d in (decision, unanswered(decision)))
    assert (asked != unasked) is asking.asks(request)
    hook.respond(asking, content, None)
    log = tmp_path / ".local/state/ringfence/review.jsonl"
    [entry] = [json.loads(line) for line in log.read_text().splitlines()]
    expected = ("ask", None) if asking.asks(request) else ("deny", "refused: nobody to ask")
    assert (entry["decision"], entry.get("resolution")) == expected


def test_a_refusal_is_in_the_log(monkeypatch, tmp_path):
    """Whoever looks for why the agent stopped finds it."""

    def broken(*_):
        raise PayloadError("no JSON")

    ask_through(monkeypatch, broken)
    (line,) = (tmp_path / ".local/state/ringfence/review.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["by"], entry["decision"], entry["refused"]) == ("hook fake", "deny", "no JSON")


def test_nobody_reads_the_answer(monkeypatch):
    """With no way to say it, the status alone must block."""

    class Closed(io.StringIO):
        def write(self, _text):
            raise BrokenPipeError

    for stream in (Closed(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        assert ask_through(monkeypatch, read_call) == 2
