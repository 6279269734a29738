"""The engine: from a tool call to a decision."""

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.engine import Engine

__all__ = ["Decision", "Engine", "ToolCall"]
