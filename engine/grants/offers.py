"""The answers that a person is offered, the narrowest first.

What is offered is exactly what is kept. A wider form is offered where it is still about the same
thing: the folder of a file, the subcommand of a command.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

from attrs import evolve

from ringfence.engine.call import Decision
from ringfence.engine.filesystem import FileSystem, Kind
from ringfence.engine.grants.apply import ASKED_ALWAYS, is_below
from ringfence.engine.grants.model import Grant, Offer, Scope, Subject
from ringfence.rules.commands import lookup
from ringfence.rules.model import Finding, State, Verdict, is_known

_TOO_WIDE = frozenset(
    (
        *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/mnt", "/opt", "/proc", "/root"),
        *("/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/Users", "/Volumes", "/private"),
        *("/usr/bin", "/usr/lib", "/usr/local", "/var/lib", "/var/run"),
    )
)
"""Folders that no answer opens as a whole."""

_SECRET = frozenset(
    (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".password-store")
)
"""Nor one that has such a name on its path."""

_RUNS_OTHERS = frozenset(("exec", "x", "dlx", "eval", "foreach", "config", "rebase", "bisect"))
"""Subcommands that run, or name, other commands."""

_NAMED = frozenset(("run", "run-script", "compose"))
"""Subcommands whose next word says what is done."""


def offers(decision: Decision, filesystem: FileSystem, home: str) -> tuple[Offer, ...]:
    """Every answer that allows exactly this call; only "once" where nothing can be kept."""
    narrow: list[Grant] = []
    wide: list[Grant] = []
    for verdict in decision.verdicts:
        if verdict.state is not State.ASK:
            continue
        if verdict.gate in ASKED_ALWAYS:
            return (Offer(Scope.ONCE),)
        for grant, wider in _pairs(verdict, decision, filesystem, home):
            narrow.append(grant)
            wide.append(wider)
    narrow = list(dict.fromkeys(narrow))
    wide = _joined(wide)
    found = [Offer(Scope.ONCE)]
    for grants in (narrow, wide) if wide != narrow else (narrow,):
        found += (Offer(scope, _scoped(grants, scope, decision)) for scope in _scopes(decision))
    return tuple(found)


def _scopes(decision: Decision) -> Iterable[Scope]:
    if decision.call.session:
        yield Scope.SESSION
    yield from (Scope.PROJECT, Scope.ALWAYS)


def _scoped(grants: Iterable[Grant], scope: Scope, decision: Decision) -> tuple[Grant, ...]:
    call = decision.call
    project = os.path.realpath(call.cwd) if scope is Scope.PROJECT else ""
    session = (call.session or "") if scope is Scope.SESSION else ""
    return tuple(evolve(g, scope=scope, project=project, session=session) for g in grants)


def _joined(grants: list[Grant]) -> list[Grant]:
    """Without those that another one, wider, holds already."""

    def inside(one: Grant, other: Grant) -> bool:
        return (
            other.wide
            and one != other
            and (one.subject, one.operation) == (other.subject, other.operation)
            and one.subject is Subject.PATH
            and is_below(one.text, other.text)
            and is_below(one.real, other.real)
        )

    kept = list(dict.fromkeys(grants))
    return [one for one in kept if not any(inside(one, other) for other in kept)]


def _pairs(
    verdict: Verdict, decision: Decision, filesystem: FileSystem, home: str
) -> Iterable[tuple[Grant, Grant]]:
    """For each cause of a question its narrowest grant, and the next wider one if there is any."""
    call = decision.call
    line = Grant(Subject.LINE, call.command or "", cwd=call.cwd)
    for finding in verdict.findings:
        if is_known(finding.path) and is_known(finding.real):
            narrow = Grant(
                Subject.PATH,
                finding.path,
                operation=finding.effect.operation,
                real=finding.real,
            )
            yield narrow, _folder(narrow, finding, filesystem, home, call.cwd)
        elif call.command is not None:
            yield line, line
    if verdict.opaque and call.command is not None:
        yield line, line
    if verdict.findings or verdict.opaque:
        return
    match verdict.gate:
        case "bash" if verdict.words and all(map(is_known, verdict.words)):
            narrow = Grant(Subject.COMMAND, shlex.join(verdict.words))
            yield narrow, _subcommand(narrow, verdict.words)
        case "bash":
            yield line, line
        case "tools" | "mcp" | "skills" as gate:
            subject = {"tools": Subject.TOOL, "mcp": Subject.MCP, "skills": Subject.SKILL}[gate]
            narrow = Grant(subject, verdict.subject)
            yield narrow, narrow


def _folder(narrow: Grant, finding: Finding, filesystem: FileSystem, home: str, cwd: str) -> Grant:
    """The folder of a file, or the folder itself with all that is in it; ``narrow`` if too wide."""
    path, real = finding.path, finding.real
    if filesystem.kind(real) is not Kind.DIRECTORY:
        name = path.rpartition("/")[2]
        if real.rpartition("/")[2] != name:
            return narrow  # a link: its folder says nothing about where it leads
        path, real = path.rpartition("/")[0] or "/", real.rpartition("/")[0] or "/"
    for folder in (path, real):
        if folder in _TOO_WIDE or not _SECRET.isdisjoint(folder.split("/")):
            return narrow
        if any(is_below(place, folder) for place in (home, cwd) if place):
            return narrow
        if any(character in folder for character in "*?["):
            return narrow
    return evolve(narrow, text=path, real=real, wide=True)


def _subcommand(narrow: Grant, words: tuple[str, ...]) -> Grant:
    """`git push *` of `git push origin main`; ``narrow`` where the first words say too little."""
    entry = lookup(words[0]) if len(words) > 2 and "/" not in words[0] else None
    if entry is None or words[1] not in entry.commands or words[1] in _RUNS_OTHERS:
        return narrow
    length = 3 if words[1] in _NAMED else 2
    beginning = words[:length]
    if len(words) <= length or any(w.startswith("-") or not w or " " in w for w in beginning):
        return narrow
    return Grant(Subject.COMMAND, " ".join(beginning), wide=True)
