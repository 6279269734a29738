"""The resident engine: the same answers, whoever dies, and nobody else's."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ringfence.engine.cli import hook
from ringfence.engine.hosts import HOSTS
from ringfence.engine.resident import client, server, starting

CLIENT = Path(client.__file__)
ASK = [
    sys.executable,
    "-I",
    "-S",
    "-c",
    (
        "import posix, sys; sys.path.insert(0, sys.argv.pop(1)); import client\n"
        "if b'NO_OTHER_WAY' in posix.environ: sys.executable = '/nonexistent'\n"
        "client.main()"
    ),
    str(CLIENT.parent),
]
PROGRAM = [sys.executable, "-m", "ringfence.engine.cli"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A home, a project, and a folder for the socket."""
    root = tmp_path_factory.mktemp("w")
    for name in ("home", "p/src", "run"):
        (root / name).mkdir(parents=True)
    (root / "run").chmod(0o700)
    (root / "p/link").symlink_to("/etc")
    env = {
        "HOME": str(root / "home"),
        "PATH": os.environ["PATH"],
        "XDG_RUNTIME_DIR": str(root / "run"),
    }
    return root, env


@pytest.fixture(scope="class")
def engine(world):
    """A resident engine that has begun to listen; ended afterwards."""
    root, env = world
    path = root / "run/ringfence" / os.fsdecode(client.name())
    path.unlink(missing_ok=True)  # of one that was killed
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "ringfence.engine.resident.server"],
        env=env,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    yield process
    process.kill()
    process.wait()


def payload(command, cwd, host="claude-code"):
    """A question about a bash command."""
    if host == "pi":
        return json.dumps({"tool": "bash", "args": {"command": command}, "cwd": cwd}).encode()
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": cwd, "session_id": "s"}
    return json.dumps({**event, "tool_input": {"command": command}}).encode()


def ask(words, content, env, cwd, **kwargs):
    """What a program answers: (status, stdout, stderr)."""
    done = subprocess.run(
        words, input=content, capture_output=True, env=env, cwd=cwd, check=False, **kwargs
    )
    return done.returncode, done.stdout, done.stderr


def surely(words, content, env, cwd):
    """The same; again, where a busy machine let the time run out that an answer may take."""
    for _ in range(10):
        answer = ask(words, content, env, cwd)
        said = answer[1] + answer[2]
        # The second: the caller waited for the engine no longer, and the other way is closed.
        if b"no answer within" not in said and b"Fatal Python error" not in said:
            break
        time.sleep(0.2)
    return answer


def by_program(host, content, env, cwd):
    """What `ringfence hook` answers."""
    return surely([*PROGRAM, "hook", host], content, env, cwd)


COMMANDS = [
    "ls",
    "cat /etc/hosts",
    "cat link/hosts ../x",
    "cat 'unclosed",
    'cat "$UNSET"',
    "echo $HOME/x > ~/y; rm -r ..",
    "printf '\x1b[2J\u202e' > /tmp/x",
    "find . -name '*.py' -exec cat {} + | head",
]


def only_resident(env):
    """An environment in which the other way is none: ASK does not find its Python."""
    return {**env, "NO_OTHER_WAY": "1"}


@pytest.mark.usefixtures("engine")
class TestAnswers:
    """What the resident engine says is what `ringfence hook` says."""

    @pytest.mark.parametrize("command", COMMANDS)
    @pytest.mark.parametrize("host", ["claude-code", "codex", "pi"])
    def test_the_same_to_the_byte(self, world, command, host):
        """Standard output, standard error and status."""
        root, env = world
        content = payload(command, str(root / "p"), host)
        resident = surely([*ASK, "hook", host], content, only_resident(env), root / "p")
        assert resident == by_program(host, content, env, root / "p")

    @pytest.mark.parametrize("host", sorted(HOSTS))
    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"{}" * 70000])
    def test_broken_payloads(self, world, host, content):
        """The host's own refusal, from both."""
        root, env = world
        env = {**env, "AGENT_TOOL_NAME": "Bash"}
        resident = surely([*ASK, "hook", host], content, only_resident(env), root / "p")
        assert resident == by_program(host, content, env, root / "p")

    def test_the_callers_own_environment_and_config(self, world, tmp_path):
        """Nothing of the first caller's is kept for the next."""
        root, env = world
        other = tmp_path / "other"
        (other / ".config/ringfence").mkdir(parents=True)
        config = other / ".config/ringfence/config.toml"
        config.write_text('[bash]\n"ls *" = "deny"\n')
        content = payload("ls", str(root / "p"))
        there = only_resident({**env, "HOME": str(other)})
        assert b'"deny"' in surely([*ASK, "hook", "claude-code"], content, there, root / "p")[1]
        assert (
            surely([*ASK, "hook", "claude-code"], content, only_resident(env), root / "p")[1] == b""
        )
        config.write_text("")  # a change is seen at once
        assert surely([*ASK, "hook", "claude-code"], content, there, root / "p")[1] == b""

    def test_a_config_that_is_named(self, world, tmp_path):
        """As `--config` says."""
        root, env = world
        (tmp_path / "c.toml").write_text('[bash]\n"ls *" = "ask"\n')
        words = [*ASK, "hook", "claude-code", "--config", str(tmp_path / "c.toml")]
        content = payload("ls", str(root / "p"))
        assert b'"ask"' in surely(words, content, only_resident(env), root / "p")[1]


class TestTrouble:
    """Every caller gets the right or the safe answer."""

    @pytest.mark.usefixtures("engine")
    def test_three_hundred(self, world):
        """All by the resident engine: the other way is closed."""
        root, env = world
        content = payload("cat /etc/hosts", str(root / "p"))
        words = [*ASK, "hook", "claude-code"]
        with ThreadPoolExecutor(300) as pool:
            found = list(
                pool.map(lambda _: ask(words, content, only_resident(env), root / "p"), range(300))
            )
        safe = [answer for answer in found if b'"ask"' not in answer[1]]
        assert all(status != 0 for status, _, _ in safe)  # the host's refusal, or the other way
        assert len(safe) < 300

    @pytest.mark.usefixtures("engine")
    def test_half_a_request(self, world):
        """A caller that hangs or leaves harms nobody else."""
        root, env = world
        path = str(root / "run/ringfence" / os.fsdecode(client.name()))
        hanging = []
        for content in (b"", client.MAGIC, client.MAGIC + b"\0" * 9, b"nonsense"):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.sendall(content)
            hanging.append(connection)
        hanging.pop().close()
        content = payload("cat /etc/hosts", str(root / "p"))
        answer = surely([*ASK, "hook", "claude-code"], content, only_resident(env), root / "p")
        assert b'"ask"' in answer[1]

    def test_a_stale_socket(self, world, tmp_path_factory, monkeypatch):
        """Nobody listens there any more: the other way answers, and an engine is started anew."""
        root, env = world
        run = tmp_path_factory.mktemp("r")
        env = {**env, "XDG_RUNTIME_DIR": str(run)}
        folder = run / "ringfence"
        folder.mkdir(mode=0o700)
        path = folder / os.fsdecode(client.name())
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
        content = payload("cat /etc/hosts", str(root / "p"))
        assert b'"ask"' in surely([*ASK, "hook", "claude-code"], content, env, root / "p")[1]
        deadline = time.monotonic() + 60
        while (
            b'"ask"'
            not in ask([*ASK, "hook", "claude-code"], content, only_resident(env), root / "p")[1]
        ):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        path.unlink()  # which ends it

    @pytest.mark.parametrize("mode", [0o755, 0o770, 0o777])
    def test_a_folder_that_others_can_enter(self, mode, tmp_path, monkeypatch):
        """A socket there may be anybody's: it is not asked."""
        folder = tmp_path / "ringfence"
        folder.mkdir()
        folder.chmod(mode)
        assert not client.is_private(bytes(folder))
        with socket.socket(socket.AF_UNIX) as listener:
            monkeypatch.chdir(folder)  # the whole path is longer than a socket's may be
            listener.bind(os.fsdecode(client.name()))
            listener.listen()
            listener.settimeout(0.2)
            found = client.asked(
                ["hook", "claude-code"], b"{}", {b"XDG_RUNTIME_DIR": bytes(tmp_path)}
            )
            assert found is None
            with pytest.raises(TimeoutError):
                listener.accept()

    def test_a_link_to_a_folder(self, tmp_path):
        """Is not followed."""
        (tmp_path / "own").mkdir(mode=0o700)
        (tmp_path / "ringfence").symlink_to("own")
        assert not client.is_private(bytes(tmp_path / "ringfence"))

    def test_switched_off(self, world):
        """Then it is neither asked nor started."""
        root, env = world
        env = {**env, "RINGFENCE_RESIDENT": "off", "XDG_RUNTIME_DIR": str(root / "none")}
        content = payload("cat /etc/hosts", str(root / "p"))
        assert b'"ask"' in surely([*ASK, "hook", "claude-code"], content, env, root / "p")[1]
        assert not (root / "none").exists()

    def test_changed_code(self, monkeypatch):
        """An engine whose code is not what was loaded answers nobody, and ends."""
        monkeypatch.setattr(server, "_stamp", lambda: 1)
        one = server.Server.__new__(server.Server)
        one.stamp, one.looked = 2, 0.0
        assert not one._is_current()


class TestKilled:
    """The engine dies, or stops."""

    def test_stopped(self, world, engine):
        """Who hears nothing asks elsewhere, before a host would lose its patience."""
        root, env = world
        content = payload("cat /etc/hosts", str(root / "p"))
        engine.send_signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            answer = ask([*ASK, "hook", "claude-code"], content, only_resident(env), root / "p")
            assert time.monotonic() - start < 2 * client.PATIENCE
            assert answer[0] != 0  # the other way is closed here
        finally:
            engine.send_signal(signal.SIGCONT)

    def test_killed_in_the_middle(self, world, engine):
        """Those for whom it is gone get the same answer the other way."""
        root, env = world
        content = payload("cat /etc/hosts", str(root / "p"))
        right = by_program("claude-code", content, env, root / "p")
        answers = []

        def one(number):
            if number == 15:
                engine.send_signal(signal.SIGKILL)
            # Few of those for whom it is gone start an engine of their own: that is slow.
            words = [*ASK, "hook", "claude-code"]
            answers.append(ask(words, content, env, root / "p"))

        with ThreadPoolExecutor(15) as pool:
            list(pool.map(one, range(30)))
        assert len(answers) == 30
        # On a busy machine the watchdog of the other way may say the host's refusal: the safe one.
        assert all(answer[:2] == right[:2] or answer[0] == 2 for answer in answers)
        assert any(answer[:2] == right[:2] for answer in answers)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        b"\0" * 8,
        b"\xff" * 24,
        client.packed([b"a", b"b"]) + b"x",
        client.packed([b"a"]),
    ],
)
def test_messages(data):
    """Only a whole message of the expected parts is one."""
    assert client.unpacked(data, 2) is None
    assert client.unpacked(client.packed([b"", b"xy"]), 2) == [b"", b"xy"]


def test_the_limits_together_are_below_those_of_hosts():
    """A host may run a call that its hook has not answered after ten seconds."""
    assert client.PATIENCE + hook.START_LIMIT + hook.TIME_LIMIT < 9.5


def test_the_launcher_of_a_long_path(tmp_path, monkeypatch):
    """Where the first line of a script cannot hold the path of Python, a shell starts it."""
    monkeypatch.setattr(starting, "_MAX_SHEBANG", 1)
    monkeypatch.setattr(starting, "launcher", lambda: tmp_path / "a folder/hook")
    path = starting.make_launcher()
    assert path.read_text().startswith("#!/bin/sh\n")
    done = subprocess.run(
        [path, "hook", "claude-code"],
        input=b"{}",
        capture_output=True,
        check=False,
        env={"RINGFENCE_RESIDENT": "off", "PATH": os.environ["PATH"]},
    )
    assert done.returncode == 2
    assert b"Ringfence could not judge this call" in done.stderr


class TestVariables:
    """A project may set variables: none of them decides who answers."""

    def test_the_other_way_is_pythons_alone(self, world, tmp_path):
        """Its modules are those of this installation, its encoding of names is UTF-8."""
        root, env = world
        evil = tmp_path / "ringfence/engine/cli"
        evil.mkdir(parents=True)
        for folder in (evil, evil.parent, evil.parent.parent):
            (folder / "__init__.py").write_text("raise SystemExit(0)\n")
        (tmp_path / "sitecustomize.py").write_text("raise SystemExit(0)\n")
        (root / "p/\u00e9").symlink_to("/etc/hosts")
        env = {
            **env,
            "RINGFENCE_RESIDENT": "off",
            "PYTHONPATH": str(tmp_path),
            "PYTHONHOME": "/nonexistent",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "LC_ALL": "C",
        }
        for command in ("cat /etc/hosts", "cat \u00e9"):
            content = payload(command, str(root / "p"))
            assert b'"ask"' in ask([*ASK, "hook", "claude-code"], content, env, root / "p")[1]

    @pytest.mark.parametrize("run", ["p", "p/run", "link/run", "p/src/../run", "/proc/self/cwd"])
    @pytest.mark.parametrize("where", ["p", "home"])
    def test_a_socket_where_the_agent_works(self, world, monkeypatch, run, where):
        """Whoever listens there is not asked, wherever the hook itself runs."""
        root, _ = world
        (root / "p/run").mkdir(exist_ok=True)
        (root / "link").unlink(missing_ok=True)
        (root / "link").symlink_to(root / "p")
        monkeypatch.chdir(root / where)
        environ = {b"XDG_RUNTIME_DIR": os.fsencode(root / run)}
        content = payload("ls", str(root / "p"))
        # From elsewhere, a link to the project looks like any other folder; the project has none.
        there = (run, where) == ("link/run", "home")
        assert client.is_apart(environ, content) is there

    def test_a_socket_elsewhere(self, world, monkeypatch):
        """Such as the system's own folder for them."""
        root, _ = world
        monkeypatch.chdir(root / "p")
        content = payload("ls", str(root / "p"))
        usual = f"/run/user/{os.getuid()}".encode()
        for environ in ({}, {b"XDG_RUNTIME_DIR": usual}, {b"XDG_RUNTIME_DIR": bytes(root / "run")}):
            assert client.is_apart(environ, content)
        environ = {b"XDG_RUNTIME_DIR": bytes(root / "run"), b"CLAUDE_PROJECT_DIR": bytes(root)}
        assert not client.is_apart(environ, content)
