"""Claude Code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ringfence.engine.imports.model import (
    READS,
    WRITES,
    Import,
    ask_about_all,
    command,
    literal,
    whole_tool,
)
from ringfence.grammar.regex import compiled
from ringfence.rules.tool_names import canonical_tool

_RULE = compiled(r"([A-Za-z_][\w-]*?(?:__[\w*-]+)*)(?:\((.*)\))?", re.DOTALL)


def from_claude(data: Mapping[str, Any]) -> Import:
    """The ``permissions`` of Claude Code's settings, where a refusal wins over a question.

    Here the last rule that matches wins: so what is allowed comes first.
    """
    found = Import()
    permissions = data.get("permissions", data)
    if not isinstance(permissions, Mapping):
        found.note("permissions", "is no table, so everything is asked about")
        ask_about_all(found)
        return found
    rules = {state: _rules(found, state, permissions.get(state, [])) for state in _STATES}
    for rule in filter(None, rules["allow"]):
        _claude_rule(found, rule, "allow")
    if any(rule is None for state in ("ask", "deny") for rule in rules[state]):
        ask_about_all(found)  # what is refused comes after it
    for state in ("ask", "deny"):
        for rule in filter(None, rules[state]):
            _claude_rule(found, rule, state)
    folders = permissions.get("additionalDirectories", [])
    for folder in folders if isinstance(folders, list) else [folders]:
        pattern = f"{literal(folder).rstrip('/')}/**" if isinstance(folder, str) and folder else ""
        if isinstance(folders, list) and pattern.startswith(("/", "~/")):
            found.put(("special", "external_directory", pattern), "allow")
        else:
            found.note(f"additionalDirectories {folder}", "only absolute folders can be opened")
    for key in permissions:
        if key not in (*_STATES, "additionalDirectories"):
            found.note(str(key), "stays with Claude Code")
    return found


_STATES = ("allow", "ask", "deny")


def _rules(found: Import, state: str, rules: Any) -> list[str | None]:
    """The rules of one list; None for one that cannot be read but would forbid something."""
    if isinstance(rules, str) and state != "allow":
        rules = [rules]
    read: list[str | None] = []
    for rule in rules if isinstance(rules, list) else [rules]:
        if isinstance(rules, list) and isinstance(rule, str) and _is_rule(rule):
            read.append(rule)
        elif state == "allow":
            found.note(repr(rule), "is no rule that can be read, so it allows nothing")
        else:
            found.note(repr(rule), "is no rule that can be read, so everything is asked about")
            read.append(None)
    return read


def _is_rule(rule: str) -> bool:
    return rule == "*" or _RULE.fullmatch(rule) is not None


def _claude_rule(found: Import, rule: str, state: str) -> None:
    match = _RULE.fullmatch(rule)
    if match is None:  # all tools
        for surface in ("tools", "bash", "mcp", "skills"):
            found.put((surface, "*"), state)
        return
    name, inner = match[1], match[2]
    inner = None if inner in ("", "*") else inner
    tool = canonical_tool(name)
    if name.startswith("mcp__"):
        server, _, called = name.removeprefix("mcp__").partition("__")
        if called in ("", "*"):
            found.put(("mcp", server), state)
            called = "*"  # over what was said of single tools
        if server == "*" and state == "allow" and called != "*":
            found.note(rule, "would be for the tool of every server, so it is not allowed")
        elif called != "*" or (server != "*" and state != "allow"):
            found.put(("mcp", f"{server}:{called}"), state)
    elif tool == "bash":
        command(found, rule, _claude_command(inner) if inner else "*", state)
    elif tool in (*READS, *WRITES):
        reads = tool in READS
        if inner is None:
            for each in READS if reads else WRITES:
                found.put(("tools", each), state)
        elif "\\" in inner or inner.startswith("!"):
            for each in READS if reads else WRITES:
                whole_tool(found, rule, each, state)
        else:
            _claude_paths(found, _claude_path(inner), "read" if reads else "write", state)
    elif tool == "skill" and inner is not None:
        found.put(("skills", inner.replace(":*", "*")), state)
    else:
        for each in _AGENTS if tool in _AGENTS else (tool,):
            if inner is None:
                found.put(("tools", each), state)
            else:
                whole_tool(found, rule, each, state)


_AGENTS = ("Task", "Agent")  # one tool, which has had both names


def _claude_command(inner: str) -> str:
    return f"{inner[:-2]} *" if inner.endswith(":*") else inner


def _claude_path(text: str) -> str:
    """``//x`` is absolute, ``/x`` and ``./x`` start in the project."""
    if text.startswith("//"):
        text = text[1:]
    elif text.startswith("/"):
        text = f".{text}"
    return text.replace("$", "[$]")


def _claude_paths(found: Import, pattern: str, operation: str, state: str) -> None:
    """As in a list of ignored files, a rule for a folder is one for all that is in it."""
    pattern = pattern.rstrip("/") or "/"
    if state != "allow" and not pattern.endswith("**"):
        inside = pattern if "/" in pattern else f"**/{pattern}"
        pattern = f"{inside.rstrip('/')}/**"
    if pattern.startswith(("/", "~")) and state == "allow":
        found.path(("special", "external_directory", pattern), operation, state)
    found.path(("paths", pattern), operation, state)
