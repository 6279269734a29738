"""Ringfence as a program of its own, that waits for a machine which tests keep busy."""

from __future__ import annotations

import sys
from pathlib import Path

PATIENT = f"""#!{sys.executable}
import sys
from ringfence.engine.cli import hook, main
from ringfence.engine.mcp import judge
hook.START_LIMIT = hook.TIME_LIMIT = judge.START_LIMIT = judge.TIME_LIMIT = 60
sys.exit(main(sys.argv[1:]))
"""


def patient(folder: Path) -> str:
    """Write it into a folder; its path."""
    program = folder / "ringfence"
    program.write_text(PATIENT)
    program.chmod(0o755)
    return str(program)
