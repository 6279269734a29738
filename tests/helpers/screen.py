"""A program on a terminal of its own: what its screen shows, and keys for it.

The terminal is pyte's, so the text is what a person would see, however it was drawn.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pexpect
import pyte

ROWS, COLUMNS = 60, 160

PATIENCE = 60.0
"""Seconds for something to appear."""

CALM = 0.5
"""Seconds after which a screen that shows something new listens to keys."""

ANSWERS = {
    "\x1b[6n": "\x1b[1;1R",  # where is the cursor?
    "\x1b[c": "\x1b[?62c",  # what are you?
    "\x1b[0c": "\x1b[?62c",
    "\x1b[?u": "\x1b[?0u",  # which keyboard protocol?
    "\x1b]10;?": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",  # which colours?
    "\x1b]11;?": "\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What programs ask a terminal, and wait for."""

_KEYBOARD = re.compile(r"\x1b\[[<>=?][0-9;]*u")
"""Talk of a keyboard protocol, which pyte would show as text."""


class NotShownError(AssertionError):
    """What did not appear; the message has the screen."""


class _Screen(pyte.Screen):
    def select_graphic_rendition(self, *attributes: int, **_: bool) -> None:
        """Also in the private form of some programs, which pyte does not know."""
        super().select_graphic_rendition(*attributes)


class Screen:
    """The program ``command``, started in ``cwd``."""

    def __init__(self, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.Stream(self._screen)
        self._program = pexpect.spawn(
            command[0], list(command[1:]), cwd=str(cwd), env=dict(env),
            dimensions=(ROWS, COLUMNS), encoding="utf-8", codec_errors="replace",
        )  # fmt: skip
        self._program.delaybeforesend = None

    @property
    def text(self) -> str:
        """What stands there, without blanks at the ends of lines and without blank lines."""
        lines = (line.rstrip() for line in self._screen.display)
        return "\n".join(line for line in lines if line)

    def until(self, seen: Callable[[], bool], what: str, *, calm: float = CALM) -> None:
        """Wait for something to be so, and ``calm`` seconds more."""
        deadline = time.monotonic() + PATIENCE
        while not seen():
            alive = self._heard(0.2) or self._program.isalive()
            if not alive or time.monotonic() > deadline:
                raise NotShownError(f"{what} does not come:\n{self.text}")
        self._wait(calm)

    def keys(self, text: str) -> None:
        """Press keys, one after the other as a person would."""
        for key in [text] if text.startswith("\x1b") else text:
            self._program.send(key)
            self._wait(0.05)

    def enter(self, text: str) -> None:
        """Type a line; what follows a text too fast is taken for a part of it."""
        self.keys(text)
        self._wait(CALM)
        self.keys("\r")

    def close(self) -> None:
        """End the program."""
        self._program.close(force=True)

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._heard(left)

    def _heard(self, seconds: float) -> bool:
        """Show what the program writes within some seconds; whether there was anything."""
        try:
            new = self._program.read_nonblocking(1 << 16, seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        for question, answer in ANSWERS.items():
            if question in new:
                self._program.send(answer)
        self._stream.feed(_KEYBOARD.sub("", new))
        return True
