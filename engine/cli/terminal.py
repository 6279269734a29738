"""Asking at the terminal: one prompt with all causes, and a numbered answer.

The prompt goes to the terminal itself, not to standard output, and the answer is read from there:
what the command reads and writes stays its own.
"""

from __future__ import annotations

import os
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from attrs import frozen

from ringfence.engine.approval import NobodyToAskError
from ringfence.engine.call import Decision
from ringfence.engine.cli.output import marked
from ringfence.engine.grants import Offer, Scope
from ringfence.engine.messages import deciding_spans, prompt_text

TERMINAL = "/dev/tty"
_TRIES = 3


@frozen
class Terminal:
    """Asks whoever sits at the terminal of this process.

    With ``scope``, nobody is asked: the narrowest offer for it is the answer.
    """

    scope: Scope | None = None

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
        """See Approver."""
        if self.scope is not None:
            return next((offer for offer in offers if offer.scope is self.scope), None)
        try:
            terminal = open(TERMINAL, "r+b", buffering=0)  # noqa: PTH123, SIM115
        except OSError as error:
            raise NobodyToAskError from error
        with terminal:
            # What was typed before the question is no answer to it.
            with suppress(termios.error):
                termios.tcflush(terminal.fileno(), termios.TCIFLUSH)
            return _ask(terminal, decision, offers)


def _ask(terminal: IO[bytes], decision: Decision, offers: Sequence[Offer]) -> Offer | None:
    _say(terminal, f"\n{prompt(decision, offers)}\n")
    for _ in range(_TRIES):
        _say(terminal, f"Answer (1-{len(offers)}, or n): ")
        try:
            line = os.read(terminal.fileno(), 1000)
        except KeyboardInterrupt:
            _say(terminal, "\n")
            return None
        answer = line.decode("utf-8", "replace").strip().lower()
        if not line or answer in ("n", "no", "q", "0"):
            return None
        if answer.isascii() and answer.isdecimal() and 0 < int(answer) <= len(offers):
            return offers[int(answer) - 1]
    return None


def prompt(decision: Decision, offers: Sequence[Offer]) -> str:
    """The whole question: why it is one, and what each answer keeps."""
    command = decision.call.command
    shown = None
    if command is not None and len(command) <= 4000:
        shown = marked(command, deciding_spans(decision))
    lines = [f"  {number}  {offer}" for number, offer in enumerate(offers, 1)]
    return "\n".join([prompt_text(decision, shown), "", *lines, "  n  Do not run it"])


def _say(terminal: IO[bytes], text: str) -> None:
    terminal.write(text.encode("utf-8", "backslashreplace"))
