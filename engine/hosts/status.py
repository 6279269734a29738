"""Hosts that read the exit status alone: 2 blocks the call, and standard error says why."""

from __future__ import annotations

from ringfence.engine.call import Decision
from ringfence.engine.hosts.model import Answer, Request, refusal, verdict

BLOCK = 2


def answer(decision: Decision, _request: Request) -> Answer:
    """See Host: these cannot ask, so a question becomes a refusal."""
    said = verdict(decision, asks=False)
    return Answer("", said.reason, BLOCK) if said.word == "deny" else Answer()


def refuse(reason: str) -> Answer:
    """See Host."""
    return Answer("", refusal(reason), BLOCK)
