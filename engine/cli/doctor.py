"""``ringfence doctor``: whether Ringfence really stands in front of an agent."""

from __future__ import annotations

import argparse
import json
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ringfence.engine.cli.install import program
from ringfence.engine.cli.output import write_text
from ringfence.engine.escape import visible
from ringfence.engine.hosts.registration import (
    REGISTRATIONS,
    RegistrationError,
    file_of,
    registered,
)
from ringfence.engine.policy import ConfigError, load_policy

PROBE = {
    "hook_event_name": "PreToolUse",
    "session_id": "doctor",
    "tool_name": "Bash",
    "tool_input": {"command": "cat /etc/hosts"},
}
SLOW = 2.0


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="check that Ringfence stands in front of your agents",
        description="Check registrations, the policy, and a live question.",
    )
    parser.add_argument("host", nargs="?", choices=sorted(REGISTRATIONS), help="(default: all)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what is right and what is wrong; 1 if anything is."""
    wrong = False
    for good, text in _findings([arguments.host] if arguments.host else sorted(REGISTRATIONS)):
        wrong = wrong or not good
        write_text(visible(f"{'ok   ' if good else 'WRONG'} {text}"))
    return int(wrong)


def _findings(hosts: list[str]) -> Iterator[tuple[bool, str]]:
    yield _probe()
    try:
        policy = load_policy(str(Path.cwd()))
        files = dict.fromkeys(layer.file for layer in policy.layers)
        yield True, f"policy: {', '.join(files) or 'the built-in defaults'}"
        for layer in policy.layers:
            if layer.held:
                yield True, f"{layer.file} only tightens; `ringfence trust` lets it loosen"
    except ConfigError as error:
        yield False, f"policy: {error}; every call is refused until this is mended"
    found = False
    for host in hosts:
        places = []
        for project in (False, True):
            path = file_of(host, Path.cwd() if project else Path.home(), project=project)
            try:
                text = path.read_text("utf-8") if path.exists() else None
                if registered(host, text):
                    places.append(path)
                    yield from _program_of(host, path, text or "")
            except (OSError, UnicodeDecodeError, RegistrationError) as error:
                yield False, f"{host}: {path} cannot be read: {error}"
        found = found or bool(places)
        if len(places) > 1:
            yield False, f"{host}: registered twice ({places[0]} and {places[1]}); remove one"
        elif places and host == "codex" and not _trusted_by_codex(places[0]):
            yield (
                False,
                f"codex: {places[0]} is not trusted, and skipped: {REGISTRATIONS[host].note}",
            )
        elif places:
            yield True, f"{host}: registered in {places[0]}"
        elif len(hosts) == 1:
            yield False, f"{host}: not registered; run `ringfence install {host}`"
    if not found and len(hosts) > 1:
        yield False, "no agent is registered; run `ringfence install HOST`"


def _program_of(host: str, path: Path, text: str) -> Iterator[tuple[bool, str]]:
    if program() not in text:
        mend = f"run `ringfence install {host}` again"
        yield False, f"{host}: {path} names another program than {program()}; {mend}"


def _trusted_by_codex(hooks: Path) -> bool:
    """Whether Codex holds a hash for the hook; that it is still the right one, only it can say."""
    try:
        config = tomllib.loads((Path.home() / ".codex/config.toml").read_text("utf-8"))
        state = config["hooks"]["state"]
        return any(
            key.startswith(f"{hooks}:pre_tool_use:") and "trusted_hash" in value
            for key, value in state.items()
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def _probe() -> tuple[bool, str]:
    """Ask this installation a real question, as a host does."""
    payload = json.dumps({**PROBE, "cwd": str(Path.cwd())})
    start = time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [program(), "hook", "claude-code"],
            input=payload, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"{program()} does not run: {error}"
    took = time.monotonic() - start
    asked = '"permissionDecision"' in done.stdout or done.stdout == ""
    if done.returncode not in (0, 2) or not asked:
        return False, f"{program()} answers nonsense ({done.returncode}): {done.stderr[:200]}"
    if took > SLOW:
        return False, f"{program()} takes {took:.1f} s to answer; hosts give up waiting"
    return True, f"{program()} answers in {took:.2f} s"
