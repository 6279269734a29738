"""Short ways to evaluate a command and to see one side of what was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve, field, frozen

from ringfence.engine.filesystem import FileSystem, NoFileSystem, RealFileSystem
from ringfence.engine.paths import outside
from ringfence.engine.shell import Evaluation, Shell, evaluate
from ringfence.rules.model import Effect


@frozen
class World:
    """A shell in /home/me/app, HOME /home/me, that sees no files unless it is given some."""

    cwd: str = "/home/me/app"
    filesystem: FileSystem = field(factory=NoFileSystem)
    env: tuple[tuple[str, str], ...] = (("HOME", "/home/me"), ("PATH", "/usr/bin:/bin"))

    def evaluate(self, command: str) -> Evaluation:
        return evaluate(command, Shell(self.cwd, dict(self.env), self.filesystem))

    def effects(self, command: str) -> list[Effect]:
        return [
            effect
            for effect in self.evaluate(command).effects
            if outside(effect.path, self.cwd, self.filesystem, follow=effect.follow)
        ]

    def touched(self, command: str) -> list[str]:
        """The outside paths, or the reasons why something is opaque."""
        found = self.evaluate(command)
        paths = [effect.path for effect in self.effects(command)]
        return sorted({*paths, *(f"opaque {one.text}" for one in found.opaque)})

    def words(self, command: str, name: str = "show") -> list[tuple[str, ...]]:
        """The arguments of each command called ``name``."""
        lines = self.evaluate(command).commands
        return [line.words[1:] for line in lines if line.words[0] == name]

    def at(self, root: Path, cwd: str | None = None) -> World:
        """The same shell, which sees the files below ``root``."""
        return evolve(self, filesystem=RealFileSystem(str(root)), cwd=cwd or self.cwd)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def rooted(tmp_path: Path) -> Callable[..., World]:
    """Makes a shell that sees files: a text, None for a directory, ``@target`` for a link."""

    def make(files: dict[str, str | None], cwd: str = "/home/me/app") -> World:
        for name, text in (files if cwd in files else {cwd: None, **files}).items():
            path = tmp_path / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.mkdir(exist_ok=True)
            elif text.startswith("@"):
                path.symlink_to(text[1:])
            else:
                path.write_text(text)
        return World().at(tmp_path, cwd)

    return make
