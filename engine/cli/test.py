"""``ringfence test``: try the examples of the policy's rules, and files of cases."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_text
from ringfence.engine.policy import load_policy
from ringfence.engine.policy.examples import case_files, cases, examples
from ringfence.engine.policy.load import project_root
from ringfence.engine.tools import home_of

FAILED = 1


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "test",
        help="try the policy's examples",
        description="Try the examples that rules carry (match, not_match), and files of cases."
        " Exit status: 0 all are as expected, 1 one is not, 2 an error.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="files of cases, or folders of them (default: .ringfence/tests)",
    )
    parser.add_argument("--cwd", metavar="DIR", default=".", help="the project (default: this one)")
    parser.add_argument("--config", metavar="FILE", help="a file to use instead of all others")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Try all, and tell of each that is wrong. Raises ConfigError."""
    cwd = os.path.abspath(arguments.cwd)
    policy = load_policy(cwd, config=arguments.config)
    env = {**os.environ, "HOME": home_of(os.environ)}
    given = [Path(name) for name in arguments.files]
    default = project_root(cwd) / ".ringfence" / "tests"
    if not given and default.is_dir():
        given = [default]
    results = list(examples(policy, cwd, env))
    told = len(results)
    for file in case_files(given):
        results += cases(file, policy, cwd, env)
    wrong = [result for result in results if result.problem]
    for result in wrong:
        warn(f"{result.source}: {result.problem}")
    write_text(f"Examples of rules: {told}. Cases: {len(results) - told}. Wrong: {len(wrong)}.")
    return FAILED if wrong else 0
