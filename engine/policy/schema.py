"""The JSON Schema of a config file, for editors; made from what the loader accepts."""

from __future__ import annotations

from typing import Any

from ringfence.engine.policy.load import OPERATIONS
from ringfence.engine.policy.model import HEADLESS, NAMED, SURFACES
from ringfence.rules.model import State

_STATE = {"enum": [state.value for state in State]}
_ANSWER: dict[str, Any] = {
    "anyOf": [
        _STATE,
        {
            "type": "object",
            "properties": {"state": _STATE, "reason": {"type": "string"}},
            "required": ["state"],
            "additionalProperties": False,
        },
    ]
}
_BY_OPERATION: dict[str, Any] = {
    "type": "object",
    "properties": dict.fromkeys(OPERATIONS, _ANSWER),
    "minProperties": 1,
    "additionalProperties": False,
}
_PATHS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"anyOf": [_ANSWER, _BY_OPERATION]},
}
_LOOP: dict[str, Any] = {
    "description": "The same call several times in a row, in one session.",
    "anyOf": [
        _STATE,
        {
            "type": "object",
            "properties": {
                "state": _STATE,
                "reason": {"type": "string"},
                "repeats": {"type": "integer", "minimum": 2, "maximum": 1000},
            },
            "required": ["state"],
            "additionalProperties": False,
        },
    ],
}


def schema() -> dict[str, Any]:
    """The schema, as JSON Schema 2020-12."""
    tables: dict[str, Any] = {
        "defaultPolicy": {
            "type": "object",
            "description": "What holds where no rule of a table matches.",
            "properties": dict.fromkeys(SURFACES, _STATE),
            "additionalProperties": False,
        },
        "tools": _table("Tools by their names."),
        "bash": _table("Commands by patterns; the last that matches decides."),
        "mcp": _table("MCP servers and tools: server, server:tool or server_tool."),
        "skills": _table("Skills by patterns."),
        "special": {
            "type": "object",
            "properties": {
                "external_directory": {
                    "description": "Paths outside the working directory.",
                    "anyOf": [_ANSWER, _BY_OPERATION, _PATHS],
                },
                "doom_loop": _LOOP,
            },
            "additionalProperties": False,
        },
        NAMED: {**_PATHS, "description": "Single paths, inside and outside, by patterns."},
        HEADLESS: {
            "enum": ["allow", "deny"],
            "description": "What a question becomes where nobody can be asked (deny).",
        },
    }
    agent = {"type": "object", "properties": tables, "additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ringfence config",
        "type": "object",
        "properties": {
            **tables,
            "agents": {
                "type": "object",
                "description": "The same tables for single agents.",
                "additionalProperties": agent,
            },
            "$schema": {"type": "string"},
        },
        "additionalProperties": False,
    }


def _table(description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "additionalProperties": _ANSWER}
