"""The agents that Ringfence can stand in front of: one module and one row each."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ringfence.engine.hosts.model import Host

MAX_BYTES: Final = 32 << 20
"""A larger payload is refused."""

HOSTS: Final[Mapping[str, str]] = {
    "amp": "amp",
    "claude-code": "claude_code",
    "cline": "cline",
    "codex": "codex",
    "copilot-cli": "copilot_cli",
    "cursor": "cursor",
    "factory-droid": "factory_droid",
    "gemini-cli": "gemini_cli",
    "goose": "goose",
    "kiro": "kiro",
    "opencode": "opencode",
    "pi": "pi",
    "qwen-code": "qwen_code",
    "windsurf": "windsurf",
}
"""Each host's name with its module in this folder, which holds it as ``HOST``."""


def host(name: str) -> Host:
    """The host of that name; only its own module is loaded. Raises KeyError."""
    found: Host = import_module(f"ringfence.engine.hosts.{HOSTS[name]}").HOST
    return found
