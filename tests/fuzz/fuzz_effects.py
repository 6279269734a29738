"""Differential fuzzing of what Ringfence finds against what the kernel sees.

    python tests/fuzz/fuzz_effects.py HARNESS --minutes 60 [--home DIR] [--seed N] [--found FILE]

Commands are composed at random: a program and its options from the command tables, operands
inside and outside the project, each written in one of bash's ways (quotes, variables, braces,
``cd``, substitutions…), within one or two of its constructs (lists, loops, functions, nested shells,
wrappers). HARNESS (see tests/bench/record_truth.py) runs each in a throw-away world under a
system-call tracer. Where a touched path is neither reported nor the command called opaque, or
where a command that succeeds touches nothing outside and one is reported, the command is shrunk
and written to --found, one JSON object a line; each kind (program and options) once.

Never run these commands outside the harness.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import frozen

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "bench"), str(TESTS / "truth")]
import truth as bench  # noqa: E402
import world  # noqa: E402
from record_truth import OWN, harness_at  # noqa: E402

from ringfence.engine import Engine, ToolCall  # noqa: E402
from ringfence.engine.filesystem import RealFileSystem  # noqa: E402
from ringfence.engine.record import decision_record  # noqa: E402
from ringfence.rules.commands import lookup  # noqa: E402
from ringfence.rules.commands.data import names  # noqa: E402
from ringfence.rules.commands.schema import Entry, Option, Syntax, Value  # noqa: E402

FILES = ("README.md", "src/app.py", "data/a.csv", "data/d.json", "notes.md")
OUT_FILES = (
    "/srv/shared/one.txt",
    "/srv/shared/two.txt",
    "../sibling/notes.txt",
    "/etc/app/app.conf",
)
OUT_HOME = "~/notes.txt"
FOLDERS = ("src", "data", ".")
OUT_FOLDERS = ("/srv/shared", "/tmp/work", "..", "../sibling", "/srv/shared/sub")
NEW = ("data/new", "new.txt")
OUT_NEW = ("/tmp/work/new", "/srv/shared/new.txt", "../new")
TEXTS = ("x", "a/b", "/srv/shared", "s/a/b/", "1", "name", "%s")
OURS = re.compile(
    r"/(?:srv|etc/app|tmp/work|opt/tool|home/dev/sibling)(?:/|$)|/home/dev/(?:ne|notes\.txt)"
)
"""What is judged: the world's own paths, and not what programs read by themselves."""
WRITES = ("write", "delete")
SHY = (
    " sudo su doas reboot shutdown halt poweroff kill killall pkill yes watch top htop less more man"
    " vim vi nvim nano emacs ed ex tmux screen ssh telnet sleep tail "
)
"""Programs that wait, or end others: they would only cost time."""


@frozen
class Pieces:
    """A command in parts that can be left out: words before, constructs around."""

    words: tuple[str, ...]
    frames: tuple[tuple[str, str], ...]
    setup: tuple[str, ...]

    @property
    def text(self) -> str:
        inner = " ".join(self.words)
        for before, after in self.frames:
            inner = before + inner + after
        return "; ".join((*self.setup, inner))

    def smaller(self) -> list[Pieces]:
        """Everything with one part left out."""
        made = [
            Pieces(_without(self.words, i), self.frames, self.setup)
            for i in range(1, len(self.words))
        ]
        made += [
            Pieces(self.words, _without(self.frames, i), self.setup)
            for i in range(len(self.frames))
        ]
        made += [
            Pieces(self.words, self.frames, _without(self.setup, i)) for i in range(len(self.setup))
        ]
        return made


def _without(items: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return items[:index] + items[index + 1 :]


class Composer:
    """Random commands."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._programs = [
            name
            for name in names()
            if f" {name} " not in SHY and shutil.which(name, path="/usr/bin:/bin")
        ]
        self._setup: list[str] = []

    def pieces(self) -> Pieces:
        dice = self._dice
        self._setup = []
        program = dice.choice(self._programs)
        entry = lookup(program)
        assert entry is not None
        words = [program, *self._arguments(entry)]
        if dice.random() < 0.25:
            words.append(self._redirection())
        frames = tuple(self._frame() for _ in range(dice.choice((0, 0, 1, 1, 2))))
        return Pieces(tuple(words), frames, tuple(self._setup))

    # --- arguments ---

    def _arguments(self, entry: Entry) -> list[str]:
        dice = self._dice
        if entry.commands and dice.random() < 0.9:
            name = dice.choice(sorted(entry.commands))
            from ringfence.rules.commands.reading import read_entry

            inner = read_entry(f"{entry.name} {name}", entry.commands[name])
            return [*self._options(entry, 0.1), name, *self._arguments(inner)]
        words = self._options(entry, 0.6)
        for value in entry.operands:
            for _ in range(dice.randint(1, 2) if value.repeats else 1):
                words.append(self._value(value))
        for key, value in entry.keys.items():
            if dice.random() < 0.7:
                words.append(f"{key}={self._value(value)}")
        return words

    def _options(self, entry: Entry, chance: float) -> list[str]:
        dice = self._dice
        words: list[str] = []
        options = list({id(o): o for o in entry.options.values()}.values())
        while options and dice.random() < chance:
            words += self._option(dice.choice(options), entry)
            chance *= 0.7
        return words

    def _option(self, option: Option, entry: Entry) -> list[str]:
        dice = self._dice
        name = dice.choice(option.names)
        if not option.values:
            return [name]
        value = self._value(option.values[0])
        if entry.syntax is Syntax.SINGLE_DASH:
            return [name, value]
        if name.startswith("--"):
            return [f"{name}={value}"] if option.optional or dice.random() < 0.6 else [name, value]
        return [name + value] if option.optional or dice.random() < 0.4 else [name, value]

    # --- values and their spellings ---

    def _value(self, value: Value) -> str:
        dice = self._dice
        kind = value.kind
        if kind == "number":
            return dice.choice(("1", "2", "10"))
        if value.operation is None:
            if kind in ("command", "shell"):
                return "'cat /srv/shared/one.txt'" if dice.random() < 0.5 else "'cat README.md'"
            if kind in ("words", "exec"):
                return f"cat {self._path('read')}"
            if kind == "url":
                return dice.choice(("http://127.0.0.1:9/x", "file:///srv/shared/one.txt"))
            if kind == "program":
                return dice.choice(("'p'", "'{print}'", "'1'", "."))
            return dice.choice(TEXTS)
        path = self._path(kind)
        if value.has("at") or value.has("form"):
            return ("@" if value.has("at") else "f=@") + path
        return path

    def _path(self, kind: str) -> str:
        dice = self._dice
        outside = dice.random() < 0.4
        if kind in ("enter", "base", "directory"):
            path = dice.choice(OUT_FOLDERS if outside else FOLDERS)
        elif kind in WRITES and dice.random() < 0.6:
            path = dice.choice(OUT_NEW if outside else NEW)
        elif dice.random() < 0.2:
            path = dice.choice(OUT_FOLDERS if outside else FOLDERS)
        else:
            path = dice.choice(OUT_FILES if outside else FILES)
            if outside and dice.random() < 0.2:
                return OUT_HOME
        return self._spelled(path)

    def _spelled(self, path: str) -> str:
        dice = self._dice
        way = dice.randint(0, 15)
        folder, _, name = path.rpartition("/")
        variable = f"v{len(self._setup)}"
        if way == 0:
            return f'"{path}"'
        if way == 1:
            return f"'{path}'"
        if way == 2:
            self._setup.append(f"{variable}={path}")
            return f"${variable}"
        if way == 3 and folder:
            self._setup.append(f"{variable}={folder}")
            return f'"${{{variable}}}/{name}"'
        if way == 4:
            return f"$(echo {path})"
        if way == 5 and len(name) > 2:
            return f"{path[:-1]}?"
        if way == 6 and folder:
            return f"{folder}/./{name}"
        if way == 7 and len(name) > 1:
            return path[:-1] + "\\" + path[-1]
        if way == 8:
            self._setup.append(f"{variable}=(x {path})")
            return f"${{{variable}[1]}}"
        if way == 9:
            self._setup.append(f"{variable}={path}.bak")
            return f"${{{variable}%.bak}}"
        if way == 10 and path.startswith("../"):
            return "${PWD%/*}/" + path[3:]
        if way == 11 and not path.startswith(("/", ".")):
            return f'"$PWD/{path}"'
        if way == 12:
            return "$'" + path.replace("a", "\\x61") + "'"
        return path

    def _redirection(self) -> str:
        dice = self._dice
        operator = dice.choice(("<", ">", ">>", "2>", "&>", ">|", "3<", "2>>"))
        return operator + self._path("read" if "<" in operator else "write")

    def _frame(self) -> tuple[str, str]:
        dice = self._dice
        path = self._path("enter")
        return dice.choice((
            ("true && ", ""), ("false || ", ""), ("(", ")"), ("{ ", "; }"), ("! ", ""),
            (f"cd {path} && ", ""), (f"(cd {path}; ", ")"), (f"cd {path}; ", "; cat notes.txt"),
            ("if true; then ", "; fi"), ("for i in 1; do ", "; done"), ("f() { ", "; }; f"),
            ("echo $(", ")"), ("cat <(", ")"), ("", " | cat"), ("", " | tee data/log"), ("", " && true"),
            ("timeout 5 ", ""), ("env X=1 ", ""), ("nice ", ""), ("command ", ""), ("bash -c '", "'"),
            ("eval '", "'"), ("trap '", "' EXIT"), ("x=1 ", ""), ("while ", "; do break; done"),
            (f"echo {self._path('read')} | xargs ", ""), ("find src -maxdepth 0 -exec ", " {} \\;"),
            ("exec ", ""), ("time ", ""), ("case a in a) ", ";; esac"), ("set -e; ", ""),
            ("bash <<'E'\n", "\nE\n"), ("[ -e README.md ] && ", ""),
        ))  # fmt: skip


class Judge:
    """Runs a command in the harness and beside it in Ringfence."""

    def __init__(self, harness: Any) -> None:
        self._box = harness.Harness("fuzz")
        self._engine = Engine(filesystem=RealFileSystem(harness.ROOTFS))

    def fault(self, text: str) -> str | None:
        """What differs: ``leak PATH``, ``false PATH``, ``crash …`` or None."""
        try:
            decision = self._engine.decide(ToolCall.bash(text, world.CWD, env=world.ENV))
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            return f"crash {type(error).__name__}"
        answer = decision_record(decision)
        if any("Ringfence failed" in part["reason"] for part in answer["opaque"]):
            return f"crash {answer['opaque']}"
        paths = bench.reported(answer)
        try:
            made = self._box.measure({"id": "x", "command": text}, verbose=True)
        except RuntimeError:
            return None
        if made["timeout"]:
            return None
        touched = [t for t in made["touched"] if OURS.match(t["real"]) or OURS.match(t["path"])]
        judged = [t for t in touched if not t.get("note") and not OWN.search(t["path"])]
        if not answer["opaque"]:
            found = [t for t in judged if any(bench.finds(p, t) for p in paths)]
            for touch in judged:
                if touch not in found and not bench.on_the_way(touch, found):
                    return f"leak {touch['path']}"
        worked = made["exit"] == 0 and not made["stderr"]
        if paths and not touched and worked and not made.get("system"):
            return f"false {min(paths)}"
        if answer["opaque"] and not paths and not touched and worked:
            return f"opaque {answer['opaque'][0]['reason']}"
        return None


def shrunk(pieces: Pieces, differs: Callable[[str], bool]) -> Pieces:
    """The pieces without everything that the difference does not need."""
    while True:
        for smaller in pieces.smaller():
            if differs(smaller.text):
                pieces = smaller
                break
        else:
            return pieces


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("harness", type=Path)
    arguments.add_argument("--minutes", type=float, default=1)
    arguments.add_argument("--home", type=Path, help="scratch folder of the harness")
    arguments.add_argument("--seed", type=int, default=None)
    arguments.add_argument("--found", type=Path, default=Path("found.jsonl"))
    options = arguments.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    home = options.home or Path(tempfile.mkdtemp())
    home.mkdir(parents=True, exist_ok=True)
    judge = Judge(harness_at(options.harness, home))
    composer = Composer(random.Random(seed))
    known: set[tuple[str, ...]] = set()
    tried = found = 0
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end:
        pieces = composer.pieces()
        tried += 1
        fault = judge.fault(pieces.text)
        if fault is None:
            continue
        kind = fault.split()[0]
        smallest = shrunk(
            pieces, lambda text, kind=kind: (judge.fault(text) or "").startswith(kind)
        )
        options_used = (word.split("=")[0] for word in smallest.words[1:] if word.startswith("-"))
        mark = (kind, smallest.words[0], *options_used)
        if mark in known or judge.fault(smallest.text) is None:
            continue
        known.add(mark)
        found += 1
        row = {"fault": judge.fault(smallest.text), "command": smallest.text}
        with options.found.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{row['fault']}: {row['command']!r}", flush=True)
    print(f"seed {seed}: {tried} commands, {found} kinds of difference")


if __name__ == "__main__":
    main()
