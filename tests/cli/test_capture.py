"""``ringfence capture``: a host's contract, without its user's secrets, and no say in anything."""

from __future__ import annotations

import io
import json
import stat
import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.cli import capture, main
from ringfence.engine.hosts import HOSTS, host

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """No file of this user's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path


@pytest.fixture
def ask(monkeypatch, capsys):
    """Runs the hook on a payload: its exit status and output."""

    def run(content, *arguments):
        stdin = io.TextIOWrapper(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin.buffer))
        status = main(["capture", *arguments])
        return status, capsys.readouterr().out.strip()

    return run


def test_a_host_that_nobody_here_has_met(ask, home, monkeypatch, snapshot):
    """The payload as it came, the directory, the variables: what an adapter is made of."""
    monkeypatch.setattr(capture.os, "environ", {
        "HOME": str(home), "NEW_PROJECT_DIR": "/p", "SECRET": "s3", "AGENT_TOOL_NAME": "Bash",
    })  # fmt: skip
    monkeypatch.setattr(capture.os, "getcwd", lambda: "/p/sub")
    payload = {
        "tool": "shell",
        "args": {"cmd": f"curl -H 'Authorization: Bearer {TOKEN}' https://u:pw@h/", "n": [1, None]},
        "api_key": "whatever",
        "as_text": json.dumps({"password": "hunter22"}),
        "content": "x" * 9000,
    }
    assert ask(b"\xef\xbb\xbf" + json.dumps(payload).encode(), "new-agent") == (0, "")
    (file,) = home.rglob("new-agent.jsonl")
    assert file == home / ".local/state/ringfence/captured/new-agent.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    text = file.read_text()
    for secret in (TOKEN, ":pw@", "whatever", "hunter22", "s3"):
        assert secret not in text
    entry = json.loads(text)
    assert entry.pop("time").endswith("+00:00")
    assert entry == snapshot


@pytest.mark.parametrize("name", sorted(HOSTS))
@pytest.mark.parametrize("content", [b"{}", b"\xff", b"", b"[" * 100_000])
def test_every_host_is_told_to_go_on(ask, home, name, content):
    """In its own words for "no objection", whatever it asked; each question is a line."""
    said = host(name).no_objection()
    assert said.status == 0
    assert ask(content, name) == (0, said.stdout)
    assert ask(content, name, "--into", str(home / "mine")) == (0, said.stdout)
    assert len((home / "mine").read_text().splitlines()) == 1


def test_where_it_cannot_write(ask, home):
    """The call is not to be stopped by that."""
    assert ask(b"{}", "new-agent", "--into", str(home)) == (0, "")


@pytest.mark.parametrize("name", ["", "../x", "A", "a/b", "-x"])
def test_a_name_is_no_path(name):
    """It becomes one of a file."""
    with pytest.raises(SystemExit):
        main(["capture", "--", name])


@given(st.binary(max_size=300) | st.recursive(
    st.none() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_any_payload_is_one_line(content):
    """Nothing in it reaches a terminal that shows the file."""
    line = capture.json_text(capture.record("x", content))
    assert line.isprintable()
    assert json.loads(line)["bytes"] == len(content)
