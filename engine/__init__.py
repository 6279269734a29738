"""The engine: from a tool call to a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine.call import Decision, ToolCall
    from ringfence.engine.engine import Engine

__all__ = ["Decision", "Engine", "ToolCall"]


def __getattr__(name: str) -> object:
    """See ringfence: loaded when it is asked for."""
    if name == "Engine":
        from ringfence.engine import engine  # noqa: PLC0415

        return engine.Engine
    if name in __all__:
        from ringfence.engine import call  # noqa: PLC0415

        return getattr(call, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
