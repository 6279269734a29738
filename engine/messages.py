"""Every text about a decision that a person or a model reads.

Four forms, for bash and for every other tool: the prompt for a person, and three reasons for the
agent: a rule refused, the user declined, nobody could be asked. Each says who wanted what, which
paths outside it touches and which words name them, the working directory, and the rule with the
place where it stands. The wording is neutral and scoped: what is refused, never "stop".
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Sequence

from ringfence.engine.call import Decision
from ringfence.engine.escape import quoted, shorten, visible
from ringfence.engine.state import user_folder
from ringfence.grammar.records import frozen
from ringfence.rules.model import (
    UNCERTAIN,
    Certainty,
    Doubt,
    Finding,
    Opaque,
    Operation,
    Rule,
    State,
    Verdict,
    is_known,
)

MAX_PATHS = 5
"""Paths shown before "and N more"; likewise opaque parts and rules."""

MAX_COMMAND = 1200
"""Characters of a command that are shown whole."""

_MAX_WORDS = 100
_MAX_SHOWN_COMMAND = 1200
_MAX_PATH = 300
_AROUND = 60  # characters kept on both sides of an offending word in a shortened command

VERBS = {
    Operation.READ: "read",
    Operation.WRITE: "write",
    Operation.DELETE: "delete",
    Operation.EXECUTE: "run",
    Operation.ENTER: "enter",
    Operation.TEST: "look at",
    Operation.UNKNOWN: "use",
}

_PROJECTS = "(or in .ringfence/config.toml, with `ringfence trust`)"

_MARKS = str.maketrans(dict.fromkeys(UNCERTAIN, "*"))


def decision_message(decision: Decision) -> str:
    """The message that goes with a decision by itself: empty for allow."""
    if decision.state is State.ALLOW:
        return ""
    return ask_prompt(decision) if decision.state is State.ASK else deny_reason(decision)


def ask_prompt(decision: Decision) -> str:
    """What a person is asked."""
    return prompt_text(decision)


def prompt_text(decision: Decision, shown: str | None = None) -> str:
    """The same, with the call as ``shown`` (indented) has it: with marks, for a terminal."""
    matter = _Matter.of(decision, State.ASK)
    opening = f"{matter.who} wants to {matter.act}:"
    return matter.text(opening, "Asked by", (), shown)


def deny_reason(decision: Decision) -> str:
    """What the agent is told when a rule refuses."""
    matter = _Matter.of(decision, State.DENY)
    opening = f"{matter.who} may not {matter.act}:"
    return matter.text(opening, "Refused by", (*matter.scope, "A person can change the rule."))


def user_denied_reason(decision: Decision) -> str:
    """What the agent is told when the person who was asked declined."""
    matter = _Matter.of(decision, State.ASK)
    opening = f"{matter.who} asked to {matter.act}; the user declined:"
    return matter.text(opening, "Asked by", ("Only this call was declined.", *matter.scope))


def unoffered_reason(decision: Decision) -> str:
    """What the agent is told when the answer was none of those that were offered."""
    matter = _Matter.of(decision, State.ASK)
    opening = f"{matter.who} asked to {matter.act}; no answer counts:"
    closing = (
        "What came back was none of the answers that were offered, so the call did not run.",
        "That is a fault of the program that asks, not a person's no.",
    )
    return matter.text(opening, "Asked by", closing)


def changed_reason(decision: Decision) -> str:
    """What the agent is told when the call would do something else by the time of the answer."""
    matter = _Matter.of(decision, decision.state)
    opening = f"{matter.who} asked to {matter.act}; this is not what the user was asked about:"
    closing = (
        "Files, links or rules changed while the question stood, so the call did not run.",
        "It can be made again, and is asked about as it is now.",
    )
    return matter.text(opening, "Asked by" if matter.state is State.ASK else "Refused by", closing)


def no_prompt_reason(decision: Decision, config: str = "") -> str:
    """What the agent is told when a person would have to be asked and none can be.

    ``config`` is the file that holds instead of the user's and the project's, if there is one.
    """
    matter = _Matter.of(decision, State.ASK)
    opening = f"{matter.who} needs a person's approval to {matter.act}:"
    closing = (
        "Nobody can be asked here, so the call did not run.",
        *matter.scope,
        _way_out(decision, config),
    )
    return matter.text(opening, "Asked by", closing)


def _way_out(decision: Decision, config: str) -> str:
    """What a person can do about it."""
    if any(v.gate == "own_files" and v.subject for v in decision.verdicts):
        return "A person can run it in a terminal."
    place = path_text(config) if config else f"{_users_config()} {_PROJECTS}"
    return f"A person can allow it {_by_grant(decision)}by a rule in {place}."


def _users_config() -> str:
    """The user's config file, which need not be there yet, as a person would write it."""
    folder = user_folder(os.environ)
    names = [f"{folder}/config{suffix}" for suffix in (".toml", ".json", ".jsonc")]
    path = next((name for name in names if os.path.lexists(name)), names[0])
    home = os.environ.get("HOME", "").rstrip("/")
    return path_text(f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path)


def _by_grant(decision: Decision) -> str:
    """The command with which a person allows just this.

    Empty if no grant could: what changes Ringfence itself, or a call with too many causes.
    """
    from ringfence.engine.grants.offers import can_be_kept  # noqa: PLC0415 - it imports this

    if not can_be_kept(decision):
        return ""
    call = decision.call
    words = ["ringfence", "grants", "add"]
    if call.agent:
        words += ["--agent", call.agent]
    if call.command is not None:
        words += ["--", call.command] if call.command.startswith("-") else [call.command]
    else:
        words += ["--tool", call.tool, "--input", json.dumps(dict(call.input), default=str)]
    text = " ".join(map(quoted, words))
    where = "in a terminal in that directory"
    if len(text) > _MAX_SHOWN_COMMAND:  # nobody would read it, nor the rest behind it
        stand_in = "COMMAND" if call.command is not None else "JSON"
        text = " ".join(map(quoted, (*words[:-1], stand_in)))
        whole = "the whole command" if call.command is not None else "the whole input"
        where += f" ({whole} in the place of {stand_in}, in quotes)"
    return f"with `{text}` {where}, or "


def details(decision: Decision) -> str:
    """The middle of a message, without the command: paths, opaque parts, directory, rules."""
    if decision.state is State.ALLOW:
        return ""
    label = "Asked by" if decision.state is State.ASK else "Refused by"
    return "\n\n".join(_Matter.of(decision, decision.state).body(label))


def deciding_spans(decision: Decision) -> list[tuple[int, int]]:
    """Where in the command that stands which made the decision what it is."""
    verdicts = [v for v in decision.verdicts if v.state is decision.state]
    spans = [f.effect.span for v in verdicts for f in v.findings]
    spans += [o.span for v in verdicts for o in v.opaque]
    return spans + [v.span for v in verdicts if v.span]


def path_text(path: str) -> str:
    """A path for a person: unknown parts as ``*``, nothing invisible."""
    return visible(shorten(path, _MAX_PATH).translate(_MARKS))


def call_text(decision: Decision) -> str:
    """The call for a person: the command, or the tool with its input; long ones shortened."""
    call = decision.call
    if call.tool == "bash" and call.command is not None:
        spans = [f.effect.span for f in decision.findings[:MAX_PATHS]]
        spans += [o.span for o in decision.opaque[:MAX_PATHS]]
        spans += [v.span for v in decision.verdicts[:MAX_PATHS] if v.span and v.subject]
        return visible(_excerpt(call.command, spans), keep="\n\t")
    values = (f"{visible(str(key))}={_value(value)}" for key, value in call.input.items())
    return shorten(f"{visible(call.tool)}({', '.join(values)})", MAX_COMMAND)


_NAMED = ("paths", "own_files")
"""Gates whose findings may be inside."""


@frozen
class _Matter:
    """The parts that all forms share, for the verdicts of one state."""

    decision: Decision
    state: State
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]  # outside the working directory
    named: tuple[Finding, ...]  # which rules for single paths name
    opaque: tuple[Opaque, ...]

    @classmethod
    def of(cls, decision: Decision, state: State) -> _Matter:
        verdicts = tuple(v for v in decision.verdicts if v.state is state)
        findings = tuple(f for v in verdicts if v.gate not in _NAMED for f in v.findings)
        named = tuple(f for v in verdicts if v.gate in _NAMED for f in v.findings)
        opaque = tuple(dict.fromkeys(o for v in verdicts for o in v.opaque))
        return cls(decision, state, verdicts, findings, named, opaque)

    @property
    def who(self) -> str:
        agent = self.decision.call.agent
        return f"Agent {visible(agent)}" if agent else "Current agent"

    @property
    def act(self) -> str:
        """What the agent wants, and why that is a matter: the second half of the first line."""
        what = "run this command" if self.bash else f"use {visible(self.decision.call.tool)}"
        if self.findings and self.bash:
            return f"{what}, which reaches outside the working directory"
        if self.findings:
            paths = "a path" if len(self.findings) == 1 else "paths"
            return f"{what} on {paths} outside the working directory"
        if self.opaque:
            part = (
                "which cannot be judged in full" if self.bash else "whose input is not understood"
            )
            return f"{what}, {part}, so it may reach outside the working directory"
        if self.repeated:
            return f"{what}, the same call {self.repeated} times in a row"
        if self.named:
            paths = "a path" if len(self.named) == 1 else "paths"
            relation = ", which touches" if self.bash else " on"
            return f"{what}{relation} {paths} that a rule {self._names}"
        if self.verdicts and all(v.rule.doubt is Doubt.PERHAPS for v in self.verdicts):
            return f"{what}, which may be what a rule {_does(self.verdicts[0].rule)}"
        return f"{what}, which a rule {'asks about' if self.state is State.ASK else 'forbids'}"

    @property
    def _names(self) -> str:
        """The verb of "a rule names", as certain as the rules for single paths are."""
        rules = [v.rule for v in self.verdicts if v.gate in _NAMED and v.findings]
        return "may name" if all(rule.doubt is Doubt.PERHAPS for rule in rules) else "names"

    @property
    def repeated(self) -> str:
        """How often the call was made in a row, if that is the matter."""
        return next((v.subject for v in self.verdicts if v.gate == "doom_loop"), "")

    @property
    def bash(self) -> bool:
        return self.decision.call.tool == "bash"

    @property
    def scope(self) -> tuple[str, ...]:
        """What remains allowed, in one sentence."""
        if self.findings:
            return ("Work on paths inside the working directory is not affected by this.",)
        if self.named:
            return ("Work on other paths is not affected by this.",)
        if self.opaque:
            return ("The same with all paths written out is judged by those paths alone.",)
        what = "commands" if self.bash else "calls"
        return (f"Other {what} are not affected by this rule.",)

    def text(
        self, opening: str, label: str, closing: tuple[str, ...], shown: str | None = None
    ) -> str:
        shown = _indented(call_text(self.decision)) if shown is None else shown
        blocks = [opening, shown, *self.body(label)]
        if closing:
            blocks.append("\n".join(closing))
        return "\n\n".join(blocks)

    def body(self, label: str) -> list[str]:
        """The blocks below the command."""
        blocks = []
        if self.findings:
            lines = _at_most(MAX_PATHS, [_finding_text(f) for f in self.findings])
            blocks.append("\n".join(["Outside the working directory:", *lines]))
        if self.named:
            lines = _at_most(MAX_PATHS, [_finding_text(f) for f in self.named])
            blocks.append("\n".join([f"Paths that a rule {self._names}:", *lines]))
        if self.opaque:
            lines = _at_most(MAX_PATHS, [_opaque_text(o) for o in self.opaque])
            blocks.append("\n".join(["Cannot be judged:", *lines]))
        rules = _at_most(MAX_PATHS, _rule_texts(self.verdicts))
        place = f"Working directory: {path_text(self.decision.call.cwd)}"
        blocks.append("\n".join([place, f"{label}:", *rules]))
        blocks += [visible(note) for note in self.decision.notes]
        return blocks


def _finding_text(finding: Finding) -> str:
    effect = finding.effect
    perhaps = "perhaps " if effect.certainty is Certainty.POSSIBLE else ""
    path = path_text(finding.path)
    if finding.real != finding.path:
        path += f" -> {path_text(finding.real)}"
    place = f" ({_short(effect.origin)})" if effect.origin else ""
    return f"{perhaps}{VERBS[effect.operation]} {path}, named by `{_short(effect.text)}`{place}"


def _opaque_text(opaque: Opaque) -> str:
    words = _short(opaque.text)
    return f"`{words}`: {visible(opaque.reason)}" if words else visible(opaque.reason)


def rule_text(rule: Rule) -> str:
    """A rule as it stands in its file, with its place."""
    return f"{visible(rule.rule)} = {rule.says} ({visible(rule.source)})"


def doubt_text(rule: Rule, about: str) -> str:
    """Why a rule that is not certain to be meant makes a question about ``about``; or nothing."""
    match rule.doubt:
        case Doubt.PERHAPS:
            return f"{about} may be what this rule {_does(rule)}"
        case Doubt.INSIDE:
            return "it is for a place inside what is touched as a whole"
        case None:
            return ""


def _does(rule: Rule) -> str:
    return "forbids" if rule.says is State.DENY else "asks about"


def _rule_texts(verdicts: Sequence[Verdict]) -> list[str]:
    """One line for each rule, with what it was applied to."""
    by_rule: dict[tuple[str, Doubt | None], list[Verdict]] = {}
    for verdict in verdicts:
        rule = verdict.rule
        by_rule.setdefault((rule_text(rule), rule.doubt), []).append(verdict)
    texts = []
    for (line, doubt), same in by_rule.items():
        about = _subjects(same)
        rule = same[-1].rule
        why = doubt_text(rule, about or _matter(same))
        text = f"{line}, for {about}" if about and doubt is not Doubt.PERHAPS else line
        reason = next((v.rule.reason for v in reversed(same) if v.rule.reason), "")
        texts.append(": ".join(filter(None, (text, why, visible(reason)))))
    return texts


def _subjects(verdicts: Sequence[Verdict]) -> str:
    """The commands that one rule was applied to; empty if it was applied to none."""
    bash = (v for v in verdicts if v.subject and v.gate == "bash")
    found = dict.fromkeys(map(command_about, bash))
    named = list(found)
    about = ", ".join(named[:MAX_PATHS])
    more = f" and {len(named) - MAX_PATHS} more" if len(named) > MAX_PATHS else ""
    return f"{about}{more}"


def command_about(verdict: Verdict) -> str:
    """The simple command that a verdict is about, and where it comes from.

    The words are those that the rule was held against. If the call spells them in another way, or
    they stand elsewhere, that is said, too.
    """
    text, words = _short(verdict.subject), _short(" ".join(verdict.words))
    if not words:
        return f"`{text}`"
    if verdict.origin:
        return f"`{words}` ({_short(verdict.origin)})"
    plain = (
        words != text
        and all(map(is_known, verdict.words))
        and not _is_spelt(verdict.subject, verdict.words)
    )
    return f"`{words}` (written `{text}`)" if plain else f"`{text}`"


def _is_spelt(text: str, words: Sequence[str]) -> bool:
    """Whether a text says words as they are, quoting and blanks aside."""
    try:
        said = shlex.split(text.replace("\\\n", ""))
    except ValueError:
        return False
    return " ".join(said).split() == " ".join(words).split()


def _short(text: str) -> str:
    """A text for a person, in one line of no great length."""
    return visible(shorten(" ".join(text.split()), _MAX_WORDS).translate(_MARKS))


def _matter(verdicts: Sequence[Verdict]) -> str:
    """What rules without a command of their own were applied to."""
    if any(v.findings for v in verdicts):
        return "a path here"
    return "what cannot be judged" if any(v.opaque for v in verdicts) else "this call"


def _at_most(limit: int, lines: Sequence[str]) -> list[str]:
    shown = [f"  - {line}" for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"  and {len(lines) - limit} more")
    return shown


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


def _value(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return visible(shorten(text, _MAX_WORDS))


def _excerpt(command: str, spans: Iterable[tuple[int, int]]) -> str:
    """The command; of a long one its two ends and the surroundings of the spans."""
    if len(command) <= MAX_COMMAND:
        return command
    windows = [(0, MAX_COMMAND // 4), (len(command) - MAX_COMMAND // 8, len(command))]
    for start, end in spans:
        # Of a span that is itself long, its two ends.
        windows += [(start - _AROUND, min(end, start + _AROUND) + _AROUND)]
        windows += [(max(start, end - _AROUND) - _AROUND, end + _AROUND)]
    kept: list[tuple[int, int]] = []
    for start, end in sorted((max(a, 0), min(b, len(command))) for a, b in windows):
        if kept and start <= kept[-1][1] + _AROUND:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    text, position = "", 0
    for start, end in kept:
        if start > position:
            text += f" [… {start - position} characters …] "
        text += command[start:end]
        position = end
    return text
