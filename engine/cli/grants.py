"""``ringfence grants``: list what was allowed for later, add to it, take it back."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ringfence.engine.cli.arguments import UsageError, add_call, call_of
from ringfence.engine.cli.output import warn, write_json, write_text
from ringfence.engine.cli.terminal import SESSION_VARIABLE, Terminal
from ringfence.engine.engine import BY_GRANT, Engine
from ringfence.engine.escape import visible
from ringfence.engine.grants import Grant, GrantError, GrantStore, Scope
from ringfence.engine.log import ReviewLog
from ringfence.grammar.records import evolve
from ringfence.rules.model import State

ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "grants",
        help="list, add and revoke what you allowed",
        description="What you allowed when you were asked. Without a command: the list.",
    )
    parser.set_defaults(run=run_list, json=False)
    what = parser.add_subparsers(title="commands", metavar="COMMAND")
    listed = what.add_parser("list", help="print the grants")
    listed.add_argument("--json", action="store_true", help="print JSON")
    listed.set_defaults(run=run_list)
    added = what.add_parser(
        "add",
        help="be asked about a call, and keep the answer",
        description="Ask about a call as if it ran now, and keep the answer; the call does not run."
        " Needs a terminal, or --scope.",
    )
    add_call(added)
    added.add_argument("--cwd", metavar="DIR", help="the working directory (default: this one)")
    added.add_argument("--agent", metavar="NAME", help="the agent that makes the call")
    added.add_argument(
        "--session",
        metavar="ID",
        help=f"the agent's session, as the log has it (default: ${SESSION_VARIABLE})",
    )
    added.add_argument(
        "--scope",
        choices=[Scope.SESSION.value, Scope.PROJECT.value, Scope.ALWAYS.value],
        help="keep the narrowest grant for this, without asking",
    )
    added.set_defaults(run=run_add)
    revoked = what.add_parser("revoke", help="take grants back")
    which = revoked.add_mutually_exclusive_group(required=True)
    which.add_argument("ids", nargs="*", metavar="ID", default=[], help="as the list has them")
    which.add_argument("--project", metavar="DIR", help="all those for this folder and below")
    which.add_argument("--all", action="store_true", help="all of them")
    revoked.set_defaults(run=run_revoke)


def run_list(arguments: argparse.Namespace) -> int:
    """Print every grant."""
    try:
        grants = GrantStore.of_user().read()
    except GrantError as error:
        warn(str(error))
        return ERROR
    if arguments.json:
        rows = [
            {"id": g.id, "what": str(g), "where": g.where, "created": g.created} for g in grants
        ]
        write_json(rows, indent=2)
        return 0
    for grant in grants:
        write_text(f"{grant.id}  {grant.where}: {grant}")
    if not grants:
        write_text("Nothing was granted.")
    return 0


def run_add(arguments: argparse.Namespace) -> int:
    """Ask, and keep the answer."""
    try:
        session = arguments.session or os.environ.get(SESSION_VARIABLE) or None
        call = evolve(call_of(arguments), session=session)
    except UsageError as error:
        warn(str(error))
        return ERROR
    if arguments.scope == Scope.SESSION and not call.session:
        warn(f"a grant for a session needs its --session, or ${SESSION_VARIABLE}")
        return ERROR
    store = GrantStore.of_user()
    try:
        store.read()
    except GrantError as error:  # nothing could be kept
        warn(str(error))
        return ERROR
    engine = Engine.load(call.cwd, log=ReviewLog.of_user("grants"), grants=store)
    asked = engine.trace(call)[2]
    if asked.state is State.ASK and len(engine.offers(asked)) == 1:
        write_text("No grant can answer this: it is asked about each time.\n")
        write_text(asked.message)
        return 1
    approver = Terminal(scope=Scope(arguments.scope) if arguments.scope else None, once=False)
    decision = engine.approve(call, approver)
    if decision.resolution == BY_GRANT:
        write_text("Granted before, so nothing was kept: `ringfence grants` lists what covers it.")
        return 0
    if decision.resolution:
        write_text(visible(decision.resolution[0].upper() + decision.resolution[1:]))
        return 0 if decision.state is State.ALLOW else 1
    if decision.state is State.ALLOW:
        write_text("Nothing to grant: this is allowed already.")
        return 0
    write_text("No grant can change this: a rule refuses it.\n")
    write_text(decision.message)
    return 1


def run_revoke(arguments: argparse.Namespace) -> int:
    """Take grants back, and say which."""
    store = GrantStore.of_user()
    if arguments.all:
        return _revoke_all(store)
    try:
        grants = store.read()
        if arguments.project is not None:
            folder = os.path.realpath(arguments.project)
            ids = [g.id for g in grants if g.project and Path(g.project).is_relative_to(folder)]
        else:
            ids = arguments.ids
        gone = store.revoke(ids)
    except GrantError as error:
        warn(str(error))
        return ERROR
    _say_gone(gone)
    missing = set(ids) - {grant.id for grant in gone}
    for name in sorted(missing):
        warn(f"there is no grant {name}")
    return ERROR if missing else 0


def _revoke_all(store: GrantStore) -> int:
    problem = ""
    gone: tuple[Grant, ...] = ()
    try:
        try:
            gone = store.read()
        except GrantError as error:
            problem = str(error)
        store.clear()
    except GrantError as error:
        warn(str(error))
        return ERROR
    _say_gone(gone)
    if problem:
        write_text(f"Nothing is granted any more: {store.path} was emptied.")
    return 0


def _say_gone(grants: Iterable[Grant]) -> None:
    for grant in grants:
        write_text(f"No longer granted: {grant} ({grant.where})")
