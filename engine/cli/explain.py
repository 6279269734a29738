"""``ringfence explain``: the whole way from a call to its decision."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.cli.arguments import UsageError, add_call, add_world, call_of, engine_for
from ringfence.engine.cli.output import STATUS, coloured, marked, warn, write_text
from ringfence.engine.engine import Engine
from ringfence.engine.escape import visible
from ringfence.engine.filesystem import FileSystem
from ringfence.engine.grants import GrantError, holds
from ringfence.engine.messages import call_text, command_about, doubt_text, path_text, rule_text
from ringfence.engine.pipeline import Collected, place_outside
from ringfence.engine.policy import LayeredPolicy
from ringfence.rules.gates import GATES
from ringfence.rules.model import Effect

MAX_RULES = 50
"""Rules of one layer that are shown."""


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="show how a decision comes about",
        description="Show, step by step, how a call is read and judged. Exit status as for check.",
    )
    add_call(parser)
    add_world(parser)
    parser.set_defaults(run=run, no_log=True)


def run(arguments: argparse.Namespace) -> int:
    """Explain, and return the exit status of the decision."""
    try:
        call = call_of(arguments)
    except UsageError as error:
        warn(str(error))
        return 2
    engine = engine_for(arguments, call.cwd)
    policy, collected, decision = engine.trace(call)
    sections = (
        _call(decision),
        _commands(collected),
        _effects(call, collected.effects, engine.filesystem),
        _unknown(collected),
        _layers(policy),
        _grants(engine, call),
        _gates(collected, policy, decision),
        _section("Notes", (visible(note) for note in decision.notes)),
        _decision(decision),
    )
    write_text("\n\n".join(section for section in sections if section))
    return STATUS[decision.state]


def _section(title: str, lines: Iterable[str]) -> str:
    text = "\n".join(f"  {line}".rstrip() for line in lines)
    return f"{title}\n{text}" if text else ""


def _call(decision: Decision) -> str:
    call: ToolCall = decision.call
    spans = [finding.effect.span for finding in decision.findings]
    shown = marked(call.command, spans, indent="") if call.command else call_text(decision)
    where = f"in {path_text(call.cwd)}" + (
        f", by agent {visible(call.agent)}" if call.agent else ""
    )
    return _section(f"Call of {visible(call.tool)} {where}", shown.split("\n"))


def _commands(collected: Collected) -> str:
    lines = [
        " ".join(f"[{path_text(word)}]" for word in command.words)
        + (f"  ({path_text(command.origin)})" if command.origin else "")
        for command in collected.facts.commands
    ]
    return _section("Commands that would run, as words", lines)


def _effects(call: ToolCall, effects: Iterable[Effect], filesystem: FileSystem) -> str:
    lines: list[str] = []
    for effect in effects:
        place = place_outside(effect, call, filesystem)
        side = "outside" if place else "inside "
        link = f" -> {path_text(place[1])}" if place and place[1] != effect.path else ""
        lines.append(f"{side}  {effect.operation:<8}{path_text(effect.path)}{link}")
        lines += [f"         {step}" for step in _steps(effect)]
    return _section("Paths that it touches", lines)


def _steps(effect: Effect) -> list[str]:
    """How the path was found: the words, what they became, why they name a path."""
    words = path_text(" ".join(effect.text.split()))
    steps = [f"`{words}` at {effect.span[0]}:{effect.span[1]}, by {visible(effect.by)}"]
    steps += [f"from {path_text(effect.origin)}"] if effect.origin else []
    steps += [path_text(step) for step in effect.steps]
    if effect.classifier:
        steps.append(f"seen as {effect.classifier}")
    steps.append(effect.certainty.value)
    return steps


def _unknown(collected: Collected) -> str:
    lines = [
        f"`{path_text(part.text)}` at {part.span[0]}:{part.span[1]}: {visible(part.reason)}"
        for part in collected.facts.opaque
    ]
    return _section("What cannot be known", lines)


def _layers(policy: LayeredPolicy) -> str:
    lines = ["built-in: special and unknown tools are ask, all else allow"]
    for layer in policy.layers:
        lines.append(f"{visible(layer.name)}: {path_text(layer.file)}")
        lines += [
            f"  defaultPolicy.{surface} = {state} ({visible(source)})"
            for surface, (state, source) in layer.defaults.items()
        ]
        if layer.asks_unless_set:
            lines.append("  defaultPolicy of every surface that no file sets = ask")
        entries = [entry for table in layer.tables.values() for entry in table]
        lines += [f"  {rule_text(entry.rule)}" for entry in entries[:MAX_RULES]]
        if len(entries) > MAX_RULES:
            lines.append(f"  and {len(entries) - MAX_RULES} more")
    return _section("Layers of the policy, the strongest last; in each the last match wins", lines)


def _grants(engine: Engine, call: ToolCall) -> str:
    if engine.grants is None:
        return ""
    try:
        held = [grant for grant in engine.grants.read() if holds(grant, call)]
    except GrantError:
        return ""  # see the notes
    lines = [f"{grant.id}  {grant.where}: {grant}" for grant in held[:MAX_RULES]]
    if len(held) > MAX_RULES:
        lines.append(f"and {len(held) - MAX_RULES} more")
    return _section("Grants that hold here; they answer an ask, never a deny", lines)


def _gates(collected: Collected, policy: LayeredPolicy, decision: Decision) -> str:
    lines = []
    for gate in GATES:
        lines.append(f"{gate.name}: {gate.doc}")
        verdicts = [verdict for verdict in decision.verdicts if verdict.gate == gate.name]
        for verdict in verdicts:
            about = f" for {command_about(verdict)}" if verdict.subject else ""
            doubt = f": {why}" if (why := doubt_text(verdict.rule, "this")) else ""
            lines.append(f"  {verdict.state}: {rule_text(verdict.rule)}{about}{doubt}")
        if not verdicts:
            lines.append(f"  {_silence(gate.name, collected, policy)}")
    return _section("Gates", lines)


def _silence(gate: str, collected: Collected, policy: LayeredPolicy) -> str:
    """Why a gate says nothing."""
    if gate == "external_directory" and (collected.facts.findings or collected.facts.opaque):
        return f"lets it pass: {rule_text(policy.rule('special', gate))}"
    return "nothing to judge"


def _decision(decision: Decision) -> str:
    state = coloured(decision.state.value, decision.state, sys.stdout)
    why = "by default" if decision.default else "by a rule"
    return f"Decision: {state} ({why})"
