"""Regular expressions that were compiled when the package was built.

Python compiles them at each start, which takes longer than to decide. What its compiler makes is
a list of numbers: ``patterns.bin``, which a wheel brings along (prepare.py makes it), keeps these
for the very Python that compiled them. For any other, and in a checkout, ``re`` does.
"""

from __future__ import annotations

import marshal
import re
import sys
from pathlib import Path
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, int]
Kept: TypeAlias = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]
"""What ``_sre.compile`` takes behind the pattern: flags, numbers, groups and their names."""

MACHINE: Any = sys.modules.get("_sre")
"""What ``re`` runs on, where Python is CPython."""

STAMP = " ".join((
    sys.implementation.name, sys.version, sys.byteorder,
    str(getattr(MACHINE, "MAGIC", "")), str(getattr(MACHINE, "CODESIZE", "")),
)).encode()  # fmt: skip
"""The Python that can use what this one compiled."""

FILE = Path(__file__).with_name("patterns.bin")

missed: set[Key] = set()
"""What was not found, for the next build."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``."""
    key = (pattern, int(flags))
    found = _KEPT.get(key)
    if found is None:
        missed.add(key)
        return re.compile(pattern, flags)
    return made_of(pattern, found)


def made_of(pattern: str, kept: Kept) -> re.Pattern[str]:
    """The expression that was kept."""
    flags, numbers, *groups = kept
    made: re.Pattern[str] = MACHINE.compile(
        pattern, flags, list(memoryview(numbers).cast("I")), *groups
    )
    return made


def read(path: Path) -> dict[Key, Kept]:
    """What a file keeps, if it is for this Python; else nothing."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    stamp, _, rest = content.partition(b"\0")
    if stamp != STAMP or MACHINE is None:
        return {}
    kept: dict[Key, Kept] = marshal.loads(rest)  # noqa: S302 - it belongs to the program
    return kept


def to_bytes(kept: dict[Key, Any]) -> bytes:
    """The content of such a file."""
    return STAMP + b"\0" + marshal.dumps(kept)


_KEPT = read(FILE)
