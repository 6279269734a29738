"""Which questions of a decision are answered by grants.

Only verdicts that ask are looked at. What a grant covers becomes an allow by that grant; the rest
is still asked about, and a refusal stays one.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable

from attrs import evolve

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.grants.model import Grant, Scope, Subject
from ringfence.rules.model import Finding, Operation, Rule, State, Verdict, is_known

SESSION_LIMIT = 24 * 3600.0
"""Seconds after which a grant for a session ends, whether or not the session goes on."""

ASKED_ALWAYS = frozenset(("failure", "own_files", "doom_loop"))
"""Gates whose questions no grant answers: each time is another."""

_IMPLIED = {Operation.READ: (Operation.ENTER, Operation.TEST)}
_GATES = {"tools": Subject.TOOL, "mcp": Subject.MCP, "skills": Subject.SKILL}


def granted(decision: Decision, grants: Iterable[Grant], source: str) -> tuple[Verdict, ...]:
    """The decision's verdicts, those that grants answer turned into allows by ``source``."""
    call = decision.call
    holding = [grant for grant in grants if holds(grant, call)]
    if not holding:
        return decision.verdicts
    found: list[Verdict] = []
    for verdict in decision.verdicts:
        if verdict.state is not State.ASK or verdict.gate in ASKED_ALWAYS:
            found.append(verdict)
        else:
            found += _answered(verdict, call, holding, source)
    return tuple(found)


def holds(grant: Grant, call: ToolCall) -> bool:
    """Whether the grant is for this call's session, folder and time."""
    if grant.scope is Scope.SESSION:
        fresh = 0 <= time.time() - grant.created < SESSION_LIMIT
        return fresh and bool(grant.session) and grant.session == call.session
    if grant.scope is Scope.PROJECT:
        return is_below(os.path.realpath(call.cwd), grant.project)
    return grant.scope is Scope.ALWAYS


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it, as texts."""
    return bool(folder) and (path == folder or path.startswith(folder.rstrip("/") + "/"))


def _answered(
    verdict: Verdict, call: ToolCall, grants: list[Grant], source: str
) -> Iterable[Verdict]:
    """The verdict, or what is left of it beside what grants allow."""
    line = _first(grants, lambda grant: covers_line(grant, call))
    if not verdict.findings and not verdict.opaque:
        by = _first(grants, lambda grant: covers_subject(grant, verdict, call))
        yield evolve(verdict, rule=_rule(by, source)) if by else verdict
        return
    left = []
    for finding in verdict.findings:
        by = line if not is_known(finding.path) else None
        by = by or _first(grants, lambda grant, one=finding: covers_path(grant, one))  # type: ignore[misc]
        if by is None:
            left.append(finding)
        else:
            yield Verdict(verdict.gate, _rule(by, source), (finding,))
    opaque = verdict.opaque
    if opaque and line is not None:
        yield evolve(verdict, rule=_rule(line, source), findings=())
        opaque = ()
    if left or opaque:
        yield evolve(verdict, findings=tuple(left), opaque=opaque)


def covers_path(grant: Grant, finding: Finding) -> bool:
    """Whether it allows this: the path as named and as it leads, and this operation."""
    operation = finding.effect.operation
    if grant.subject is not Subject.PATH or grant.operation is None:
        return False
    if operation not in (grant.operation, *_IMPLIED.get(grant.operation, ())):
        return False
    if not is_known(finding.path) or not is_known(finding.real):
        return False
    if grant.wide:
        return is_below(finding.path, grant.text) and is_below(finding.real, grant.real)
    return (finding.path, finding.real) == (grant.text, grant.real)


def covers_subject(grant: Grant, verdict: Verdict, call: ToolCall) -> bool:
    """Whether it allows what a verdict without paths is about."""
    if verdict.gate != "bash":
        return _GATES.get(verdict.gate) is grant.subject and verdict.subject == grant.text
    if covers_line(grant, call):
        return True
    if grant.subject is not Subject.COMMAND:
        return False
    words = verdict.words
    if not words or not all(map(is_known, words)):
        return False
    if not grant.wide:
        return shlex.join(words) == grant.text
    beginning = tuple(grant.text.split(" "))
    return words[: len(beginning)] == beginning


def covers_line(grant: Grant, call: ToolCall) -> bool:
    """Whether it allows exactly this bash text, here."""
    return grant.subject is Subject.LINE and grant.text == call.command and grant.cwd == call.cwd


def _first(grants: Iterable[Grant], test: Callable[[Grant], bool]) -> Grant | None:
    return next(filter(test, grants), None)


def _rule(grant: Grant, source: str) -> Rule:
    return Rule(State.ALLOW, f"grant {grant.id}: {grant}", source)
