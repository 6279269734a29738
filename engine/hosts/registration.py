"""How Ringfence is registered with each host: which files, and what stands in them.

Every registration names the program by its absolute path and asks for a call to be blocked
where the program is missing or fails: hosts let it run otherwise.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ringfence.grammar.records import field, frozen

Settings = dict[str, Any]
Entries = Mapping[tuple[str, ...], Settings]
"""What stands in a settings file: an entry for each list, which is named by the keys to it."""


@frozen
class File:
    """A file that registers Ringfence: where it is for a user, and where in a project.

    ``user`` is below the home directory; ``variable`` names one of the environment that, where it
    is set, stands for the first folders of ``user``, those in ``folder``.
    """

    user: str
    project: str
    folder: str = field(default="", kw_only=True)
    variable: str = field(default="", kw_only=True)

    def path(
        self, home: Path, project: Path | None = None, env: Mapping[str, str] = os.environ
    ) -> Path:
        """Where the file is, of a project or else of the user."""
        if project is not None:
            return project / self.project
        moved = env.get(self.variable, "") if self.variable else ""
        if moved.startswith("/"):
            return Path(moved) / Path(self.user).relative_to(self.folder)
        return home / self.user


@frozen
class Shared(File):
    """A settings file of the host's, JSON with or without comments, that holds entries of ours.

    ``fixed`` are other members that it needs; ``switches`` are members, by their keys, that turn
    our hooks off while they are, or as a list hold, the value given. ``beside`` is another file
    of a project that the host reads, which may register, or turn off, hooks as well.
    """

    entries: Callable[[str], Entries] = field(kw_only=True)
    fixed: Mapping[str, Any] = field(factory=dict, kw_only=True)
    switches: Mapping[tuple[str, ...], Any] = field(factory=dict, kw_only=True)
    beside: str = field(default="", kw_only=True)


@frozen
class Own(File):
    """A file that is ours alone; ``text`` makes it for a program's path."""

    text: Callable[[str], str] = field(kw_only=True)


@frozen
class Registration:
    """The files that register Ringfence with a host, and what to tell after installing."""

    files: tuple[Shared | Own, ...]
    note: str = ""


NO_ANSWER: Final = "Ringfence gave no answer, so the call did not run."


def command(program: str, host: str) -> str:
    """A shell command that blocks (2), and says so, whatever goes wrong with the program.

    Some hosts run a call whose hook ends with 2 and says nothing, as after a kill.
    """
    said = f"[ $? = 2 ] || echo {shlex.quote(NO_ANSWER)} >&2"
    return f"{shlex.quote(program)} hook {host} || {{ {said}; exit 2; }}"


def _nested(host: str, *events: str, matcher: str, **handler: Any) -> Callable[[str], Entries]:
    """Events whose entries have a matcher and a list of handlers."""

    def entries(program: str) -> Entries:
        made = {"type": "command", "command": command(program, host), **handler}
        return {("hooks", event): {"matcher": matcher, "hooks": [made]} for event in events}

    return entries


def _cursor(program: str) -> Entries:
    """Its events for each kind of call; a write is seen beforehand by preToolUse alone."""
    handler = {"command": command(program, "cursor"), "timeout": 10, "failClosed": True}
    events = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
    return {
        **{("hooks", event): handler for event in events},
        ("hooks", "preToolUse"): {"matcher": "Write|Edit|Delete|Grep", **handler},
    }


def _copilot(program: str) -> Entries:
    handler = {"type": "command", "bash": command(program, "copilot-cli"), "timeoutSec": 10}
    return {("hooks", "preToolUse"): handler}


def _windsurf(program: str) -> Entries:
    handler = {"command": command(program, "windsurf"), "show_output": True}
    events = ("pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use")
    return {("hooks", event): handler for event in events}


def _goose(program: str) -> str:
    handler = {
        "type": "command",
        "command": command(program, "goose"),
        "timeout": 10,
        "on_failure": "block",
    }
    # A matcher `*` is no regular expression: goose drops the rule.
    return _json({"hooks": {"PreToolUse": [{"matcher": ".*", "hooks": [handler]}]}})


def _goose_manifest(_: str) -> str:
    about = "Asks Ringfence before a tool runs. Written by `ringfence install goose`."
    return _json({"name": "ringfence", "version": "1.0.0", "description": about})


def _kiro(program: str) -> str:
    action = {"type": "command", "command": command(program, "kiro")}
    hook = {"name": "ringfence", "trigger": "PreToolUse", "matcher": ".*", "action": action}
    return _json({"version": "v1", "hooks": [{**hook, "timeout": 10, "enabled": True}]})


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _plugin(name: str) -> Callable[[str], str]:
    """The file of ``plugins/`` with the program's path in the language of the file."""

    def text(program: str) -> str:
        source = Path(__file__).parent / "plugins" / name
        quoted = shlex.quote(program) if source.suffix == ".sh" else json.dumps(program)
        return source.read_text("utf-8").replace('"@PROGRAM@"', quoted)

    return text


_ALL_OFF: Final[Mapping[tuple[str, ...], Any]] = {("disableAllHooks",): True}

REGISTRATIONS: Final[Mapping[str, Registration]] = {
    "claude-code": Registration((
        Shared(
            ".claude/settings.json", ".claude/settings.json",
            folder=".claude", variable="CLAUDE_CONFIG_DIR",
            entries=_nested("claude-code", "PreToolUse", matcher="*", timeout=10,
                            onFailure="block"),
            switches=_ALL_OFF, beside=".claude/settings.local.json",
        ),
    )),
    "cline": Registration((
        Own(".cline/hooks/PreToolUse", ".clinerules/hooks/PreToolUse", text=_plugin("cline.sh")),
    )),
    "codex": Registration(
        (
            Shared(
                ".codex/hooks.json", ".codex/hooks.json", folder=".codex", variable="CODEX_HOME",
                entries=_nested("codex", "PreToolUse", "PermissionRequest", matcher=".*",
                                timeout=10),
            ),
        ),
        "Start codex, open /hooks, and trust the hook: until then it does not run.",
    ),
    "copilot-cli": Registration((
        Shared(
            ".copilot/hooks/ringfence.json", ".github/hooks/ringfence.json",
            folder=".copilot", variable="COPILOT_HOME",
            entries=_copilot, fixed={"version": 1},
        ),
    )),
    "cursor": Registration((
        Shared(".cursor/hooks.json", ".cursor/hooks.json", entries=_cursor, fixed={"version": 1}),
    )),
    "factory-droid": Registration((
        Shared(
            ".factory/settings.json", ".factory/settings.json",
            entries=_nested("factory-droid", "PreToolUse", matcher="*", timeout=10),
            beside=".factory/settings.local.json",
        ),
    )),
    "gemini-cli": Registration((
        Shared(
            ".gemini/settings.json", ".gemini/settings.json",
            entries=_nested("gemini-cli", "BeforeTool", matcher=".*", name="ringfence",
                            timeout=10_000),
            switches={("hooksConfig", "enabled"): False, ("hooksConfig", "disabled"): "ringfence"},
        ),
    )),
    "goose": Registration((
        Own(".agents/plugins/ringfence/plugin.json", ".agents/plugins/ringfence/plugin.json",
            text=_goose_manifest),
        Own(".agents/plugins/ringfence/hooks/hooks.json",
            ".agents/plugins/ringfence/hooks/hooks.json", text=_goose),
    )),
    "kiro": Registration(
        (Own(".kiro/hooks/ringfence.json", ".kiro/hooks/ringfence.json", text=_kiro),),
        "This is for Kiro 3: Kiro CLI 2 keeps its hooks in each agent's file (see docs/hosts).",
    ),
    "opencode": Registration((
        Own(
            ".config/opencode/plugins/ringfence.ts", ".opencode/plugins/ringfence.ts",
            folder=".config", variable="XDG_CONFIG_HOME", text=_plugin("opencode.ts"),
        ),
    )),
    "pi": Registration((
        Own(
            ".pi/agent/extensions/ringfence.ts", ".pi/extensions/ringfence.ts",
            folder=".pi/agent", variable="PI_CODING_AGENT_DIR", text=_plugin("pi.ts"),
        ),
    )),
    "qwen-code": Registration((
        Shared(
            ".qwen/settings.json", ".qwen/settings.json",
            entries=_nested("qwen-code", "PreToolUse", matcher="*",
                            name="ringfence", timeout=10_000),
            switches=_ALL_OFF,
        ),
    )),
    "windsurf": Registration((
        Shared(".codeium/windsurf/hooks.json", ".windsurf/hooks.json", entries=_windsurf),
    )),
}  # fmt: skip
"""The hosts whose settings can be written; the pages of the others say what to do by hand."""
