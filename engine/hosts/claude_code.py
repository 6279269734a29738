"""Claude Code: the PreToolUse and the PermissionRequest hook."""

from __future__ import annotations

from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Host

HOST = Host("claude-code", claude.read, claude.answer, claude.refuse, claude.sample())
