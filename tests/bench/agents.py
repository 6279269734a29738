"""What becomes of the commands of real agent sessions: allowed, asked about, opaque.

    python tests/bench/agents.py FILE [--policy default|allow] [--asked FILE] [--opaque]

FILE holds one JSON object a line: ``id``, ``text`` (the command), ``cwd`` and ``home``. The commands
go through ``ringfence check --jsonl`` without a file system. ``default`` is the policy that
Ringfence ships; ``allow`` allows every bash command and asks only about the outside. Every line
must be answered, in order, without an error. --asked writes the prompts, --opaque counts reasons.

``agent_labels.jsonl`` beside this file says of each prompt that was read whether it was needed
(something outside would be touched, or nobody can tell) or needless, with the reason; a row is
known by its id and the first digits of its text's SHA-256. Prompts without a label are counted.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import re
from pathlib import Path

from cases import answers


def _labels() -> dict[tuple[str, str], str]:
    lines = Path(__file__).with_name("agent_labels.jsonl").read_text("utf-8").splitlines()
    return {(row["id"], row["sha256"]): row["label"] for row in map(json.loads, lines)}


LABELS = _labels()


def _label(row: dict[str, str]) -> str | None:
    digits = hashlib.sha256(row["text"].encode()).hexdigest()[:16]
    return LABELS.get((row["id"], digits))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--policy", choices=("default", "allow"), default="default")
    arguments.add_argument("--asked", type=Path, help="write what is asked about here")
    arguments.add_argument("--opaque", action="store_true", help="count the reasons")
    options = arguments.parse_args()
    rows = [json.loads(line) for line in options.file.open(encoding="utf-8") if line.strip()]
    for row in rows:
        row["command"] = row["text"]
    policy = "" if options.policy == "default" else None
    replies = answers(rows, "--no-filesystem", policy=policy)
    assert [r["id"] for r in replies] == [r["id"] for r in rows], "a line was lost"
    errors = sum("error" in r for r in replies)
    asked = [r for r in replies if r.get("decision") != "allow"]
    by_path = sum(bool(r.get("external")) for r in asked)
    opaque = sum(bool(r.get("opaque")) and not r.get("external") for r in asked)

    def share(count: int) -> str:
        return f"{count} ({100 * count / len(rows):.1f} %)"

    print(f"{len(rows)} commands, {errors} errors")
    print(f"allowed {share(len(rows) - len(asked))}, asked {share(len(asked))}")
    print(f"  of these with an outside path {share(by_path)}, opaque alone {share(opaque)}")
    if options.opaque:
        reasons = collections.Counter(
            re.sub(r"`[^`]*`", "`…`", item["reason"])
            for reply in asked
            if not reply.get("external")
            for item in reply.get("opaque", ())
        )
        for reason, count in reasons.most_common():
            print(f"    {count:4} {reason}")
    texts = {row["id"]: row for row in rows}
    labels = [_label(texts[reply["id"]]) for reply in asked]
    needless = labels.count("needless")
    read = len(labels) - labels.count(None)
    print(
        f"  {read} prompts were read: {needless} needless ({100 * needless / max(read, 1):.1f} %)"
    )
    if options.asked:
        with options.asked.open("w", encoding="utf-8") as file:
            for reply in asked:
                shown = {
                    "id": reply["id"],
                    "command": texts[reply["id"]]["text"],
                    "cwd": texts[reply["id"]]["cwd"],
                    "paths": [f"{e['operation']} {e['path']}" for e in reply.get("external", ())],
                    "opaque": [f"{o['reason']}: {o['text']}" for o in reply.get("opaque", ())],
                }
                file.write(json.dumps(shown, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
