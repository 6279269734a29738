"""The engine: from a tool call to a decision."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine.approval import Approver, AsyncApprover, NobodyToAskError
    from ringfence.engine.call import Decision, ToolCall
    from ringfence.engine.engine import Engine
    from ringfence.engine.grants import GrantStore, Offer
    from ringfence.engine.hosts.python.decorator import ToolRefusedError, gated
    from ringfence.engine.hosts.python.guard import Guard

__all__ = [
    "Approver",
    "AsyncApprover",
    "Decision",
    "Engine",
    "GrantStore",
    "Guard",
    "NobodyToAskError",
    "Offer",
    "ToolCall",
    "ToolRefusedError",
    "gated",
]

_PLACES = {
    "Approver": "approval",
    "AsyncApprover": "approval",
    "Decision": "call",
    "Engine": "engine",
    "GrantStore": "grants",
    "Guard": "hosts.python.guard",
    "NobodyToAskError": "approval",
    "Offer": "grants",
    "ToolCall": "call",
    "ToolRefusedError": "hosts.python.decorator",
    "gated": "hosts.python.decorator",
}


def __getattr__(name: str) -> object:
    """See ringfence: loaded when it is asked for."""
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
