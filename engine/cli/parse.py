"""``ringfence parse``: the syntax tree of a command, or what is wrong with it."""

from __future__ import annotations

import argparse
from typing import Any

from ringfence.engine.cli.output import marked, warn, write_json, write_text
from ringfence.engine.cli.tree import tree_json, tree_text
from ringfence.grammar.nodes import SyntaxProblem


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "parse",
        help="show how a command is read",
        description="Print a command's syntax tree. Exit status: 0 valid, 1 not, 2 usage.",
    )
    parser.add_argument("command", nargs="?", help="the bash command")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the tree as JSON")
    form.add_argument(
        "--jsonl",
        action="store_true",
        help='parse the "text" of each line of standard input, a JSON object',
    )
    parser.add_argument("--tree", action="store_true", help="with --jsonl: add the tree")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Parse, print, and return the exit status."""
    from ringfence.grammar import TooComplex, parse  # noqa: PLC0415  # loads the grammar

    if arguments.jsonl:
        from ringfence.engine.cli.batch import answer_lines  # noqa: PLC0415

        def answer(row: dict[str, Any]) -> dict[str, Any]:
            text = row.get("text")
            if not isinstance(text, str):
                raise ValueError("text must be a string")  # noqa: TRY004  # told to the reader
            try:
                script = parse(text)
            except TooComplex as error:
                return _failure(str(error), len(text))
            result = _verdict(script.problem)
            return {**result, "tree": tree_json(script)} if arguments.tree else result

        answer_lines(answer, _failure)
        return 0
    if arguments.command is None:
        warn("give a command, or --jsonl")
        return 2
    try:
        script = parse(arguments.command)
    except TooComplex as error:
        if arguments.json:
            write_json(_failure(str(error), len(arguments.command)), indent=2)
        else:
            write_text(str(error))
        return 1
    if arguments.json:
        write_json({**_verdict(script.problem), "tree": tree_json(script)}, indent=2)
    elif script.problem is None:
        write_text(tree_text(script))
    else:
        start, end = script.problem.found
        # What is missing at the end is shown at the last character that is there.
        start = max(0, min(start, len(arguments.command.rstrip()) - 1))
        write_text(marked(arguments.command, [(start, max(end, start + 1))]))
        write_text(script.problem.message)
    return 0 if script.problem is None else 1


def _verdict(problem: SyntaxProblem | None) -> dict[str, Any]:
    if problem is None:
        return {"ok": True}
    return {"ok": False, "error": {"message": problem.message, "span": list(problem.found)}}


def _failure(message: str, end: int = 0) -> dict[str, Any]:
    return {"ok": False, "error": {"message": message, "span": [0, end]}}
