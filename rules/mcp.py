"""What a call of an MCP tool goes by in the rules of ``mcp``.

Hosts name such a call ``mcp__server__tool``, or have one tool ``mcp`` whose input says which
server and tool is meant, or which discovery operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ringfence.grammar.records import frozen
from ringfence.rules.wildcards import matches_all

PROXY = "mcp"
"""The tool that calls others."""


@frozen
class Target:
    """One reading of a call: its names, the narrowest first.

    ``aliases`` are names that only rules that ask or deny see.
    """

    names: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    def is_own(self, pattern: str | None, place: int) -> bool:
        """Whether a pattern that matches the name at ``place`` is about that, not about all.

        Such as ``server:delete_*`` for ``server:delete_repo``: it does not match all the wider
        names of the call, as ``*`` does.
        """
        if not pattern:
            return False
        wider = self.names[place + 1 : -1] or self.names[place + 1 :]
        return pattern == self.names[place] or not all(
            matches_all(pattern.split("*"), name) for name in wider
        )


def is_mcp(tool: str) -> bool:
    """Whether a tool is an MCP server's, or the proxy to all of them."""
    return tool == PROXY or tool.startswith("mcp__")


def targets(tool: str, data: Mapping[str, Any]) -> tuple[Target, ...]:
    """Every reading of a call, each of which is judged; empty for any other tool."""
    if tool == PROXY:
        return _proxied(data)
    if not tool.startswith("mcp__"):
        return ()
    parts = tool.removeprefix("mcp__").split("__")
    # A server's name may itself hold `__`.
    splits = [("__".join(parts[:n]), "__".join(parts[n:])) for n in range(1, len(parts))]
    return tuple(_called(server, name) for server, name in splits or [(parts[0], "")])


def _called(server: str, tool: str, operation: str = "mcp_call") -> Target:
    return Target((f"{server}:{tool}", f"{server}_{tool}", server, operation))


def _proxied(data: Mapping[str, Any]) -> tuple[Target, ...]:
    """What the proxy's input asks for; it may hold several, of which it does one."""
    server = _text(data, "server")
    found = []
    for key, operation in (("tool", "mcp_call"), ("describe", "mcp_describe")):
        name = _text(data, key)
        if not name:
            continue
        if server:
            found.append(_called(server, name.removeprefix(f"{server}:"), operation))
        elif ":" in name:
            server_name, _, tool = name.partition(":")
            found.append(_called(server_name, tool, operation))
        else:  # `server_tool`, or a tool alone, where nobody says how long the server's name is
            pieces = name.split("_")
            splits = [("_".join(pieces[:n]), "_".join(pieces[n:])) for n in range(1, len(pieces))]
            found.append(Target((name, operation), tuple(server for server, _ in splits)))
            found += (_called(server, tool, operation) for server, tool in splits)
    if connected := _text(data, "connect"):
        found.append(Target((connected, "mcp_connect")))
    if _text(data, "search"):
        found.append(Target((server, "mcp_search") if server else ("mcp_search",)))
    if not found:
        found.append(Target((server, "mcp_list") if server else ("mcp_status",)))
    return tuple(found)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
