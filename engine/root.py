"""Ringfence: decide, before a tool call runs, whether it stays inside the working directory."""
