"""``ringfence doctor``: whether Ringfence really stands in front of an agent, or how it would."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ringfence.engine.cli.install import places, program, say
from ringfence.engine.engine import Engine
from ringfence.engine.grants import GrantStore
from ringfence.engine.hosts import codex_trust, host
from ringfence.engine.hosts.model import Answer, Host
from ringfence.engine.hosts.payload import PayloadError
from ringfence.engine.hosts.registration import REGISTRATIONS, Own, Shared
from ringfence.engine.hosts.settings import (
    SettingsError,
    is_current,
    is_registered,
    read,
    switched_off,
)
from ringfence.engine.policy import ConfigError, load_policy
from ringfence.engine.resident import client
from ringfence.grammar.records import frozen

QUESTION = "cat /etc/hosts"
"""The command that is asked about; nothing runs it."""

SLOW = 2.0
"""Seconds for an answer that are too many: some hosts give up waiting."""

TIMEOUT = 30

Finding = tuple[bool, str]
"""Whether it is right, and what."""


@frozen
class Place:
    """A file that registers Ringfence with a host."""

    file: Shared | Own
    path: Path
    scope: str


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "doctor",
        help="check that Ringfence stands in front of your agents",
        description="Check registrations and the policy, and ask each registered hook a question.",
    )
    parser.add_argument("host", nargs="?", choices=sorted(REGISTRATIONS), help="(default: all)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what is right and what is wrong; 1 if anything is."""
    wrong = False
    for good, text in _findings([arguments.host] if arguments.host else sorted(REGISTRATIONS)):
        wrong = wrong or not good
        say(f"{'ok   ' if good else 'WRONG'} {text}")
    return int(wrong)


def _findings(hosts: list[str]) -> Iterator[Finding]:
    yield from _policy()
    yield _resident()
    found = False
    for name in hosts:
        there: list[Place] = []
        for place in _places(name):
            try:
                text = read(place.path)
                if text is None:
                    continue
                if is_registered(place.file, name, text):
                    there.append(place)
                    yield from _file(name, place, text)
                if (switch := switched_off(place.file, text)) is not None:
                    why = f"turns hooks off by {switch}; take that out"
                    yield False, f"{name}: {place.path} {why}"
            except SettingsError as error:
                yield False, f"{name}: {place.path}: {error}; mend the file"
        found = found or bool(there)
        if there:
            yield from _host(name, there)
        elif len(hosts) == 1:
            yield False, f"{name}: not registered; run `ringfence install {name}`"
    if not found and len(hosts) > 1:
        yield False, "no agent is registered; run `ringfence install HOST`"


def _policy() -> Iterator[Finding]:
    try:
        policy = load_policy(str(Path.cwd()))
    except ConfigError as error:
        yield False, f"policy: {error}; every call is refused until this is mended"
        return
    files = dict.fromkeys(layer.file for layer in policy.layers)
    yield True, f"policy: {', '.join(files) or 'the built-in defaults'}"
    for file, project in dict.fromkeys((la.file, la.project) for la in policy.layers if la.held):
        trust = f"ringfence trust {shlex.quote(project)}"
        yield True, f"{file} only tightens; `{trust}` lets it loosen"


def _resident() -> Finding:
    """Whether an engine is loaded; without one, the answers are the same, and come later."""
    environ = dict(os.environb)
    if environ.get(client.SWITCH) == b"off":
        return True, f"resident engine: {os.fsdecode(client.SWITCH)}=off keeps it out"
    folder = Path(os.fsdecode(client.folder(environ)))
    try:
        if not client.is_private(folder):
            why = "is not yours alone, so no resident engine is used; remove it"
            return False, f"resident engine: {folder} {why}"
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(str(folder / os.fsdecode(client.name())))
            if client.is_peer(connection):
                return True, "resident engine: loaded"
    except OSError:  # no folder, no socket, or nobody behind it
        pass
    return True, "resident engine: none now; the first call of a registered hook starts it"


def _places(name: str) -> Iterator[Place]:
    """The files that may register a host, those of the user first."""
    for scope in ("user", "project"):
        for file, path in places(name, project=scope == "project"):
            yield Place(file, path, scope)
            if scope == "project" and isinstance(file, Shared) and file.beside:
                yield Place(file, Path.cwd() / file.beside, "beside")


def _file(name: str, place: Place, text: str) -> Iterator[Finding]:
    """What is wrong with one file that registers Ringfence."""
    if not is_current(place.file, name, text, program()):
        option = " --project" if place.scope == "project" else ""
        again = f"run `ringfence install {name}{option}` again"
        if place.scope == "beside":
            again = "take it out there"
        yield False, f"{name}: {place.path} is not what this installation registers; {again}"


def _host(name: str, there: list[Place]) -> Iterator[Finding]:
    """Whether a host that has Ringfence registered would ask it, and what it would hear."""
    place = there[0]
    files = {scope: path for path, scope in ((p.path, p.scope) for p in reversed(there))}
    twice = [str(path) for path in reversed(files.values())]
    if name == "codex" and (config := codex_trust.inline()) is not None:
        twice.append(str(config))
    if len(twice) > 1:
        mend = f"leave one, by `ringfence uninstall {name}` with --user or --project, or by hand"
        yield False, f"{name}: registered twice ({' and '.join(twice)}); {mend}"
    else:
        yield True, f"{name}: registered in {place.path}"
    mend = "run `ringfence install codex` again, or start codex, open /hooks, and trust it"
    if name == "codex" and (why := codex_trust.missing(place.path, str(Path.cwd()))):
        yield False, f"codex: {why}, so Codex skips the hook: {mend}"
    yield _probe(host(name), place)


def _probe(asked: Host, place: Place) -> Finding:
    """Ask a real question, and a broken one, by the command that is registered."""
    question = json.dumps(asked.sample(QUESTION, str(Path.cwd()))).encode()
    command = _command(asked.name, place)
    slowest = 0.0
    for content, what in ((question, "a question"), (b"{", "a broken payload")):
        start = time.monotonic()
        try:
            done = subprocess.run(  # noqa: S603 - what this installation itself registers
                command, input=content, capture_output=True, timeout=TIMEOUT, check=False,
                env={**os.environ, **asked.environment},
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            return False, f"{asked.name}: {command[0]} does not run: {error}"
        slowest = max(slowest, time.monotonic() - start)
        wanted = _expected(asked, content)
        said = done.stdout.decode("utf-8", "replace").strip()
        status = wanted.status if isinstance(place.file, Own) else done.returncode
        if (said, status) != (wanted.stdout, wanted.status):
            heard = (done.stderr.decode("utf-8", "replace") or said)[:300].strip()
            mend = "if the program is from another installation, install Ringfence anew"
            if "no answer within" in heard:
                mend = "hosts would refuse every call; is the disk or the machine busy?"
            return False, f"{asked.name}: {what} is answered wrongly ({heard}); {mend}"
    answered = f"`{QUESTION}` and a broken payload are answered as they should be"
    if slowest > SLOW:
        mend = "hosts give up waiting; is the disk or the machine busy?"
        return False, f"{asked.name}: {answered}, but that takes {slowest:.1f} s; {mend}"
    return True, f"{asked.name}: {answered}, within {slowest:.1f} s"


def _command(name: str, place: Place) -> list[str]:
    """What the host runs, as this installation registers it: never what a file says."""
    if isinstance(place.file, Shared):
        entry: Any = next(iter(place.file.entries(program()).values()))
        handler = entry["hooks"][0] if "hooks" in entry else entry
        return ["sh", "-c", handler.get("bash") or handler["command"]]
    return [program(), "hook", name]


def _expected(asked: Host, content: bytes) -> Answer:
    """What this very process would answer."""
    try:
        request = asked.read(content, {**os.environ, **asked.environment})
        engine = Engine.load(
            request.call.cwd,
            grants=GrantStore.of_user(),
            roots=request.roots,
            project=request.project,
        )
        return asked.answer(engine.decide(request.call), request)
    except (PayloadError, ConfigError) as error:
        return asked.refuse(str(error))
