"""``ringfence hook``: whatever goes wrong ends in the host's own refusal, and in time."""

import argparse
import io
import sys
import time

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.cli import hook
from ringfence.engine.hosts.model import Answer, Host, Request


def ask_through(monkeypatch, read, answer=lambda decision: Answer(decision.state)):
    """Run the hook for a host that is made of ``read`` and ``answer``: its exit status."""
    host = Host("fake", read, answer, lambda reason: Answer("refused", reason, 2))
    monkeypatch.setattr(hook, "HOSTS", {"fake": host})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"payload")))
    return hook.run(argparse.Namespace(host="fake", config=None))


def read_call(_content, _env):
    """A host's question about a plain call."""
    return Request(ToolCall("ls", {}, "/tmp"), "/tmp")


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

    answer = fail if place == "answer" else lambda _: Answer()
    assert ask_through(monkeypatch, fail if place == "read" else read_call, answer) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("refused\n", f"internal error {type(error).__name__}\n")


def test_a_slow_answer_is_refused(monkeypatch, capsys):
    """The host would give up waiting and let the call run."""
    monkeypatch.setattr(hook, "TIME_LIMIT", 0.05)
    start = time.monotonic()
    assert ask_through(monkeypatch, lambda *_: time.sleep(30)) == 2
    assert time.monotonic() - start < 5
    assert "TimeoutError" in capsys.readouterr().err


def test_code_that_catches_everything_is_slow_only_once(monkeypatch, capsys):
    """The alarm goes off again."""

    def twice(_engine, _call):
        with pytest.raises(TimeoutError):
            time.sleep(30)
        time.sleep(30)

    monkeypatch.setattr(hook, "TIME_LIMIT", 0.05)
    monkeypatch.setattr(Engine, "decide", twice)
    assert ask_through(monkeypatch, read_call) == 2
    assert "TimeoutError" in capsys.readouterr().err


def test_nobody_reads_the_answer(monkeypatch):
    """With no way to say it, the status alone must block."""

    class Closed(io.StringIO):
        def write(self, _text):
            raise BrokenPipeError

    for stream in (Closed(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        assert ask_through(monkeypatch, read_call) == 2
