"""What a call of an MCP tool goes by in the rules of ``mcp``.

Hosts name such a call ``mcp__server__tool``, or have one tool ``mcp`` whose input says which
server and tool is meant, or which discovery operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ringfence.grammar.records import frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.wildcards import matches_all

PROXY = "mcp"
"""The tool that calls others."""

ANY_SERVER = ":"
"""Stands before a tool's name, in an alias, where the server is not known."""

_ODD = compiled(r"[^0-9a-z*:]")


def refuses(pattern: str, name: str) -> bool:
    """Whether a pattern of a rule that asks or denies is for a name, as hosts may write it.

    They put ``_`` for what is no letter or digit. A tool whose server is not known goes by its
    own name.
    """
    pattern, name = _ODD.sub("_", pattern.casefold()), _ODD.sub("_", name.casefold())
    if name.startswith(ANY_SERVER):
        _, server, tool = pattern.partition(":")
        return bool(server and tool.strip("*")) and matches_all(tool.split("*"), name[1:])
    return matches_all(pattern.split("*"), name)


@frozen
class Target:
    """One reading of a call: its names, the narrowest first.

    ``aliases`` are names that only rules that ask or deny see. ``tools`` are the names that hosts
    give to the tool itself.
    """

    names: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

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
    inner = tool.removeprefix("mcp__")
    return tuple(_called(server, name) for server, name in _splits(inner) or [(inner, "")])


def _splits(name: str) -> list[tuple[str, str]]:
    """Each server and tool that a name may hold; a server's may itself hold ``__``."""
    parts = name.split("__")
    return [("__".join(parts[:n]), "__".join(parts[n:])) for n in range(1, len(parts))]


def _called(server: str, tool: str, operation: str = "mcp_call") -> Target:
    aliases: list[str] = []
    tools = [f"mcp__{server}__{tool}"]
    for known in _without_prefix(server):
        aliases += (f"{known}:{tool}", f"{known}_{tool}", known)
        tools.append(f"mcp__{known}__{tool}")
    names = (f"{server}:{tool}", f"{server}_{tool}", server, operation)
    return Target(names, tuple(aliases), tuple(tools) if operation == "mcp_call" else ())


def _without_prefix(server: str) -> Iterator[str]:
    """The names that a server may have without what hosts put before it.

    ``plugin_NAME_github`` for the server of a plugin, ``claude_ai_github`` for one of an account.
    """
    if server.startswith("claude_ai_"):
        yield server.removeprefix("claude_ai_")
    if server.startswith("plugin_"):
        pieces = server.split("_")
        yield from ("_".join(pieces[n:]) for n in range(2, len(pieces)))


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
            found.append(_called(server_name.strip(), tool.strip(), operation))
        else:  # `server_tool`, or a tool alone, where nobody says how long the server's name is
            pieces = name.split("_")
            splits = [("_".join(pieces[:n]), "_".join(pieces[n:])) for n in range(1, len(pieces))]
            servers = tuple(server for server, _ in splits)
            found.append(Target((name, operation), (*servers, f"{ANY_SERVER}{name}")))
            found += (_called(server, tool, operation) for server, tool in splits)
        if name.startswith("mcp__"):
            found += targets(name, {})
        elif "__" in name:
            found += (_called(*split, operation) for split in _splits(name))
    if connected := _text(data, "connect"):
        found.append(Target((connected, "mcp_connect")))
    if _text(data, "search"):
        found.append(Target((server, "mcp_search") if server else ("mcp_search",)))
    if not found:
        found.append(Target((server, "mcp_list") if server else ("mcp_status",)))
    return tuple(found)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ""
