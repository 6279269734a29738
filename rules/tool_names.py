"""The names of tools: one canonical name each, and the ways in which hosts spell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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

_CANONICAL = {name: name for name in SPELLINGS} | {
    spelling.lower(): name for name, spellings in SPELLINGS.items() for spelling in spellings
}


def canonical_tool(name: str) -> str:
    """The canonical name of a tool; a tool that is not known keeps the name it has."""
    return _CANONICAL.get(name.lower(), name)
