"""Programs that change no file but those that their arguments name.

After any other program, what a file in the project held before says nothing any more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache

from ringfence.rules.model import Field
from ringfence.rules.usage import Usage


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    with open(f"{os.path.dirname(__file__)}/tidy.txt", encoding="utf-8") as lines:
        return frozenset(line.strip() for line in lines if not line.startswith("#"))


def is_tidy(argv: Sequence[Field], use: Usage) -> bool:
    """Whether the program changes no file that is not named in its arguments."""
    name = use.command.rpartition("/")[2]
    if name in _names():
        return True
    words = [field.text for field in argv[1:] if not field.text.startswith("-")]
    return any(f"{name} {word}" in _names() for word in words[:2])
