"""Ringfence's own files: what is none is not believed, and nothing waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.grants import GrantStore
from ringfence.engine.loops import LoopStore
from ringfence.engine.policy import load_policy
from ringfence.engine.policy.trust import TrustStore
from ringfence.engine.state import StateError, read_private
from ringfence.rules.model import State

MAKE = pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])


@MAKE
def test_no_regular_file(tmp_path, make):
    """A directory, or a FIFO that nobody writes to, is a StateError."""
    make(tmp_path / "grants.json")
    with pytest.raises(StateError, match=r"grants.json is no regular file"):
        read_private(tmp_path / "grants.json")


@MAKE
def test_decisions_go_on(tmp_path, make, capsys):
    """Without grants, trust and counts: what they would loosen is asked about."""
    for name in ("grants.json", "trust.json", "loops.json"):
        make(tmp_path / name)
    config = tmp_path / "config.toml"
    config.write_text('[special]\ndoom_loop = "ask"\n')
    engine = Engine(
        load_policy(None, config=str(config)),
        NoFileSystem(),
        grants=GrantStore(tmp_path / "grants.json"),
        loops=LoopStore(tmp_path / "loops.json"),
    )
    call = ToolCall("read", {"path": "/etc/hosts"}, "/home/dev/project", session="s", env={})
    decision = engine.decide(call)
    assert decision.state is State.ASK
    assert decision.notes == (f"No grant counts: {tmp_path}/grants.json is no regular file",)
    assert "loops.json is no regular file" in capsys.readouterr().err
    assert TrustStore(tmp_path / "trust.json").folders() == {}
