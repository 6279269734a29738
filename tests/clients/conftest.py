"""Where the real clients are, and a place in which each run is at home."""

from __future__ import annotations

import os
import subprocess
import warnings
from pathlib import Path

import pytest
from helpers import isolation
from helpers.clients import CLIENTS, INSIDE, SECRET

FOLDER = os.environ.get("RINGFENCE_CLIENTS", "")


@pytest.fixture(scope="session", autouse=True)
def network():
    """Says so where clients have to run without a network of their own."""
    _, problem = isolation.alone()
    if FOLDER and problem:
        warnings.warn(f"the clients' network is not cut off: {problem}", stacklevel=1)


@pytest.fixture
def place(tmp_path):
    """A folder with a home, a project in ``work`` and a file outside of it."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/README.md").write_text(INSIDE)
    (tmp_path / "outside.txt").write_text(SECRET)
    (tmp_path / "bin").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "work")], check=True)
    return tmp_path


@pytest.fixture
def program_of():
    """The program of a client; the test is skipped where it is not there."""

    def find(name):
        program = Path(FOLDER) / name / "node_modules/.bin" / name
        if not FOLDER or not program.exists():
            pytest.skip(f"RINGFENCE_CLIENTS has no {CLIENTS[name].packages[0]}")
        return str(program)

    return find
