"""``ringfence check``: decide one call, or a stream of them."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ringfence.engine.call import Decision
from ringfence.engine.cli.arguments import (
    UsageError,
    add_call,
    add_log,
    add_world,
    call_of,
    engine_for,
)
from ringfence.engine.cli.output import (
    STATUS,
    coloured,
    decision_json,
    marked,
    warn,
    write_json,
    write_text,
)
from ringfence.engine.messages import call_text, deciding_spans, details
from ringfence.rules.model import State


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "check",
        help="decide a call",
        description="Decide a call. Exit status: 0 allow, 1 deny, 3 ask, 2 an error.",
    )
    add_call(parser)
    add_world(parser)
    add_log(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the decision as JSON")
    form.add_argument(
        "--jsonl", action="store_true", help="decide each line of standard input, a JSON object"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="with --jsonl: decide in N processes, 64 lines at a time (in order all the same)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decide, print, and return the exit status."""
    if arguments.jobs < 1 or (arguments.jobs > 1 and not arguments.jsonl):
        warn("--jobs needs --jsonl and a number above 0")
        return 2
    if arguments.jsonl:
        from ringfence.engine.cli.batch import run_batch  # noqa: PLC0415

        return run_batch(arguments)
    try:
        call = call_of(arguments)
    except UsageError as error:
        warn(str(error))
        return 2
    decision = engine_for(arguments, call.cwd).decide(call)
    if arguments.json:
        write_json(decision_json(decision), indent=2)
    else:
        write_text(_human(decision))
    return STATUS[decision.state]


def _human(decision: Decision) -> str:
    """The decision for a person: its state, the call with the offending words marked, why."""
    state = coloured(decision.state.value, decision.state, sys.stdout)
    if decision.state is State.ALLOW:
        why = "nothing objects" if decision.default else _rules(decision)
        return f"{state}: {why}"
    command = decision.call.command
    if command is None or len(command) > 4000:
        shown = "    " + call_text(decision).replace("\n", "\n    ")
    else:
        shown = marked(command, deciding_spans(decision))
    return f"{state}\n\n{shown}\n\n{details(decision)}"


def _rules(decision: Decision) -> str:
    allowing = {f"{v.rule.rule} ({v.rule.source})": None for v in decision.verdicts}
    return ", ".join(allowing)
