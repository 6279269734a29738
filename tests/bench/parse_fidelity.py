"""How faithful the grammar is to bash, beside other parsers.

    python tests/bench/parse_fidelity.py CORPORA [--parable parable.py] [--node-modules DIR]
        [--only ringfence,bashlex,…] [--wrong FILE]

CORPORA is a folder of ``<set>.jsonl`` files, one JSON object a line with ``text`` and ``bash_n``
(whether ``bash -n`` accepts it) and, for the structure row, ``parable-sexp.jsonl`` with bash's own
tree as an s-expression for the ids of ``parable.jsonl``. The corpora are not part of Ringfence.

bashlex and tree-sitter-bash are used if they are installed, Parable if its file is named,
mvdan/sh through node if ``sh-syntax`` is below --node-modules. A parser that raises anything
but its own syntax error counts as wrong; so does one that takes more than 5 seconds, measured
by an alarm, which also counts as a hang.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from structure import compare_structure

SECONDS = 5
Verdict = bool | str  # accepted, refused, or what went wrong


def ringfence() -> Callable[[str], bool]:
    from ringfence.grammar import parse

    return lambda text: parse(text).problem is None


def bashlex() -> Callable[[str], bool]:
    import bashlex as library
    from bashlex.errors import ParsingError

    def accepts(text: str) -> bool:
        try:
            library.parse(text)
        except ParsingError:
            return False
        return True

    return accepts


def tree_sitter() -> Callable[[str], bool]:
    import tree_sitter as library
    import tree_sitter_bash

    parser = library.Parser(library.Language(tree_sitter_bash.language()))

    def accepts(text: str) -> bool:
        return not parser.parse(text.encode("utf-8", "surrogatepass")).root_node.has_error

    return accepts


def parable(path: Path) -> Callable[[str], bool]:
    spec = importlib.util.spec_from_file_location("parable", path)
    assert spec is not None
    assert spec.loader is not None
    library = importlib.util.module_from_spec(spec)
    sys.modules["parable"] = library
    spec.loader.exec_module(library)
    errors = (library.ParseError, getattr(library, "MatchedPairError", library.ParseError))

    def accepts(text: str) -> bool:
        try:
            library.parse(text)
        except errors:
            return False
        return True

    return accepts


NODE = """
import { parse } from 'sh-syntax'
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  let ok = true
  try { await parse(JSON.parse(line)) } catch { ok = false }
  process.stdout.write(ok ? '1\\n' : '0\\n')
}
"""


def mvdan(node_modules: Path) -> Callable[[str], bool]:
    process = subprocess.Popen(
        ["node", "--input-type=module", "-e", NODE],
        cwd=node_modules.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def accepts(text: str) -> bool:
        stdin.write(json.dumps(text) + "\n")
        stdin.flush()
        return stdout.readline() == "1\n"

    return accepts


class _Hang(BaseException):
    """Not an Exception, so that a parser's own handlers do not catch it."""


def judged(accepts: Callable[[str], bool], text: str) -> Verdict:
    def stop(*_: object) -> None:
        raise _Hang

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        return accepts(text)
    except _Hang:
        return "hang"
    except Exception as error:  # noqa: BLE001 - that is what is counted
        return type(error).__name__
    finally:
        signal.alarm(0)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def parsers(options: argparse.Namespace) -> dict[str, Callable[[str], bool]]:
    makers: dict[str, Callable[[], Callable[[str], bool]]] = {
        "ringfence": ringfence,
        "bashlex": bashlex,
        "tree-sitter": tree_sitter,
    }
    if options.parable:
        makers["parable"] = lambda: parable(options.parable)
    if options.node_modules:
        makers["mvdan/sh"] = lambda: mvdan(options.node_modules)
    made = {}
    for name, maker in makers.items():
        if options.only and name not in options.only.split(","):
            continue
        try:
            made[name] = maker()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return made


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("corpora", type=Path)
    arguments.add_argument("--parable", type=Path, help="Parable's one file")
    arguments.add_argument("--node-modules", type=Path, help="a folder that holds sh-syntax")
    arguments.add_argument("--only", help="names of parsers, separated by commas")
    arguments.add_argument("--wrong", type=Path, help="write what Ringfence got wrong here")
    options = arguments.parse_args()
    used = parsers(options)
    sets = sorted(p for p in options.corpora.glob("*.jsonl") if p.stem != "parable-sexp")
    print("| set | snippets | " + " | ".join(used) + " |")
    print("|---|---:|" + "---:|" * len(used))
    total = 0
    wrong_all = dict.fromkeys(used, 0)
    faults: dict[str, dict[str, int]] = {name: {} for name in used}
    wrong_rows = []
    for path in sets:
        count = 0
        wrong = dict.fromkeys(used, 0)
        for row in rows(path):
            count += 1
            for name, accepts in used.items():
                verdict = judged(accepts, row["text"])
                if verdict is row["bash_n"]:
                    continue
                wrong[name] += 1
                if isinstance(verdict, str):
                    kind = "hangs" if verdict == "hang" else "exceptions"
                    faults[name][kind] = faults[name].get(kind, 0) + 1
                if name == "ringfence":
                    wrong_rows.append({"id": row["id"], "text": row["text"], "got": verdict})
        total += count
        for name in used:
            wrong_all[name] += wrong[name]
        shares = (f"{100 * (count - wrong[name]) / count:.2f} % ({wrong[name]})" for name in used)
        print(f"| {path.stem} | {count} | " + " | ".join(shares) + " |", flush=True)
    shares = (f"{100 * (total - n) / total:.3f} % ({n})" for n in wrong_all.values())
    print(f"| **all** | {total} | " + " | ".join(shares) + " |")
    for kind in ("exceptions", "hangs"):
        counts = (str(faults[name].get(kind, 0)) for name in used)
        print(f"| {kind} | | " + " | ".join(counts) + " |")
    if options.wrong:
        with options.wrong.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in wrong_rows)
    trees = options.corpora / "parable-sexp.jsonl"
    if trees.exists():
        sources = {row["id"]: row for row in rows(options.corpora / "parable.jsonl")}
        same, different = compare_structure(sources, rows(trees))
        share = 100 * same / (same + len(different))
        print(f"\nstructure: {same} of {same + len(different)} trees agree ({share:.2f} %)")
        for identifier, ours, theirs in different:
            print(f"  {identifier}: {ours} against {theirs}")


if __name__ == "__main__":
    main()
