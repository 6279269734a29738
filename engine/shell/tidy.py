"""Programs that change no file but those that their arguments name.

After any other program, what a file in the project held before says nothing any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ringfence.rules.model import Field
from ringfence.rules.usage import Usage


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    text = Path(__file__).with_name("tidy.txt").read_text("utf-8")
    return frozenset(line.strip() for line in text.splitlines() if not line.startswith("#"))


def is_tidy(argv: Sequence[Field], use: Usage) -> bool:
    """Whether the program changes no file that is not named in its arguments."""
    name = use.command.rpartition("/")[2]
    if name in _names():
        return True
    words = [field.text for field in argv[1:] if not field.text.startswith("-")]
    return any(f"{name} {word}" in _names() for word in words[:2])
