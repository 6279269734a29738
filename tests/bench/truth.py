"""How Ringfence's findings compare with what the kernel saw.

    python tests/bench/truth.py [--misses]
    python tests/bench/truth.py --commands FILE --truth FILE --root DIR [--misses]

Without files: the recorded commands of tests/truth, in their own world, which is built in a
temporary folder; no root is needed. With files: JSON lines of commands (``id``, ``command``,
``expect``, ``tags``) and of truth (``id``, ``touched``: ``path``, ``real``, ``ops``, ``note``), and
the world as a folder. ``record_truth.py`` records the former anew.

A command is *positive* if it touched something outside that is to be judged (a touch with a
``note`` is not), *negative* if it was meant to touch nothing and did not. A touched path is found
by a finding that names it (by its own name or where links lead), a folder above it, a glob that
covers it, or a name that it begins with in the same folder; a folder that was only looked at on
the way, by what was found below it.

    caught    positive commands with every touched path found, or called opaque
    named     positive commands with every touched path found
    over      reported paths, in positive commands, that match nothing touched
    false     negative commands with a reported path
    opaque-   negative commands called opaque without a reported path

VISIBLE leaves out what the text alone cannot show: links, and what the tag ``hidden`` marks.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import posixpath
import sys
import tempfile
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from cases import answers

DATA = Path(__file__).parents[1] / "truth"
sys.path.insert(0, str(DATA))
import world  # noqa: E402

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/proc", "/dev", "/sys")
"""Not judged: programs read them by themselves."""

Row = dict[str, Any]


@frozen
class Case:
    """One command with what it touched."""

    id: str
    command: str
    touched: list[Row]
    negative: bool  # it was meant to touch nothing, and did not
    visible: bool

    @property
    def judged(self) -> list[Row]:
        """The touches that must be found."""
        return [touch for touch in self.touched if not touch.get("note")]


def recorded() -> list[Case]:
    """The cases of tests/truth."""
    lines = (DATA / "recorded.jsonl").read_text("utf-8").splitlines()
    truth = {row["command"]: row for row in map(json.loads, lines)}
    return [
        Case(
            str(number),
            command.text,
            truth[command.text]["touched"],
            not command.outside and not truth[command.text]["touched"],
            "links" not in command.about,
        )
        for number, command in enumerate(world.commands())
    ]


def from_files(commands: Path, truth: Path) -> list[Case]:
    """The cases of two files."""
    facts = {row["id"]: row for row in _rows(truth)}
    return [
        Case(
            row["id"],
            row["command"],
            facts[row["id"]]["touched"],
            row["expect"] == "in"
            and not facts[row["id"]]["touched"]
            and not facts[row["id"]].get("timeout"),
            not {"hidden", "symlink"} & set(row["tags"]),
        )
        for row in _rows(commands)
    ]


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _under(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def reported(answer: Row) -> set[str]:
    """The reported paths that count: those in the project by where their links lead."""
    paths = set()
    for item in answer["external"]:
        path = item["real"] if _under(item["path"], world.CWD) else item["path"]
        path = posixpath.normpath(path)
        system = any(_under(path, top) for top in SYSTEM) and not _under(path, "/dev/shm")
        if not system and not _under(path, world.CWD):
            paths.add(path.replace("//", "/"))
    return paths


def finds(report: str, touch: Row) -> bool:
    """Whether a reported path stands for a touched one."""
    return any(_covers(report, path) for path in {touch["path"], touch["real"]})


def _covers(report: str, path: str) -> bool:
    if _under(path, report):
        return True
    ours, theirs = report.strip("/").split("/"), path.strip("/").split("/")
    if any(mark in report for mark in "*?["):
        length = next(i for i, part in enumerate(ours) if any(m in part for m in "*?["))
        if theirs == ours[:length]:  # the folder that the glob is looked up in
            return True
        pairs = zip(ours, theirs, strict=False)
        return len(ours) <= len(theirs) and all(fnmatch.fnmatchcase(t, o) for o, t in pairs)
    return posixpath.dirname(path) == posixpath.dirname(report) and path.startswith(report)


@define
class Score:
    """Counts over some of the cases."""

    positive: int = 0
    negative: int = 0
    caught: int = 0
    named: int = 0
    reports: int = 0
    over: int = 0
    false: int = 0
    opaque: int = 0
    misses: list[str] = field(factory=list)

    def add(self, case: Case, answer: Row) -> None:
        """Count one command."""
        paths, opaque = reported(answer), bool(answer["opaque"])
        if case.judged:
            found = [t for t in case.judged if any(finds(p, t) for p in paths)]
            missing = [t for t in case.judged if t not in found and not on_the_way(t, found)]
            self.positive += 1
            self.named += not missing
            self.caught += not missing or opaque
            self.reports += len(paths)
            extra = [p for p in paths if not any(_matches(p, t) for t in case.touched)]
            self.over += len(extra)
            if missing and not opaque:
                self._note("missed", case, [t["path"] for t in missing])
            elif missing:
                self._note("opaque", case, [t["path"] for t in missing])
            if extra:
                self._note("over", case, extra)
        elif case.negative:
            self.negative += 1
            self.false += bool(paths)
            self.opaque += opaque and not paths
            if paths or opaque:
                self._note("false", case, sorted(paths) or ["opaque"])

    def _note(self, kind: str, case: Case, paths: list[str]) -> None:
        self.misses.append(f"{kind:7}{case.id:7}{case.command!r}: {', '.join(paths[:3])}")

    def shares(self) -> dict[str, float]:
        """The five numbers, in percent."""
        pairs = {
            "caught": (self.caught, self.positive),
            "named": (self.named, self.positive),
            "over": (self.over, self.reports),
            "false": (self.false, self.negative),
            "opaque-": (self.opaque, self.negative),
        }
        return {name: 100 * part / max(whole, 1) for name, (part, whole) in pairs.items()}


def on_the_way(touch: Row, found: list[Row]) -> bool:
    return set(touch["ops"]) <= {"stat", "chdir"} and any(
        f[key] != touch[key] and _under(f[key], touch[key])
        for f in found
        for key in ("path", "real")
    )


def _matches(path: str, touch: Row) -> bool:
    return finds(path, touch) or _under(path, touch["path"]) or _under(path, touch["real"])


def reports(cases: list[Case], root: Path) -> list[Row]:
    """What Ringfence says to each case in the world at ``root``."""
    rows = [{"id": c.id, "command": c.command, "cwd": world.CWD} for c in cases]
    return answers(rows, "--root", str(root), env=world.ENV)


def score(cases: list[Case], root: Path) -> tuple[Score, Score]:
    """The score of all cases, and of the visible ones, in the world at ``root``."""
    everything, visible = Score(), Score()
    for case, answer in zip(cases, reports(cases, root), strict=True):
        everything.add(case, answer)
        if case.visible:
            visible.add(case, answer)
    return everything, visible


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--commands", type=Path)
    arguments.add_argument("--truth", type=Path)
    arguments.add_argument("--root", type=Path)
    arguments.add_argument("--misses", action="store_true", help="show what is not right")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.commands:
            cases, root = from_files(options.commands, options.truth), options.root
        else:
            cases, root = recorded(), Path(folder)
            world.build(root)
        everything, visible = score(cases, root)
    names = list(everything.shares())
    print("| | positive | negative |" + "".join(f" {name} |" for name in names))
    print("|---|---:|---:|" + "---:|" * len(names))
    for name, part in (("all", everything), ("visible", visible)):
        shares = "".join(f" {share:.1f} |" for share in part.shares().values())
        print(f"| {name} | {part.positive} | {part.negative} |{shares}")
    if options.misses:
        print(*everything.misses, sep="\n")


if __name__ == "__main__":
    main()
