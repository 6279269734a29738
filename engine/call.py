"""What goes into the engine and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringfence.grammar.records import field, frozen
from ringfence.rules.model import Effect, Finding, Opaque, State, Verdict
from ringfence.rules.tool_names import canonical_tool


@frozen
class ToolCall:
    """A tool call that an agent wants to make.

    ``tool`` is a canonical name: ``bash``, ``powershell``, ``read``, ``write``, ``edit``,
    ``delete``, ``find``, ``grep``, ``ls``, ``fetch`` or ``skill``. The spellings of hosts
    (``Bash``, ``MultiEdit``, ``Glob``, ``WebFetch``…) become these, whatever their case; any other
    tool keeps its name, and all its inputs that look like paths or commands are judged. ``input``
    is its arguments, for bash ``{"command": …}``, for file tools ``{"path": …}``.
    ``cwd`` is absolute; ``roots`` are other absolute paths that count as inside, such as the
    folder of the project when ``cwd`` is below it. ``spelling`` is what the host calls the tool,
    where that is another name: rules may use either. ``env`` holds the variables known of the
    process that would run the command; None means this process's own.
    """

    tool: str = field(converter=canonical_tool)
    input: Mapping[str, Any]
    cwd: str
    agent: str | None = None
    session: str | None = None
    roots: tuple[str, ...] = field(default=(), kw_only=True)
    spelling: str = field(default="", kw_only=True)
    env: Mapping[str, str] | None = None

    @classmethod
    def bash(
        cls,
        command: str,
        cwd: str,
        *,
        agent: str | None = None,
        session: str | None = None,
        roots: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
    ) -> ToolCall:
        """A call of the bash tool."""
        return cls("bash", {"command": command}, cwd, agent, session, roots=roots, env=env)

    @property
    def command(self) -> str | None:
        """The bash command, or None for another tool."""
        command = self.input.get("command")
        return command if self.tool == "bash" and isinstance(command, str) else None


@frozen
class Decision:
    """The answer to a ToolCall, with everything it rests on.

    ``default`` is True if no rule of anyone's made it, only defaults (an allow: if any part of it
    rests on a default): hosts treat "no objection" and "allow" differently. ``message`` is the
    text for the person (ask) or the agent (deny); empty for allow.
    """

    call: ToolCall
    state: State
    default: bool
    findings: tuple[Finding, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    effects: tuple[Effect, ...] = ()
    message: str = field(default="")
    headless: State = State.DENY  # what an ask becomes where nobody can be asked
    resolution: str = ""  # of an ask that was answered, by a grant or a person: how
    duration: float = 0.0  # seconds that it took, a person's answer included
    notes: tuple[str, ...] = ()  # what went wrong without changing the answer: unread grants
