"""What an evaluation finds: effects, opaque parts and the simple commands that would run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import join, kernel_path, outside, through_proc
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.outputs.call import as_printed
from ringfence.engine.shell.overlay import Overlay
from ringfence.grammar.nodes import Span
from ringfence.grammar.records import define, evolve, field
from ringfence.grammar.regex import compiled
from ringfence.rules.model import (
    UNKNOWN,
    Certainty,
    CommandLine,
    Effect,
    Field,
    Opaque,
    OpaqueKind,
    Operation,
    is_known,
)

_NEWLINE = compiled("\n")
_AS_BEFORE = nullcontext()
_GLOBBING = "pathname expansion"


@define
class Recorder:
    """Collects findings, each once, with their place in the outermost command.

    While ``anchor`` is set, the text under evaluation has no place of its own there, and all that
    is found gets the anchor's. While ``uncertain`` is above zero, whatever is found is possible.
    """

    source: str
    cwd: str
    filesystem: Overlay
    anchor: Span | None = None
    uncertain: int = 0
    muted: int = 0
    origin: Origin | None = None  # of the text that spans refer to, if that is not the command's
    _effects: dict[tuple[str, Operation, Span, str], Effect] = field(factory=dict)
    _opaque: dict[tuple[str, Span], Opaque] = field(factory=dict)
    _commands: dict[tuple[Span, tuple[str, ...]], CommandLine] = field(factory=dict)
    _listed: list[Effect] = field(factory=list)
    _begins: list[int] = field(factory=list, init=False)
    _patterns: dict[str, str] = field(factory=dict)  # by the path with unknown names in it

    @property
    def effects(self) -> tuple[Effect, ...]:
        """In the order found; last the patterns that nothing but bash has looked at."""
        if not self._listed:
            return tuple(self._effects.values())
        seen = {(effect.span, effect.path) for effect in self._effects.values()}
        listed = dict.fromkeys(e for e in self._listed if (e.span, e.path) not in seen)
        return (*self._effects.values(), *listed)

    @property
    def opaque(self) -> tuple[Opaque, ...]:
        """In the order found."""
        return tuple(self._opaque.values())

    @property
    def commands(self) -> tuple[CommandLine, ...]:
        """In the order found."""
        return tuple(self._commands.values())

    def possibly(self, perhaps: bool = True) -> AbstractContextManager[None]:
        """Within, whatever is found happens only perhaps."""
        return self._possibly() if perhaps else _AS_BEFORE

    @contextmanager
    def _possibly(self) -> Iterator[None]:
        self.uncertain += 1
        try:
            yield
        finally:
            self.uncertain -= 1

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Within, nothing is recorded as opaque, and commands are those of a script kept there."""
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    @contextmanager
    def anchored(self, span: Span | None) -> Iterator[None]:
        """Within, whatever is found gets ``span``; None changes nothing."""
        before = self.anchor
        if before is None:
            self.anchor = span
        try:
            yield
        finally:
            self.anchor = before

    @contextmanager
    def stands_in(self, origin: Origin | None) -> Iterator[None]:
        """Within, whatever is found stands in ``origin``."""
        before = self.origin
        self.origin = origin
        try:
            yield
        finally:
            self.origin = before

    def span(self, span: Span) -> Span:
        """The place of ``span`` in the outermost command."""
        return self.anchor or span

    def text(self, span: Span) -> str:
        """The outermost command's text at ``span``."""
        start, end = self.span(span)
        return self.source[start:end]

    def column(self, span: Span) -> str:
        """Where ``span`` begins, for a person: ``at column 3``, ``at line 2, column 1``."""
        start = self.span(span)[0]
        from bisect import bisect_right  # noqa: PLC0415 - for messages alone

        line = bisect_right(self._lines, start)
        column = start - self._lines[line - 1] + 1
        if len(self._lines) == 1:
            return f"at column {column}"
        return f"at line {line}, column {column}"

    @property
    def _lines(self) -> list[int]:
        """Where each line begins; newlines at the end begin none."""
        if not self._begins:
            written = self.source.rstrip("\n")
            self._begins = [0, *(found.end() for found in _NEWLINE.finditer(written))]
        return self._begins

    def effect(
        self,
        path: str,
        operation: Operation,
        at: Field,
        by: str,
        directory: str,
        *,
        possible: bool = False,
        there: bool = False,
        follow: bool = True,
        tree: bool = False,
        fact: str = "",
    ) -> str | None:
        """Record that ``path``, as seen from ``directory``, is touched; the absolute path or None.

        An empty path is no path: the kernel refuses it. A path with an unknown part is opaque,
        unless what is known of it already leads out of every directory that could be meant.
        What is a path only if it is ``there`` is none where nothing stands.
        """
        if not path:
            return None
        place = self.span(at.span)
        if path.startswith(UNKNOWN):
            code = operation is Operation.EXECUTE
            self.unknown(f"{by}: the path is only known at run time", at, runs=code)
            return None
        if not path.startswith("/") and directory.startswith(UNKNOWN):
            return None  # the unknown `cd` itself has been recorded as opaque
        absolute = through_proc(join(directory, path), directory)
        absolute = kernel_path(absolute, self.filesystem)
        if there and self.filesystem.kind(absolute) in (Kind.MISSING, Kind.UNKNOWN):
            return None
        if self.filesystem.opened:
            self.reopened(absolute, operation, at, by, possible=possible, tree=tree)
        absolute = self.filesystem.through(absolute, follow=follow)
        pattern = self._patterns.get(absolute)
        absolute, possible = pattern or absolute, possible or pattern is not None
        if UNKNOWN in absolute and not self._leads_out(absolute):
            code = operation is Operation.EXECUTE
            self.unknown(f"{by}: a part of the path is only known at run time", at, runs=code)
            return None
        key = (absolute, operation, place, by)
        known = self._effects.get(key)
        tree = tree or (known is not None and known.tree)
        found = self._effect(
            absolute, operation, at, by, fact, possible=possible, follow=follow, tree=tree
        )
        if known is not None and found.certainty is not Certainty.CERTAIN:
            found = known if known.tree is tree else evolve(known, tree=tree)
        self._effects[key] = found
        return absolute

    def reopened(
        self,
        path: str,
        operation: Operation,
        at: Field,
        by: str,
        *,
        possible: bool = False,
        tree: bool = False,
    ) -> None:
        """Record the files that opening ``path`` opens once more, as it stands for a descriptor."""
        for file in self.filesystem.reopened(path, operation):
            fact = f"the file that `{path}` has open"
            self.effect(file, operation, at, by, "/", possible=possible, tree=tree, fact=fact)

    def _leads_out(self, path: str) -> bool:
        """Whether the known beginning of ``path`` is outside already."""
        known = path[: path.index(UNKNOWN)]
        return outside(_directory(known), self.cwd, self.filesystem) is not None

    def _effect(
        self,
        path: str,
        operation: Operation,
        at: Field,
        by: str,
        fact: str = "",
        *,
        possible: bool = False,
        follow: bool = True,
        tree: bool = False,
    ) -> Effect:
        start, end = self.anchor or at.span
        certain = not (possible or self.uncertain or at.glob) and is_known(path)
        return Effect(
            path,
            operation,
            (start, end),
            self.source[start:end],
            by,
            Certainty.CERTAIN if certain else Certainty.POSSIBLE,
            steps=(*at.steps, fact) if fact else at.steps,
            follow=follow,
            tree=tree,
            origin=self.origin.place(at.span) if self.origin else "",
        )

    def listed(self, at: Field, directory: str, *, trees: bool) -> None:
        """Record that bash itself reads directories to see what the pattern ``at`` matches.

        With ``trees`` (``globstar``), ``**`` reads the whole tree where it stands.
        """
        if not at.known or (directory.startswith(UNKNOWN) and not at.text.startswith("/")):
            return
        text = at.text.partition("**")[0] or "." if trees else at.text
        path = kernel_path(join(directory, text), self.filesystem)
        self._patterns[as_printed(evolve(at, text=path, glob=True))] = path
        found = self._effect(path, Operation.READ, at, _GLOBBING)
        self._listed.append(evolve(found, listing=True))

    def looked_through(self, links: Iterable[str], at: Field) -> None:
        """Record the links out of the working directory that a pattern made bash look behind."""
        for link in links:
            if outside(link, self.cwd, self.filesystem) is not None:
                effect = self._effect(link, Operation.TEST, at, _GLOBBING)
                self._effects.setdefault((link, Operation.TEST, effect.span, _GLOBBING), effect)

    def limit(self, reason: str, span: Span) -> None:
        """Record that evaluation ended early; what was found until then stays."""
        self.anchor, self.muted = None, 0
        self.obscure(reason, span, OpaqueKind.LIMIT)

    def unknown(self, reason: str, at: Field, *, runs: bool = False) -> None:
        """Record that what the field ``at`` does, or ``runs``, cannot be known."""
        self.obscure(reason, at.span, OpaqueKind.CODE if runs else OpaqueKind.UNKNOWN)

    def obscure(self, reason: str, span: Span, kind: OpaqueKind = OpaqueKind.UNKNOWN) -> None:
        """Record that the part of the command at ``span`` cannot be judged."""
        if self.muted:
            return
        place = self.span(span)
        text = self.source[place[0] : place[1]]
        self._opaque.setdefault((reason, place), Opaque(reason, place, text, kind))

    def command(
        self,
        span: Span,
        argv: tuple[Field, ...],
        *,
        redirection: bool = False,
        writes: bool = False,
        within: bool = False,
    ) -> None:
        """Record that the simple command at ``span`` would run as ``argv``; see CommandLine."""
        place = self.span(span)
        words = tuple([field.text for field in argv])
        key = (place, words)
        within, kept = within or self.anchor is not None, self.muted > 0
        known = self._commands.get(key)
        if known is not None:
            writes, within = writes or known.writes, within and known.within
            kept = kept and known.kept
        text = self.source[place[0] : place[1]]
        origin = self.origin.place(span) if self.origin else ""
        self._commands[key] = CommandLine(
            text, place, words, redirection, writes, within, kept, origin
        )


def _directory(path: str) -> str:
    return path.rpartition("/")[0] or "/"
