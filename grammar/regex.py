"""Regular expressions that were compiled when the package was built.

Python compiles them at each start, which takes longer than to decide. What its compiler makes is
a list of numbers: ``patterns.bin``, which a wheel brings along (prepare.py makes it), keeps these
for the very Python that compiled them. For any other, and in a checkout, ``re`` does.
"""

from __future__ import annotations

import marshal
import re
import sys
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, int]
Kept: TypeAlias = tuple[int, memoryview, int, dict[str, int], tuple[str | None, ...]]
"""What the machine takes behind the pattern: flags, numbers, groups and their names."""

MACHINE: Any = sys.modules.get("_sre")
"""What ``re`` runs on, where Python is CPython."""

STAMP = " ".join((
    sys.implementation.name, sys.version, sys.byteorder,
    str(getattr(MACHINE, "MAGIC", "")), str(getattr(MACHINE, "CODESIZE", "")),
)).encode() + b"\0"  # fmt: skip
"""The Python that can use what this one compiled."""

missed: set[Key] = set()
"""What was not found, for the next build."""


def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``."""
    key = (pattern, int(flags))
    kept = _KEPT.get(key)
    if kept is None:
        missed.add(key)
        return re.compile(pattern, flags)
    return made_of(pattern, kept)


def made_of(pattern: str, kept: Kept) -> re.Pattern[str]:
    """The expression that was kept."""
    flags, numbers, *groups = kept
    made: re.Pattern[str] = MACHINE.compile(pattern, flags, list(numbers), *groups)
    return made


def read(path: str) -> dict[Key, Kept]:
    """What a file keeps, if it is for this Python; else nothing."""
    try:
        with open(path, "rb") as file:
            content = memoryview(file.read())
    except OSError:
        return {}
    if MACHINE is None or content[: len(STAMP)] != STAMP:
        return {}
    begin = len(STAMP) + 8
    end = begin + int.from_bytes(content[len(STAMP) : begin], "big")
    index = marshal.loads(content[begin:end])  # noqa: S302 - it belongs to the program
    numbers = content[end:].cast("I")
    return {
        key: (flags, numbers[start:stop], *groups)
        for key, (flags, start, stop, *groups) in index.items()
    }


def to_bytes(kept: dict[Key, Kept]) -> bytes:
    """The content of such a file: an index, its size before it, and all numbers behind."""
    from array import array  # noqa: PLC0415 - for builds

    index = {}
    numbers: list[int] = []
    for key, (flags, own, *groups) in kept.items():
        index[key] = (flags, len(numbers), len(numbers) + len(own), *groups)
        numbers += own
    written = marshal.dumps(index)
    return STAMP + len(written).to_bytes(8, "big") + written + array("I", numbers).tobytes()


_KEPT = read(f"{__file__.removesuffix('regex.py')}patterns.bin")
