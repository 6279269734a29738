"""``ringfence config``: show the merged policy, check config files, print their schema."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_json, write_text
from ringfence.engine.escape import visible
from ringfence.engine.policy import LayeredPolicy, load_policy
from ringfence.engine.policy.load import SUFFIXES, problems, project_root
from ringfence.engine.policy.model import SURFACES

ERROR = 2


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "config", help="show and check the policy", description="Show and check the policy."
    )
    what = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = what.add_parser("show", help="print the merged policy, each rule with its place")
    show.add_argument("--cwd", metavar="DIR", default=".", help="the project (default: this one)")
    show.add_argument("--agent", metavar="NAME", help="the policy for one agent")
    show.add_argument("--config", metavar="FILE", help="a file to use instead of all others")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=run_show)
    check = what.add_parser("check", help="say what is wrong with config files")
    check.add_argument("files", nargs="*", metavar="FILE", help="(default: those in use here)")
    check.set_defaults(run=run_check)
    printed = what.add_parser("schema", help="print the JSON Schema of a config file")
    printed.set_defaults(run=run_schema)


def run_show(arguments: argparse.Namespace) -> int:
    """Print every rule that holds, the strongest last. Raises ConfigError."""
    cwd = os.path.abspath(arguments.cwd)  # noqa: PTH100
    policy = load_policy(cwd, config=arguments.config).for_agent(arguments.agent)
    rows = list(_rows(policy))
    if arguments.json:
        write_json(rows, indent=2)
        return 0
    layer = ""
    for row in rows:
        if row["layer"] != layer:
            layer = row["layer"]
            held = " (only tightens: `ringfence trust` lets it loosen)" if row["held"] else ""
            write_text(visible(layer + held))
        reason = f"  # {row['reason']}" if row["reason"] else ""
        write_text(visible(f"  {row['rule']} = {row['state']}{reason}  ({row['source']})"))
    return 0


def _rows(policy: LayeredPolicy) -> Iterator[dict[str, Any]]:
    for surface in SURFACES:
        rule = LayeredPolicy().default(surface, "external_directory")
        yield _row("built-in defaults", rule.rule, rule.state, None, rule.source)
    for layer in policy.layers:
        for surface, (state, source) in layer.defaults.items():
            yield _row(layer.name, f"defaultPolicy.{surface}", state, None, source, layer.held)
        for entries in layer.tables.values():
            for entry in entries:
                rule = entry.rule
                row = _row(layer.name, rule.rule, rule.state, rule.reason, rule.source, layer.held)
                yield row


def _row(
    layer: str, rule: str, state: Any, reason: str | None, source: str, held: bool = False
) -> dict[str, Any]:
    return {
        "layer": layer,
        "rule": rule,
        "state": state.value,
        "reason": reason,
        "source": source,
        "held": held,
    }


def run_check(arguments: argparse.Namespace) -> int:
    """Complain of every file that is wrong; 2 if one is."""
    wrong = 0
    for name in arguments.files or [None]:
        for error in problems(None if name else str(Path.cwd()), config=name):
            warn(str(error))
            wrong += 1
    folder = project_root(str(Path.cwd())) / ".ringfence"
    if not arguments.files and folder.is_dir():
        names = {f"config{suffix}" for suffix in SUFFIXES} | {"agents"}
        for path in sorted(folder.iterdir()):
            if path.name not in names:
                warn(f"{path} is read by nobody; config files are {', '.join(sorted(names))}")
    if not wrong:
        write_text("No errors.")
    return ERROR if wrong else 0


def run_schema(_: argparse.Namespace) -> int:
    """Print the schema."""
    from ringfence.engine.policy.schema import schema  # noqa: PLC0415 - nobody else needs it

    write_json(schema(), indent=2)
    return 0
