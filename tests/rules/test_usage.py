"""What commands do with their arguments: one line a case in the tables beside this file."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from ringfence.rules.commands import usage
from ringfence.rules.model import BELOW, NAME, Field
from ringfence.rules.usage import PathUse, Usage

TABLES = Path(__file__).parent / "commands"


def argv(command: str) -> list[Field]:
    return [Field(word, (0, 0)) for word in shlex.split(command)]


def shown(use: Usage, names: bool) -> list[str]:
    """A Usage in the notation of the tables, in any order.

    What is a path only if something stands there is left out, unless the line asks for it.
    """
    words = [path(p) for p in use.paths if names or not p.there]
    words += [f"{p.language}={'' if p.text is None else p.text}" for p in use.programs]
    words += ["run=" + " ".join(word.text for word in c.words) for c in use.commands]
    words += [f"opaque={reason}" for reason, _ in use.opaque]
    return sorted(words)


def path(use: PathUse) -> str:
    perhaps = ("~" if use.there else "?") * use.possible
    marks = "*" * use.recursive + "@" * use.through + perhaps + "+" * use.names
    base = f"{use.base}>" if use.base else ""
    return f"{use.operation}{marks}:{base}{use.path}"


def cases() -> list[object]:
    found: list[object] = []
    for table in sorted(TABLES.glob("*.txt")):
        for number, line in enumerate(table.read_text().splitlines(), 1):
            if line and not line.startswith("#"):
                command, expected = line.rsplit("->", 1)
                found.append(pytest.param(command.strip(), expected, id=f"{table.stem}:{number}"))
    return found


@pytest.mark.parametrize(("command", "expected"), cases())
def test_table(command: str, expected: str) -> None:
    """The table's right side says every path, program and command of the left side."""
    marks = {"<newline>": "\n", "<below>": BELOW, "<name>": NAME}
    for mark, text in marks.items():
        expected = expected.replace(mark, text)
    assert shown(usage(argv(command)), "~:" in expected) == sorted(shlex.split(expected))
