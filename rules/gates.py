"""The gates, in precedence order.

A gate looks at the facts of a call and says what the policy thinks of them, one Verdict for each
thing it judges. Nothing else decides: the strictest verdict of all gates is the answer. To add
one, write its function and put it into GATES.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from ringfence.grammar.records import evolve, frozen
from ringfence.rules.mcp import PROXY, is_mcp, targets
from ringfence.rules.model import (
    BELOW,
    NAME,
    UNKNOWN,
    CommandLine,
    Doubt,
    Facts,
    Finding,
    Opaque,
    OpaqueKind,
    Operation,
    Policy,
    Rule,
    State,
    Verdict,
)
from ringfence.rules.naming import bare, is_inert, is_wrapper, without_options
from ringfence.rules.own_commands import changes_own
from ringfence.rules.tool_names import is_unknown_tool, other_names, skill_names
from ringfence.rules.wildcards import matches_all


@frozen
class Gate:
    """One question to the policy: ``doc`` says in a sentence what it asks."""

    name: str
    doc: str
    judge: Callable[[Facts, Policy], tuple[Verdict, ...]]


UNREAD: Final = Rule(
    State.ASK,
    "what cannot be read is asked about",
    "Ringfence itself",
    default=True,
    built_in=True,
)
"""The rule for text that does not parse or is past the limits, where no stricter one applies."""

REDIRECTED: Final = evolve(
    UNREAD, state=State.ALLOW, rule="a file inside may be written by what may run"
)
"""The rule for a redirection that none names: the paths were judged, and no rule for the command
is one for the file."""

UNKNOWN_TOOL: Final = evolve(
    UNREAD,
    rule="a tool that Ringfence does not know",
    reason="a rule for its name under [tools] settles what it may do",
)
"""The rule for a tool that may do anything, where no file says a word about it."""


def _external_directory(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    if not facts.findings and not facts.opaque:
        return ()
    by_rule: dict[Rule, list[Finding]] = {}
    for finding in facts.findings:
        effect = finding.effect
        rule = policy.outside(finding.path, finding.real, effect.operation, tree=effect.tree)
        by_rule.setdefault(rule, []).append(finding)
    opaque_rule = policy.outside(UNKNOWN, UNKNOWN, Operation.UNKNOWN) if facts.opaque else None
    verdicts = []
    for rule, findings in by_rule.items():
        if rule.state is State.ALLOW:
            continue  # the gate only ever adds a check: what it lets pass is no word for the call
        together = rule is opaque_rule or rule == opaque_rule
        with_opaque = facts.opaque if together and rule.state is State.ASK else ()
        verdicts.append(Verdict("external_directory", rule, tuple(findings), with_opaque))
    told = any(verdict.opaque for verdict in verdicts)
    if opaque_rule is not None and opaque_rule.state is not State.ALLOW and not told:
        # A part that cannot be judged is not known to reach outside: a person may still look.
        denied = opaque_rule.state is State.DENY
        asked = opaque_rule.doubted(Doubt.PERHAPS) if denied else opaque_rule
        verdicts.append(Verdict("external_directory", asked, opaque=facts.opaque))
    return tuple(verdicts)


def _paths(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    by_rule: dict[Rule, list[Finding]] = {}
    for touched in facts.touched:
        operation = touched.effect.operation
        # A search of the whole project is no reading of the one file that a rule names.
        tree = touched.effect.tree and operation is not Operation.READ
        # A pattern that begins at the project holds in a folder of it, too.
        rules = [
            rule
            for base in facts.bases or (facts.cwd,)
            if (rule := policy.path(touched.path, touched.real, operation, base, tree=tree))
        ]
        strictest = max(rules, key=lambda rule: rule.state.strictness, default=None)
        if strictest is not None and strictest.state is not State.ALLOW:
            by_rule.setdefault(strictest, []).append(touched)
    return tuple(Verdict("paths", rule, tuple(found)) for rule, found in by_rule.items())


OWN_FILES: Final = Rule(
    State.ASK, "Ringfence's own config, trust and grants", "built-in default", built_in=True
)
"""The rule for what would change the policy itself, where no rule for paths names the file."""


def _own_files(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    by_rule: dict[Rule, dict[Finding, None]] = {}
    for touched in (*facts.findings, *facts.touched) if facts.own else ():
        if touched.effect.operation not in _CHANGES:
            continue
        paths = (touched.path, touched.real)
        own = next(
            (
                own
                for own in facts.own
                for path in paths
                # Of a tree, what is not there is not changed with it.
                if _is_own(path, own, tree=touched.effect.tree and own not in facts.missing)
                or (own not in facts.missing and _may_be_own(path, own, touched.effect.operation))
            ),
            None,
        )
        if own is None or _is_named(policy.path(*paths, touched.effect.operation, facts.cwd)):
            continue
        inside = not any(_is_own(path, own, tree=False) for path in paths)
        rule = evolve(OWN_FILES, reason=f"{own} is in there") if inside else OWN_FILES
        by_rule.setdefault(rule, {})[touched] = None
    verdicts = [Verdict("own_files", rule, tuple(found)) for rule, found in by_rule.items()]
    changing = [command for command in facts.commands if changes_own(command)]
    verdicts += (
        Verdict("own_files", OWN_FILES, (), (), command.text, command.span)
        for command in changing
        if not any(_only_runs(command, other) for other in changing)
    )
    return tuple(verdicts)


def _is_named(rule: Rule | None) -> bool:
    """Whether the rule for a path was written for Ringfence's own files, or does not allow."""
    if rule is None or rule.state is not State.ALLOW:
        return rule is not None
    pattern = rule.pattern or ""
    return "ringfence" in pattern.casefold() or not any(sign in pattern for sign in "*?[")


def _only_runs(command: CommandLine, other: CommandLine) -> bool:
    """Whether all that is to be said of a command is said of the other, which it runs."""
    ends = command.words[len(command.words) - len(other.words) :]
    return len(other.words) < len(command.words) and ends == other.words


def _is_own(path: str, own: str, *, tree: bool) -> bool:
    """Whether the path is one of Ringfence's own, or, as a tree, holds them."""
    path, own = path.casefold(), own.casefold()  # as some disks take them
    inside = path == own or path.startswith(f"{own}/")
    return inside or (tree and own.startswith(path.rstrip("/") + "/"))


def _may_be_own(path: str, own: str, operation: Operation) -> bool:
    """Whether what is changed wherever it is found may be one of Ringfence's own.

    To write to files of any name is not asked about: `sed -i` on all that hold a word does.
    """
    written = operation is not Operation.DELETE and path.endswith(BELOW)
    if BELOW not in path or written:
        return False
    return matches_all(path.replace(f"{BELOW}/", BELOW).replace(NAME, BELOW).split(BELOW), own)


_CHANGES = (Operation.WRITE, Operation.DELETE, Operation.UNKNOWN)


REPEATS: Final = 3
"""How many times in a row make a loop, unless the rule says how many."""


def _doom_loop(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    if not facts.repeated:
        return ()
    rule = policy.rule("special", "doom_loop")
    # It is off until a file says something of it: an agent may look three times in a row.
    if rule.built_in or facts.repeated < (rule.repeats or REPEATS):
        return ()
    return (Verdict("doom_loop", rule, subject=str(facts.repeated)),)


def _bash(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    line = facts.command
    if line is None:
        return ()
    pinned = policy.rule("bash", line)
    if pinned.pattern == line and "*" not in line:
        return (Verdict("bash", pinned, subject=line),)
    spelling = facts.spelling if facts.tool == "bash" else ""
    verdicts: list[Verdict] = []
    parts: list[str] = []
    given = [command for command in facts.commands if not command.kept]
    several = len(given) > 1
    run = {bare(command.words) for command in given} if several else set()
    for command in facts.commands:
        names, aliases = _names(command), _aliases(command)
        rule = _whole(policy, policy.rule("bash", *names, aliases=aliases), "bash", spelling)
        if command.kept and (rule.state is State.ALLOW or rule.built_in or _is_general(rule)):
            continue  # the project's own script: only what a rule names in it is forbidden
        parts += (*names, *aliases)
        if several and _is_general(rule):
            if command.redirection and rule.state is State.ASK:
                rule = REDIRECTED
            elif _adds_nothing(command, run):
                continue
        found = (command.text, command.span, command.words, command.origin)
        verdicts.append(Verdict("bash", rule, (), (), *found))
    for opaque in facts.opaque:
        if opaque.kind is OpaqueKind.UNKNOWN:
            continue
        # A part that was never read may be any command, and no rule can have meant it.
        rule = _whole(policy, policy.rule("bash", UNKNOWN), "bash", spelling)
        if opaque.kind is not OpaqueKind.CODE:
            rule = UNREAD if rule.state is State.ALLOW else rule
        elif rule.state is State.ALLOW or any(_is_told(opaque, verdict) for verdict in verdicts):
            continue
        else:  # it was read, and what runs it may well be allowed
            rule = rule.doubted(Doubt.PERHAPS)
        verdicts.append(Verdict("bash", rule, (), (opaque,), opaque.text, opaque.span))
        parts.append(UNKNOWN)
    if all(verdict.rule is REDIRECTED for verdict in verdicts):
        verdicts.append(Verdict("bash", _whole(policy, pinned, "bash", spelling), subject=line))
    elif (across := policy.across(line, parts)) is not None:
        verdicts.append(Verdict("bash", across, subject=line))
    return _distinct(verdicts)


def _is_told(opaque: Opaque, verdict: Verdict) -> bool:
    """Whether the verdict is on a command there of which nobody knows what it runs."""
    start, end = verdict.span or (0, 0)
    unknown = bool(verdict.words) and UNKNOWN in verdict.words[0]
    return unknown and start <= opaque.span[0] and opaque.span[1] <= end


def _is_general(rule: Rule) -> bool:
    """Whether the rule is for everything, or a default."""
    return rule.pattern is None or not rule.pattern.strip("* ")


def _adds_nothing(command: CommandLine, run: Collection[tuple[str, ...]]) -> bool:
    """Whether others say all there is to say: it is a ``cd``, or a ``timeout 5`` before one."""
    inert = is_inert(command.words) and not command.writes
    return inert or is_wrapper(command.words, run)


def _names(command: CommandLine) -> tuple[str, ...]:
    """What a pattern may match: the words as the command gets them, and the text as written."""
    if not command.words:
        return ("" if command.within else command.text,)
    words = " ".join(command.words)
    plain = None
    if len(command.words) > 2 and command.words[1].startswith("-"):
        plain, _ = without_options(command.words)
    names = (words,) if command.within else (words, command.text)
    return names if plain is None else (*names, " ".join(plain))


def _aliases(command: CommandLine) -> tuple[str, ...]:
    """Names that only strict rules see: `/bin/rm x` is `rm x`, `git -c a=b push` is `git push`."""
    if not command.words:
        return ()
    words = command.words
    found = []
    if "/" in words[0]:
        words = (words[0].rpartition("/")[2], *words[1:])
        found.append(" ".join(words))
    if len(words) < 3 or not words[1].startswith("-"):
        return tuple(found)
    _, bare = without_options(words)
    return (*found, " ".join(bare)) if bare is not None else tuple(found)


def _distinct(verdicts: list[Verdict]) -> tuple[Verdict, ...]:
    """One verdict for each rule that allows, one for each rule and command otherwise.

    The text alone is no command: in a loop, `rm "$f"` is several.
    """
    if len(verdicts) == 1:
        return (verdicts[0],)
    kept: dict[tuple[object, ...], Verdict] = {}
    for verdict in verdicts:
        key = (verdict.rule.rule, verdict.rule.source, verdict.state)
        allows = verdict.state is State.ALLOW
        kept.setdefault(key if allows else (*key, verdict.subject, verdict.words), verdict)
    return tuple(kept.values())


def _of_tool(policy: Policy, tool: str, spelling: str, more: tuple[str, ...] = ()) -> Rule:
    """What ``tools`` says of a tool, under its name or what the host calls it.

    An MCP server chooses the name of its tool: that alone allows nothing.
    """
    others = (*other_names(tool), *more)
    if spelling in ("", tool, *others):
        return policy.rule("tools", tool, aliases=others)
    names = (tool,) if is_mcp(tool) else (tool, spelling)
    return policy.rule("tools", *names, aliases=(*others, spelling))


def _whole(policy: Policy, rule: Rule, tool: str, spelling: str) -> Rule:
    """Of a tool with a table of its own, what ``tools`` says is the default of that table.

    An allow for all tools is no rule for this one.
    """
    if not rule.default and not rule.perhaps:
        return rule
    whole = _of_tool(policy, tool, spelling)
    if whole.default or (rule.perhaps and whole.state.strictness <= rule.state.strictness):
        return rule
    return evolve(whole, pattern=None, default=whole.state is State.ALLOW and _is_general(whole))


def _tools(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    if facts.tool == PROXY:
        return _proxied(facts, policy)
    if facts.tool in ("bash", "skill"):
        return ()  # see _whole
    rule = _of_tool(policy, facts.tool, facts.spelling, _whole_names(facts))
    if is_mcp(facts.tool) and _is_general(rule):
        return ()
    if rule.built_in and is_unknown_tool(facts.tool):
        rule = UNKNOWN_TOOL
    return (Verdict("tools", rule, subject=facts.tool),)


def _whole_names(facts: Facts) -> tuple[str, ...]:
    """The names that hosts give to a tool of an MCP server."""
    readings = targets(facts.tool, facts.input)
    return tuple(dict.fromkeys(name for one in readings for name in one.tools))


def _proxied(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    """What refuses tools of MCP servers by their whole names, of a call that does not use them."""
    verdicts = []
    for name in _whole_names(facts):
        rule = policy.rule("tools", name)
        if rule.state is not State.ALLOW and not rule.default and not _is_general(rule):
            verdicts.append(Verdict("tools", rule, subject=name))
    return tuple(verdicts)


def _mcp(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    verdicts = []
    for target in targets(facts.tool, facts.input):
        names, aliases = target.names, target.aliases
        # A rule for the tool decides over one for its server, whichever comes last.
        rules = (policy.rule("mcp", name) for name in names)
        own = (rule for place, rule in enumerate(rules) if target.is_own(rule.pattern, place))
        rule = next(own, None) or policy.rule("mcp", *names, aliases=aliases)
        rule = _whole(policy, rule, PROXY, facts.spelling)
        verdicts.append(Verdict("mcp", rule, subject=names[0]))
    return tuple(verdicts)


def _skills(facts: Facts, policy: Policy) -> tuple[Verdict, ...]:
    if facts.tool != "skill":
        return ()
    verdicts = []
    for name in dict.fromkeys(skill_names(facts.input)):
        rule = policy.rule("skills", name, aliases=(name.rpartition(":")[2],))
        rule = _whole(policy, rule, "skill", facts.spelling)
        verdicts.append(Verdict("skills", rule, subject=name))
    return tuple(verdicts)


GATES: Final[tuple[Gate, ...]] = (
    Gate(
        "external_directory",
        "Paths outside the working directory, and parts that may hide one.",
        _external_directory,
    ),
    Gate("paths", "Single paths, inside and outside, that rules name.", _paths),
    Gate("own_files", "What would change Ringfence's own config, trust or grants.", _own_files),
    Gate("doom_loop", "The same call several times in a row, in one session.", _doom_loop),
    Gate("bash", "Each simple command that a bash command runs.", _bash),
    Gate("tools", "The tool by its name.", _tools),
    Gate("mcp", "The server and the tool of an MCP call.", _mcp),
    Gate("skills", "The skill by its name.", _skills),
)
