"""How many cases from public reports are decided as they ask.

    python tests/bench/reports.py FILE [--misses]

FILE holds one JSON object a line: ``id``, ``command`` or ``tool`` with ``input``, ``cwd``, ``setup`` (free
text) and ``expect`` with ``external`` (the outside paths to report) and ``decision``, either of which
may be missing. From the setup are read: links (``a -> b``), tables of rules (``bash {"x": "deny"}``,
``external_directory {…}``), and variables (``NAME=value``); what else it says is in ``TABLES`` and ``ANSWERED``, or listed with the row.
A row is right if every expected path is reported and no other, and the decision is the expected
one. Rows that assert neither are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from cases import HOME, covers

from ringfence.engine import Engine, ToolCall
from ringfence.engine.call import Decision
from ringfence.engine.filesystem import RealFileSystem
from ringfence.engine.grants import GrantStore, Offer, Scope
from ringfence.engine.policy import load_policy

Row = dict[str, Any]
_TABLE = re.compile(
    r"\b(bash|external_directory|tools|mcp|skills|path|read|write|edit)\s*(\{[^{}]*\})"
)
_LINK = re.compile(r"(?:^|[\s;,(])(~?[\w./-]+)\s*->\s*(~?[\w./-]+)")
_VARIABLE = re.compile(r"(?:^|[\s;,])([A-Z][A-Z_]*)=([^\s;,]+)")
_PLAIN = re.compile(r"\b(bash|read|write|edit) \"(allow|ask|deny)\"")
_ROOTS = re.compile(r"trusted read roots: (/\S+)")
_WORKTREE = re.compile(r"(/\S+) is a git root;.*workspace roots include the git worktree")
_EXISTS = re.compile(r"([\w./-]+) exists in the project")
_DEFAULT = re.compile(r"external_directory\s+(?:is\s+|=\s*|\")?\"?(allow|ask|deny)\b")


LAYERS = {
    "avala-deny-shadowed": ({"bash": {"rm *": "deny"}}, {"bash": {"*": "allow"}}),
    "pi-project-trust": (
        {"special": {"external_directory": "ask"}},
        {"special": {"external_directory": "allow"}},
    ),
}
"""Setups of two layers, the user's and a project's that nobody has trusted."""

ALL_ASK: dict[str, Any] = {"bash": {"*": "ask"}}
TABLES = {
    "cc-loop-saved-fragments": ALL_ASK,
    "codex-hook-ask-unsupported": {"bash": {"rm *": "ask"}},
    "nano-rm-permutations": {"external": {"*": "ask", "**": {"delete": "deny"}}},
    "pi-session-approval-cwd-file": {"tools": {"edit": "ask"}},
    "zed-allow-all-git": ALL_ASK,
}
"""Rules of setups that say them in words."""

ANSWERED = {
    "pi-session-approval-cwd-file": ("edit", {"path": "index.html"}, Scope.SESSION),
    "zed-allow-all-git": ("bash", {"command": "git status"}, Scope.ALWAYS),
}
"""Calls that a person was asked about before, and for how long they were allowed."""

HEADLESS = {"headless-auto-reject"}

NOT_HERE = {
    "agentsh-reason-named": "start-up files of a login shell are not asked about: Codex runs all in one",
    "cc-python-reads-denied": "ask is expected, a rule denies the path that is found",
    "ccdc-base64-path-var": "opaque is expected, the path is found",
    "codex-hook-fail-open": "the host's answer when the gate breaks: tests/hosts/test_malformed.py",
    "copilot-docker-workdir": "ask is expected, for a command in a container",
    "copilot-select-string": "PowerShell",
    "dcg-rm-flags-subst": "ask is expected, a rule denies what is found",
    "nah-gh-api-method": "built-in rules for commands that only read",
    "oc-symlink-apply-patch": "deny is expected, without a rule that says so",
    "pi-read-after-write-twice": "an answer to writing is none to reading: that is asked about once more",
    "vibe-zsh-equals": "zsh",
}
"""Rows whose decision is not reachable here, or is another one for a reason."""


@frozen
class Answer:
    """A person who allows each call in the narrowest way that is kept for so long."""

    scope: Scope

    def approve(self, decision: Decision, offers: Sequence[Offer]) -> Offer | None:  # noqa: ARG002
        """See ringfence.engine.approval.Approver."""
        return next(offer for offer in offers if offer.scope is self.scope)


def layered(row: Row, folder: Path) -> Any:
    """The policy of a user's and of a project's file."""
    home, project = folder / "home", folder / "project"
    user, own = LAYERS[row["id"]]
    for place, config in ((home / ".config/ringfence", user), (project / ".ringfence", own)):
        place.mkdir(parents=True)
        defaults = dict.fromkeys(("tools", "bash", "mcp", "skills"), "allow")
        (place / "config.json").write_text(json.dumps({"defaultPolicy": defaults, **config}))
    return load_policy(str(project), env={"HOME": str(home)})


def policy_of(setup: str, folder: Path, said: dict[str, Any]) -> Any:
    """The policy that the setup describes: bash is allowed, the outside asked about."""
    tables: dict[str, dict[str, Any]] = {"bash": {"*": "allow"}}
    tables.update((name, table) for name, table in said.items() if name != "external")
    outside: Any = said.get("external", "ask")
    plain = _DEFAULT.search(setup)
    if plain:
        outside = plain[1]
    default = "allow"
    for surface, state in _PLAIN.findall(setup):
        if surface == "bash":
            default, tables["bash"] = state, {}
        else:
            tables.setdefault("paths", {})["*"] = {surface.replace("edit", "write"): state}
    for folder_ in _ROOTS.findall(setup):
        outside = {"*": "ask", f"{folder_}/**": {"read": "allow"}}
    for surface, text in _TABLE.findall(setup):
        try:
            table = json.loads(text)
        except ValueError:
            continue
        if surface == "bash":  # what the rules leave out is asked about
            default, tables["bash"] = "ask", {"*": table.get("*", "ask"), **table}
        elif surface in ("tools", "mcp", "skills"):
            tables.setdefault(surface, {}).update(table)
        elif surface == "external_directory":
            outside = {"*": "ask", **table}
        elif surface == "path":
            tables.setdefault("paths", {}).update(table)
        else:
            operation = "read" if surface == "read" else "write"
            for pattern, state in sorted(table.items(), key=lambda item: item[0] != "*"):
                tables.setdefault("paths", {})[pattern] = {operation: state}
    config = {**tables, "special": {"external_directory": outside}}
    file = folder / "config.json"
    defaults = {"tools": "allow", "bash": default, "mcp": "allow", "skills": "allow"}
    file.write_text(json.dumps({"defaultPolicy": defaults, **config}), "utf-8")
    return load_policy(None, config=str(file))


def make_world(row: Row, root: Path) -> None:
    """The working directory, /etc, and the links of the setup."""
    for folder in (row["cwd"], HOME, "/etc", "/tmp"):
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for name in ("etc/hosts", "etc/passwd"):
        (root / name).touch()
    for name in _EXISTS.findall(row.get("setup", "")):
        (root / row["cwd"].lstrip("/") / name).mkdir(parents=True, exist_ok=True)
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
        policy = (
            layered(row, folder)
            if row["id"] in LAYERS
            else policy_of(setup, folder, TABLES.get(row["id"], {}))
        )
        grants = GrantStore(folder / "grants.json")
        engine = Engine(policy, RealFileSystem(str(root)), grants=grants)
        env = {"HOME": HOME, "PATH": "/usr/bin:/bin", **dict(_VARIABLE.findall(setup))}
        values = row.get("input") or {"command": row["command"]}
        roots = tuple(_WORKTREE.findall(setup))
        call = ToolCall(
            row.get("tool") or "bash", values, row["cwd"], session="s", roots=roots, env=env
        )
        if row["id"] in ANSWERED:
            tool, before, scope = ANSWERED[row["id"]]
            engine.approve(evolve(call, tool=tool, input=before), Answer(scope))
        decision = engine.decide(call, asks=row["id"] not in HEADLESS)
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
    here = [row for row in asserted if row["id"] not in NOT_HERE]
    reached = sum(row["id"] not in faults for row in here)
    print(f"{reached} of the {len(here)} reachable here ({100 * reached / len(here):.1f} %)")
    if options.misses:
        for row in asserted:
            if row["id"] in faults:
                why = NOT_HERE.get(row["id"], "WRONG")
                what = row.get("command") or json.dumps(row.get("input"))
                print(
                    f"{row['id']} [{row['kind']}] {what!r} ({row.get('setup')}): {faults[row['id']]}; {why}"
                )


if __name__ == "__main__":
    main()
