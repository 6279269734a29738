"""Ringfence: decide, before a tool call runs, whether it stays inside the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine import (
        Approver,
        AsyncApprover,
        ConfigError,
        Decision,
        Engine,
        GrantError,
        GrantStore,
        Guard,
        HostTool,
        LoopStore,
        NobodyToAskError,
        NoFileSystem,
        Offer,
        Operation,
        ReviewLog,
        State,
        ToolCall,
        ToolRefusedError,
        gated,
    )

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


def __getattr__(name: str) -> object:
    """Load the engine when it is asked for: a hook whose engine is resident never does."""
    if name in __all__:
        from ringfence import engine  # noqa: PLC0415

        return getattr(engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, though none of them is loaded yet."""
    return sorted({*__all__, *globals()})
