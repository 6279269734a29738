"""opencode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from ringfence.engine.imports.model import (
    READS,
    WRITES,
    Import,
    command,
    is_state,
    is_tool,
    whole_tool,
)
from ringfence.engine.policy.model import SURFACES
from ringfence.rules.tool_names import canonical_tool


def from_opencode(data: Mapping[str, Any]) -> Import:
    """The ``permission`` block of opencode's config, with those of its agents."""
    found = Import()
    _opencode_block(found, data.get("permission", {}), ())
    _opencode_switches(found, data.get("tools"), ())
    for section in ("agent", "mode"):
        agents = data.get(section, {})
        for name, agent in agents.items() if isinstance(agents, dict) else ():
            if isinstance(agent, dict):
                _opencode_block(found, agent.get("permission", {}), ("agents", name))
                _opencode_switches(found, agent.get("tools"), ("agents", name))
    return found


def _opencode_switches(found: Import, tools: Any, above: tuple[str, ...]) -> None:
    """The older form: ``tools`` with true and false."""
    for name, on in tools.items() if isinstance(tools, dict) else ():
        if on is False:
            _opencode_rule(found, str(name), "*", "deny", above, whole=True)
            for surface in ("tools", "bash", "mcp", "skills") if name == "*" else ():
                found.put((*above, surface, "*"), "deny")
        elif tools.get("*") is False:
            found.note(f"tools.{name}", "all tools are off, so it stays refused here")


def _opencode_block(found: Import, block: Any, above: tuple[str, ...]) -> None:
    if is_state(block):
        block = {"*": block}
    if not isinstance(block, dict):
        found.note("permission", "is no table")
        return
    names = list(block)
    if is_state(block.get("*")):  # it decides over all that stands before it
        names = names[names.index("*") :]
    for key in names:
        value = block[key]
        rules = {"*": value} if is_state(value) else value
        if not isinstance(rules, dict):
            found.note(str(key), "is no rule that is known here")
            continue
        # A rule for all files and others for some stand together, or neither could win.
        whole = all(pattern == "*" for pattern in rules)
        for pattern, state in rules.items():
            if is_state(state):
                _opencode_rule(found, str(key), str(pattern), state, above, whole=whole)
            else:
                found.note(f"{key}.{pattern}", "is no rule that is known here")


def _opencode_rule(
    found: Import, key: str, pattern: str, state: str, above: tuple[str, ...], *, whole: bool
) -> None:

    def put(keys: tuple[str, ...], value: Any) -> None:
        found.put((*above, *keys), value)

    tool = canonical_tool(_OPENCODE_TOOLS.get(key, key))
    everything = pattern == "*"
    if key == "*":
        for surface in SURFACES:
            put(("defaultPolicy", surface), state)
        if above and state != "allow":  # over what the other agents' rules say
            for surface in ("tools", "bash", "mcp", "skills"):
                put((surface, "*"), state)
            put(("special", "external_directory"), {"*": state})
    elif key == "bash":
        if state == "allow" and "?" in pattern:
            found.note(f"bash {pattern}", "`?` is no pattern here, so it is not allowed")
        elif "?" in pattern:
            found.wider((*above, "bash", pattern.replace("?", "*")), state)
        else:
            command(found, f"bash {pattern}", pattern, state, above)
    elif key == "skill":
        put(("skills", pattern), state)
    elif key == "external_directory":
        path = path_pattern(pattern, state)
        if everything or path.startswith(("/", "~", "$")):
            found.wider((*above, "special", key, path), state)
        elif state == "allow":
            found.note(f"{key} {pattern}", "is no absolute path, so it is not allowed")
        else:
            for operation in ("read", "write"):
                path_rule(found, pattern, operation, state, above, shared=True)
    elif key == "doom_loop":
        put(("special", key), state)
    elif ".." in pattern.split("/"):
        whole_tool(found, f"{key} {pattern}", tool, state, above)
    elif key in ("read", "edit") and not whole:
        operation = "read" if key == "read" else "write"
        path_rule(found, pattern, operation, state, above)
    elif key == "edit":
        for each in WRITES:
            put(("tools", each), state)
    elif everything and tool in _OPENCODE_OWN:
        put(("tools", tool), state)
    elif everything:  # `server_tool` is a tool of MCP
        if state == "allow" and any(fnmatchcase(name, key) for name in _OF_ALL_SERVERS):
            found.note(key, "would be for all servers of MCP here, so it is not allowed")
        elif not is_tool(tool):
            found.note(key, "is no tool's name, so it is left out")
        else:
            put(("tools", tool), state)
            put(("mcp", key), state)
    else:
        whole_tool(found, f"{key} {pattern}", tool, state, above)


_OPENCODE_TOOLS = {"list": "ls"}
_OPENCODE_OWN = (*READS, *WRITES, "fetch", "websearch", "codesearch", "task", "lsp", "question")
_MCP_OPERATIONS = ("call", "status", "list", "search", "describe", "connect")
_OF_ALL_SERVERS = ("mcp", *(f"mcp_{name}" for name in _MCP_OPERATIONS))


def path_rule(
    found: Import,
    pattern: str,
    operation: str,
    state: str,
    above: tuple[str, ...],
    *,
    shared: bool = False,
) -> None:
    """A rule for paths, for no more of them than its pattern says.

    ``shared`` if other tools' rules, which it must not win over, are for the same operation.
    """
    if state == "allow" and pattern.startswith("./"):
        found.note(pattern, "matches no path there, so it is not allowed")
        return
    keys = (*above, "paths", path_pattern(pattern, state))
    if keys[-1].endswith("/**") and found.stricter(keys, operation, state):
        keys = (*keys[:-1], f"{keys[-1]}/*")  # not the folder itself
    if shared or "?" in pattern or "*/" in pattern:
        found.wider(keys, state, operation)
    else:
        found.path(keys, operation, state)


def path_pattern(pattern: str, state: str) -> str:
    """There a star crosses folders, and what has no star is a path from the project on."""
    if pattern == "*":
        return pattern
    home = re.match(r"(?:~|\$HOME)(?=/|$)", pattern)
    path = re.sub(r"[\[$]", r"[\g<0>]", pattern[home.end() :] if home else pattern)
    if state == "allow":
        path = re.sub(r"\*+(?=/)", "*", path)
        path = re.sub(r"\*+(?!/)", "**", path)
    else:  # where ours cannot say the same, more
        path = re.sub(r"[*?]+", "**", path)
    if home:
        return f"~{path}"
    if path.startswith(("/", "./")):
        return path
    # There `*.env` is for files outside, too.
    return f"/{path}" if state != "allow" and path.startswith("*") else f"./{path}"
