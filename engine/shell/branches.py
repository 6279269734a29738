"""Branches: ``if`` and ``case``."""

from __future__ import annotations

from ringfence.engine.shell import expansion, patterns
from ringfence.engine.shell.core import Walker, World, in_worlds
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import State, join
from ringfence.grammar.nodes import Case, CaseClause, If
from ringfence.rules.model import is_known


def if_(walker: Walker, command: If, state: State) -> Outcome:
    """Evaluate ``if``; a branch that cannot be taken is left out."""
    ends: list[Outcome] = []
    current: State | None = state
    for number, clause in enumerate(command.clauses):
        assert current is not None
        with walker.run.recorder.possibly(number > 0 and bool(ends)):
            outcome = walker.condition(clause.condition, current)
        start, other = outcome.success, outcome.failure
        if start is not None:
            with walker.run.recorder.possibly(other is not None or bool(ends)):
                start = start.copy() if start is other else start
                ends.append(walker.execute_list(clause.body, start))
        current = other
        if current is None:
            break
    if current is not None:
        current.status = "0"
        if command.otherwise is None:
            ends.append(Outcome(current, None))
        else:
            with walker.run.recorder.possibly(bool(ends)):
                ends.append(walker.execute_list(command.otherwise, current))
    return Outcome.any_of(ends)


def case(walker: Walker, command: Case, state: State) -> Outcome:
    """Evaluate ``case``; clauses that cannot match are left out."""
    return in_worlds(walker.run, state, lambda world: _case_in(walker, world, command))


def _case_in(walker: Walker, world: World, command: Case) -> Outcome:
    subject = expansion.text(world, command.word).text
    ends: list[Outcome] = []
    current: State | None = world.state
    falling: State | None = None
    for clause in command.clauses:
        matched = False if current is None else _clause_matches(world, clause, subject)
        start = falling
        if matched is not False and current is not None:
            start = join((falling, current.copy() if matched is None else current))
        if matched:
            current = None
        falling = None
        if start is None:
            continue
        with walker.run.recorder.possibly(not matched or bool(ends)):
            outcome = walker.execute_list(clause.body, start)
        if clause.terminator == ";&":
            falling = outcome.joined()
        elif clause.terminator == ";;&":
            current = join((current, outcome.joined()))
        else:
            ends.append(outcome)
    if current is not None or falling is not None:
        ends.append(Outcome(join((current, falling)), None))
    return Outcome.any_of(ends)


def _clause_matches(world: World, clause: CaseClause, subject: str) -> bool | None:
    """Whether a pattern of the clause matches; None if nobody knows."""
    answers: list[bool | None] = []
    for word in clause.patterns:
        glob = expansion.pattern(world, word)
        if glob == "*":
            answers.append(True)
        elif is_known(glob) and is_known(subject):
            try:
                answers.append(patterns.matches(glob, subject))
                if "nocasematch" in world.state.options and not answers[-1]:
                    answers[-1] = patterns.matches(glob.lower(), subject.lower())
            except patterns.PatternTooComplex:
                answers.append(None)
        else:
            answers.append(None)
    if True in answers:
        return True
    return None if None in answers else False
