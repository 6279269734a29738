"""What a host adapter is: how to read a host's payload and how to answer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.escape import shorten
from ringfence.grammar.records import field, frozen
from ringfence.rules.model import State

MAX_REASON = 9000
"""Characters of a reason: Claude Code cuts at 10,000, which would lose the end of the message."""


@frozen
class Request:
    """A host's question: the call, the folder that grants for its project are for, the event.

    The config of every project that the call's folders are in holds for it.
    """

    call: ToolCall
    project: str
    event: str = ""

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders of the work beside the call's own directory."""
        return (*self.call.roots, self.project)


@frozen
class Answer:
    """What the host reads: standard output, standard error and the exit status."""

    stdout: str = ""
    stderr: str = ""
    status: int = 0


@frozen
class HostTool:
    """A host's tool: its canonical name, and the canonical names of its inputs that differ."""

    name: str
    inputs: Mapping[str, str] = field(factory=dict)


@frozen
class Host:
    """One agent that can ask before a call.

    ``read`` makes a Request of the payload's bytes and this process's variables, or raises
    PayloadError. ``answer`` says a decision in the host's own form. ``refuse`` is its safe
    answer where no decision could be made: the call must not run. ``sample`` is a payload such as
    the host sends, which asks about a command in a directory; ``environment`` has the variables
    that are part of it. Tests and ``ringfence doctor`` ask with it. ``asks`` says whether the host
    can put a question to a person; where it cannot, the policy's ``headless`` answer holds.
    """

    name: str
    read: Callable[[bytes, Mapping[str, str]], Request]
    answer: Callable[[Decision, Request], Answer]
    refuse: Callable[[str], Answer]
    sample: Callable[[str, str], Mapping[str, Any]]
    environment: Mapping[str, str] = field(factory=dict)
    asks: Callable[[Request], bool] = field(default=lambda _: True, kw_only=True)

    def no_objection(self) -> Answer:
        """The answer that leaves everything to the host's own rules, whatever it asked."""
        content = json.dumps(self.sample("true", "/")).encode()
        request = self.read(content, self.environment)
        return self.answer(Decision(request.call, State.ALLOW, default=True), request)


@frozen
class Verdict:
    """A decision as far as a host can say it.

    ``word`` is ``allow`` (a rule says so), ``ask``, ``deny``, or empty where nothing objects: then
    the host's own rules and prompts go on as without Ringfence.
    """

    word: str
    reason: str = ""


def verdict(decision: Decision, *, asks: bool = True) -> Verdict:
    """What to tell a host; where it cannot ask, a question becomes a refusal that says so."""
    if decision.state is State.ALLOW:
        if decision.default:
            return Verdict("")
        rules = {f"{v.rule.rule} ({v.rule.source})": None for v in decision.verdicts}
        return Verdict("allow", shorten(f"Allowed by {', '.join(rules)}", MAX_REASON))
    if decision.state is State.ASK and not asks:
        if decision.headless is State.ALLOW:
            return Verdict("")
        from ringfence.engine.messages import no_prompt_reason  # noqa: PLC0415 - most are allowed

        return Verdict("deny", shorten(no_prompt_reason(decision), MAX_REASON))
    return Verdict(decision.state.value, shorten(decision.message, MAX_REASON))


def never_asks(_request: Request) -> bool:
    """For a host that cannot ask: see Host."""
    return False


def refusal(reason: str) -> str:
    """The text of a refusal where no decision could be made."""
    return shorten(f"Ringfence could not judge this call, so it did not run: {reason}", MAX_REASON)


def canonical(
    tools: Mapping[str, HostTool], tool: str, values: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The canonical tool and input. A tool that ``tools`` lacks keeps its name and its input."""
    known = tools.get(tool)
    if known is None:
        return tool, dict(values)
    # An input already under the canonical name keeps it: neither may hide the other.
    renamed = {
        known.inputs[key] if key in known.inputs and known.inputs[key] not in values else key: value
        for key, value in values.items()
    }
    return known.name, renamed


def mcp_tool(server: str, tool: str) -> str:
    """The canonical name of an MCP tool."""
    return f"mcp__{server}__{tool}"
