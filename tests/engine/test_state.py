"""Ringfence's own files: what is none is not believed, and nothing waits for it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.grants import GrantStore
from ringfence.engine.loops import LoopStore
from ringfence.engine.policy import load_policy
from ringfence.engine.policy.errors import ConfigError
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


class TestPlaces:
    """The user's own folders are nowhere that the agent works: its rules would be its own."""

    @pytest.fixture
    def world(self, tmp_path, monkeypatch):
        """A user's home, by the account too, a project in it, and a link to the project."""
        home = tmp_path / "home"
        (home / "p/sub").mkdir(parents=True)
        (tmp_path / "link").symlink_to(home / "p")
        monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(home)))
        monkeypatch.chdir(home / "p")
        return tmp_path

    @pytest.mark.parametrize(
        ("env", "said"),
        [
            ({"XDG_CONFIG_HOME": "{}/home/p/c"}, "XDG_CONFIG_HOME"),
            ({"XDG_STATE_HOME": "{}/home/p"}, "XDG_STATE_HOME"),
            ({"XDG_STATE_HOME": "{}/home/q/../p"}, "XDG_STATE_HOME"),
            ({"XDG_CONFIG_HOME": "{}/link/c"}, "XDG_CONFIG_HOME"),  # as it leads
            ({"XDG_CONFIG_HOME": "/proc/self/cwd/c"}, "XDG_CONFIG_HOME"),
            ({"HOME": "{}/home/p"}, "HOME"),
            ({"HOME": "{}/home/p/sub"}, "HOME"),
            ({"HOME": "sub"}, "HOME"),  # a relative one begins where the hook runs
        ],
    )
    def test_inside(self, world, env, said):
        """Whatever variable says so: nothing is decided, and the error names the variable."""
        env = {"HOME": f"{world}/home"} | {k: v.format(world) for k, v in env.items()}
        with pytest.raises(ConfigError, match=f"where the agent works .{said} says so"):
            load_policy(f"{world}/home/p", env=env)

    def test_inside_another_root(self, world):
        """All folders of the work count, and those of a link."""
        env = {"HOME": f"{world}/home", "XDG_STATE_HOME": f"{world}/home/p/sub"}
        load_policy(f"{world}/elsewhere", env=env)
        for root in ("home/p", "link"):
            with pytest.raises(ConfigError, match="XDG_STATE_HOME says so"):
                load_policy(f"{world}/elsewhere", env=env, roots=[f"{world}/{root}"])

    @pytest.mark.parametrize(
        ("env", "cwd"),
        [
            ({}, "home/p"),
            ({}, "home"),  # who works in the home directory has them inside, and always had
            ({}, "home/.config"),
            ({"XDG_CONFIG_HOME": "{}/home/.config"}, "home"),
            ({"XDG_CONFIG_HOME": "{}/home/pc"}, "home/p"),
            ({"XDG_CONFIG_HOME": "c"}, "home/p"),  # a relative one is ignored
        ],
    )
    def test_outside(self, world, env, cwd):
        """And where they usually are."""
        env = {"HOME": f"{world}/home"} | {k: v.format(world) for k, v in env.items()}
        load_policy(f"{world}/{cwd}", env=env)

    def test_no_account(self, world, monkeypatch):
        """Then no folder is the usual one."""
        monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
        env = {"HOME": f"{world}/home"}
        load_policy(f"{world}/home/p", env=env)
        load_policy("/", env=env)  # nothing is outside
        with pytest.raises(ConfigError, match="HOME says so"):
            load_policy(f"{world}/home", env=env)
