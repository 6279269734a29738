"""How many labelled commands are judged exactly right.

    python tests/bench/cases.py FILE [--misses]

FILE holds one JSON object a line: ``id``, ``command``, ``cwd``, ``external`` (the outside paths a
careful reader expects; [] for none) and perhaps ``note``. The commands go through
``ringfence check --jsonl``, rooted at a small world with the links that the cases speak of.

A row is exactly right if every expected path is reported, by its name, its target, a folder
above it or a glob, and nothing else is; and if, where nothing is expected, nothing is opaque
either. Where the note says that asking is acceptable, asking is right.
The share and the number of exceptions are printed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HOME = "/home/dev"
POLICY = '[bash]\n"*" = "allow"\n[special]\nexternal_directory = "ask"\n'
FILES = ("src/a.py", "README.md", "data.txt")
LINKS = {
    "etclink": "/etc", "pwlink": "/etc/passwd", "srclink": "src", "link-out": "/etc",
    "link": "/etc", "linkdir": "/etc",
}  # fmt: skip


def make_world(root: Path) -> None:
    """The folders, files and links that the cases speak of."""
    for project in ("project", "app"):
        for name in FILES:
            file = root / "home/dev" / project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        for name, target in LINKS.items():
            (root / "home/dev" / project / name).symlink_to(target)
        (root / f"home/dev/{project}link").symlink_to(f"/home/dev/{project}")
    (root / "etc").mkdir()
    (root / "etc/hosts").touch()
    users = "root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/sh\n"
    (root / "etc/passwd").write_text(users, "utf-8")


def answers(
    rows: list[dict[str, Any]],
    *options: str,
    policy: str | None = None,
    env: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """What ``check --jsonl`` says to each row, under POLICY if none is given.

    ``env``: the variables of all rows; without, HOME alone, from the row.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.toml")
        config.write_text(POLICY if policy is None else policy, "utf-8")
        lines = "".join(
            json.dumps({"id": r["id"], "command": r["command"], "cwd": r["cwd"],
                        "env": env or {"HOME": r.get("home", HOME)}}) + "\n"
            for r in rows
        )  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "ringfence.engine.cli", "check", "--jsonl", "--no-log",
             "--config", str(config), *options],
            input=lines, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def covers(reported: str, expected: str) -> bool:
    """Whether a reported path stands for an expected one."""
    ours, theirs = (path.rstrip("/").split("/") for path in (reported, expected))
    # A folder above it, or what a glob stands for: component by component.
    return len(ours) <= len(theirs) and all(
        a == b or fnmatch.fnmatchcase(a, b) or fnmatch.fnmatchcase(b, a)
        for a, b in zip(ours, theirs, strict=False)
    )


def exactly_right(row: dict[str, Any], answer: dict[str, Any]) -> bool:
    """See the module's docstring."""
    if "error" in answer:
        return False
    found = [{item["path"], item["real"]} for item in answer["external"]]
    if any(word in row.get("note", "") for word in ("ask", "unknown")):
        return bool(answer["decision"] == "ask")
    missed = [e for e in row["external"] if not any(covers(p, e) for ps in found for p in ps)]
    extra = [ps for ps in found if not any(covers(p, e) for p in ps for e in row["external"])]
    needless = bool(answer["opaque"]) and not row["external"]
    return not missed and not extra and not needless


def wrong(rows: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The rows that are not exactly right, with their answers."""
    with tempfile.TemporaryDirectory() as root:
        make_world(Path(root))
        for row, answer in zip(rows, answers(rows, "--root", root), strict=True):
            if not exactly_right(row, answer):
                yield row, answer


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--misses", action="store_true", help="show what is not right")
    options = arguments.parse_args()
    rows = [json.loads(line) for line in options.file.open(encoding="utf-8") if line.strip()]
    misses = list(wrong(rows))
    errors = sum("error" in answer for _, answer in misses)
    right = len(rows) - len(misses)
    print(
        f"{right} of {len(rows)} exactly right ({100 * right / len(rows):.1f} %), {errors} errors"
    )
    if options.misses:
        for row, answer in misses:
            paths = [item["path"] for item in answer.get("external", ())]
            opaque = [item["reason"] for item in answer.get("opaque", ())]
            print(f"{row['id']}: {row['command']!r} in {row['cwd']}")
            print(f"    expected {row['external']}, reported {paths}, opaque {opaque}")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    main()
