"""Real agents, registered by ``ringfence install``, against a scripted model.

They run where ``RINGFENCE_CLIENTS`` names a folder with one npm prefix a client
(``python tests/clients/get.py FOLDER`` fills it); nothing leaves the machine.
An agent's exit status says nothing, so each test looks at what the model was told and at files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.clients import CLIENTS
from helpers.model import Model
from helpers.program import patient

from ringfence.engine.cli import install, main

FOLDER = os.environ.get("RINGFENCE_CLIENTS", "")
SECRET = "what-is-outside"
INSIDE = "what-is-inside"

BROKEN = """#!{python}
import os, sys, time
from ringfence.engine.engine import Engine
Engine.decide = lambda *_: {action}
from ringfence.engine.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(params=sorted(CLIENTS))
def agent(request, tmp_path, monkeypatch):
    """Runs one client once: a command in, the last request to the model out."""
    client = CLIENTS[request.param]
    program = Path(FOLDER) / request.param / "node_modules/.bin" / request.param
    if not FOLDER or not program.exists():
        pytest.skip(f"RINGFENCE_CLIENTS has no {client.packages[0]}")
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    (work / "README.md").write_text(INSIDE)
    (tmp_path / "outside.txt").write_text(SECRET)
    subprocess.run(["git", "init", "-q", str(work)], check=True)

    (tmp_path / "bin").mkdir()
    installation = patient(tmp_path / "bin")

    def run(command, *, ringfence=installation):
        with Model(command) as model:
            client.settings(home, work, model.url)
            environment = {
                "PATH": f"{program.parent}:{os.environ['PATH']}",
                "HOME": str(home),
                "LANG": "C.UTF-8",
                "TERM": "dumb",
                "HTTPS_PROXY": model.url,
                "NO_PROXY": "127.0.0.1,localhost",
            }
            for name, value in client.environment.items():
                environment[name] = value.format(home=home, url=model.url)
            if ringfence is not None:
                monkeypatch.setattr(install, "program", lambda: ringfence)
                monkeypatch.chdir(work)
                for name, value in environment.items():
                    monkeypatch.setenv(name, value)
                assert main(["install", client.host]) == 0
            done = subprocess.run(
                [str(program), *client.arguments],
                cwd=work, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
        assert model.requests, done.stderr + done.stdout
        return model.requests[-1]

    return run


def test_without_ringfence(agent, tmp_path):
    """The control: in this mode nothing else stops the call."""
    assert SECRET in agent(f"cat {tmp_path}/outside.txt", ringfence=None)


def test_inside(agent):
    """What Ringfence does not object to runs."""
    assert INSIDE in agent("cat README.md")


def test_outside(agent, tmp_path):
    """The model gets the reason instead of the file."""
    told = agent(f"cat {tmp_path}/outside.txt")
    assert SECRET not in told
    assert "Outside the working directory" in told
    log = tmp_path / "home/.local/state/ringfence/review.jsonl"
    (entry,) = map(json.loads, log.read_text().splitlines())
    assert entry["by"].startswith("hook ")
    assert entry["command"] == f"cat {tmp_path}/outside.txt"


def test_a_write_outside(agent, tmp_path):
    """Nothing is written."""
    told = agent(f"echo x > {tmp_path}/new.txt")
    assert not (tmp_path / "new.txt").exists()
    assert "Outside the working directory" in told


@pytest.mark.parametrize(
    "action",
    ["os.abort()", "os._exit(1)", "time.sleep(60)", "1 / 0", "os.kill(os.getppid(), 9)"],
    ids=["abort", "exit", "hang", "error", "killed"],
)  # fmt: skip
def test_a_broken_engine(agent, tmp_path, action):
    """Whatever happens inside Ringfence, the call does not run."""
    program = tmp_path / "ringfence"
    program.write_text(BROKEN.format(python=sys.executable, action=action))
    program.chmod(0o755)
    assert SECRET not in agent(f"cat {tmp_path}/outside.txt", ringfence=str(program))


def test_a_missing_program(agent, tmp_path):
    """Nor when it was uninstalled and left registered."""
    assert SECRET not in agent(f"cat {tmp_path}/outside.txt", ringfence=str(tmp_path / "ringfence"))
