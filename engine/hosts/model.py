"""What a host adapter is: how to read a host's payload and how to answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from ringfence.engine.call import Decision, ToolCall


@frozen
class Request:
    """A host's question: the call, and the folder whose project config holds for it."""

    call: ToolCall
    project: str


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
    answer where no decision could be made: the call must not run.
    """

    name: str
    read: Callable[[bytes, Mapping[str, str]], Request]
    answer: Callable[[Decision], Answer]
    refuse: Callable[[str], Answer]


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
