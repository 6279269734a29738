"""Ringfence: decide, before a tool call runs, whether it stays inside the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine import (
        Approver,
        AsyncApprover,
        Decision,
        Engine,
        GrantStore,
        Guard,
        NobodyToAskError,
        Offer,
        ToolCall,
        ToolRefusedError,
        gated,
    )

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


def __getattr__(name: str) -> object:
    """Load the engine when it is asked for: a hook whose engine is resident never does."""
    if name in __all__:
        from ringfence import engine  # noqa: PLC0415

        return getattr(engine, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
