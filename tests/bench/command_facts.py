"""Where the command tables and other descriptions of the same commands disagree.

    python tests/bench/command_facts.py [--fig FOLDER] [--help-texts] [NAME…]

--fig: the unpacked npm package @withfig/autocomplete (ISC licence; its specs tag the arguments of
options as files or folders), read with node. --help-texts: what the programs on this machine print
for ``--help``, where an option's argument is called FILE, DIR or PATH. Each line of the output is
a fact with its source that the tables contradict: an option whose value is a file or folder, but
is none for us, or takes no value for us. A contradiction is a question, not an error: the tables
follow the programs' manuals.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from ringfence.rules.commands import lookup
from ringfence.rules.commands.data import names
from ringfence.rules.commands.reading import subentry
from ringfence.rules.commands.schema import Entry

_HELP = re.compile(
    r"^\s*(?:(?P<short>-\w)(?:,\s+|\s|$))?(?P<long>--[\w-]+)?(?P<glue>\[?=| )"
    r"\[?<?(?P<value>FILE\w*|PATH\w*|DIR\w*|file\w*|dir\w*|path\w*)\b",
    re.MULTILINE,
)
PATHLIKE = ("command", "shell", "program", "words", "exec", "setting", "runs", "variable", "key")
"""Kinds that may hold a path although they are none."""


@frozen
class Fact:
    """A source says that an option (None: an operand) of a command is a file or a folder."""

    command: str
    option: str | None
    kind: str
    source: str


def fig_facts(folder: Path, commands: list[str]) -> Iterator[Fact]:
    """What the package's specs say."""
    node = shutil.which("node") or "node"
    script = Path(__file__).with_name("fig_facts.mjs")
    done = subprocess.run(
        [node, str(script), str(folder.resolve()), *commands],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if row["kind"] in ("file", "folder"):
            yield Fact(row["command"], row["option"], row["kind"], "@withfig/autocomplete")


def help_facts(command: str) -> Iterator[Fact]:
    """What ``command --help`` says on this machine."""
    program = shutil.which(command, path="/usr/bin:/bin")
    if program is None:
        return
    try:
        done = subprocess.run(
            [program, "--help"], capture_output=True, text=True, timeout=5, check=False,
            stdin=subprocess.DEVNULL, errors="replace", env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return
    for found in _HELP.finditer(done.stdout):
        for option in (found["short"], found["long"]):
            if option:
                yield Fact(command, option, found["value"], f"{command} --help")


def entry_of(command: str) -> Entry | None:
    """The entry of a command or subcommand."""
    name, *rest = command.split(" ")
    entry = lookup(name)
    for part in rest:
        entry = subentry(entry, part) if entry is not None else None
    return entry


def contradicts(fact: Fact) -> str:
    """What the tables say instead, or an empty text."""
    entry = entry_of(fact.command)
    if entry is None:
        return ""
    if fact.option is None:
        kinds = [value.kind for value in entry.operands]
        fine = any(v.operation or v.kind in PATHLIKE for v in entry.operands) or entry.commands
        return "" if fine else f"operands {kinds or 'of no kind'}"
    option = entry.option(fact.option)
    if option is None:
        return "not listed"
    if not option.values:
        return "a flag"
    value = option.values[0]
    if value.operation is None and value.kind not in PATHLIKE:
        return f"{value.kind}, no path"
    return ""


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--fig", type=Path)
    arguments.add_argument("--help-texts", action="store_true")
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    commands = options.names or sorted(names())
    facts: list[Fact] = list(fig_facts(options.fig, commands)) if options.fig else []
    if options.help_texts:
        for command in commands:
            facts += help_facts(command)
    wrong = 0
    for fact in dict.fromkeys(facts):
        ours = contradicts(fact)
        if ours:
            wrong += 1
            what = fact.option or "operand"
            print(f"{fact.command} {what}: {fact.kind} ({fact.source}); here: {ours}")
    print(f"{len(facts)} facts, {wrong} contradictions")


if __name__ == "__main__":
    main()
