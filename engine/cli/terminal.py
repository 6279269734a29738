"""Asking at the terminal: one prompt with all causes, and a numbered answer.

The prompt goes to the terminal itself, not to standard output, and the answer is read from there:
what the command reads and writes stays its own.
"""

from __future__ import annotations

import os
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ringfence.engine.approval import PROMPT, NobodyToAskError
from ringfence.engine.call import Decision
from ringfence.engine.cli.output import marked
from ringfence.engine.grants import Offer, Scope
from ringfence.engine.messages import deciding_spans, prompt_text
from ringfence.grammar.records import frozen

TERMINAL = "/dev/tty"
SESSION_VARIABLE = "RINGFENCE_SESSION"
_TRIES = 3


@frozen
class Terminal:
    """Asks whoever sits at the terminal of this process.

    With ``scope``, nobody is asked: the narrowest offer for it is the answer. Without ``once``,
    only what is kept is offered.
    """

    scope: Scope | None = None
    once: bool = True

    @property
    def source(self) -> str:
        """Where the answer is given: see Approver."""
        return PROMPT if self.scope is None else f"--scope {self.scope.value}, nobody was asked"

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
        """See Approver. No answer within three lines, and ^C, are a no."""
        if not self.once:
            offers = [offer for offer in offers if offer.scope is not Scope.ONCE]
        if self.scope is not None:
            return next((offer for offer in offers if offer.scope is self.scope), None)
        try:
            terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError as error:
            raise NobodyToAskError from error
        try:
            if not _is_ours(terminal):
                raise NobodyToAskError
            # What was typed before the question is no answer to it.
            with suppress(termios.error):
                termios.tcflush(terminal, termios.TCIFLUSH)
            return _ask(terminal, decision, offers)
        except KeyboardInterrupt:
            with suppress(OSError):
                _say(terminal, "\n")
            return None
        except OSError as error:  # the terminal went away
            raise NobodyToAskError from error
        finally:
            os.close(terminal)


def _is_ours(terminal: int) -> bool:
    """Whether a line that is typed there would come here.

    In the background this process would be stopped, not answered; and where the terminal is not
    in line mode, another program, such as the agent's own screen, reads the keys.
    """
    try:
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return False
        return bool(termios.tcgetattr(terminal)[3] & termios.ICANON)
    except (OSError, termios.error):
        return False


def _ask(terminal: int, decision: Decision, offers: Sequence[Offer]) -> Offer | None:
    _say(terminal, f"\n{prompt(decision, offers)}\n")
    numbers = "1" if len(offers) == 1 else f"1-{len(offers)}"
    for _ in range(_TRIES):
        _say(terminal, f"Answer ({numbers}, or n): ")
        line = os.read(terminal, 1000)
        if not line:  # end of input: there is nobody
            _say(terminal, "\n")
            raise NobodyToAskError
        answer = line.decode("utf-8", "replace").strip().lower()
        if answer in ("n", "no", "q", "0"):
            return None
        if answer.isascii() and answer.isdecimal() and 0 < int(answer[:9]) <= len(offers):
            return offers[int(answer[:9]) - 1]
    _say(terminal, "That was not understood, so it is not run.\n")
    return None


def prompt(decision: Decision, offers: Sequence[Offer]) -> str:
    """The whole question: why it is one, and what each answer keeps."""
    command = decision.call.command
    shown = None
    if command is not None and len(command) <= 4000:
        shown = marked(command, deciding_spans(decision))
    lines = [f"  {number}  {offer}" for number, offer in enumerate(offers, 1)]
    return "\n".join([prompt_text(decision, shown), "", *lines, "  n  Do not run it"])


def _say(terminal: int, text: str) -> None:
    left = text.encode("utf-8", "backslashreplace")
    while left:
        left = left[os.write(terminal, left) :]


def terminal_session(env: Mapping[str, str] = os.environ) -> str | None:
    """The session that this process belongs to, for its grants; None if there is no telling.

    ``$RINGFENCE_SESSION``, or else the session of the terminal, which ends with its shell.
    """
    if named := env.get(SESSION_VARIABLE):
        return named
    try:
        os.close(os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
        leader = os.getsid(0)
        # Behind the name in parentheses: when it started, so that a number that is used again
        # is another session.
        started = Path(f"/proc/{leader}/stat").read_text("ascii", "replace").rpartition(")")[2]
        return f"terminal {leader}.{started.split()[19]}"
    except (OSError, IndexError):
        return None
