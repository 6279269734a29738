"""The merged policy: layers of rules, the later ones over the earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import overload

from ringfence.engine.policy import paths
from ringfence.engine.policy.patterns import matches, may_match
from ringfence.grammar.records import evolve, field, frozen
from ringfence.rules.mcp import refuses
from ringfence.rules.model import Doubt, Operation, Rule, State

SURFACES = ("tools", "bash", "mcp", "skills", "special")
"""The tables that the origin had, each with a default."""

SPECIAL = ("external_directory", "doom_loop")
"""The names that the surface ``special`` knows."""

PATHS = "external_directory"
"""The table of a layer that holds what ``special.external_directory`` says of single paths."""

NAMED = "paths"
"""The surface of rules for single paths, inside and outside."""

CONFIG = "config"
"""The name of the layer of a file that holds instead of all others."""

HEADLESS = "headless"
"""The key that says what a question becomes where nobody can be asked."""

BUILT_IN = "built-in default"

_NAMES = ("tools", "mcp", "skills")
"""Surfaces whose patterns are for names, not for commands or paths."""


@frozen
class Entry:
    """One line of a table: ``pattern = state``, and where it stands."""

    surface: str
    pattern: str
    state: State
    source: str
    reason: str | None = None  # the user's own words
    operations: frozenset[Operation] = frozenset()  # of a path; all of them if empty
    repeats: int = 0  # of special.doom_loop
    match: tuple[str, ...] = ()  # examples that it decides on, for `ringfence test`
    not_match: tuple[str, ...] = ()  # and that it does not
    local: bool | None = None  # of MCP: whether it works here, if the entry says that
    of_scripts: bool = False  # it asks about reading, or denies it, and is silent on executing

    @property
    def rule(self) -> Rule:
        """What this entry says, under the name that messages show."""
        if self.surface in ("special", "tools"):
            name = f"{self.surface}.{self.pattern}"
        elif self.surface == PATHS:
            of = f" {'/'.join(sorted(self.operations))}" if self.operations else ""
            name = f'special.{PATHS} "{self.pattern}"{of}'
        elif self.surface == NAMED:
            of = f" {'/'.join(sorted(self.operations))}" if self.operations else ""
            name = f'{NAMED} "{self.pattern}"{of}'
        else:
            name = f'{self.surface} "{self.pattern}"'
        return Rule(
            self.state,
            name,
            self.source,
            reason=self.reason,
            pattern=self.pattern,
            repeats=self.repeats,
        )

    def decides(self, subjects: tuple[str, ...], strict_subjects: tuple[str, ...]) -> bool:
        """Whether the rule matches; only one that asks or denies sees ``strict_subjects``."""
        if any(matches(self.pattern, subject) for subject in subjects):
            return True
        if self.state is State.ALLOW:
            return False
        if self.surface == "mcp":
            return any(refuses(self.pattern, s) for s in (*subjects, *strict_subjects))
        if self.surface in _NAMES:  # as with paths, no refusal depends on the case of letters
            pattern = self.pattern.casefold()
            return any(matches(pattern, s.casefold()) for s in (*subjects, *strict_subjects))
        return any(matches(self.pattern, subject) for subject in strict_subjects)

    def decides_path(
        self,
        path: str,
        real: str,
        operation: Operation,
        env: Mapping[str, str],
        cwd: str | None = None,
    ) -> bool:
        """Whether this entry for paths matches.

        One that allows must match the path both as named and as it leads, and this operation;
        one that asks or denies either of them, and any operation where it is not known.
        """
        pattern = paths.resolved(self.pattern, env, self._base(cwd))
        if pattern is None:
            return False
        if self.state is State.ALLOW:
            if self.operations and operation not in self.operations:
                return False
            return paths.covers(pattern, path) and paths.covers(pattern, real)
        if self.operations and operation not in (*self.operations, Operation.UNKNOWN):
            return False
        return any(paths.covers(pattern, one, folded=True) for one in (path, real))

    def _base(self, cwd: str | None) -> str | None:
        """Where its pattern begins; a name that is refused at any depth is so everywhere."""
        if cwd is None or self.state is State.ALLOW or not paths.at_any_depth(self.pattern):
            return cwd
        return ""

    def may_decide_path(
        self,
        path: str,
        real: str,
        operation: Operation,
        env: Mapping[str, str],
        cwd: str | None = None,
    ) -> bool:
        """Whether it asks or denies, and matches for some value of what is unknown."""
        pattern = paths.resolved(self.pattern, env, self._base(cwd))
        if pattern is None or self.state is State.ALLOW:
            return False
        if self.operations and operation not in (*self.operations, Operation.UNKNOWN):
            return False
        named: tuple[str, ...] = (path, real)
        if cwd is not None and paths.at_any_depth(self.pattern):
            # Any name at all: each command over the files of a project would ask.
            named = tuple(one for one in named if not paths.is_any(one))
        return any(paths.may_cover(pattern, one) for one in named)

    def below(
        self,
        path: str,
        real: str,
        operation: Operation,
        env: Mapping[str, str],
        cwd: str | None = None,
    ) -> Rule | None:
        """The question to put if this one asks or denies, and is for a place below the path."""
        pattern = paths.resolved(self.pattern, env, cwd)
        if pattern is None or self.state is State.ALLOW:
            return None
        if self.operations and operation not in (*self.operations, Operation.UNKNOWN):
            return None
        if cwd is not None and paths.at_any_depth(self.pattern):
            return None  # it may be below every folder
        if not (paths.is_below(pattern, path) or paths.is_below(pattern, real)):
            return None
        return self.rule.doubted(Doubt.INSIDE)

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
    held: bool = False  # it may only tighten: a project's file that nobody has trusted
    project: str = ""  # the folder whose .ringfence holds it; empty for the user's own
    headless: State | None = None  # allow or deny, where nobody can be asked

    def left_out(self, surface: str) -> Rule:
        """The default of a surface for which no file gives one, where it ``asks_unless_set``."""
        source = f"{self.file}, which leaves it out"
        return Rule(State.ASK, f"defaultPolicy.{surface}", source, default=True)

    def paths(self) -> Iterable[Entry]:
        """What it says of paths outside, the last line first."""
        yield from reversed(self.tables.get(PATHS, ()))
        for entry in reversed(self.tables.get("special", ())):
            if entry.pattern == PATHS:
                yield entry


@frozen
class LayeredPolicy:
    """Layers in order, the strongest last. Without any, the built-in defaults alone speak.

    Within a table and across layers the last entry that matches wins; if none does, the last
    layer that gives the surface a default. The built-in default is ask for ``special`` and allow
    for everything else. A layer that is ``held`` does not count here: see ``held``.
    """

    layers: tuple[Layer, ...] = ()
    env: Mapping[str, str] = field(factory=dict)  # for `~` and variables in patterns
    _free: tuple[Layer, ...] = field(init=False, repr=False, eq=False)

    @_free.default
    def _without_held(self) -> tuple[Layer, ...]:
        return tuple([layer for layer in self.layers if not layer.held])

    def for_agent(
        self, agent: str | None, env: Mapping[str, str] = MappingProxyType({})
    ) -> LayeredPolicy:
        """The policy for one agent, without the layers of others; ``env`` fills in patterns."""
        if not self.layers:
            return self  # without patterns, nothing is filled in
        name = agent and agent.casefold()  # hosts differ in the case of an agent's name
        layers = tuple(la for la in self.layers if la.agent is None or la.agent.casefold() == name)
        return LayeredPolicy(layers, env)

    @property
    def held(self) -> tuple[LayeredPolicy, ...]:
        """Each layer that is held, as a policy by itself."""
        if len(self._free) == len(self.layers):
            return ()
        return tuple(
            LayeredPolicy((evolve(layer, held=False),), self.env)
            for layer in self.layers
            if layer.held
        )

    @property
    def headless(self) -> State:
        """What a question becomes where nobody can be asked: deny, unless a file says allow."""
        if not self.layers:
            return State.DENY
        if any(layer.held and layer.headless is State.DENY for layer in self.layers):
            return State.DENY
        said = [layer.headless for layer in self._free if layer.headless is not None]
        return said[-1] if said else State.DENY

    @property
    def config(self) -> str:
        """The file that was named to hold instead of the user's and the project's; or empty."""
        return next((layer.file for layer in self.layers if layer.name == CONFIG), "")

    @property
    def watches_loops(self) -> bool:
        """Whether anything is said of the same call several times in a row."""
        return any(not part.rule("special", "doom_loop").built_in for part in (self, *self.held))

    def _entries(self, surface: str) -> Iterable[Entry]:
        """The entries of all layers that count here, the strongest first."""
        for layer in reversed(self._free):
            yield from reversed(layer.tables.get(surface, ()))

    def rule(
        self,
        surface: str,
        *subjects: str,
        aliases: tuple[str, ...] = (),
    ) -> Rule:
        """See ringfence.rules.model.Policy.

        Where a strict rule only may match, the answer is ask at least.
        """
        if not self._free:
            return _built_in(surface, subjects[0] if surface == "special" else "")
        decided = self.default(surface, subjects[0])
        asked: Rule | None = None
        for entry in self._entries(surface):
            if entry.decides(subjects, aliases):
                decided = entry.rule
                break
            if asked is None and entry.may_decide((*subjects, *aliases)):
                asked = entry.rule.doubted(Doubt.PERHAPS)
        if asked is not None and decided.state is State.ALLOW:
            return evolve(asked, perhaps=decided.default)
        return decided

    def across(self, line: str, parts: Sequence[str]) -> Rule | None:
        """See ringfence.rules.model.Policy."""
        for entry in self._entries("bash"):
            strict = entry.state is not State.ALLOW and matches(entry.pattern, line)
            if strict and not any(matches(entry.pattern, part) for part in parts):
                return entry.rule
        return None

    def outside(self, path: str, real: str, operation: Operation, *, tree: bool = False) -> Rule:
        """See ringfence.rules.model.Policy."""
        asked: Rule | None = None
        for layer in reversed(self._free):
            for entry in layer.paths():
                if entry.surface != PATHS or entry.decides_path(path, real, operation, self.env):
                    decided = entry.rule
                    break
                if asked is None and entry.may_decide_path(path, real, operation, self.env):
                    asked = entry.rule.doubted(Doubt.PERHAPS)
                if asked is None and tree:
                    asked = entry.below(path, real, operation, self.env)
            else:
                continue
            break
        else:
            decided = self.default("special", PATHS)
        if operation is Operation.EXECUTE:
            entries = (entry for layer in reversed(self._free) for entry in layer.paths())
            asked = _stricter(asked, self._of_script(entries, path, real))
        return _stricter(decided, asked)

    def _of_script(
        self, entries: Iterable[Entry], path: str, real: str, cwd: str | None = None
    ) -> Rule | None:
        """What the rules for reading add of a file that is executed: a script is read as well.

        None if a later one than those is about executing it, or lets it be read.
        """
        asked: Rule | None = None
        for entry in entries:
            if entry.surface not in (PATHS, NAMED):
                break
            if entry.decides_path(path, real, Operation.EXECUTE, self.env, cwd):
                break
            if entry.decides_path(path, real, Operation.READ, self.env, cwd):
                return _stricter(asked, entry.rule if entry.of_scripts else None)
            if entry.of_scripts and entry.may_decide_path(
                path, real, Operation.READ, self.env, cwd
            ):
                asked = asked or entry.rule.doubted(Doubt.PERHAPS)
        return asked

    def works_elsewhere(self, *names: str) -> bool:
        """See ringfence.rules.model.Policy. A layer that is held may only say that it does not."""
        for layer in reversed(self.layers):
            for entry in reversed(layer.tables.get("mcp", ())):
                counts = entry.local is not None and (entry.local or not layer.held)
                if counts and any(matches(entry.pattern, name) for name in names):
                    return not entry.local
        return False

    @property
    def names_paths(self) -> bool:
        """Whether any rule is about single paths."""
        return bool(self.layers) and any(layer.tables.get(NAMED) for layer in self.layers)

    def path(
        self, path: str, real: str, operation: Operation, cwd: str, *, tree: bool = False
    ) -> Rule | None:
        """See ringfence.rules.model.Policy."""
        asked: Rule | None = None
        if operation is Operation.EXECUTE:
            asked = self._of_script(self._entries(NAMED), path, real, cwd)
        for entry in self._entries(NAMED):
            if entry.decides_path(path, real, operation, self.env, cwd):
                return _stricter(entry.rule, asked)
            if asked is None and entry.may_decide_path(path, real, operation, self.env, cwd):
                asked = entry.rule.doubted(Doubt.PERHAPS)
            if asked is None and tree:
                asked = entry.below(path, real, operation, self.env, cwd)
        return asked

    def default(self, surface: str, subject: str) -> Rule:
        """The rule where no entry matches."""
        for layer in reversed(self._free):
            if surface in layer.defaults:
                state, source = layer.defaults[surface]
                return Rule(state, f"defaultPolicy.{surface}", source, default=True)
        for layer in reversed(self._free):
            if layer.asks_unless_set:
                return layer.left_out(surface)
        return _built_in(surface, subject if surface == "special" else "")


@overload
def _stricter(one: Rule, other: Rule | None) -> Rule: ...
@overload
def _stricter(one: Rule | None, other: Rule | None) -> Rule | None: ...
def _stricter(one: Rule | None, other: Rule | None) -> Rule | None:
    """The stricter of two rules, the first of equals."""
    if one is None or other is None:
        return one or other
    return other if other.state.strictness > one.state.strictness else one


@lru_cache(maxsize=64)
def _built_in(surface: str, subject: str) -> Rule:
    if surface == "special":
        return Rule(State.ASK, f"special.{subject}", BUILT_IN, default=True, built_in=True)
    return Rule(State.ALLOW, f"defaultPolicy.{surface}", BUILT_IN, default=True, built_in=True)
