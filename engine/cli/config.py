"""``ringfence config``: show the merged policy, check config files, print their schema."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_json, write_text
from ringfence.engine.escape import visible
from ringfence.engine.policy import LayeredPolicy, load_policy
from ringfence.engine.policy.load import SUFFIXES, config_files, problems, project_roots
from ringfence.engine.policy.model import SURFACES, Layer
from ringfence.engine.policy.patterns import matches
from ringfence.engine.state import user_folder
from ringfence.rules.mcp import is_mcp
from ringfence.rules.model import State
from ringfence.rules.tool_names import KNOWN, is_unknown_tool

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
    cwd = os.path.abspath(arguments.cwd)
    everyone = load_policy(cwd, config=arguments.config)
    policy = everyone.for_agent(arguments.agent)
    rows = list(_rows(policy))
    if arguments.json:
        write_json(rows, indent=2)
        return 0
    layer = ("", "")
    for row in rows:
        if (row["layer"], row["project"]) != layer:
            layer = row["layer"], row["project"]
            write_text(visible(_heading(row)))
        where = "" if row.get("local", True) else ", works elsewhere"
        reason = f"  # {row['reason']}" if row["reason"] else ""
        write_text(visible(f"  {row['rule']} = {row['state']}{where}{reason}  ({row['source']})"))
    agents = dict.fromkeys(one.agent for one in everyone.layers if one not in policy.layers)
    if agents:
        names = ", ".join(map(str, agents))
        write_text(visible(f"Not shown: what holds for {names}. `--agent NAME` adds it."))
    return 0


def _heading(row: Mapping[str, Any]) -> str:
    of = f" {row['project']}" if row["project"] else ""
    trust = f"ringfence trust {shlex.quote(row['project'])}"
    held = f" (only tightens: `{trust}` lets it loosen)" if row["held"] else ""
    return f"{row['layer']}{of}{held}"


def _rows(policy: LayeredPolicy) -> Iterator[dict[str, Any]]:
    for surface in SURFACES:
        rule = LayeredPolicy().default(surface, "external_directory")
        yield _row(rule.rule, rule.state, None, rule.source)
    set_by_others = {s for layer in policy.layers if not layer.held for s in layer.defaults}
    for layer in policy.layers:
        for surface, (state, source) in layer.defaults.items():
            yield _row(f"defaultPolicy.{surface}", state, None, source, layer)
        given = set(layer.defaults) | (set() if layer.held else set_by_others)
        for surface in SURFACES if layer.asks_unless_set else ():
            if surface not in given:
                rule = layer.left_out(surface)
                yield _row(rule.rule, rule.state, None, rule.source, layer)
        for entries in layer.tables.values():
            for entry in entries:
                rule = entry.rule
                row = _row(rule.rule, rule.state, rule.reason, rule.source, layer)
                yield row if entry.local is None else {**row, "local": entry.local}


def _row(
    rule: str, state: State, reason: str | None, source: str, layer: Layer | None = None
) -> dict[str, Any]:
    return {
        "layer": layer.name if layer else "built-in defaults",
        "project": layer.project if layer else "",
        "rule": rule,
        "state": state.value,
        "reason": reason,
        "source": source,
        "held": layer is not None and layer.held,
    }


def run_check(arguments: argparse.Namespace) -> int:
    """Say what was read, and complain of every file that is wrong; 2 if one is."""
    cwd = str(Path.cwd())
    wrong = 0
    for name in arguments.files or [None]:
        for error in problems(None if name else cwd, config=name):
            warn(str(error))
            wrong += 1
    if not arguments.files:
        _unread(Path(user_folder(os.environ)), _USERS)
        for root in project_roots(cwd):
            _unread(root / ".ringfence", _PROJECTS)
        _misplaced(cwd)
    if wrong:
        return ERROR
    names = arguments.files or [None]
    policies = [load_policy(None if name else cwd, config=name) for name in names]
    for policy in policies:
        for note in (*_likely_slips(policy), *_overruled(policy)):
            warn(note)
    _say_read(arguments.files, cwd, policies[0])
    write_text("No errors.")
    return 0


_PROJECTS = (*(f"config{suffix}" for suffix in SUFFIXES), "agents", "tests")
"""What counts in a project's folder."""
_USERS = _PROJECTS[:-1]


def _say_read(given: Sequence[str], cwd: str, policy: LayeredPolicy) -> None:
    """Name the files that were read, since a file that nobody reads has no errors either."""
    if given:
        names = list(given)
    else:
        folders = [
            Path(user_folder(os.environ)),
            *(root / ".ringfence" for root in project_roots(cwd)),
        ]
        names = [str(path) for folder in folders for path in config_files(folder)]
    if not names:
        places = f"{user_folder(os.environ)}/config.toml or in .ringfence/config.toml"
        write_text(visible(f"There is no config file in {places}: the built-in defaults hold."))
        return
    held = {layer.file for layer in policy.layers if layer.held}
    for name in names:
        note = " (only tightens: `ringfence trust` lets it loosen)" if name in held else ""
        write_text(visible(f"Read: {name}{note}"))


def _unread(folder: Path, names: Collection[str]) -> None:
    """Complain of files in a folder of Ringfence's own that are no config."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name not in names:
            warn(f"{path} is read by nobody; what counts here is {', '.join(sorted(names))}")


def _misplaced(cwd: str) -> None:
    """Complain of files that look as if they were meant to be a config."""
    users = Path(user_folder(os.environ))
    for folder, place in ((users.parent, users), (Path(cwd), Path(cwd, ".ringfence"))):
        for name in ("ringfence", ".ringfence", "ringfence.config"):
            for suffix in SUFFIXES:
                path = folder / f"{name}{suffix}"
                if path.exists():
                    warn(f"{path} is read by nobody; what counts is {place}/config{suffix}")


def _likely_slips(policy: LayeredPolicy) -> Iterator[str]:
    """Names of tools that nobody here knows, and that look much like one that is known."""
    for layer in policy.layers:
        for entry in layer.tables.get("tools", ()):
            name = entry.pattern
            if "*" in name or is_mcp(name) or not is_unknown_tool(name):
                continue
            for close in get_close_matches(name.lower(), sorted(KNOWN), n=1, cutoff=0.8):
                problem = "is no tool that is known here"
                yield f'{entry.source}: tools.{name}: {problem}; did you mean "{close}"?'


def _overruled(policy: LayeredPolicy) -> Iterator[str]:
    """Rules that a later one of the same table always overrules."""
    for layer in policy.layers:
        for surface in SURFACES:
            entries = layer.tables.get(surface, ())
            for place, entry in enumerate(entries):
                # A star of the one must fall under a star of the other: it is no other character.
                for later in entries[place + 1 :]:
                    if later.state is not entry.state and matches(later.pattern, entry.pattern):
                        line = later.source.rpartition(":")[2]
                        yield (
                            f"{entry.source}: {entry.rule.rule} has no effect: the last match wins,"
                            f' and "{later.pattern}" in line {line} matches all that it does'
                        )
                        break


def run_schema(_: argparse.Namespace) -> int:
    """Print the schema."""
    from ringfence.engine.policy.schema import schema  # noqa: PLC0415 - nobody else needs it

    write_json(schema(), indent=2)
    return 0
