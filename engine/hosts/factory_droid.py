"""Factory droid: Claude Code's PreToolUse hook under other variables."""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Host, Request


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    events = (claude.PRE_TOOL_USE,)
    return claude.read(content, env, events=events, project_variable="FACTORY_PROJECT_DIR")


HOST = Host("factory-droid", _read, claude.answer, claude.refuse, claude.sample())
