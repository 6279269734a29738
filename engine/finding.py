"""A faster way to this package's modules, for a process that is started for a single answer.

Python looks for each module in each of the ways that there are, through several layers. Nearly all
modules of Ringfence are files that pip has compiled, beside their sources: they are read at once
here, if they belong to these sources. Whatever is otherwise is left to Python.
"""

from __future__ import annotations

import marshal
import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from types import ModuleType
from typing import Any

PACKAGE = "ringfence."
ROOT = os.path.dirname(os.path.dirname(__file__))
_ENDING = f".{sys.implementation.cache_tag}.pyc"
_CHECKED = MAGIC_NUMBER + bytes(4)  # PEP 552: behind it the time and the size of the source


class Finder:
    """Both parts of an importer, see ``importlib.abc``: it has no state."""

    @staticmethod
    def find_spec(name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        """Where a module is, if it can be read from here."""
        if not name.startswith(PACKAGE):
            return None
        place = f"{ROOT}/{name[len(PACKAGE) :].replace('.', '/')}"
        folder, _, stem = place.rpartition("/")
        return _spec(name, folder, stem) or _spec(name, place, "__init__")

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """As Python would."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Run the module."""
        spec: Any = module.__spec__
        code, spec.loader_state = spec.loader_state, None
        exec(marshal.loads(code), module.__dict__)  # noqa: S102, S302 - that is what a module is


def _spec(name: str, folder: str, stem: str) -> ModuleSpec | None:
    source, compiled = f"{folder}/{stem}.py", f"{folder}/__pycache__/{stem}{_ENDING}"
    try:
        with open(compiled, "rb") as file:
            content = file.read()
        status = os.stat(source)
    except OSError:
        return None
    stamp = [int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF]
    if content[:16] != _CHECKED + b"".join(number.to_bytes(4, "little") for number in stamp):
        return None
    is_package = stem == "__init__"
    spec = ModuleSpec(name, Finder, origin=source, is_package=is_package)  # type: ignore[arg-type]
    spec.has_location = True
    spec.cached = compiled
    spec.loader_state = memoryview(content)[16:]
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(folder)
    return spec


def install() -> None:
    """Ask this finder before Python's own."""
    sys.meta_path.insert(0, Finder)
