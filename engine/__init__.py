"""The engine: from a tool call to a decision."""
