"""``ringfence check --jsonl``: one JSON object a line in, one out, in order and at once.

A line that is no call is answered by ``{"id": …, "error": …}``, and the next one is decided.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, BinaryIO

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.arguments import engine_for
from ringfence.engine.cli.output import decision_json, write_json
from ringfence.rules.tool_names import canonical_tool

MAX_LINE = 16 << 20
"""Bytes of one line; a longer one is an error."""

Row = dict[str, Any]


class RowError(ValueError):
    """A line that is no valid request."""


def run_batch(arguments: argparse.Namespace) -> int:
    """Decide every line of standard input."""
    engine = lru_cache(maxsize=256)(lambda cwd: engine_for(arguments, cwd))
    engine_for(arguments, "/")  # a bad file of the user's ends the run before it begins

    def answer(row: Row) -> Row:
        call = _call(row, arguments)
        return decision_json(engine(call.cwd).decide(call))

    answer_lines(answer)
    return 0


def answer_lines(
    answer: Callable[[Row], Row], failure: Callable[[str], Row] = lambda text: {"error": text}
) -> None:
    """Answer each line of standard input by what ``answer`` makes of its object.

    Any exception becomes that line's ``failure``: a stream of many is never cut short by one.
    """
    for line in _lines(sys.stdin.buffer):
        identity = None
        try:
            row = _row(line)
            identity = row.get("id")
            result = answer(row)
        except (BrokenPipeError, KeyboardInterrupt):
            raise
        except Exception as error:  # noqa: BLE001
            known = isinstance(error, ValueError)
            result = failure(str(error) if known else f"{type(error).__name__}: {error}")
        write_json({"id": identity, **result})


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines that are not blank; None for one that is too long."""
    while line := stream.readline(MAX_LINE):
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            yield None
        elif line.strip():
            yield line


def _row(line: bytes | None) -> Row:
    if line is None:
        raise RowError(f"the line is longer than {MAX_LINE} bytes")
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RowError("the line is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise RowError(f"the line is not valid JSON: {error}") from error
    except RecursionError as error:
        raise RowError("the line is nested too deeply") from error
    if not isinstance(row, dict):
        raise RowError("the line is not a JSON object")
    return row


def _call(row: Row, arguments: argparse.Namespace) -> ToolCall:
    cwd = _text(row, "cwd", arguments.cwd)
    if cwd is None:
        raise RowError("cwd is missing: give one in the line, or --cwd")
    if not cwd.startswith("/"):
        raise RowError("cwd must be an absolute path")
    tool = canonical_tool(_text(row, "tool", None) or "bash")
    data = row.get("input") or {}
    if not isinstance(data, dict):
        raise RowError("input must be an object")
    command = _text(row, "command", None)
    if tool != "bash" and command is not None:
        raise RowError(f"a command goes with bash alone; give {tool} an input")
    if command is not None:
        data = {**data, "command": command}
    if tool == "bash" and not isinstance(data.get("command"), str):
        if "command" in data:
            raise RowError("command must be a string")
        near = get_close_matches("command", row.keys() - {"command"}, n=1)
        raise RowError("command is missing" + (f' (is it "{near[0]}"?)' if near else ""))
    env = row.get("env")
    if env is not None and not (
        isinstance(env, dict) and all(isinstance(value, str) for value in env.values())
    ):
        raise RowError("env must be an object of strings")
    return ToolCall(tool, data, cwd, _text(row, "agent", arguments.agent), env=env)


def _text(row: Row, key: str, default: str | None) -> str | None:
    value = row.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise RowError(f"{key} must be a string")
    return value
