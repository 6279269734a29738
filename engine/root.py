"""Ringfence: decide, before a tool call runs, whether it stays inside the working directory."""

from ringfence.engine import Decision, Engine, ToolCall

__all__ = ["Decision", "Engine", "ToolCall"]
