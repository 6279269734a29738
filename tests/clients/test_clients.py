"""Real agents, registered by ``ringfence install``, against a scripted model.

They run where ``RINGFENCE_CLIENTS`` names a folder with one npm prefix a client
(``python tests/clients/get.py FOLDER`` fills it). Client and model share a network of their own, in
which there is nothing but loopback; where that is not permitted, a warning says so.
An agent's exit status says nothing, so each test looks at what the model was told and at files.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys

import pytest
from helpers import isolation
from helpers.clients import CLIENTS, INSIDE, SECRET
from helpers.program import patient
from helpers.session import LOG, Job, held

OUT = """
import socket, sys
sys.exit(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(("192.0.2.1", 9)))
"""

BROKEN = """#!{python}
import os, sys, time
from ringfence.engine.engine import Engine
Engine.decide = lambda *_: {action}
from ringfence.engine.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(params=sorted(CLIENTS))
def agent(request, place, program_of):
    """Runs one client once: a command in, the last request to the model out."""
    program = program_of(request.param)
    installation = patient(place / "bin")

    def run(command, *, ringfence=installation):
        job = Job(
            request.param, program, str(place / "home"), str(place / "work"), command, ringfence
        )
        return held(job).told

    return run


def test_the_network():
    """Nothing leaves the machine: there is no way to an address that is not loopback."""
    words, problem = isolation.alone()
    if problem:
        pytest.skip(problem)
    done = subprocess.run([*words, sys.executable, "-c", OUT], check=False)
    assert done.returncode == errno.ENETUNREACH


def test_without_ringfence(agent, place):
    """The control: in this mode nothing else stops the call."""
    assert SECRET in agent(f"cat {place}/outside.txt", ringfence=None)


def test_inside(agent):
    """What Ringfence does not object to runs."""
    assert INSIDE in agent("cat README.md")


def test_outside(agent, place):
    """The model gets the reason instead of the file."""
    told = agent(f"cat {place}/outside.txt")
    assert SECRET not in told
    assert "Outside the working directory" in told
    log = place / "home" / LOG
    (entry,) = map(json.loads, log.read_text().splitlines())
    assert entry["by"].startswith("hook ")
    assert entry["command"] == f"cat {place}/outside.txt"


def test_a_write_outside(agent, place):
    """Nothing is written."""
    told = agent(f"echo x > {place}/new.txt")
    assert not (place / "new.txt").exists()
    assert "Outside the working directory" in told


@pytest.mark.parametrize(
    "action",
    ["os.abort()", "os._exit(1)", "time.sleep(60)", "1 / 0", "os.kill(os.getppid(), 9)"],
    ids=["abort", "exit", "hang", "error", "killed"],
)  # fmt: skip
def test_a_broken_engine(agent, place, action):
    """Whatever happens inside Ringfence, the call does not run."""
    program = place / "ringfence"
    program.write_text(BROKEN.format(python=sys.executable, action=action))
    program.chmod(0o755)
    assert SECRET not in agent(f"cat {place}/outside.txt", ringfence=str(program))


def test_a_missing_program(agent, place):
    """Nor when it was uninstalled and left registered."""
    assert SECRET not in agent(f"cat {place}/outside.txt", ringfence=str(place / "ringfence"))
