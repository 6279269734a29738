"""``ringfence check --jsonl``: one JSON object a line in, one out, in order.

A line that is no call is answered by ``{"id": …, "error": …}``, and the next one is decided. One
process answers each line at once; with ``--jobs``, several decide blocks of lines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.arguments import engine_for
from ringfence.engine.cli.output import decision_json, write_json
from ringfence.engine.escape import shorten
from ringfence.rules.tool_names import canonical_tool

MAX_LINE = 16 << 20
"""Bytes of one line; a longer one is an error."""

_MAX_KEY = 60

Row = dict[str, Any]


class RowError(ValueError):
    """A line that is no valid request."""


def run_batch(arguments: argparse.Namespace) -> int:
    """Decide every line of standard input."""
    engine_for(arguments, None)  # a bad file of the user's ends the run before it begins
    if arguments.jobs > 1:
        for row in _in_parallel(arguments, _lines(sys.stdin.buffer)):
            write_json(row)
    else:
        answer_lines(_decider(arguments))
    return 0


def _decider(arguments: argparse.Namespace) -> Callable[[Row], Row]:
    engine = lru_cache(maxsize=256)(lambda cwd: engine_for(arguments, cwd))

    def answer(row: Row) -> Row:
        call = _call(row, arguments)
        return decision_json(engine(call.cwd).decide(call))

    return answer


def answer_lines(
    answer: Callable[[Row], Row], failure: Callable[[str], Row] = lambda text: {"error": text}
) -> None:
    """Answer each line of standard input by what ``answer`` makes of its object.

    Any exception becomes that line's ``failure``: a stream of many is never cut short by one.
    """
    for line in _lines(sys.stdin.buffer):
        write_json(_answered(line, answer, failure))


def _answered(
    line: bytes | None, answer: Callable[[Row], Row], failure: Callable[[str], Row]
) -> Row:
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
    return {"id": identity, **result}


# --- several processes -------------------------------------------------------------------------

BLOCK = 64
"""Lines that a process is given at a time."""
_AHEAD = 4
"""Blocks a process that are read before the first of them is answered; more are not kept."""


def _in_parallel(arguments: argparse.Namespace, lines: Iterator[bytes | None]) -> Iterator[Row]:
    """The answers in the order of the lines.

    Where a process dies, each line that it was given is an error, and so is every later one.
    """
    pending: deque[tuple[list[bytes | None], Future[list[Row]]]] = deque()
    with ProcessPoolExecutor(arguments.jobs, initializer=_prepare, initargs=(arguments,)) as pool:
        while block := list(islice(lines, BLOCK)):
            try:
                pending.append((block, pool.submit(_block, block)))
            except BrokenProcessPool as error:
                lost: Future[list[Row]] = Future()
                lost.set_exception(error)
                pending.append((block, lost))
            if len(pending) >= _AHEAD * arguments.jobs:
                yield from _result(*pending.popleft())
        while pending:
            yield from _result(*pending.popleft())


def _result(block: list[bytes | None], found: Future[list[Row]]) -> list[Row]:
    try:
        return found.result()
    except BrokenProcessPool:
        return [_answered(line, _lost, lambda text: {"error": text}) for line in block]


def _lost(_row: Row) -> Row:
    raise RowError("a process that was to decide this died")


_workers: list[Callable[[Row], Row]] = []
"""In each process, what answers."""


def _prepare(arguments: argparse.Namespace) -> None:
    _workers[:] = [_decider(arguments)]


def _block(lines: list[bytes | None]) -> list[Row]:
    return [_answered(line, _workers[0], lambda text: {"error": text}) for line in lines]


# --- lines ---------------------------------------------------------------------------------------


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


KEYS = ("id", "command", "tool", "input", "cwd", "agent", "env")
"""What a line may hold."""


def _call(row: Row, arguments: argparse.Namespace) -> ToolCall:
    unknown = next((key for key in row if key not in KEYS), None)
    if unknown is not None:  # what it was meant to say might have made the answer stricter
        near = get_close_matches(unknown.lower(), KEYS, n=1)
        guess = f'did you mean "{near[0]}"?' if near else f"the keys here are {', '.join(KEYS)}"
        raise RowError(f"unknown key {json.dumps(shorten(unknown, _MAX_KEY))} ({guess})")
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
        raise RowError("command is missing")
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
