"""Gathering what a command uses into one Usage."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from ringfence.grammar.records import define, evolve, field
from ringfence.rules.commands.arguments import Piece
from ringfence.rules.commands.schema import Value
from ringfence.rules.commands.unlisted import shaped_uses
from ringfence.rules.commands.values import names_in, paths_in, read_only
from ringfence.rules.model import Field, Operation
from ringfence.rules.usage import CommandUse, PathUse, ProgramUse, Usage

_DEVICES = frozenset(("/dev", "/dev/fd", "/proc/self/fd"))
_UNSURE = frozenset(("possible", "shaped", "revision", "selects"))


@define
class Wrapped:
    """What options say about a nested command, before its words are known."""

    directory: str | None = None
    assignments: list[tuple[str, str]] = field(factory=list)
    clears: bool = False
    unset: list[str] = field(factory=list)
    null: bool = False
    group: str = ""
    placeholder: str | None = None
    input_file: str | None = None


@define
class Collector:
    """The uses found so far, and the directory that the command's options moved it to."""

    argv: Sequence[Field]  # with the environment behind it
    paths: list[PathUse] = field(factory=list)
    programs: list[ProgramUse] = field(factory=list)
    commands: list[CommandUse] = field(factory=list)
    opaque: list[tuple[str, int]] = field(factory=list)
    parameters: list[Field] = field(factory=list)
    variables: list[tuple[str, str]] = field(factory=list)
    bases: list[str] = field(factory=list)
    base_of: dict[int, str] = field(factory=dict)  # for operands behind an option like tar's -C
    excluded: list[str] = field(factory=list)
    in_place: bool = False
    _wrapped: Wrapped | None = None

    @property
    def wrapped(self) -> Wrapped:
        """What options say about a nested command; few say anything."""
        if self._wrapped is None:
            self._wrapped = Wrapped()
        return self._wrapped

    @property
    def base(self) -> str | None:
        """The directory that the command moved to by its options, if any."""
        return posixpath.join(*self.bases) if self.bases else None

    def path(self, value: Value, part: Piece, fact: str) -> None:
        """Note the paths in a value."""
        own = value.kind in ("base", "directory")
        base = None if own else self.base_of.get(part.argument, self.base)
        operation = value.operation or Operation.READ
        modifiers = value.modifiers
        if read_only(value, part.text):
            operation = Operation.READ
        listed = "names" in modifiers and part.text == "-"
        for text in ["-"] if listed else paths_in(value, part.text):
            use = PathUse(
                text,
                operation,
                part.argument,
                fact,
                base=base,
                possible=part.several or not modifiers.isdisjoint(_UNSURE),
                recursive="tree" in modifiers,
                glob=part.glob,
                language=value.language or None,
                follow=text.endswith("/") or "nofollow" not in modifiers,
                tilde="tilde" in modifiers,
                names="names" in modifiers,
                through="through" in modifiers,
                paired="paired" in modifiers,
                hidden="shown" not in modifiers,
            )
            self.paths.append(use)
            if "folder" in modifiers:
                folder = posixpath.dirname(text)
                if folder and folder not in _DEVICES:
                    self.paths.append(evolve(use, path=folder, operation=Operation.READ))
            if "input" in modifiers:
                self.wrapped.input_file = text
        if "there" not in modifiers:
            return
        self.paths += [
            PathUse(
                text,
                operation,
                part.argument,
                fact,
                base=base,
                possible=True,
                there=True,
                follow="nofollow" not in modifiers,
            )
            for text in names_in(value, part.text)
        ]

    def shaped(
        self, start: int, end: int, fact: str, *, only_outward: bool = False, names: bool = True
    ) -> None:
        """Note the words that may be paths among those from ``start`` to ``end``.

        Without ``names``, those that do not look like paths are none.
        """
        found = shaped_uses(self.argv[:end], start, fact, only_outward=only_outward)
        self.paths += [evolve(use, base=self.base) for use in found if names or not use.there]

    def program(self, language: str, part: Piece) -> None:
        """Note a program's text; several texts of one command are one program."""
        last = self.programs[-1] if self.programs else None
        if last is not None and last.language == language and last.text is not None:
            self.programs[-1] = evolve(last, text=f"{last.text}\n{part.text}")
        else:
            self.programs.append(ProgramUse(language, part.text, part.argument))

    def shell(self, text: str, argument: int) -> None:
        """Note a shell command; each one is a program of its own."""
        if text:
            self.programs.append(ProgramUse("bash", text, argument))

    def command(self, words: Iterable[Field], *, appends: bool, other_user: bool) -> None:
        """Note a nested command, as the options given so far run it."""
        wrapped = self.wrapped
        self.commands.append(
            CommandUse(
                tuple(words),
                directory=wrapped.directory,
                assignments=tuple(wrapped.assignments),
                clears_environment=wrapped.clears,
                appends_input=appends and wrapped.placeholder is None,
                placeholder=wrapped.placeholder,
                unset=tuple(wrapped.unset),
                null_separated=wrapped.null,
                group=int(wrapped.group) if wrapped.group.isdecimal() else None,
                input_file=wrapped.input_file,
                other_user=other_user,
            )
        )

    def result(self, name: str) -> Usage:
        """Everything found, put together."""
        programs = [
            evolve(
                program,
                parameters=program.parameters or tuple(self.parameters),
                in_place=self.in_place,
                variables=tuple(self.variables),
            )
            for program in self.programs
        ]
        paths = self.paths
        if self.excluded:
            excluded = tuple(self.excluded)
            paths = [evolve(p, excluded=excluded) if p.through else p for p in paths]
        return Usage(
            name,
            known=True,
            paths=tuple(dict.fromkeys(paths) if len(paths) > 1 else paths),
            programs=tuple(programs),
            commands=tuple(self.commands),
            opaque=tuple(dict.fromkeys(self.opaque)),
        )
