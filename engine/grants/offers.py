"""The answers that a person is offered, the narrowest first.

What is offered is exactly what is kept, and enough for exactly this call. A wider form is offered
where it is still about the same thing: the folder of a file, the subcommand of a command. A call
of which any part cannot be named can be allowed once alone.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

from ringfence.engine.call import Decision
from ringfence.engine.filesystem import FileSystem, Kind, NoFileSystem
from ringfence.engine.grants.apply import (
    ANSWERED,
    command_text,
    goes_by_line,
    is_below,
    subject_name,
)
from ringfence.engine.grants.folders import may_be_opened
from ringfence.engine.grants.model import Grant, Offer, Scope, Subject
from ringfence.grammar.records import evolve
from ringfence.rules.model import Finding, Operation, State, Verdict, is_known
from ringfence.rules.naming import subcommand_end

MAX_GRANTS = 8
"""More in one answer are more than a person reads: then the call is allowed once alone."""

_PATHS = frozenset(("external_directory", "paths"))
_NAMED = {"tools": Subject.TOOL, "mcp": Subject.MCP, "skills": Subject.SKILL}


class _NothingToKeepError(Exception):
    """A part of the call that no grant can name."""


def offers(
    decision: Decision, filesystem: FileSystem, home: str, project: str | None = None
) -> tuple[Offer, ...]:
    """Every answer that allows exactly this call; only "once" where nothing can be kept.

    ``project`` is the folder that a grant for the project is for, by default the call's own.
    """
    once = Offer(Scope.ONCE)
    asking = [verdict for verdict in decision.verdicts if verdict.state is State.ASK]
    try:
        pairs = [p for v in asking for p in _pairs(v, decision, filesystem, home)]
    except _NothingToKeepError:
        return (once,)
    narrow = _joined([pair[0] for pair in pairs])
    wide = _joined([pair[1] for pair in pairs])
    if not narrow or len(narrow) > MAX_GRANTS:
        return (once,)
    kinds = [narrow] if wide == narrow else [narrow, wide]
    folder = os.path.realpath(project or decision.call.cwd)
    found = [
        Offer(scope, _scoped(grants, scope, decision, folder))
        for grants in kinds
        for scope in _scopes(decision)
    ]
    return (once, *found)


def can_be_kept(decision: Decision) -> bool:
    """Whether any grant would answer this decision."""
    return len(offers(decision, NoFileSystem(), "")) > 1


def _scopes(decision: Decision) -> Iterable[Scope]:
    if decision.call.session:
        yield Scope.SESSION
    yield from (Scope.PROJECT, Scope.ALWAYS)


def _scoped(
    grants: Iterable[Grant], scope: Scope, decision: Decision, folder: str
) -> tuple[Grant, ...]:
    call = decision.call
    project = folder if scope is Scope.PROJECT else ""
    session = (call.session or "") if scope is Scope.SESSION else ""
    agent = call.agent or ""
    return tuple(
        evolve(g, scope=scope, project=project, session=session, agent=agent) for g in grants
    )


def _joined(grants: list[Grant]) -> list[Grant]:
    """Each once, without those that another one holds already."""
    kept = list(dict.fromkeys(grants))
    return [one for one in kept if not any(_holds(other, one) for other in kept)]


def _holds(other: Grant, one: Grant) -> bool:
    """Whether a grant for a path allows all that another one does."""
    if one == other or one.subject is not Subject.PATH or other.subject is not Subject.PATH:
        return False
    same_place = (one.text, one.real, one.wide) == (other.text, other.real, other.wide)
    if same_place:
        reads = other.operation is Operation.READ
        return reads and one.operation in (Operation.ENTER, Operation.TEST)
    if one.operation is not other.operation or not (other.wide and one.wide):
        return False  # a rule of `paths` may need the single path beside its folder
    return is_below(one.text, other.text) and is_below(one.real, other.real)


def _pairs(
    verdict: Verdict, decision: Decision, filesystem: FileSystem, home: str
) -> Iterable[tuple[Grant, Grant]]:
    """For each cause of a question its narrowest grant, and the next wider one if there is any.

    Raises _NothingToKeepError.
    """
    call = decision.call
    if verdict.gate not in ANSWERED:
        raise _NothingToKeepError
    if verdict.findings or verdict.opaque:
        for finding in verdict.findings:
            yield _for_path(finding, verdict, decision, filesystem, home)
        if verdict.opaque:
            yield _line(decision), _line(decision)
        return
    if verdict.gate == "bash":
        words = verdict.words
        if words and all(map(is_known, words)):
            narrow = Grant(Subject.COMMAND, command_text(words))
            yield narrow, _subcommand(narrow, words)
        else:
            yield _line(decision), _line(decision)
        return
    name = subject_name(verdict, call)
    if verdict.gate in _PATHS or not name:
        raise _NothingToKeepError
    narrow = Grant(_NAMED[verdict.gate], name)
    yield narrow, narrow


def _line(decision: Decision) -> Grant:
    """The grant for the whole text of a bash call."""
    call = decision.call
    if not call.command:
        raise _NothingToKeepError
    return Grant(Subject.LINE, call.command, cwd=call.cwd)


def _for_path(
    finding: Finding, verdict: Verdict, decision: Decision, filesystem: FileSystem, home: str
) -> tuple[Grant, Grant]:
    """The path itself and its folder. A tree is the folder with all that is in it, or the line."""
    cwd, operation = decision.call.cwd, finding.effect.operation
    path, real = finding.path, finding.real
    if not (is_known(path) and is_known(real)):
        return _line(decision), _line(decision)
    narrow = Grant(Subject.PATH, path, operation=operation, real=real)
    whole = evolve(narrow, wide=True)
    if goes_by_line(finding):
        by_name = verdict.gate == "paths" or _may_open(whole, home, cwd)
        tree = whole if by_name else _line(decision)
        return tree, tree
    if verdict.gate == "paths":
        return narrow, narrow
    if filesystem.kind(real) is not Kind.DIRECTORY:
        if real.rpartition("/")[2] != path.rpartition("/")[2]:
            return narrow, narrow  # a link: its folder says nothing about where it leads
        folder, real_folder = path.rpartition("/")[0] or "/", real.rpartition("/")[0] or "/"
        whole = evolve(whole, text=folder, real=real_folder)
    return narrow, whole if _may_open(whole, home, cwd) else narrow


def _may_open(whole: Grant, home: str, cwd: str) -> bool:
    operation = whole.operation or Operation.UNKNOWN
    return all(may_be_opened(place, operation, home, cwd) for place in (whole.text, whole.real))


def _subcommand(narrow: Grant, words: tuple[str, ...]) -> Grant:
    """`git push *` of `git push origin main`; ``narrow`` where the first words say too little."""
    end = subcommand_end(words)
    if end is None or end == len(words):
        return narrow
    return Grant(Subject.COMMAND, shlex.join(words[:end]), wide=True)
