"""Whether a person can be asked at this process's terminal."""

from __future__ import annotations

import os

known: bool | None = None
"""What the caller said, where the engine is resident and has no terminal of its own."""


def is_there() -> bool:
    """Whether there is a terminal."""
    if known is not None:
        return known
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
