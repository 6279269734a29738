"""The names of tools: one canonical name each, and the ways in which hosts spell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "bash": ("Bash",),
    "powershell": ("PowerShell",),
    "read": ("Read", "NotebookRead"),
    "write": ("Write",),
    "edit": ("Edit", "MultiEdit", "NotebookEdit"),
    "delete": ("Delete",),
    "patch": ("apply_patch", "ApplyPatch", "applypatch"),
    "find": ("Glob", "Find"),
    "grep": ("Grep",),
    "ls": ("LS",),
    "fetch": ("WebFetch", "Fetch"),
    "skill": ("Skill",),
}
"""Canonical name -> spellings. Case does not matter in any of them."""

RENAMED: Final[tuple[frozenset[str], ...]] = (
    frozenset(("Task", "Agent")),
    frozenset(("BashOutput", "TaskOutput")),
    frozenset(("KillShell", "KillBash", "TaskStop")),
)
"""Names of one tool in different versions of a host, which is none of those above."""


def other_names(tool: str) -> tuple[str, ...]:
    """The other names of a tool, which rules that ask or deny may use."""
    known = SPELLINGS.get(tool)
    if known is not None:
        return known
    folded = tool.casefold()
    return tuple(
        name
        for names in RENAMED
        if any(one.casefold() == folded for one in names)
        for name in sorted(names)
    )


_CANONICAL = {name: name for name in SPELLINGS} | {
    spelling.lower(): name for name, spellings in SPELLINGS.items() for spelling in spellings
}

HARMLESS: Final[frozenset[str]] = frozenset(
    (
        # Lists of things to do, plans, notes to oneself and reports of progress.
        *("todowrite", "todoread", "todo_write", "todo_read", "todo_list", "update_todo"),
        *("write_todos", "write_todo", "update_plan", "plan_enter", "plan_exit", "enterplanmode"),
        *("exitplanmode", "enter_plan_mode", "exit_plan_mode", "exitspecmode"),
        *("plan_mode_respond", "focus_chain", "update_topic", "report_intent", "thinking"),
        *("think", "taskcreate", "taskget", "tasklist", "taskupdate", "complete_task"),
        *("attempt_completion", "structuredoutput", "task_create", "task_get", "task_list"),
        *("task_update", "get_goal", "update_goal", "report_findings"),
        # Questions to the user.
        *("askuserquestion", "ask_user", "ask_user_question", "askuser", "ask_followup_question"),
        *("question", "request_user_input"),
        # Other agents, whose own calls are judged.
        *("task", "agent", "delegate", "subagent", "spawn_agent", "wait_agent", "send_input"),
        *("close_agent", "sendmessage", "new_task", "codebase_investigator", "oracle"),
        *("librarian", "list_agents"),
        # What runs in the background already, and was judged when it started.
        *("bashoutput", "killshell", "killbash", "taskoutput", "taskstop", "read_bash"),
        *("stop_bash", "list_bash", "task_output", "task_stop"),
        # The web, by words; an address is for `fetch`.
        *("websearch", "web_search", "google_web_search", "codesearch"),
        # What the host itself knows.
        *("toolsearch", "tool_search", "slashcommand", "listmcpresourcestool"),
        *("list_mcp_resources", "list_mcp_resource_templates", "cli_help", "get_internal_docs"),
        *("fetch_copilot_cli_documentation", "introspect"),
    )
)
"""Tools of hosts that touch nothing by themselves, in lower case. Any other that is not known may
do anything, and is asked about."""


KNOWN: Final[frozenset[str]] = HARMLESS.union(_CANONICAL)
"""Every name that is known, in lower case."""


def is_unknown_tool(name: str) -> bool:
    """Whether nobody here knows what the tool does."""
    return name not in SPELLINGS and name.lower() not in HARMLESS


def is_harmless(name: str) -> bool:
    """Whether it is known that the tool touches nothing by itself, whatever its inputs say."""
    return name.lower() in HARMLESS


def canonical_tool(name: str) -> str:
    """The canonical name of a tool; a tool that is not known keeps the name it has."""
    return _CANONICAL.get(name.lower(), name)


def skill_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The skill that a call's input names, without the slash that hosts take or leave.

    Hosts differ in the input that counts: where there are several, each may.
    """
    said = (data[key] for key in ("name", "skill", "command") if key in data)
    return tuple(str(name).strip().removeprefix("/").strip() for name in said) or ("",)
