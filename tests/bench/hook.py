"""How long one hook call takes, as a multiple of starting Python.

    python tests/bench/hook.py [--pairs 60] [--check]

Run it by the Python of an environment in which Ringfence is installed (not editable: pip compiles what it
installs). Each pair is one start of ``python -c pass`` and one hook call, one after the other; what counts is the
median of the pairs' ratios. With ``--check``, a ratio that is half as high again as the recorded one is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ringfence.engine.resident.starting import make_launcher

RECORDED = Path(__file__).parent / "ratios.json"
COMMAND = "git status && grep -rn foo src | head -5"


def timed(words: list[str], payload: bytes, env: dict[str, str]) -> float:
    """Seconds that a program takes."""
    start = time.perf_counter()
    done = subprocess.run(words, input=payload, capture_output=True, check=False, env=env)
    took = time.perf_counter() - start
    assert done.returncode == 0, done
    return took


def ratio(words: list[str], payload: bytes, env: dict[str, str], pairs: int) -> float:
    """The median of a program's time over that of a Python that does nothing."""
    nothing = [sys.executable, "-c", "pass"]
    found = []
    for _ in range(pairs):
        base = timed(nothing, b"", env)
        found.append(timed(words, payload, env) / base)
    return statistics.median(found)


def main() -> int:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pairs", type=int, default=60)
    arguments.add_argument("--check", action="store_true")
    options = arguments.parse_args()
    launcher = str(make_launcher())
    program = str(Path(sys.executable).parent / "ringfence")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "run").mkdir(mode=0o700)
        (home / "project").mkdir()
        env = {"HOME": folder, "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": f"{folder}/run"}
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": f"{folder}/project"}
        payload = json.dumps({**event, "tool_input": {"command": COMMAND}}).encode()
        hook = ["hook", "claude-code"]
        timed([launcher, *hook], payload, env)  # starts the resident engine
        deadline = time.monotonic() + 30
        while not list((home / "run/ringfence").glob("*.socket")):
            assert time.monotonic() < deadline, "the resident engine did not start"
            time.sleep(0.1)
        rows = {
            "hook, engine resident": ratio([launcher, *hook], payload, env, options.pairs),
            "hook, nothing resident": ratio(
                [program, *hook], payload, {**env, "RINGFENCE_RESIDENT": "off"}, options.pairs // 4
            ),
            "python -I -S -c pass": ratio(
                [sys.executable, "-I", "-S", "-c", "pass"], b"", env, options.pairs
            ),
        }
    for name, found in rows.items():
        print(f"| {name} ÷ `python -c pass` | {found:.2f} |")
    if not options.check:
        return 0
    recorded = json.loads(RECORDED.read_text())
    worse = {n: r for n, r in rows.items() if r > 1.5 * recorded.get(n, float("inf"))}
    for name, found in worse.items():
        print(f"{name}: {found:.2f}, recorded {recorded[name]:.2f}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
