"""How parsing time grows with length and depth: nanoseconds a byte, and the ratio to 10 kB.

    python tests/bench/growth.py [--decide]

With ``--decide``, whole decisions are timed instead, from 10 kB on, and the memory that the longest
takes is said in bytes a byte, each measured in a process of its own.
Linear means that the last ratio stays near 1. Nesting is shown up to the depth at which the
answer is "too complex", which must come just as fast.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.grammar import TooComplex, parse

SIZES = (1_000, 10_000, 100_000, 1_000_000)
LONG: dict[str, Callable[[int], str]] = {
    "words": lambda n: "echo " + "ab " * (n // 3),
    "pipeline": lambda n: "a" + " | b" * (n // 4),
    "lists": lambda n: "a" + " && b; c" * (n // 8),
    "lines": lambda n: "cmd arg\n" * (n // 8),
    "assignments": lambda n: "a=b " * (n // 4) + "c",
    "here-document": lambda n: "cat <<E\n" + "line $x\n" * (n // 8) + "E\n",
    "quoted word": lambda n: 'echo "' + "a $x " * (n // 5) + '"',
    "one word": lambda n: "echo " + "a" * n,
    "array": lambda n: "a=(" + "b " * (n // 2) + ")",
    "loops": lambda n: "for x in a; do b; done\n" * (n // 23),
    "substitutions": lambda n: "echo" + " $(a $(b))" * (n // 10),
}
DEPTHS = (10, 100, 1_000, 10_000)
DEEP = {
    "$(": ")",
    "(": " )",
    "{ ": ";}",
    '"$(': ')"',
    "if a; then ": "; fi",
    "((": "))",
    "$((": "))",
}


def seconds(text: str) -> tuple[float, str]:
    """The best of three, and what came of it."""
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        try:
            answer = "refused" if parse(text).problem else ""
        except TooComplex:
            answer = "too complex"
        best = min(best, time.perf_counter() - begin)
    return best, answer


def decide(text: str) -> float:
    """Seconds of one decision."""
    call = ToolCall.bash(text, cwd="/p", env={"HOME": "/home/dev", "PATH": "/usr/bin"})
    begin = time.perf_counter()
    Engine(filesystem=NoFileSystem()).decide(call)
    return time.perf_counter() - begin


def memory(name: str) -> int:
    """Bytes a byte that the decision on the longest text takes."""
    decide(LONG[name](2_000))
    text = LONG[name](SIZES[-1])
    before = _peak()
    decide(text)
    return (_peak() - before) // len(text)


def _peak() -> int:
    """The most memory of this process so far, in bytes (Linux; getrusage counts the parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def decisions() -> None:
    """The table of ``--decide``."""
    sizes = SIZES[1:]
    print("| ns a byte | " + " | ".join(f"{n:,} B" for n in sizes) + " | ratio | memory |")
    print("|---|" + "---:|" * (len(sizes) + 2))
    for name, make in LONG.items():
        decide(make(SIZES[0]))
        times = []
        for size in sizes:
            text = make(size)
            times.append(1e9 * min(decide(text), decide(text)) / len(text))
        child = [sys.executable, __file__, "--memory", name]
        used = subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip()
        shown = " | ".join(f"{t:.0f}" for t in times)
        print(f"| {name} | {shown} | {times[-1] / times[0]:.2f} | {used} |", flush=True)


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--decide", action="store_true")
    arguments.add_argument("--memory", metavar="NAME", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.memory:
        print(memory(options.memory))
    elif options.decide:
        decisions()
    else:
        parsing()


def parsing() -> None:
    """The tables without an option."""
    parse("warm up")
    print("| ns a byte | " + " | ".join(f"{n:,} B" for n in SIZES) + " | 1 MB ÷ 10 kB |")
    print("|---|" + "---:|" * (len(SIZES) + 1))
    for name, make in LONG.items():
        times = []
        for size in SIZES:
            text = make(size)
            took, answer = seconds(text)
            assert not answer, (name, answer)
            times.append(1e9 * took / len(text))
        shown = " | ".join(f"{t:.0f}" for t in times)
        print(f"| {name} | {shown} | {times[-1] / times[1]:.2f} |", flush=True)
    print("\n| ns a byte | " + " | ".join(f"{n:,} deep" for n in DEPTHS) + " |")
    print("|---|" + "---:|" * len(DEPTHS))
    for opener, closer in DEEP.items():
        cells = []
        for depth in DEPTHS:
            text = opener * depth + "a" + closer * depth
            took, answer = seconds(text)
            cells.append(f"{1e9 * took / len(text):.0f} {answer}".strip())
        print(f"| `{opener.strip()}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
