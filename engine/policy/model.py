"""The merged policy: layers of rules, the later ones over the earlier ones."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen

from ringfence.engine.policy.patterns import matches, may_match
from ringfence.rules.model import Rule, State

SURFACES = ("tools", "bash", "mcp", "skills", "special")

SPECIAL = ("external_directory", "doom_loop")
"""The names that the surface ``special`` knows."""

BUILT_IN = "built-in default"


@frozen
class Entry:
    """One line of a table: ``pattern = state``, and where it stands."""

    surface: str
    pattern: str
    state: State
    source: str

    @property
    def rule(self) -> Rule:
        """What this entry says, under the name that messages show."""
        if self.surface in ("special", "tools"):
            name = f"{self.surface}.{self.pattern}"
        else:
            name = f'{self.surface} "{self.pattern}"'
        return Rule(self.state, name, self.source, pattern=self.pattern)

    def decides(self, subjects: tuple[str, ...], strict_subjects: tuple[str, ...]) -> bool:
        """Whether the rule matches; only one that asks or denies sees ``strict_subjects``."""
        if any(matches(self.pattern, subject) for subject in subjects):
            return True
        strict = self.state is not State.ALLOW
        return strict and any(matches(self.pattern, subject) for subject in strict_subjects)

    def may_decide(self, subjects: tuple[str, ...]) -> bool:
        """Whether the rule asks or denies, and matches for some value of what is unknown."""
        if self.state is State.ALLOW:
            return False
        return any(may_match(self.pattern, subject) for subject in subjects)


@frozen
class Layer:
    """What one file says for everyone or for one agent.

    ``defaults`` holds (state, source) by surface. In the origin's form (JSON), a surface for
    which no file gives a default is ask: ``asks_unless_set`` then names the file.
    """

    name: str  # for explanations: "global", "project", "project, agent reviewer"
    file: str
    tables: Mapping[str, tuple[Entry, ...]] = field(factory=dict)
    defaults: Mapping[str, tuple[State, str]] = field(factory=dict)
    asks_unless_set: bool = False
    agent: str | None = None


@frozen
class LayeredPolicy:
    """Layers in order, the strongest last. Without any, the built-in defaults alone speak.

    Within a table and across layers the last entry that matches wins; if none does, the last
    layer that gives the surface a default. The built-in default is ask for ``special`` and allow
    for everything else.
    """

    layers: tuple[Layer, ...] = ()

    def for_agent(self, agent: str | None) -> LayeredPolicy:
        """The policy as it is for one agent: the layers of other agents are gone."""
        return LayeredPolicy(tuple(la for la in self.layers if la.agent in (None, agent)))

    def rule(
        self,
        surface: str,
        *subjects: str,
        context: str | None = None,
        aliases: tuple[str, ...] = (),
    ) -> Rule:
        """See ringfence.rules.model.Policy.

        Where a strict rule only may match, the answer is ask at least.
        """
        asked: Rule | None = None
        decided = self.default(surface, subjects[0])
        strict_subjects = aliases if context is None else (*aliases, context)
        entries = (
            entry
            for layer in reversed(self.layers)
            for entry in reversed(layer.tables.get(surface, ()))
        )
        for entry in entries:
            if entry.decides(subjects, strict_subjects):
                decided = entry.rule
                break
            if asked is None and entry.may_decide((*subjects, *aliases)):
                asked = evolve(entry.rule, state=State.ASK)
        if asked is not None and decided.state is State.ALLOW:
            return asked
        return decided

    def default(self, surface: str, subject: str) -> Rule:
        """The rule where no entry matches."""
        for layer in reversed(self.layers):
            if surface in layer.defaults:
                state, source = layer.defaults[surface]
                return Rule(state, f"defaultPolicy.{surface}", source, default=True)
        for layer in reversed(self.layers):
            if layer.asks_unless_set:
                source = f"{layer.file}, which leaves it out"
                return Rule(State.ASK, f"defaultPolicy.{surface}", source, default=True)
        if surface == "special":
            return Rule(State.ASK, f"special.{subject}", BUILT_IN, default=True)
        return Rule(State.ALLOW, f"defaultPolicy.{surface}", BUILT_IN, default=True)
