"""What looking into a program gives, and the means that the languages share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ringfence.engine.shell.outputs.call import Context
from ringfence.grammar.records import define, field, frozen
from ringfence.rules.model import UNKNOWN, Field, Operation


class ProgramPath(NamedTuple):
    """A path that the program opens; ``text[start:end]`` of the program names it.

    The path may hold unknowns, but begins with something known.
    """

    path: str
    operation: Operation
    start: int
    end: int


class ProgramShell(NamedTuple):
    """A text that the program gives to a shell, and where in the program it stands.

    A command that is run without a shell is one here too, its words quoted.
    """

    text: str
    start: int


@frozen
class Inspection:
    """What an inline program does with files, as far as its text tells.

    ``opaque`` holds a reason, for a person, for each thing that cannot be told; ``modules`` the
    names of modules that are no part of the language, if it says them in full. The reasons that are
    about paths alone, not about what runs, are in ``of_paths``.
    """

    paths: tuple[ProgramPath, ...] = ()
    shell: tuple[ProgramShell, ...] = ()
    opaque: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    of_paths: frozenset[str] = frozenset()


@define
class Findings:
    """Collects what becomes an Inspection, each thing once."""

    _paths: dict[ProgramPath, None] = field(factory=dict)
    _shell: dict[ProgramShell, None] = field(factory=dict)
    _opaque: dict[str, bool] = field(factory=dict)
    _modules: dict[str, None] = field(factory=dict)

    def path(self, path: str, operation: Operation, span: tuple[int, int], by: str) -> None:
        """The program opens ``path`` by ``by``; opaque if nothing of it is known."""
        if path.startswith(UNKNOWN):
            self.unknown_path(by)
        elif path:
            self._paths[ProgramPath(path, operation, *span)] = None

    def shell(self, text: str, span: tuple[int, int], by: str) -> None:
        """The program gives ``text`` to a shell by ``by``; opaque if nothing of it is known."""
        if not text.strip(UNKNOWN + " "):
            self.opaque(f"{by} runs a command that is only known at run time")
        else:
            self._shell[ProgramShell(text, span[0])] = None

    def command(self, words: Sequence[str], span: tuple[int, int], by: str) -> None:
        """The program runs ``words`` by ``by``; opaque if the command is not known."""
        if not words or UNKNOWN in words[0]:
            self.opaque(f"{by} runs a command that is only known at run time")
        else:
            self._shell[ProgramShell(shlex.join(words), span[0])] = None

    def opaque(self, reason: str, *, runs: bool = True) -> None:
        """Something about the program cannot be told; unless it ``runs``, a path alone."""
        self._opaque[reason] = runs or self._opaque.get(reason, False)

    def unknown_path(self, by: str) -> None:
        """The program opens a path by ``by``, of which nothing is known."""
        self.opaque(f"{by} of a path that is only known at run time", runs=False)

    def module(self, name: str) -> None:
        """The program loads a module."""
        self._modules[name] = None

    def inspection(self) -> Inspection:
        """All that was collected, in order."""
        return Inspection(
            tuple(self._paths),
            tuple(self._shell),
            tuple(self._opaque),
            tuple(self._modules),
            frozenset(reason for reason, runs in self._opaque.items() if not runs),
        )


@frozen
class Program:
    """An inline program: its text, the arguments that it receives, and where it runs."""

    text: str
    parameters: tuple[Field, ...] = ()
    context: Context | None = None

    @property
    def directory(self) -> str:
        """The working directory, or an UNKNOWN."""
        return self.context.directory if self.context is not None else UNKNOWN

    def variable(self, name: str) -> str:
        """The value of an environment variable ("" if unset), or an UNKNOWN."""
        value = self.context.lookup(name) if self.context is not None else None
        return UNKNOWN if value is None else value

    @property
    def home(self) -> str:
        """The home directory, or an UNKNOWN."""
        return self.variable("HOME") or UNKNOWN

    def expanduser(self, path: str) -> str:
        """``path`` with a leading ``~`` replaced, as the languages' libraries do it."""
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return UNKNOWN if path.startswith("~") else path


Inspector = Callable[[Program, Findings], None]
"""Looks into programs of one language."""
