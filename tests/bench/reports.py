"""How many cases from public reports are decided as they ask.

    python tests/bench/reports.py FILE [--misses]

FILE holds one JSON object a line: ``id``, ``command`` or ``tool`` with ``input``, ``cwd``, ``setup`` (free
text) and ``expect`` with ``external`` (the outside paths to report) and ``decision``, either of which
may be missing. From the setup are read: links (``a -> b``), tables of rules (``bash {"x": "deny"}``,
``external_directory {…}``), and variables (``NAME=value``); what else it says is listed with the row.
A row is right if every expected path is reported and no other, and the decision is the expected
one. Rows that assert neither are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from cases import HOME, covers

from ringfence.engine import Engine, ToolCall
from ringfence.engine.filesystem import RealFileSystem
from ringfence.engine.policy import load_policy

Row = dict[str, Any]
_TABLE = re.compile(
    r"\b(bash|external_directory|tools|mcp|skills|path|read|write|edit)\s*(\{[^{}]*\})"
)
_LINK = re.compile(r"(?:^|[\s;,(])(~?[\w./-]+)\s*->\s*(~?[\w./-]+)")
_VARIABLE = re.compile(r"(?:^|[\s;,])([A-Z][A-Z_]*)=([^\s;,]+)")
_DEFAULT = re.compile(r"external_directory\s+(?:is\s+|=\s*|\")?\"?(allow|ask|deny)\b")


def policy_of(setup: str, folder: Path) -> Any:
    """The policy that the setup describes: bash is allowed, the outside asked about."""
    tables: dict[str, dict[str, str]] = {"bash": {"*": "allow"}}
    outside: Any = "ask"
    plain = _DEFAULT.search(setup)
    if plain:
        outside = plain[1]
    for surface, text in _TABLE.findall(setup):
        try:
            table = json.loads(text)
        except ValueError:
            continue
        if surface in ("bash", "tools", "mcp", "skills"):
            tables.setdefault(surface, {}).update(table)
        elif surface == "external_directory":
            outside = {"*": "ask", **table}
    config = {**tables, "special": {"external_directory": outside}}
    file = folder / "config.json"
    file.write_text(
        json.dumps(
            {"defaultPolicy": dict.fromkeys(("tools", "bash", "mcp", "skills"), "allow"), **config}
        )
    )
    return load_policy(None, config=str(file))


def make_world(row: Row, root: Path) -> None:
    """The working directory, /etc, and the links of the setup."""
    for folder in (row["cwd"], HOME, "/etc", "/tmp"):
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for name in ("etc/hosts", "etc/passwd"):
        (root / name).touch()
    for name, target in _LINK.findall(row.get("setup", "")):
        link = Path(row["cwd"], name.replace("~", HOME, 1))
        place = root / str(link).lstrip("/")
        if not place.exists() and not place.is_symlink():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target.replace("~", HOME, 1))


def decide(row: Row) -> tuple[list[set[str]], str, bool]:
    """The reported paths (each as named and as it leads), the decision, whether it is opaque."""
    setup = row.get("setup") or ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "root"
        make_world(row, root)
        engine = Engine(policy_of(setup, folder), RealFileSystem(str(root)))
        env = {"HOME": HOME, "PATH": "/usr/bin:/bin", **dict(_VARIABLE.findall(setup))}
        values = row.get("input") or {"command": row["command"]}
        decision = engine.decide(ToolCall(row.get("tool") or "bash", values, row["cwd"], env=env))
    paths = [{finding.path, finding.real} for finding in decision.findings]
    return paths, decision.state.value, bool(decision.opaque)


def wrong(row: Row) -> str:
    """What is not as the row expects; empty if all is."""
    expect = row["expect"]
    paths, state, opaque = decide(row)
    if expect.get("external") is not None:
        wanted = expect["external"]
        missed = [e for e in wanted if not any(covers(p, e) for ps in paths for p in ps)]
        extra = [
            min(ps)
            for ps in paths
            if not any(covers(p, e) or covers(e, p) for p in ps for e in wanted)
        ]
        if (missed and not opaque) or extra:
            return f"missed {missed}, extra {extra}, {state}"
    if expect.get("decision") not in (None, state):
        return f"{state} instead of {expect['decision']}, paths {[min(p) for p in paths]}, opaque {opaque}"
    return ""


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--misses", action="store_true")
    options = arguments.parse_args()
    rows = [json.loads(line) for line in options.file.open(encoding="utf-8") if line.strip()]
    asserted = [
        r for r in rows
        if (r["expect"].get("external") is not None or r["expect"].get("decision"))
        and (r.get("command") or r.get("input"))
        and r["cwd"].startswith("/")  # not Windows
    ]  # fmt: skip
    faults = {row["id"]: fault for row in asserted if (fault := wrong(row))}
    right = len(asserted) - len(faults)
    print(f"{right} of {len(asserted)} as expected ({100 * right / len(asserted):.1f} %)")
    if options.misses:
        for row in asserted:
            if row["id"] in faults:
                what = row.get("command") or json.dumps(row.get("input"))
                print(
                    f"{row['id']} [{row['kind']}] {what!r} ({row.get('setup')}): {faults[row['id']]}"
                )


if __name__ == "__main__":
    main()
