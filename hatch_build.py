"""Give the checkout its import name.

The repository keeps engine/, grammar/ and rules/ at the top. Installed, they are
ringfence.engine, ringfence.grammar and ringfence.rules, and engine/root.py is ringfence itself.

A wheel renames the folders by configuration (``sources`` in pyproject.toml); this
hook adds the two files that sit beside them, and what no start should have to compute: the
grammar's tables, the methods that attrs writes for the classes, regular expressions, and the data
about commands as JSON. An editable install cannot rename anything, so it gets
build/editable/ringfence, a folder of links back to the checkout: edits and new modules are live,
and type checkers see ordinary files.
"""

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {"__init__.py": "engine/root.py", "py.typed": "engine/py.typed"}
FOLDERS = {"engine": "engine", "grammar": "grammar", "rules": "rules"}


class ImportName(BuildHookInterface[Any]):
    """Adds ``ringfence/__init__.py`` and ``py.typed`` to a build, or links for an editable one."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built; ``version`` says which kind."""
        if version == "editable":
            link_all(Path(self.root), Path(self.root, "build", "editable", "ringfence"))
            return
        for name, source in FILES.items():
            build_data["force_include"][str(Path(self.root, source))] = f"ringfence/{name}"
        for name, made in make_all(Path(self.root), Path(self.root, "build")).items():
            build_data["force_include"][str(made)] = f"ringfence/{name}"


def make_all(root: Path, build: Path) -> dict[str, Path]:
    """Write what is prepared for the checkout at ``root`` to files below ``build``.

    Returns each with its place in the package.
    """
    link_all(root, build / "editable" / "ringfence")
    sys.path.insert(0, str(build / "editable"))
    from ringfence.grammar import Grammar, prepare  # noqa: PLC0415 - linked just now
    from ringfence.rules.commands import data  # noqa: PLC0415

    grammar = Grammar.from_text((root / "grammar" / "bash.lark").read_text("utf-8"))
    made = {
        "grammar/tables.json": grammar.tables.to_json(grammar.text).encode(),
        "grammar/prepared.py": prepare.prepared("ringfence").encode(),
        "grammar/patterns.bin": prepare.patterns(grammar.parse),
        "rules/commands/commands.json": data.prepared().encode(),
    }
    paths = {name: build / Path(name).name for name in made}
    for name, content in made.items():
        paths[name].write_bytes(content)
    return paths


def link_all(root: Path, package: Path) -> None:
    """Make ``package`` a folder of links to the checkout at ``root``."""
    package.mkdir(parents=True, exist_ok=True)
    for name, source in (FILES | FOLDERS).items():
        link = package / name
        goal = os.path.relpath(root / source, package)
        if link.is_symlink() and os.readlink(link) == goal:
            continue
        link.unlink(missing_ok=True)
        link.symlink_to(goal, target_is_directory=name in FOLDERS)
