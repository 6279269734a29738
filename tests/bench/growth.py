"""How parsing time grows with length and depth: nanoseconds a byte, and the ratio to 10 kB.

    python tests/bench/growth.py

Linear means that the last ratio stays near 1. Nesting is shown up to the depth at which the
answer is "too complex", which must come just as fast.
"""

from __future__ import annotations

import time
from collections.abc import Callable

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


def main() -> None:
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
