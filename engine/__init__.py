"""The engine: from a tool call to a decision."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine.approval import Approver, AsyncApprover, NobodyToAskError
    from ringfence.engine.call import Decision, ToolCall
    from ringfence.engine.engine import Engine
    from ringfence.engine.filesystem import NoFileSystem
    from ringfence.engine.grants import GrantError, GrantStore, Offer
    from ringfence.engine.hosts.model import HostTool
    from ringfence.engine.hosts.python.decorator import ToolRefusedError, gated
    from ringfence.engine.hosts.python.guard import Guard
    from ringfence.engine.log import ReviewLog
    from ringfence.engine.loops import LoopStore
    from ringfence.engine.policy.errors import ConfigError
    from ringfence.rules.model import Operation, State

__all__ = [
    "Approver",
    "AsyncApprover",
    "ConfigError",
    "Decision",
    "Engine",
    "GrantError",
    "GrantStore",
    "Guard",
    "HostTool",
    "LoopStore",
    "NoFileSystem",
    "NobodyToAskError",
    "Offer",
    "Operation",
    "ReviewLog",
    "State",
    "ToolCall",
    "ToolRefusedError",
    "gated",
]

_PLACES = {
    "Approver": "engine.approval",
    "AsyncApprover": "engine.approval",
    "ConfigError": "engine.policy.errors",
    "Decision": "engine.call",
    "Engine": "engine.engine",
    "GrantError": "engine.grants",
    "GrantStore": "engine.grants",
    "Guard": "engine.hosts.python.guard",
    "HostTool": "engine.hosts.model",
    "LoopStore": "engine.loops",
    "NoFileSystem": "engine.filesystem",
    "NobodyToAskError": "engine.approval",
    "Offer": "engine.grants",
    "Operation": "rules.model",
    "ReviewLog": "engine.log",
    "State": "rules.model",
    "ToolCall": "engine.call",
    "ToolRefusedError": "engine.hosts.python.decorator",
    "gated": "engine.hosts.python.decorator",
}


def __getattr__(name: str) -> object:
    """See ringfence: loaded when it is asked for."""
    if name in _PLACES:
        return getattr(import_module(f"ringfence.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
