"""Tests of a policy: the examples that its rules carry, and files of cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ringfence.engine.call import Decision, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.paths import join, normalise
from ringfence.engine.pipeline import decide, strictest
from ringfence.engine.policy.document import Document, content_of, parse
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.model import NAMED, PATHS, Entry, LayeredPolicy
from ringfence.engine.record import decision_record
from ringfence.grammar.records import evolve, frozen
from ringfence.rules.model import Operation, Rule, State

SUFFIXES = (".toml", ".json", ".jsonl")
_CASE_KEYS = frozenset(("command", "tool", "input", "cwd", "agent", "env", "expect", "external"))


@frozen
class Result:
    """One example or case: where it stands, and what is wrong with it (empty: nothing)."""

    source: str
    problem: str = ""


# --- examples of rules -------------------------------------------------------------------------


def examples(policy: LayeredPolicy, cwd: str, env: Mapping[str, str]) -> Iterator[Result]:
    """Try the examples of every rule under the whole policy, on no file system."""
    for one in policy.layers:
        # What a project that is not trusted says counts by itself.
        counted = policy if not one.held else LayeredPolicy((evolve(one, held=False),), policy.env)
        for_agent = counted.for_agent(one.agent, env)
        for table in one.tables.values():
            for entry in table:
                for wanted, texts in ((True, entry.match), (False, entry.not_match)):
                    for text in texts:
                        deciding = _deciding(entry, text, for_agent, cwd, env)
                        yield Result(entry.source, _problem(entry, text, deciding, wanted=wanted))


def _problem(entry: Entry, text: str, deciding: list[Rule], *, wanted: bool) -> str:
    hit = any(_is(rule, entry) for rule in deciding)
    if hit is wanted:
        return ""
    if hit:
        return f"{entry.rule.rule}: decides on `{text}`, which is an example of what it does not"
    others = ", ".join(f"{rule.rule} = {rule.state} ({rule.source})" for rule in deciding)
    return f"{entry.rule.rule}: does not decide on its example `{text}`: {others or 'no rule does'}"


def _is(rule: Rule, entry: Entry) -> bool:
    return (rule.rule, rule.source) == (entry.rule.rule, entry.source)


def _deciding(
    entry: Entry, text: str, policy: LayeredPolicy, cwd: str, env: Mapping[str, str]
) -> list[Rule]:
    """The rules that decide on an example."""
    if entry.surface in (PATHS, NAMED) or entry.pattern == PATHS:
        path = _absolute(text, cwd, env)
        operation = min(entry.operations, default=Operation.READ)
        if entry.surface == NAMED:
            rule = policy.path(path, path, operation, cwd)
            return [rule] if rule else []
        return [policy.outside(path, path, operation)]
    decision = decide(_example(entry.surface, text, cwd, env), policy, NoFileSystem())
    # As the decision has it: what a stricter rule overrules has not decided, nor has an allow
    # where a part of the call is allowed by nothing but a default.
    verdicts = tuple(v for v in decision.verdicts if v.gate == entry.surface)
    state, default = strictest(verdicts)
    rules = [verdict.rule for verdict in verdicts if verdict.state is state]
    return [rule for rule in rules if rule.default or not default]


def _absolute(path: str, cwd: str, env: Mapping[str, str]) -> str:
    """A path as a person writes it, from ``~`` or ``cwd`` on."""
    home = env.get("HOME", "/")
    expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
    return normalise(join(cwd, expanded))


def _example(surface: str, text: str, cwd: str, env: Mapping[str, str]) -> ToolCall:
    match surface:
        case "bash":
            return ToolCall.bash(text, cwd, env=env)
        case "mcp":
            return ToolCall(f"mcp__{text.replace(':', '__', 1)}", {}, cwd, env=env)
        case "skills":
            return ToolCall("skill", {"name": text}, cwd, env=env)
        case _:
            return ToolCall(text, {}, cwd, env=env)


# --- cases in files ----------------------------------------------------------------------------


def case_files(paths: list[Path]) -> Iterator[Path]:
    """The files among ``paths``, and those in the folders among them."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
        else:
            yield path


def cases(path: Path, policy: LayeredPolicy, cwd: str, env: Mapping[str, str]) -> Iterator[Result]:
    """Try each case of a file. Raises ConfigError for a file that cannot be read.

    A case has ``command``, or ``tool`` and ``input``, and ``expect``: the decision. ``external``
    lists the paths outside that are reported, with ``*`` for what is not known. ``~``, and paths
    from ``cwd`` on, mean the same on every machine. TOML: ``[case."what it is about"]``; JSON
    lines: one object each.
    """
    content = content_of(path)
    if content is None:
        raise ConfigError(str(path), None, "", "there is no such file")
    if path.suffix == ".jsonl":
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if line.strip():
                yield Result(f"{path}:{number}", _tried(_row(line), policy, cwd, env))
        return
    document = parse(path, content)
    for name, row in _table(document).items():
        source = document.source("case", name)
        problem = _tried(row, policy, cwd, env)
        yield Result(source, f"{name}: {problem}" if problem else "")


def _table(document: Document) -> Mapping[str, Any]:
    table: Any = document.data.get("case", {})
    for key in document.data:
        if key != "case" or not isinstance(table, dict):
            hint = 'write each case as [case."what it is about"]'
            raise document.error((key,), "is no table of cases", hint)
    return dict(table)


def _row(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _tried(row: Any, policy: LayeredPolicy, cwd: str, env: Mapping[str, str]) -> str:
    """What is wrong with one case."""
    if not isinstance(row, dict):
        return "is no object"
    unknown = sorted(set(row) - _CASE_KEYS)
    if unknown:
        return f"unknown key {unknown[0]}; the keys here are {', '.join(sorted(_CASE_KEYS))}"
    if row.get("expect") not in tuple(State):
        return 'expect must be "allow", "ask" or "deny"'
    values = row.get("input", {})
    if not isinstance(values, dict) or not isinstance(row.get("env", {}), dict):
        return "input and env must be tables"
    if "command" in row:
        values = {**values, "command": row["command"]}
    elif "tool" not in row:
        return "has neither a command nor a tool"
    place, agent = row.get("cwd", cwd), row.get("agent")
    if not isinstance(place, str):
        return "cwd must be a path"
    outside = row.get("external", [])
    if not isinstance(outside, list) or not all(isinstance(path, str) for path in outside):
        return "external must be a list of paths"
    environment = {**env, **row.get("env", {})}
    place = _absolute(place, cwd, environment)
    call = ToolCall(str(row.get("tool", "bash")), values, place, agent, env=environment)
    decision = decide(call, policy.for_agent(agent, environment), NoFileSystem())
    expected = [_absolute(path, place, environment) for path in outside]
    return _wrong(row["expect"], expected if "external" in row else None, decision)


def _wrong(state: str, external: list[str] | None, decision: Decision) -> str:
    rules = ", ".join(
        f"{v.rule.rule} ({v.rule.source})" for v in decision.verdicts if v.state is decision.state
    )
    if decision.state != state:
        return f"{decision.state} instead of {state}, by {rules}"
    if external is not None:
        found = sorted({part["path"] for part in decision_record(decision)["external"]})
        if found != sorted(set(external)):
            return f"reports {found} outside instead of {sorted(set(external))}"
    return ""
