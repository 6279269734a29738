"""``ringfence log``: the decisions again, the latest last."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.cli import main
from ringfence.engine.log import ReviewLog, append, earlier


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The path of the log of a user who has asked three times."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for command in ("cat /etc/x", "eval $X\nPASSWORD=hunter2 ls", "rm -rf /srv/\x1b[2J"):
        main(["check", "--cwd", "/home/dev/shop", command])
    return Path(ReviewLog.of_user("test").path)


def shown(capsys, *arguments):
    """The exit status and the output, without the times."""
    capsys.readouterr()
    status = main(["log", *arguments])
    return status, re.sub(r"\d{4}-\S+", "TIME", capsys.readouterr().out)


@pytest.mark.usefixtures("log")
def test_what_is_shown(capsys, snapshot):
    """One line a call, what was found, and the rules; nothing that a terminal would obey."""
    assert shown(capsys) == snapshot


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (["-n", "2"], 2),
        (["-n", "0"], 3),
        (["--decision", "deny"], 0),
        (["--decision", "deny", "--decision", "ask"], 3),
        (["--tool", "read"], 0),
        (["--by", "check"], 3),
        (["--session", "s"], 0),
        (["--grep", "/etc/x"], 1),
    ],
)
def test_filters(capsys, arguments, count):
    """All of them must hold."""
    status, out = shown(capsys, "--json", *arguments)
    assert (status, len(out.splitlines())) == (0, count)


def test_full_files_and_torn_lines(log, capsys):
    """The earlier files come first; a line that a crash left is passed over."""
    log.rename(earlier(log, 1))
    append(
        log, json.dumps({"time": "t", "decision": "deny", "refused": "no JSON"}).encode() + b"\n"
    )
    with log.open("ab") as file:
        file.write(b'{"torn": ')
    _, out = shown(capsys, "-n", "0")
    assert out.index("/etc/x") < out.index("no JSON")


def test_nothing_yet(tmp_path, monkeypatch, capsys):
    """Where it will be."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    status, out = shown(capsys)
    assert (status, out) == (0, f"Nothing was logged yet: {tmp_path}/ringfence/review.jsonl\n")


def test_follow(log):
    """What comes is shown, also behind a renaming."""
    reader = subprocess.Popen(
        [sys.executable, "-m", "ringfence.engine.cli", "log", "-f", "-n", "1", "--json"],
        stdout=subprocess.PIPE,
    )
    reader.stdout.readline()
    append(log, b'{"n": 1}\n')
    assert json.loads(reader.stdout.readline()) == {"n": 1}
    log.rename(earlier(log, 1))
    append(log, b'{"n": 2}\n')
    assert json.loads(reader.stdout.readline()) == {"n": 2}
    reader.kill()
    reader.wait()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_no_regular_file(tmp_path, monkeypatch, capsys, make):
    """What is no log is named, and not waited for."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "ringfence/review.jsonl"
    path.parent.mkdir()
    make(path)
    assert main(["log"]) == 2
    expected = f"ringfence: {path} cannot be read: it is no regular file\n"
    assert capsys.readouterr().err == expected


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("number", ["-3", "x", "1.5"])
def test_a_number_that_is_none(capsys, number):
    """What cannot be counted is an error of the usage, and says what may stand there."""
    with pytest.raises(SystemExit) as raised:
        main(["log", "-n", number])
    assert raised.value.code == 2
    assert "argument -n: must be 0 or more" in capsys.readouterr().err


def test_who_and_where(tmp_path, monkeypatch, capsys):
    """Whose call it was, in which session and folder; and who gave an answer."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    engine = Engine.of_user("/home/dev/shop", by="hook x")
    call = ToolCall.bash("cat /etc/x", "/home/dev/shop", session="s\x1b", agent="a")
    engine.decide(call)
    _, out = shown(capsys)
    assert "\n    by hook x; agent a; session s\\x1b; in /home/dev/shop\n" in out
    main(["grants", "add", "--scope", "always", "--cwd", "/home/dev/shop", "cat /etc/x"])
    _, out = shown(capsys, "-n", "1")
    assert "\n    by grants, which runs nothing; in /home/dev/shop\n" in out
    assert "(--scope always, nobody was asked)\n" in out
    assert "prompt" not in out


def test_a_rule_that_only_may_be_meant(tmp_path, monkeypatch, capsys):
    """It is told apart from one that matched."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "c.toml").write_text('[bash]\n"rm -rf *" = "deny"\n')
    main(["check", "--cwd", "/home/dev/shop", "--config", str(tmp_path / "c.toml"), "echo 'x"])
    assert '\n    perhaps bash "rm -rf *" (' in shown(capsys)[1]
