"""How long one decision takes in a process that has made others, as ratios.

    python tests/bench/decision.py [--lines FILE] [--parable FOLDER] [--rounds 9] [--check]

The lines are commands.txt, or FILE: JSON lines with ``text``, of which 300 of one line are taken. Their
times are compared with those of ``shlex.split`` on the same lines, which is plain Python too, and, with
the folder of a copy of Parable, with its parser. Of each line the best of all rounds counts; what is
said is the ratio of the medians, and the 99th percentile over the median.

*new* is a call that was never made before, *again* one that was; both look at the real disk.
With ``--check``, a ratio that is half as high again as the recorded one is an error.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ringfence import Engine, ToolCall
from ringfence.grammar import parse

HERE = Path(__file__).parent
RECORDED = HERE / "ratios.json"
ENV = {"HOME": "/home/dev", "PATH": "/usr/bin:/bin", "USER": "dev"}


def chosen(file: str | None) -> list[str]:
    """The lines to decide on."""
    if file is None:
        return (HERE / "commands.txt").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in Path(file).read_text().splitlines()]
    single = [text for text in texts if "\n" not in text]
    random.Random(1).shuffle(single)
    return single[:300]


def split(line: str) -> None:
    """What the others are compared with."""
    with suppress(ValueError):
        shlex.split(line, comments=True)


def best(ways: dict[str, Callable[[str], Any]], lines: list[str], rounds: int) -> dict[str, Any]:
    """For each way, the least seconds that each line took."""
    found: dict[str, list[float]] = {name: [float("inf")] * len(lines) for name in ways}
    for _ in range(rounds):
        for number, line in enumerate(lines):
            for name, way in ways.items():
                start = time.perf_counter()
                way(line)
                took = time.perf_counter() - start
                found[name][number] = min(found[name][number], took)
    return found


def main() -> int:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lines")
    arguments.add_argument("--parable")
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--check", action="store_true")
    options = arguments.parse_args()
    lines = chosen(options.lines)
    ways: dict[str, Callable[[str], Any]] = {"shlex": split}
    if options.parable:
        sys.path.insert(0, options.parable)
        parser: Any = importlib.import_module("parable")

        def other(line: str) -> None:
            with suppress(Exception):
                parser.parse(line)

        ways["Parable"] = other
    with tempfile.TemporaryDirectory() as folder:
        kept = Engine()
        ways["parse"] = parse
        ways["decision, new"] = lambda line: Engine().decide(
            ToolCall.bash(line, cwd=folder, env=ENV)
        )
        ways["decision, again"] = lambda line: kept.decide(ToolCall.bash(line, cwd=folder, env=ENV))
        found = best(ways, lines, options.rounds + 1)
    medians = {name: statistics.median(times) for name, times in found.items()}
    rows = {}
    for base in ("shlex", "Parable"):
        for name in ("parse", "decision, new", "decision, again"):
            if base in medians:
                rows[f"{name} ÷ {base}"] = medians[name] / medians[base]
    slowest = sorted(found["decision, new"])[int(len(lines) * 0.99)]
    rows["decision, new: p99 ÷ median"] = slowest / medians["decision, new"]
    for name, ratio in rows.items():
        print(f"| {name} | {ratio:.2f} |")
    recorded = json.loads(RECORDED.read_text())
    worse = {n: r for n, r in rows.items() if r > 1.5 * recorded.get(n, float("inf"))}
    for name, ratio in worse.items():
        print(f"{name}: {ratio:.2f}, recorded {recorded[name]:.2f}", file=sys.stderr)
    return 1 if worse and options.check else 0


if __name__ == "__main__":
    raise SystemExit(main())
