"""The options that ``check`` and ``explain`` share, and the call that they describe."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from ringfence.engine.call import ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.escape import visible
from ringfence.engine.filesystem import FileSystem, NoFileSystem, RealFileSystem
from ringfence.engine.grants import GrantStore
from ringfence.engine.log import ReviewLog
from ringfence.rules.tool_names import canonical_tool


def count(text: str) -> int:
    """A whole number from 0 on, as the type of an option."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"must be 0 or more, not {visible(text)}")
    return number


class UsageError(Exception):
    """Options that do not fit together; the text says which."""


def add_call(parser: argparse.ArgumentParser) -> None:
    """Options that say which call."""
    parser.add_argument("command", nargs="?", help="the bash command")
    parser.add_argument("--tool", default="bash", help="another tool than bash, such as read")
    parser.add_argument("--input", metavar="JSON", help="the tool's input, as a JSON object")


def add_world(parser: argparse.ArgumentParser) -> None:
    """Options that say where, for whom, and under which policy."""
    parser.add_argument("--cwd", metavar="DIR", help="the working directory (default: this one)")
    files = parser.add_mutually_exclusive_group()
    files.add_argument(
        "--root", metavar="DIR", help="look at files below DIR as if it were / (no project config)"
    )
    files.add_argument(
        "--no-filesystem", action="store_true", help="look at no files (no project config)"
    )
    parser.add_argument("--agent", metavar="NAME", help="the agent that makes the call")
    parser.add_argument(
        "--config", metavar="FILE", help="use this config, not the user's and the project's"
    )


def add_log(parser: argparse.ArgumentParser) -> None:
    """The option that keeps trials out of the review log."""
    parser.add_argument(
        "--no-log", action="store_true", help="keep the decision out of the review log"
    )


def engine_for(arguments: argparse.Namespace, cwd: str | None) -> Engine:
    """The engine that the options ask for, for calls in ``cwd``, if they have one in common.

    Raises ConfigError.
    """
    filesystem: FileSystem = RealFileSystem()
    project = cwd
    if arguments.root is not None:
        filesystem = RealFileSystem(os.path.abspath(arguments.root).rstrip("/"))
        project = None  # the files of another world say nothing about this user's policy
    elif arguments.no_filesystem:
        filesystem, project = NoFileSystem(), None
    log = None if arguments.no_log else ReviewLog.of_user("check")
    # What was granted is about this world.
    grants = GrantStore.of_user() if project is not None else None
    return Engine.load(
        project, config=arguments.config, filesystem=filesystem, log=log, grants=grants
    )


def call_of(arguments: argparse.Namespace) -> ToolCall:
    """The call that the options describe. Raises UsageError."""
    try:
        cwd = os.path.abspath(arguments.cwd or "")
    except OSError as error:
        raise UsageError("the directory that this runs in is gone; give a --cwd") from error
    data: dict[str, Any] = {}
    if arguments.input is not None:
        try:
            data = json.loads(_text(arguments.input))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--input is not valid JSON: {error}") from error
        if not isinstance(data, dict):
            raise UsageError("--input must be a JSON object")
    tool = canonical_tool(arguments.tool)
    if arguments.command is not None:
        if tool != "bash":
            raise UsageError(f"a command goes with bash alone; give {arguments.tool} an --input")
        data["command"] = _text(arguments.command)
    elif tool == "bash" and "command" not in data:
        also = ", --input, or --jsonl" if "jsonl" in arguments else " or --input"
        raise UsageError(f"give a command{also}")
    return ToolCall(arguments.tool, data, cwd, agent=arguments.agent)


def _text(argument: str) -> str:
    """An argument as UTF-8, whatever the locale made of its bytes."""
    return os.fsencode(argument).decode("utf-8", "surrogateescape")
