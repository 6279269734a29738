"""The review log: what goes in, whose it is, and that no line is torn or lost."""

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.log import ReviewLog, append, files
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules.model import State

CWD = "/home/dev/project"


def engine(log, **tools):
    """An engine with a log and rules for tools."""
    table = tuple(Entry("tools", name, State(state), "f:1") for name, state in tools.items())
    return Engine(LayeredPolicy((Layer("t", "f", {"tools": table}),)), NoFileSystem(), log)


@pytest.fixture
def log(tmp_path):
    """A log in an empty folder that does not exist yet."""
    return ReviewLog(tmp_path / "state" / "ringfence" / "review.jsonl", "test")


def entries(log):
    """The entries in the log, none of them torn."""
    if not log.path.exists():
        return []
    return [json.loads(line) for line in log.path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("tools", "path", "logged"),
    [
        ({}, "x", False),  # a plain allow by default
        ({"read": "allow"}, "x", True),
        ({"read": "deny"}, "x", True),
        ({}, "/etc/hosts", True),
    ],
)
def test_what_is_written(log, tools, path, logged):
    """Every decision but a plain allow by default."""
    engine(log, **tools).decide(ToolCall("read", {"path": path}, CWD))
    assert bool(entries(log)) is logged


def test_entry(log):
    """An entry holds the call, the decision and everything it rests on."""
    call = ToolCall("write", {"path": "/tmp/a", "content": "x" * 9999}, CWD, "reviewer", "s1")
    engine(log).decide(call)
    [entry] = entries(log)
    assert entry.pop("time").endswith("+00:00")
    assert entry.pop("duration") > 0
    assert len(entry["input"].pop("content")) < 400
    assert entry == {
        "by": "test",
        "session": "s1",
        "agent": "reviewer",
        "cwd": CWD,
        "tool": "write",
        "input": {"path": "/tmp/a"},
        "decision": "ask",
        "default": True,
        "external": [
            {
                "path": "/tmp/a",
                "real": "/tmp/a",
                "operation": "write",
                "certainty": "certain",
                "span": [0, 0],
                "text": "/tmp/a",
            }
        ],
        "opaque": [],
        "gates": [
            {
                "gate": "external_directory",
                "verdict": "ask",
                "rule": "special.external_directory",
                "source": "built-in default",
            },
            {
                "gate": "tools",
                "verdict": "allow",
                "rule": "defaultPolicy.tools",
                "source": "built-in default",
            },
        ],
    }


def test_owner_only(log):
    """Nobody else reads what an agent did, even if the file was once open to them."""
    log.path.parent.mkdir(parents=True)
    log.path.touch(mode=0o644)
    append(log.path, b"{}\n")
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_a_torn_line_is_closed(log):
    """What a crash left is one bad line, not two."""
    append(log.path, b'{"a": 1}\n')
    with log.path.open("ab") as file:
        file.write(b'{"torn": ')
    append(log.path, b'{"b": 2}\n')
    assert log.path.read_bytes() == b'{"a": 1}\n{"torn": \n{"b": 2}\n'


@pytest.mark.parametrize("obstacle", ["directory", "pipe", "link", "parent"])
def test_unwritable(log, capsys, obstacle):
    """A log that cannot be written changes no decision and is complained of."""
    if obstacle == "parent":
        log.path.parent.parent.touch()
    else:
        log.path.parent.mkdir(parents=True)
    if obstacle == "directory":
        log.path.mkdir()
    elif obstacle == "pipe":
        os.mkfifo(log.path)
    elif obstacle == "link":
        log.path.symlink_to("/dev/null")
    assert engine(log).decide(ToolCall("read", {"path": "/x"}, CWD)).state is State.ASK
    assert f"cannot write the review log {log.path}: " in capsys.readouterr().err


def test_full_disk(log, monkeypatch):
    """A line that does not fit is taken back whole."""
    append(log.path, b"{}\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, line: write(handle, line[:3]))
    with pytest.raises(OSError, match="disk is full"):
        append(log.path, b'{"long": 1}\n')
    assert log.path.read_bytes() == b"{}\n"


def test_a_disk_that_fills_up(log):
    """Where the kernel takes only a part of a line, it is taken back, and none before it is lost."""
    limited = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    """
    writer = spawn(textwrap.dedent(limited) + WRITER, log.path, "full", 1000, stderr=True)
    out, err = writer.communicate()
    acknowledged = [int(line) for line in out.split()]
    assert writer.returncode == 1
    assert "the disk is full" in err
    assert 10 < len(acknowledged) < 1000
    append(log.path, b'{"by": "end", "n": 0}\n')  # there is room again
    assert [entry["n"] for entry in entries(log)] == [*acknowledged, 0]


def test_killed_in_the_middle_of_a_write(log):
    """What was acknowledged before stays whole, the torn line is closed, and the lock is free."""
    torn = """
    import os, signal
    write = os.write
    def half(handle, line):
        if b'"n": 5,' in line:
            write(handle, line[:len(line) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(handle, line)
    os.write = half
    """
    writer = spawn(textwrap.dedent(torn) + WRITER, log.path, "killed", 100)
    out, _ = writer.communicate()
    assert writer.returncode == -signal.SIGKILL
    append(log.path, b'{"by": "end", "n": 0}\n')
    *whole, half, last = log.path.read_bytes().splitlines()
    assert [json.loads(line)["n"] for line in whole] == [int(n) for n in out.split()] == [*range(5)]
    assert half.startswith(b'{"by": "killed", "n": 5,')
    assert json.loads(last)["by"] == "end"


def test_a_stopped_writer_stops_nobody(log):
    """Someone who holds the lock for ever delays a line by half a second, no more."""
    append(log.path, b"{}\n")
    holder = spawn(
        """
        import fcntl, sys, time
        file = open(sys.argv[1])
        fcntl.flock(file, fcntl.LOCK_EX)
        print(flush=True)
        time.sleep(60)
        """,
        log.path,
    )
    holder.stdout.readline()
    start = time.monotonic()
    append(log.path, b"{}\n")
    holder.kill()
    holder.wait()
    assert time.monotonic() - start < 5
    assert len(entries(log)) == 2


WRITER = """
import sys
from pathlib import Path
from ringfence.engine.log import append
for number in range(int(sys.argv[3])):
    append(Path(sys.argv[1]), b'{"by": "%s", "n": %d, "x": "%s"}\\n'
        % (sys.argv[2].encode(), number, b"x" * (number * 37 % 9000)))
    print(number, flush=True)
"""


def spawn(code, *arguments, stderr=False):
    """A Python process whose output can be read."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    errors = subprocess.PIPE if stderr else None
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)


def test_writers_at_the_same_time(log):
    """Four processes lose nothing and mix nothing."""
    writers = [spawn(WRITER, log.path, name, 150) for name in "abcd"]
    for writer in writers:
        writer.communicate()
    written = [(entry["by"], entry["n"]) for entry in entries(log)]
    assert sorted(written) == [(name, n) for name in "abcd" for n in range(150)]


def test_a_full_file_is_renamed(log, monkeypatch):
    """The latest is 1; the oldest goes."""
    monkeypatch.setattr("ringfence.engine.log.MAX_BYTES", 10)
    for number in range(7):
        append(log.path, b'{"n": %d}\n' % number)
    assert [Path(file).read_text() for file in files(log.path)] == [
        f'{{"n": {n}}}\n' for n in range(2, 7)
    ]


def test_renaming_while_others_write(log):
    """No line is lost while the files that are kept have room."""
    small = "import ringfence.engine.log as log\nlog.MAX_BYTES, log.KEPT = 100_000, 99\n"
    writers = [spawn(small + WRITER, log.path, name, 100) for name in "abcd"]
    for writer in writers:
        writer.communicate()
    lines = [line for file in log.path.parent.iterdir() for line in file.read_text().splitlines()]
    written = sorted((entry["by"], entry["n"]) for entry in map(json.loads, lines))
    assert written == [(name, n) for name in "abcd" for n in range(100)]
    assert all(file.stat().st_size <= 100_000 for file in log.path.parent.iterdir())


def test_secrets_are_masked(log):
    """In the command, in what was found in it, and in the inputs of other tools."""
    engine(log).decide(ToolCall.bash("TOKEN=hunter1 cat /etc/x > /srv/'PASSWORD=hunter2'", CWD))
    engine(log).decide(ToolCall("mcp__x__y", {"api_key": "hunter3", "path": "/etc/x"}, CWD))
    text = log.path.read_text()
    assert len(entries(log)) == 2
    assert not any(f"hunter{n}" in text for n in (1, 2, 3))


def test_killed_writers(log):
    """A line that was written before a kill stays, and no later line is harmed."""
    acknowledged = set()
    for round_number in range(4):
        writer = spawn(WRITER, log.path, round_number, 100_000)
        for _ in range(20 + round_number * 13):
            acknowledged.add((str(round_number), int(writer.stdout.readline())))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    append(log.path, b'{"by": "end", "n": 0}\n')
    whole = set()
    for line in log.path.read_text().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the line that the kill tore
        whole.add((entry["by"], entry["n"]))
    assert acknowledged | {("end", 0)} <= whole
