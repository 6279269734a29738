"""Claude Code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ringfence.engine.imports.model import READS, WRITES, Import, command, whole_tool
from ringfence.rules.tool_names import canonical_tool

_RULE = re.compile(r"([A-Za-z_][\w-]*?(?:__[\w*-]+)*)(?:\((.*)\))?", re.DOTALL)


def from_claude(data: Mapping[str, Any]) -> Import:
    """The ``permissions`` of Claude Code's settings, where a refusal wins over a question.

    Here the last rule that matches wins: so what is allowed comes first.
    """
    found = Import()
    permissions = data.get("permissions", data)
    for state in ("allow", "ask", "deny"):
        rules = permissions.get(state, [])
        for rule in rules if isinstance(rules, list) else ():
            _claude_rule(found, rule, state)
    for folder in permissions.get("additionalDirectories", []):
        pattern = f"{str(folder).rstrip('/')}/**"
        if pattern.startswith(("/", "~")):
            found.put(("special", "external_directory", pattern), "allow")
        else:
            found.note(f"additionalDirectories {folder}", "only absolute folders can be opened")
    for key in permissions:
        if key not in ("allow", "ask", "deny", "additionalDirectories"):
            found.note(str(key), "stays with Claude Code")
    return found


def _claude_rule(found: Import, rule: Any, state: str) -> None:
    match = _RULE.fullmatch(rule) if isinstance(rule, str) else None
    if rule == "*":
        for surface in ("tools", "bash", "mcp", "skills"):
            found.put((surface, "*"), state)
        return
    if match is None:
        found.note(repr(rule), "is no rule that can be read")
        return
    name, inner = match[1], match[2]
    inner = None if inner in ("", "*") else inner
    tool = canonical_tool(name)
    if name.startswith("mcp__"):
        server, _, called = name.removeprefix("mcp__").partition("__")
        if called in ("", "*"):
            found.put(("mcp", server), state)
            called = "*"  # over what was said of single tools
        if server != "*" and (called != "*" or state != "allow"):
            found.put(("mcp", f"{server}:{called}"), state)
    elif tool == "bash":
        command(found, str(rule), _claude_command(inner) if inner else "*", state)
    elif tool in (*READS, *WRITES):
        reads = tool in READS
        if inner is None:
            for each in READS if reads else WRITES:
                found.put(("tools", each), state)
        else:
            _claude_paths(found, _claude_path(inner), "read" if reads else "write", state)
    elif tool == "skill" and inner is not None:
        found.put(("skills", inner.replace(":*", "*")), state)
    elif inner is None:
        found.put(("tools", tool), state)
    else:
        whole_tool(found, str(rule), tool, state)


def _claude_command(inner: str) -> str:
    return f"{inner[:-2]} *" if inner.endswith(":*") else inner


def _claude_path(text: str) -> str:
    """``//x`` is absolute, ``/x`` and ``./x`` start in the project."""
    if text.startswith("//"):
        return text[1:]
    if text.startswith("/"):
        return f".{text}"
    return text


def _claude_paths(found: Import, pattern: str, operation: str, state: str) -> None:
    """As in a list of ignored files, a rule for a folder is one for all that is in it."""
    pattern = pattern.rstrip("/") or "/"
    if state != "allow" and not pattern.endswith("**"):
        inside = pattern if "/" in pattern else f"**/{pattern}"
        pattern = f"{inside.rstrip('/')}/**"
    if pattern.startswith(("/", "~")) and state == "allow":
        found.path(("special", "external_directory", pattern), operation, state)
    found.path(("paths", pattern), operation, state)
