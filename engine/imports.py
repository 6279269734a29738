"""Policies of other systems, as tables of a config file of ours.

What is made is never looser than what it is made of: an allow that has no counterpart is left out,
a refusal or a question that has none becomes a question about the whole tool. Both are told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from attrs import define, field

from ringfence.engine.escape import visible
from ringfence.engine.policy.model import SURFACES
from ringfence.rules.model import State
from ringfence.rules.tool_names import canonical_tool

Tables = dict[str, Any]


@define
class Import:
    """The tables of a config, and what could not be carried over."""

    tables: Tables = field(factory=dict)
    notes: list[str] = field(factory=list)

    def put(self, keys: tuple[str, ...], value: Any) -> None:
        """Set a rule; one that stands there already goes to the end, where it wins."""
        table = self.tables
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        table.pop(keys[-1], None)
        table[keys[-1]] = value

    def path(self, keys: tuple[str, ...], operation: str, state: str) -> None:
        """Set what a path pattern says of one operation, last of all that is said of that."""
        table = self.tables
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        pattern = keys[-1]
        while not isinstance(entry := table.setdefault(pattern, {}), dict) or operation in entry:
            pattern = _respelled(pattern)  # the order of the other operations must not change
        entry[operation] = state

    def note(self, what: str, why: str) -> None:
        """Tell what was left out, or became stricter."""
        self.notes.append(f"{what}: {why}")


def _respelled(pattern: str) -> str:
    """A pattern that matches the same, as another key."""
    for place in reversed(range(len(pattern))):
        if pattern[place].isalnum() and pattern[place - 1 : place] != "[":
            return f"{pattern[:place]}[{pattern[place]}]{pattern[place + 1 :]}"
    return f"{pattern}*"


def _is_state(value: Any) -> bool:
    return isinstance(value, str) and value in tuple(State)


# --- pi-permission-system ----------------------------------------------------------------------

_BUILT_INS = ("bash", "read", "write", "edit", "grep", "find", "ls")


def from_pi(data: Mapping[str, Any]) -> Import:
    """A file of pi-permission-system (``pi-permissions.jsonc``); what it leaves out is asked."""
    found = Import()
    defaults = data.get("defaultPolicy", {})
    for surface in SURFACES:
        state = defaults.get(surface, "ask") if isinstance(defaults, dict) else "ask"
        if not _is_state(state):
            found.note(f"defaultPolicy.{surface}", f"is no answer, so it is ask: {state!r}")
            state = "ask"
        found.put(("defaultPolicy", surface), state)
    _pi_tables(found, data, ())
    return found


def _pi_tables(found: Import, data: Mapping[str, Any], above: tuple[str, ...]) -> None:
    for key, table in data.items():
        if key in ("defaultPolicy", "$schema"):
            continue
        if key in _BUILT_INS and _is_state(table):  # the short form of agents' files
            found.put((*above, "tools", key), table)
        elif key not in SURFACES or not isinstance(table, dict):
            found.note(key, "there is no such table here")
        else:
            for name, state in table.items():
                if _is_state(state) and _PI_PATH.match(name) and key in ("tools", "special"):
                    _pi_path(found, name, state, above)
                elif _is_state(state) and (key != "special" or name in _SPECIAL):
                    found.put((*above, key, name), state)
                else:
                    found.note(f"{key}.{name}", "is no rule that is known here")


_SPECIAL = ("external_directory", "doom_loop")
_PI_PATH = re.compile(r"(read|write|edit|grep|find|ls|external_directory):(?=.)")


def _pi_path(found: Import, name: str, state: str, above: tuple[str, ...]) -> None:
    """A rule of a tool for some paths, ``read:/srv/*``."""
    tool, _, pattern = name.partition(":")
    if state == "allow":
        found.note(name, "holds for single paths of one tool, so it is not allowed")
    elif tool == "external_directory":
        found.note(name, "becomes a rule for all that is done to these paths")
        for operation in ("read", "write"):
            found.path((*above, "paths", _opencode_path(pattern, state)), operation, state)
    else:
        operation = "write" if tool in ("write", "edit") else "read"
        found.path((*above, "paths", _opencode_path(pattern, state)), operation, state)


# --- Claude Code -------------------------------------------------------------------------------

_RULE = re.compile(r"([A-Za-z_][\w-]*?(?:__[\w*-]+)*)(?:\((.*)\))?", re.DOTALL)
_READS, _WRITES = ("read", "find", "grep", "ls"), ("edit", "write", "patch")


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
        _command(found, str(rule), _claude_command(inner) if inner else "*", state)
    elif tool in (*_READS, *_WRITES):
        reads = tool in _READS
        if inner is None:
            for each in _READS if reads else _WRITES:
                found.put(("tools", each), state)
        else:
            _claude_paths(found, _claude_path(inner), "read" if reads else "write", state)
    elif tool == "skill" and inner is not None:
        found.put(("skills", inner.replace(":*", "*")), state)
    elif inner is None:
        found.put(("tools", tool), state)
    else:
        _whole_tool(found, str(rule), tool, state)


def _claude_command(inner: str) -> str:
    return f"{inner[:-2]} *" if inner.endswith(":*") else inner


def _command(
    found: Import, what: str, pattern: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule for single commands; one of a whole line would hide the rules for its parts."""
    if state == "allow" and re.search(r"[;&|\n]", pattern):
        found.note(what, "holds for no single command, so it is not allowed")
    else:
        found.put((*above, "bash", pattern), state)


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


def _whole_tool(
    found: Import, what: str, tool: str, state: str, above: tuple[str, ...] = ()
) -> None:
    """A rule about a part of what a tool does, which cannot be told apart here."""
    if state == "allow":
        found.note(what, "cannot be told apart here, so it is not allowed")
    else:
        found.note(what, f"cannot be told apart here, so all of {tool} is asked about")
        for each in _WRITES if tool == "edit" else (tool,):
            found.put((*above, "tools", each), "ask")


# --- opencode ----------------------------------------------------------------------------------


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
    if _is_state(block):
        block = {"*": block}
    if not isinstance(block, dict):
        found.note("permission", "is no table")
        return
    names = list(block)
    if _is_state(block.get("*")):  # it decides over all that stands before it
        names = names[names.index("*") :]
    for key in names:
        value = block[key]
        rules = {"*": value} if _is_state(value) else value
        if not isinstance(rules, dict):
            found.note(str(key), "is no rule that is known here")
            continue
        # A rule for all files and others for some stand together, or neither could win.
        whole = all(pattern == "*" for pattern in rules)
        for pattern, state in rules.items():
            if _is_state(state):
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
        else:
            _command(found, f"bash {pattern}", pattern.replace("?", "*"), state, above)
    elif key == "skill":
        put(("skills", pattern), state)
    elif key == "external_directory":
        path = _opencode_path(pattern, state)
        if everything or path.startswith(("/", "~", "$")):
            put(("special", key, path), state)
        else:
            found.path((*above, "paths", path), "read", state)
            found.path((*above, "paths", path), "write", state)
    elif key == "doom_loop":
        put(("special", key), state)
    elif ".." in pattern.split("/"):
        _whole_tool(found, f"{key} {pattern}", tool, state, above)
    elif key in ("read", "edit") and not whole:
        operation = "read" if key == "read" else "write"
        found.path((*above, "paths", _opencode_path(pattern, state)), operation, state)
    elif key == "edit":
        for each in _WRITES:
            put(("tools", each), state)
    elif everything and tool in _OPENCODE_OWN:
        put(("tools", tool), state)
    elif everything:  # `server_tool` is a tool of MCP
        if state == "allow" and any(fnmatchcase(name, key) for name in _OF_ALL_SERVERS):
            found.note(key, "would be for all servers of MCP here, so it is not allowed")
        else:
            put(("tools", tool), state)
            put(("mcp", key), state)
    else:
        _whole_tool(found, f"{key} {pattern}", tool, state, above)


_OPENCODE_TOOLS = {"list": "ls"}
_OPENCODE_OWN = (*_READS, *_WRITES, "fetch", "websearch", "codesearch", "task", "lsp", "question")
_MCP_OPERATIONS = ("call", "status", "list", "search", "describe", "connect")
_OF_ALL_SERVERS = ("mcp", *(f"mcp_{name}" for name in _MCP_OPERATIONS))


def _opencode_path(pattern: str, state: str) -> str:
    """There a star crosses folders, and what has no star is a path from the project on."""
    if pattern == "*":
        return pattern
    if state == "allow":
        path = re.sub(r"\*+(?=/)", "*", pattern.replace("[", "[[]"))
        path = re.sub(r"\*+(?!/)", "**", path)
    else:  # where ours cannot say the same, more
        path = re.sub(r"[*?]+", "**", pattern.replace("[", "[[]"))
    if path.startswith(("/", "~", "$", "./")):
        return path
    # There `*.env` is for files outside, too.
    return f"/{path}" if state != "allow" and path.startswith("*") else f"./{path}"


# --- writing -----------------------------------------------------------------------------------


def toml(tables: Tables) -> str:
    """Tables of a config as TOML; the innermost, answers by operation, stand on one line."""
    return "\n".join(_tables(tables, ())).strip("\n") + "\n"


def _tables(tables: Tables, above: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in tables.items() if not _is_table(value)}
    lines = []
    if plain:
        if above:
            lines += ["", f"[{'.'.join(map(_key, above))}]"]
        lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in tables.items():
        if _is_table(value):
            lines += _tables(value, (*above, key))
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and not set(value) <= {"read", "write"}


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _text(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    return _text(str(value))


def _text(text: str) -> str:
    """A basic string; what is not plainly visible is escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if visible(c) == c else f"\\U{ord(c):08x}" for c in escaped) + '"'
