"""How many commands a second `ringfence check --jsonl` decides, and in how much memory.

    python tests/bench/batch.py [--lines FILE] [--count 100000] [--jobs 2] [--pairs 1]

The lines are commands.txt, or FILE: JSON lines with ``command`` or ``text``; they are given one
after the other until there are COUNT. What is said is the time of one process over that of several,
and the megabytes that all of them hold together: the most in the first tenth of the answers, and
the most in all.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from itertools import cycle, islice
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = (sys.executable, "-m", "ringfence.engine.cli", "check", "--jsonl", "--no-log")


def chosen(file: str | None) -> list[str]:
    """The commands."""
    if file is None:
        return (HERE / "commands.txt").read_text().splitlines()
    rows = map(json.loads, Path(file).read_text().splitlines())
    return [row.get("command") or row["text"] for row in rows]


def written(commands: list[str], count: int, file: Path) -> None:
    """The input."""
    with file.open("w") as out:
        for number, command in enumerate(islice(cycle(commands), count)):
            row = {"id": number, "command": command, "cwd": "/home/dev/project"}
            out.write(json.dumps(row) + "\n")


def resident(process: int) -> int:
    """Bytes that a process and those it has started hold; what they share counts for each."""
    found = 0
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
        found = int(pages) * os.sysconf("SC_PAGE_SIZE")
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += resident(int(child))
    except OSError:
        pass
    return found


def run(file: Path, jobs: int) -> tuple[float, int, int]:
    """Seconds, the most bytes during the first tenth of the answers, and during all."""
    total = sum(1 for _ in file.open())
    with file.open("rb") as given:
        start = time.perf_counter()
        process = subprocess.Popen(
            [*PROGRAM, "--jobs", str(jobs)], stdin=given, stdout=subprocess.PIPE
        )
        answered = 0
        early = most = 0

        def watch() -> None:
            nonlocal early, most
            while process.poll() is None:
                now = resident(process.pid)
                most = max(most, now)
                if answered * 10 < total:
                    early = max(early, now)
                time.sleep(0.25)

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert process.stdout is not None
        for _ in process.stdout:
            answered += 1
        process.wait()
        took = time.perf_counter() - start
        watcher.join()
    if answered != total:
        raise SystemExit(f"{answered} answers to {total} lines")
    return took, early, most


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.jsonl"
        written(chosen(options.lines), options.count, file)
        ratios = []
        for _ in range(options.pairs):
            alone, *_ = run(file, 1)
            together, early, most = run(file, options.jobs)
            ratios.append(alone / together)
            print(
                f"{options.count} commands: one process {alone:.0f} s, {options.jobs} in"
                f" {together:.0f} s; {early / 1e6:.0f} MB in the first tenth, {most / 1e6:.0f} at most"
            )
    print(f"one process ÷ {options.jobs}: {statistics.median(ratios):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
