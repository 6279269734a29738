"""What a grant is, and how a person reads it."""

from __future__ import annotations

import shlex
from enum import StrEnum

from ringfence.engine.escape import shorten, visible
from ringfence.grammar.records import field, frozen
from ringfence.rules.model import Operation

_MAX_TEXT = 200


class Scope(StrEnum):
    """How long an answer holds."""

    ONCE = "once"  # nothing is kept
    SESSION = "session"  # the agent's session, a day at most
    PROJECT = "project"  # calls in this folder and below it
    ALWAYS = "always"


class Subject(StrEnum):
    """What a grant is about."""

    PATH = "path"
    COMMAND = "command"  # one simple command, as a rule for bash judges it
    LINE = "line"  # the whole text of a bash call, which could not be judged in full
    TOOL = "tool"
    MCP = "mcp"
    SKILL = "skill"


SESSION_LIMIT = 24 * 3600.0
"""Seconds after which a grant for a session ends, whether or not the session goes on."""


@frozen
class Grant:
    """One thing that a person has allowed. It takes a question away, never a refusal.

    ``text`` is a path, a command's words as a shell quotes them, the name of a tool. If ``wide``,
    it is a folder with all that is in it, or the words that a command begins with. ``real`` is
    where a path led at that time. ``cwd`` is where a LINE was allowed. ``agent`` is who asked,
    empty for calls that name no agent. ``project`` and ``session`` limit the scopes of these
    names. ``created`` is in seconds since 1970.
    """

    subject: Subject
    text: str
    wide: bool = False
    operation: Operation | None = None
    real: str = ""
    cwd: str = ""
    scope: Scope = Scope.ONCE
    agent: str = ""
    project: str = ""
    session: str = ""
    created: float = 0.0
    id: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        """What is granted, in words: exactly what is kept."""
        text = visible(shorten(self.text, _MAX_TEXT))
        match self.subject:
            case Subject.PATH:
                from ringfence.engine.messages import VERBS  # noqa: PLC0415 - as below

                verb = VERBS[self.operation or Operation.UNKNOWN]
                path = _path_text(self.text)
                if self.wide:
                    path = f"{path.rstrip('/')}/**"
                lead = f" -> {_path_text(self.real)}" if self.real != self.text else ""
                return f"{verb} {path}{lead}"
            case Subject.COMMAND:
                return f"run `{text} *`" if self.wide else f"run `{text}`"
            case Subject.LINE:
                return f"run exactly `{text}` in {_path_text(self.cwd)}"
            case Subject.TOOL:
                return f"use {text}"
            case Subject.MCP:
                return f"use {text} (MCP)"
            case Subject.SKILL:
                return f"use the skill {text}"

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a COMMAND."""
        return tuple(shlex.split(self.text))

    @property
    def where(self) -> str:
        """For whom it holds, in words."""
        agent = f" for agent {visible(shorten(self.agent, _MAX_TEXT))}" if self.agent else ""
        match self.scope:
            case Scope.ONCE:
                return f"once{agent}"
            case Scope.SESSION:
                return f"in session {visible(shorten(self.session, _MAX_TEXT))}{agent}"
            case Scope.PROJECT:
                return f"in {_path_text(self.project)}{agent}"
            case Scope.ALWAYS:
                return f"always{agent}"


@frozen
class Offer:
    """One answer that a person may give: allow, for ``scope``, with exactly these ``grants``.

    For Scope.ONCE nothing is kept, and ``grants`` is empty.
    """

    scope: Scope
    grants: tuple[Grant, ...] = ()

    def __str__(self) -> str:
        """What it keeps, in words."""
        if self.scope is Scope.ONCE:
            return "Once (nothing is kept)"
        kept = ", ".join(map(str, self.grants))
        agent = self.grants[0].agent if self.grants else ""
        whom = f", for agent {visible(shorten(agent, _MAX_TEXT))}" if agent else ""
        words = {
            Scope.SESSION: f"For this session{whom}",
            Scope.PROJECT: f"Always in this project{whom}",
            Scope.ALWAYS: f"Always, everywhere{whom}",
        }
        return f"{words[self.scope]}: {kept}"


def _path_text(path: str) -> str:
    from ringfence.engine.messages import path_text  # noqa: PLC0415 - most grants are never shown

    return path_text(path)
