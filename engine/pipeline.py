"""From a call and a policy to a decision: collect, judge, combine.

Everything about the call is found before anything is judged. A step that fails never makes the
answer milder: what it would have found is opaque, and the call is asked about.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ringfence.engine.analyses import Analyses, key_of
from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.escape import is_half
from ringfence.engine.filesystem import FileSystem, Kind, Seen
from ringfence.engine.paths import (
    is_exempt,
    is_inside,
    join,
    kernel_path,
    normalise,
    outside_all,
    real_path,
    spelled,
    stays_inside,
)
from ringfence.engine.policy.load import SUFFIXES
from ringfence.engine.state import state_folder, user_folder
from ringfence.engine.tools import DIRECTORY_KEYS, commands_of, home_of, local_path, tool_effects
from ringfence.grammar.records import evolve, frozen
from ringfence.rules.gates import GATES
from ringfence.rules.mcp import is_mcp, targets
from ringfence.rules.model import (
    BELOW,
    Certainty,
    CommandLine,
    Effect,
    Facts,
    Finding,
    Opaque,
    OpaqueKind,
    Operation,
    Policy,
    Rule,
    State,
    Verdict,
)

if TYPE_CHECKING:
    from ringfence.grammar import Grammar  # not every call parses


@frozen
class Collected:
    """Everything that is known of a call before the gates see it."""

    effects: tuple[Effect, ...]
    facts: Facts
    failure: Verdict | None = None


def decide(
    call: ToolCall,
    policy: Policy,
    filesystem: FileSystem,
    grammar: Grammar | None = None,
    *,
    repeated: int = 0,
    env: Mapping[str, str] | None = None,
    analyses: Analyses | None = None,
    headless: State = State.DENY,
    started: float | None = None,
) -> Decision:
    """The decision on a call, made ``repeated`` times in a row.

    ``env`` is what ``environment`` says of the call, if the caller knows it already; ``analyses``
    are those of earlier calls, with the same file system and grammar. ``headless`` and, as the
    time that has gone by since ``started``, the duration become the decision's.
    Raises ValueError if ``call.cwd`` is not absolute, else nothing.
    """
    collected = gather(call, policy, filesystem, grammar, env=env, analyses=analyses)
    if repeated:
        collected = evolve(collected, facts=evolve(collected.facts, repeated=repeated))
    verdicts = judge(collected, policy)
    return combine(call, collected, verdicts, headless=headless, started=started)


def gather(
    call: ToolCall,
    policy: Policy,
    filesystem: FileSystem,
    grammar: Grammar | None = None,
    *,
    env: Mapping[str, str] | None = None,
    analyses: Analyses | None = None,
) -> Collected:
    """Everything about the call that the policy may look at. As ``decide``."""
    if not call.cwd.startswith("/"):
        raise ValueError(f"cwd must be an absolute path, not {call.cwd!r}")
    env = environment(call) if env is None else env
    key = None if analyses is None else key_of(call, env, everything=policy.names_paths)
    found = analyses.get(key, call, filesystem) if analyses and key else None
    if found is None:
        seen = Seen(filesystem)
        found = collect(call, seen, grammar, everything=policy.names_paths, env=env)
        if analyses and key:
            analyses.keep(key, seen, found)
    return _without_paths(found) if _is_elsewhere(call, policy) else found


def _is_elsewhere(call: ToolCall, policy: Policy) -> bool:
    """Whether a file says that the call's MCP server works elsewhere, however the call is read."""
    if not is_mcp(call.tool):
        return False
    return all(policy.works_elsewhere(*one.names) for one in targets(call.tool, call.input))


def _without_paths(collected: Collected) -> Collected:
    """What was found without the paths, of here, and what may be one."""
    facts = evolve(collected.facts, findings=(), touched=(), opaque=())
    return evolve(collected, effects=(), facts=facts)


def collect(
    call: ToolCall,
    filesystem: FileSystem,
    grammar: Grammar | None = None,
    *,
    everything: bool = False,
    env: Mapping[str, str] | None = None,
) -> Collected:
    """Find every effect of the call, inside and outside.

    With ``everything``, the facts hold the effects inside, too; so they do where one may change
    Ringfence's own files. For ``env`` see ``decide``.
    """
    env = environment(call) if env is None else env
    try:
        effects, opaque, commands = _effects(call, env, filesystem, grammar)
        findings = _findings(effects, call, filesystem)
    except Exception as error:  # noqa: BLE001  # nothing that goes wrong may let a call pass
        opaque = (_failed("while this call was read", error, call),)
        failure = _failure(error, opaque)
        spelling = call.spelling
        facts = Facts(call.tool, call.input, call.command, opaque=opaque, spelling=spelling)
        return Collected((), facts, failure)
    command = call.command
    if command is None and call.tool != "bash":
        command = "\n".join(commands_of(call)) or None  # the rules for bash see it too
    # A link may lead to Ringfence's own files, where there are any; else their name says it.
    operations = {effect.operation for effect in effects}
    own: tuple[str, ...] = ()
    if not operations.isdisjoint(_CHANGES):
        projects, users = project_folders(call, filesystem), user_folders(env)
        own = own_places((*projects, *users), filesystem)
        everything = (
            everything
            or any("/.ringfence" in effect.path.casefold() for effect in effects)
            or any(filesystem.kind(folder) not in _NO_FOLDER for folder in projects)
            or _own_inside(call, users, filesystem)
        )
    if own and any(BELOW in effect.path for effect in effects):
        own += tuple(file for folder in own for file in _files(folder, filesystem))
    touched = _touched(effects, filesystem) if everything else ()
    cwd = normalise(call.cwd)
    above = projects_above(cwd, filesystem) if touched else ()
    bases = dict.fromkeys([cwd, *map(normalise, call.roots), *above])
    facts = Facts(
        call.tool,
        call.input,
        command,
        findings,
        opaque,
        commands,
        touched,
        cwd,
        own,
        tuple(bases),
        frozenset([folder for folder in own if filesystem.kind(folder) is Kind.MISSING]),
        spelling=call.spelling,
    )
    return Collected(effects, facts)


def _own_inside(call: ToolCall, users: Iterable[str], filesystem: FileSystem) -> bool:
    """Whether the user's own files, or those that their links lead to, are below the folder."""
    cwd = real_path(normalise(call.cwd), filesystem)
    return any(is_inside(place, cwd) for place in own_places(users, filesystem))


_NO_FOLDER = (Kind.MISSING, Kind.UNKNOWN)
_CHANGES = (Operation.WRITE, Operation.DELETE, Operation.UNKNOWN)


def project_folders(call: ToolCall, filesystem: FileSystem) -> tuple[str, ...]:
    """Where Ringfence's own files are in the folders of the work, and in the projects above."""
    work = [normalise(folder) for folder in (call.cwd, *call.roots)]
    places = (*work, *projects_above(call.cwd, filesystem))
    return tuple(dict.fromkeys(f"{folder.rstrip('/')}/.ringfence" for folder in places))


def projects_above(cwd: str, filesystem: FileSystem) -> Iterator[str]:
    """The folders above ``cwd`` that have a ``.ringfence``, the nearest first."""
    folder = real_path(normalise(cwd), filesystem)  # as the policy's files are looked for
    while folder not in ("", "/"):
        folder = folder.rpartition("/")[0] or "/"
        if filesystem.kind(f"{folder.rstrip('/')}/.ringfence") not in _NO_FOLDER:
            yield folder


def user_folders(env: Mapping[str, str]) -> tuple[str, ...]:
    """Where the user's own are: config, trust and grants, and the resident engine's socket."""
    folders = (str(user_folder(env)), str(state_folder(env)))
    runtime = env.get("XDG_RUNTIME_DIR", "")
    return (*folders, f"{runtime}/ringfence" if runtime.startswith("/") else _SOCKETS)


_SOCKETS = f"/tmp/ringfence-{os.getuid()}"  # noqa: S108 - as resident/client.py says it


def own_places(folders: Iterable[str], filesystem: FileSystem) -> tuple[str, ...]:
    """The folders, and where they and the configs in them lead if they are links."""
    written = list(folders)
    real = [real_path(folder, filesystem) for folder in written]
    links: list[str] = []
    for folder in written:
        if filesystem.kind(folder) not in _NO_FOLDER:
            files = (f"{folder}/config{suffix}" for suffix in SUFFIXES)
            links += (file for file in files if filesystem.kind(file) is Kind.LINK)
    ends = [real_path(link, filesystem) for link in links]
    return tuple(dict.fromkeys(written + links + real + ends))


def _files(folder: str, filesystem: FileSystem) -> Iterator[str]:
    """The files in one of Ringfence's own folders, and those of agents."""
    for place in (folder, f"{folder}/agents"):
        if filesystem.kind(place) not in _NO_FOLDER:
            yield from (f"{place}/{name}" for name in filesystem.entries(place) or ())


def judge(collected: Collected, policy: Policy) -> tuple[Verdict, ...]:
    """What every gate says, in their order; then what policies that only tighten add to it.

    Those are judged by themselves: whatever they say, none of the first verdicts is lost.
    """
    verdicts = [collected.failure] if collected.failure else []
    verdicts += _judged(collected.facts, policy)
    for held in policy.held:
        verdicts += (v for v in _judged(collected.facts, held) if _tightens(v))
    return tuple(verdicts)


def _judged(facts: Facts, policy: Policy) -> list[Verdict]:
    verdicts: list[Verdict] = []
    for gate in GATES:
        try:
            verdicts += gate.judge(facts, policy)
        except Exception as error:  # noqa: BLE001  # as above
            verdicts.append(_failure(error, (), gate.name))
    return verdicts


def _tightens(verdict: Verdict) -> bool:
    """Whether it is a file's own word against the call: the built-in defaults were heard before."""
    return verdict.state is not State.ALLOW and not verdict.rule.built_in


def combine(
    call: ToolCall,
    collected: Collected,
    verdicts: tuple[Verdict, ...],
    *,
    headless: State = State.DENY,
    started: float | None = None,
) -> Decision:
    """The strictest verdict is the decision; the others stay with it. As ``decide``."""
    state, default = strictest(verdicts)
    facts = collected.facts
    decision = Decision(
        call,
        state,
        default,
        facts.findings,
        facts.opaque,
        verdicts,
        collected.effects,
        headless=headless,
        duration=_since(started),
    )
    return decision if state is State.ALLOW else _explained(decision, started)


def _since(started: float | None) -> float:
    return 0.0 if started is None else time.perf_counter() - started


def decided(decision: Decision, verdicts: tuple[Verdict, ...]) -> Decision:
    """The decision as these verdicts make it."""
    state, default = strictest(verdicts)
    return _explained(evolve(decision, state=state, default=default, verdicts=verdicts))


def strictest(verdicts: tuple[Verdict, ...]) -> tuple[State, bool]:
    """The state that holds, and whether defaults alone say so."""
    if len(verdicts) == 1:
        return verdicts[0].rule.state, verdicts[0].rule.default
    states = {verdict.rule.state for verdict in verdicts}
    state = next((state for state in _STRICTEST if state in states), State.ASK)
    defaults = [v.rule.default for v in verdicts if v.rule.state is state]
    # One rule is enough to ask or deny. But `git status && rm x` is not allowed by a rule
    # for git: an allow is only a rule's if no part of it rests on a default.
    default = any(defaults) if state is State.ALLOW else bool(defaults) and all(defaults)
    return state, default


_STRICTEST = sorted(State, key=lambda state: -state.strictness)


def _explained(decision: Decision, started: float | None = None) -> Decision:
    """The decision with its message, which an allow has none of. As ``decide``."""
    if decision.state is State.ALLOW:
        return decision if not decision.message else evolve(decision, message="")
    try:
        from ringfence.engine.messages import decision_message  # noqa: PLC0415 - most are allowed

        message = decision_message(decision)
    except Exception as error:  # noqa: BLE001  # as above
        message = f"{decision.state} (this could not be explained: {type(error).__name__})"
    if started is None:
        return evolve(decision, message=message)
    return evolve(decision, message=message, duration=_since(started))


def _effects(
    call: ToolCall, env: Mapping[str, str], filesystem: FileSystem, grammar: Grammar | None
) -> tuple[tuple[Effect, ...], tuple[Opaque, ...], tuple[CommandLine, ...]]:
    home = home_of(env)
    if call.tool != "bash":
        effects, opaque = tool_effects(call, home, filesystem)
        lines: tuple[CommandLine, ...] = ()
        for command in commands_of(call):
            start, _ = _start(call, home, filesystem)
            found, unknown, inner = _run(command, start, env, filesystem, grammar)
            effects, opaque, lines = effects + found, opaque + unknown, lines + inner
        return effects, opaque, lines
    if call.command is None:
        missing = Opaque("bash was given no command that is text", (0, 0), "")
        return (), (missing,), ()
    start, entered = _start(call, home, filesystem)
    found, unknown, inner = _run(call.command, start, env, filesystem, grammar)
    return entered + found, unknown, inner


def _run(
    command: str,
    start: str,
    env: Mapping[str, str],
    filesystem: FileSystem,
    grammar: Grammar | None,
) -> tuple[tuple[Effect, ...], tuple[Opaque, ...], tuple[CommandLine, ...]]:
    """What a bash command does in the directory ``start``."""
    from ringfence.engine.shell import Shell, evaluate  # noqa: PLC0415  # loads the grammar

    evaluation = evaluate(command, Shell(start, env, filesystem), grammar)
    opaque = evaluation.opaque
    if is_half(command):
        reason = "half a character stands in it, which no program can be given"
        opaque += (Opaque(reason, (0, len(command)), command, OpaqueKind.SYNTAX),)
    return evaluation.effects, opaque, evaluation.commands


def environment(call: ToolCall) -> Mapping[str, str]:
    """The variables of the process that would run the call; HOME is always among them."""
    if call.env is None:
        return dict(os.environ)
    return call.env if "HOME" in call.env else {"HOME": home_of({}), **call.env}


def _start(call: ToolCall, home: str, filesystem: FileSystem) -> tuple[str, tuple[Effect, ...]]:
    """Where bash starts: the working directory, or the one that the call itself asks for."""
    start = normalise(call.cwd)
    entered: tuple[Effect, ...] = ()
    for key in sorted(DIRECTORY_KEYS & call.input.keys()):
        text = call.input[key]
        if isinstance(text, str) and text:
            start = kernel_path(join(start, local_path(text, home)), filesystem)
            facts = (f"{key} of {call.tool}",)
            entered += (Effect(start, Operation.ENTER, (0, 0), text, call.tool, steps=facts),)
    return start, entered


def _findings(
    effects: Iterable[Effect], call: ToolCall, filesystem: FileSystem
) -> tuple[Finding, ...]:
    """The effects outside, each path and operation once; certain if any of them is."""
    found: dict[tuple[str, str, Operation], Finding] = {}
    written = [normalise(folder) for folder in (call.cwd, *call.roots)]
    inside: tuple[str, ...] = ()
    for effect in effects:
        if stays_inside(effect.path, written, filesystem, follow=_follows(effect)):
            continue
        inside = inside or spelled(written, filesystem)
        place = outside_all(effect.path, inside, filesystem, follow=_follows(effect))
        if place is None:
            continue
        key = (*place, effect.operation)
        before = found.get(key)
        tree = effect.tree or (before is not None and before.effect.tree)
        kept = effect
        if before is not None and not (
            before.effect.certainty is Certainty.POSSIBLE and effect.certainty is Certainty.CERTAIN
        ):
            kept = before.effect
        found[key] = Finding(_with_tree(kept, tree, place[1], filesystem), *place)
    return tuple(found.values())


def _touched(effects: Iterable[Effect], filesystem: FileSystem) -> tuple[Finding, ...]:
    """All effects but those on devices, with where their links lead."""
    found: dict[tuple[str, Operation], Finding] = {}
    for effect in effects:
        if effect.listing:  # of a file that the pattern may match, nothing is read yet
            folder = re.split(r"[*?\[]", effect.path, maxsplit=1)[0].rpartition("/")[0] or "/"
            effect = evolve(effect, path=folder, listing=False)  # noqa: PLW2901
        if not is_exempt(effect.path):
            real = real_path(effect.path, filesystem, follow=_follows(effect))
            before = found.get((effect.path, effect.operation))
            kept = effect if before is None else before.effect
            kept = _with_tree(kept, kept.tree or effect.tree, real, filesystem)
            found[(effect.path, effect.operation)] = Finding(kept, effect.path, real)
    return tuple(found.values())


def _with_tree(effect: Effect, tree: bool, real: str, filesystem: FileSystem) -> Effect:
    """The effect, on the whole tree or not: a file has nothing below it, not for `rm -r` either."""
    tree = tree and filesystem.kind(real) is not Kind.FILE
    return effect if effect.tree is tree else evolve(effect, tree=tree)


def place_outside(effect: Effect, call: ToolCall, filesystem: FileSystem) -> tuple[str, str] | None:
    """The effect's path and where it leads, if that is outside where the call may work."""
    inside = spelled(map(normalise, (call.cwd, *call.roots)), filesystem)
    return outside_all(effect.path, inside, filesystem, follow=_follows(effect))


def _follows(effect: Effect) -> bool:
    """Whether a link is followed: deleting it, or listing it, leaves what it points at alone."""
    return effect.follow and effect.operation is not Operation.DELETE


def _failed(when: str, error: Exception, call: ToolCall) -> Opaque:
    command = call.command or ""
    reason = f"Ringfence failed {when} ({type(error).__name__})"
    return Opaque(reason, (0, len(command)), command, OpaqueKind.LIMIT)


def _failure(error: Exception, opaque: tuple[Opaque, ...], gate: str = "failure") -> Verdict:
    rule = Rule(State.ASK, f"internal error {type(error).__name__}", "Ringfence itself")
    return Verdict(gate, rule, opaque=opaque)
