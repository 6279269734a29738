"""How Ringfence is registered with each host: which file, and what stands in it.

Every registration names the program by its absolute path and asks for a call to be blocked
where the program is missing or fails: hosts let it run otherwise.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

Settings = dict[str, Any]


class RegistrationError(Exception):
    """A settings file that is not to be touched; the text says why, and what to do."""


@frozen
class Registration:
    """Where a host keeps its hooks: below the home directory, and below a project.

    ``hooks`` makes the entries by event for a program's path; ``flat`` if an event's entries are
    the handlers themselves; ``fixed`` are other keys that the file must hold. With ``plugin`` it is
    that file of ``plugins/`` instead. ``note`` is told after installing.
    """

    user: str
    project: str
    hooks: Callable[[str], Mapping[str, list[Settings]]] = lambda _: {}
    fixed: Mapping[str, Any] = {}
    plugin: str = ""
    note: str = ""


def _command(program: str, host: str) -> str:
    """A shell command that blocks (2) whatever goes wrong with the program."""
    return f"{shlex.quote(program)} hook {host} || exit 2"


def _claude(host: str) -> Callable[[str], Mapping[str, list[Settings]]]:
    def hooks(program: str) -> Mapping[str, list[Settings]]:
        handler = {
            "type": "command",
            "command": program,
            "args": ["hook", host],
            "timeout": 10,
            "onFailure": "block",
        }
        return {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}

    return hooks


def _nested(
    host: str, *events: str, **handler: Any
) -> Callable[[str], Mapping[str, list[Settings]]]:
    """Events whose entries have a matcher and a list of handlers."""
    matcher = handler.pop("matcher", "")

    def hooks(program: str) -> Mapping[str, list[Settings]]:
        made = {"type": "command", "command": _command(program, host), **handler}
        entry: Settings = {"hooks": [made]}
        if matcher:
            entry = {"matcher": matcher, **entry}
        return {event: [entry] for event in events}

    return hooks


def _flat(host: str, *events: str, **handler: Any) -> Callable[[str], Mapping[str, list[Settings]]]:
    """Events whose entries are the handlers themselves."""

    def hooks(program: str) -> Mapping[str, list[Settings]]:
        return {event: [{"command": _command(program, host), **handler}] for event in events}

    return hooks


def _cursor(program: str) -> Mapping[str, list[Settings]]:
    """Its events for each kind of call; a write is seen beforehand by preToolUse alone."""
    handler = {"command": _command(program, "cursor"), "timeout": 10, "failClosed": True}
    events = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
    return {
        **{event: [handler] for event in events},
        "preToolUse": [{"matcher": "Write|Edit|Delete|Grep", **handler}],
    }


def _copilot(program: str) -> Mapping[str, list[Settings]]:
    handler = {"type": "command", "bash": _command(program, "copilot-cli"), "timeoutSec": 10}
    return {"preToolUse": [handler]}


REGISTRATIONS: Final[Mapping[str, Registration]] = {
    "claude-code": Registration(
        ".claude/settings.json", ".claude/settings.json", _claude("claude-code")
    ),
    "cline": Registration(
        ".cline/hooks/PreToolUse", ".clinerules/hooks/PreToolUse", plugin="cline.sh"
    ),
    "codex": Registration(
        ".codex/hooks.json",
        ".codex/hooks.json",
        _nested("codex", "PreToolUse", "PermissionRequest", matcher=".*", timeout=10),
        note="Start codex, open /hooks, and trust the hook: until then it does not run.",
    ),
    "copilot-cli": Registration(
        ".copilot/hooks/ringfence.json", ".github/hooks/ringfence.json", _copilot, {"version": 1}
    ),
    "cursor": Registration(
        ".cursor/hooks.json",
        ".cursor/hooks.json",
        _cursor,
        {"version": 1},
    ),
    "factory-droid": Registration(
        ".factory/settings.json",
        ".factory/settings.json",
        _nested("factory-droid", "PreToolUse", matcher="*", timeout=10),
    ),
    "gemini-cli": Registration(
        ".gemini/settings.json",
        ".gemini/settings.json",
        _nested("gemini-cli", "BeforeTool", matcher=".*", name="ringfence", timeout=10_000),
    ),
    "opencode": Registration(
        ".config/opencode/plugins/ringfence.ts",
        ".opencode/plugins/ringfence.ts",
        plugin="opencode.ts",
    ),
    "pi": Registration(
        ".pi/agent/extensions/ringfence.ts", ".pi/extensions/ringfence.ts", plugin="pi.ts"
    ),
    "windsurf": Registration(
        ".codeium/windsurf/hooks.json",
        ".windsurf/hooks.json",
        _flat("windsurf", "pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use",
              show_output=True),
    ),
}  # fmt: skip
"""The hosts whose settings can be written; the pages of the others say what to do by hand."""


def file_of(host: str, folder: Path, *, project: bool) -> Path:
    """The file below ``folder`` (the home directory or a project) that registers Ringfence."""
    one = REGISTRATIONS[host]
    return folder / (one.project if project else one.user)


def registered(host: str, text: str | None) -> bool:
    """Whether a settings file's text registers Ringfence for the host."""
    if text is None:
        return False
    if REGISTRATIONS[host].plugin:
        return "ringfence" in text.lower()
    return any(
        _is_ours(entry, host) for entries in _events(_parsed(text)).values() for entry in entries
    )


def installed(host: str, text: str | None, program: str) -> str:
    """The file's text with Ringfence registered, once. Raises RegistrationError."""
    one = REGISTRATIONS[host]
    if one.plugin:
        source = Path(__file__).parent / "plugins" / one.plugin
        quoted = shlex.quote(program) if source.suffix == ".sh" else json.dumps(program)
        return source.read_text("utf-8").replace('"@PROGRAM@"', quoted)
    settings = _parsed(text or "{}")
    for key, value in one.fixed.items():
        settings.setdefault(key, value)
    events = settings.setdefault("hooks", {})
    if not isinstance(events, dict):
        raise RegistrationError("its key hooks is no object")
    for event, entries in one.hooks(program).items():
        kept = events.get(event, [])
        if not isinstance(kept, list):
            raise RegistrationError(f"its key hooks.{event} is no list")
        events[event] = [entry for entry in kept if not _is_ours(entry, host)] + entries
    return _written(settings, text)


def uninstalled(host: str, text: str) -> str | None:
    """The file's text without Ringfence; None if nothing else was in it."""
    if REGISTRATIONS[host].plugin:
        return None
    settings = _parsed(text)
    events = _events(settings)
    for event, entries in list(events.items()):
        events[event] = [entry for entry in entries if not _is_ours(entry, host)]
        if not events[event]:
            del events[event]
    if not events:
        settings.pop("hooks", None)
    left = settings.keys() - REGISTRATIONS[host].fixed.keys()
    return _written(settings, text) if left else None


def _events(settings: Settings) -> dict[str, list[Any]]:
    events = settings.get("hooks")
    if not isinstance(events, dict):
        return {}
    return {} if not all(isinstance(e, list) for e in events.values()) else events


def _is_ours(entry: Any, host: str) -> bool:
    text = json.dumps(entry)
    return "ringfence" in text and (f"hook {host}" in text or f'"hook", "{host}"' in text)


def _parsed(text: str) -> Settings:
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise RegistrationError(f"it is not plain JSON ({error})") from error
    if not isinstance(settings, dict):
        raise RegistrationError("it holds no JSON object")
    return settings


def _written(settings: Settings, before: str | None) -> str:
    indent = "\t" if before is not None and "\n\t" in before else 2
    return json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"


def replace(path: Path, text: str) -> Path | None:
    """Write a settings file as a whole, keeping the old one beside it; the old one's new place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.realpath(path))  # a dotfile manager may have put a link there
    backup = None
    mode = 0o700 if text.startswith("#!") else 0o600
    if target.exists():
        mode = target.stat().st_mode & 0o777
        backup = target.with_name(f"{target.name}.before-ringfence")
        backup.write_bytes(target.read_bytes())
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".ringfence-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return backup
