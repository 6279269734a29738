"""Which questions of a decision are answered by grants.

Only verdicts that ask are looked at. What a grant covers becomes an allow by that grant; the rest
is still asked about, and a refusal stays one.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.grants.model import SESSION_LIMIT, Grant, Scope, Subject
from ringfence.grammar.records import evolve
from ringfence.rules.mcp import targets
from ringfence.rules.model import UNKNOWN, Finding, Operation, Rule, State, Verdict, is_known

ANSWERED = frozenset(("external_directory", "paths", "bash", "tools", "mcp", "skills"))
"""Gates whose questions grants may answer. Those of any other are asked each time: a failure, a
loop, a change of Ringfence's own files."""

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
        if verdict.state is not State.ASK or verdict.gate not in ANSWERED:
            found.append(verdict)
        else:
            found += _answered(verdict, call, holding, source)
    return tuple(found)


def holds(grant: Grant, call: ToolCall) -> bool:
    """Whether the grant is for this call's agent, session, folder and time."""
    if grant.agent != (call.agent or ""):
        return False
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
        by = line if goes_by_line(finding) else None
        by = by or _first(grants, lambda grant, one=finding: covers_path(grant, one, verdict.gate))  # type: ignore[misc]
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


def goes_by_line(finding: Finding) -> bool:
    """Whether no path says exactly what is touched, so that the whole command's text may.

    That is a path with an unknown part, and a whole tree, which may be too wide to name.
    """
    return finding.effect.tree or not (is_known(finding.path) and is_known(finding.real))


def covers_path(grant: Grant, finding: Finding, gate: str) -> bool:
    """Whether it allows this: the path as named and as it leads, and this operation.

    A folder with all that is in it is about being outside: what a rule of ``paths`` asks about
    in there is asked about all the same, unless it is that very folder.
    """
    operation, tree = finding.effect.operation, finding.effect.tree
    if grant.subject is not Subject.PATH or grant.operation is None:
        return False
    if operation not in (grant.operation, *_IMPLIED.get(grant.operation, ())):
        return False
    there = (_known_part(finding.path), _known_part(finding.real))
    if "" in there:
        return False
    if not grant.wide:
        known = is_known(finding.path) and is_known(finding.real)
        return known and not tree and there == (grant.text, grant.real)
    if gate != "external_directory":
        return tree and there == (grant.text, grant.real)
    return is_below(there[0], grant.text) and is_below(there[1], grant.real)


def _known_part(path: str) -> str:
    """The folder that what is not known of a path cannot lead out of; empty if it may."""
    if is_known(path):
        return path
    if UNKNOWN in path:
        return ""
    end = next(index for index, character in enumerate(path) if not is_known(character))
    return path[:end].rpartition("/")[0]


def covers_subject(grant: Grant, verdict: Verdict, call: ToolCall) -> bool:
    """Whether it allows what a verdict without paths is about."""
    if verdict.gate != "bash":
        subject = _GATES.get(verdict.gate)
        return subject is grant.subject and grant.text == subject_name(verdict, call)
    words = verdict.words
    if not words or not all(map(is_known, words)):
        return covers_line(grant, call)
    if grant.subject is not Subject.COMMAND:
        return False
    if not grant.wide:
        return command_text(words) == grant.text
    beginning = grant.words
    return bool(beginning) and words[: len(beginning)] == beginning


def command_text(words: tuple[str, ...]) -> str:
    """The words of a command as a shell quotes them; those of a redirection as ``> file``."""
    if words[0] == ">" and len(words) > 1:
        return f"> {shlex.join(words[1:])}"
    return shlex.join(words)


def subject_name(verdict: Verdict, call: ToolCall) -> str:
    """What a tool, a skill or a call to an MCP server goes by in grants; empty for what has none.

    ``server:tool``, and for anything but a call of a tool what is done: ``server (mcp_search)``.
    """
    if verdict.gate != "mcp":
        return verdict.subject
    operations = {
        t.names[-1] for t in targets(call.tool, call.input) if t.names[0] == verdict.subject
    }
    operations -= {"mcp_call", verdict.subject}
    return f"{verdict.subject} ({', '.join(sorted(operations))})" if operations else verdict.subject


def covers_line(grant: Grant, call: ToolCall) -> bool:
    """Whether it allows exactly this bash text, here."""
    return grant.subject is Subject.LINE and grant.text == call.command and grant.cwd == call.cwd


def _first(grants: Iterable[Grant], test: Callable[[Grant], bool]) -> Grant | None:
    return next(filter(test, grants), None)


def _rule(grant: Grant, source: str) -> Rule:
    return Rule(State.ALLOW, f"grant {grant.id}: {grant}", source)
