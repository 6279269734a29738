"""``ringfence capture HOST``: a hook that objects to nothing and keeps what it was asked.

For a host that Ringfence has never met, what it really sends is its contract. Secrets are masked
and long texts shortened before anything is written, to a file that is readable by the user alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn
from ringfence.engine.escape import json_text, shorten
from ringfence.engine.hosts import HOSTS, MAX_BYTES, host
from ringfence.engine.hosts.model import Answer
from ringfence.engine.log import append
from ringfence.engine.secrets import masked, masked_values
from ringfence.grammar.regex import compiled

MAX_TEXT = 400
"""Characters of one text that are kept: a contract needs no file's content."""

MAX_BROKEN = 100_000
"""Bytes that are looked at of a payload that is no JSON."""

_TOLD = compiled(r"AGENT_TOOL_NAME|[A-Z_]*_(?:PROJECT_DIR|CWD|SESSION_ID|HOOK_EVENT)")
"""Variables whose values hosts tell their hooks; of any other the name alone is kept."""


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "capture",
        help="as a hook: keep what an agent asks, and object to nothing",
        description="Stand where `ringfence hook` would, keep each question with its secrets "
        "masked, and leave every call to the agent's own rules.",
    )
    parser.add_argument("host", type=_name, help="the agent; also one that Ringfence has not")
    parser.add_argument("--into", metavar="FILE", help="the file to write to")
    parser.set_defaults(run=run)


def _name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,40}", text):
        raise argparse.ArgumentTypeError("a name has small letters, digits and hyphens")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Keep the question and say nothing, as far as the host's form allows; 0."""
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    path = Path(arguments.into) if arguments.into else file_of(arguments.host)
    try:
        append(path, json_text(record(arguments.host, content)).encode() + b"\n")
    except Exception as error:  # noqa: BLE001  # the call is not to be stopped by it
        warn(f"cannot write {path}: {error}")
    said = host(arguments.host).no_objection() if arguments.host in HOSTS else Answer()
    if said.stdout:
        print(said.stdout)
    return said.status


def file_of(name: str) -> Path:
    """Where a host's questions are kept: ``$XDG_STATE_HOME/ringfence/captured/NAME.jsonl``."""
    base = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    return folder / "ringfence" / "captured" / f"{name}.jsonl"


def record(name: str, content: bytes) -> dict[str, Any]:
    """A question as it is kept: the payload as JSON, or as text where it is none."""
    try:
        payload = _shortened(masked_values(json.loads(content.decode("utf-8-sig"))))
    except (ValueError, RecursionError):
        text = content[:MAX_BROKEN].decode("utf-8", "backslashreplace")
        payload = shorten(masked(text), MAX_TEXT)
    environment = {
        key: shorten(masked(value), MAX_TEXT) if _TOLD.fullmatch(key) else ""
        for key, value in sorted(os.environ.items())
    }
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": name,
        "bytes": len(content),
        "byte_order_mark": content.startswith(b"\xef\xbb\xbf"),
        "cwd": os.getcwd(),
        "payload": payload,
        "environment": environment,
    }


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, MAX_TEXT)
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return value
