"""The faster way to modules finds what Python would find, or leaves it to Python."""

from __future__ import annotations

import importlib.util
import os
import py_compile
from pathlib import Path
from types import ModuleType

import pytest

from ringfence.engine import finding


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a module and a package in it, all compiled."""
    (tmp_path / "below").mkdir()
    for name in ("one.py", "below/__init__.py", "below/two.py"):
        (tmp_path / name).write_text(f"NAME = {name!r}\n")
        py_compile.compile(str(tmp_path / name))
    monkeypatch.setattr(finding, "ROOT", str(tmp_path))
    return tmp_path


def loaded(name: str) -> ModuleType:
    """A module by way of the finder."""
    spec = finding.Finder.find_spec(name)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    finding.Finder.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "file", "parent"),
    [
        ("ringfence.one", "one.py", "ringfence"),
        ("ringfence.below.two", "below/two.py", "ringfence.below"),
        ("ringfence.below", "below/__init__.py", "ringfence.below"),
    ],
)
def test_found(root: Path, name: str, file: str, parent: str) -> None:
    """The module has what Python gives one."""
    module = loaded(name)
    assert file == module.NAME
    assert module.__name__ == name
    assert module.__file__ == str(root / file)
    assert module.__cached__ == importlib.util.cache_from_source(str(root / file))
    assert module.__package__ == parent
    is_package = file.endswith("__init__.py")
    assert getattr(module, "__path__", None) == ([str(root / "below")] if is_package else None)


@pytest.mark.parametrize("name", ["ringfence.none", "ringfence", "json", "ringfencing.one"])
@pytest.mark.usefixtures("root")
def test_not_its_business(name: str) -> None:
    """What is not there, and other packages."""
    assert finding.Finder.find_spec(name) is None


def test_edited_since(root: Path) -> None:
    """A source that is not the one that was compiled, by its time or by its size."""
    one = root / "one.py"
    before = one.stat()
    one.write_text("NAME = 'another'\n")
    os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert finding.Finder.find_spec("ringfence.one") is None
    one.write_text("NAME = 'one.py'\n")
    os.utime(one, (1, 1))
    assert finding.Finder.find_spec("ringfence.one") is None
    os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert finding.Finder.find_spec("ringfence.one") is not None


def test_not_compiled_or_by_another_python(root: Path) -> None:
    """Python knows what to do then."""
    compiled = Path(importlib.util.cache_from_source(str(root / "one.py")))
    content = compiled.read_bytes()
    compiled.write_bytes(b"\0\0\0\0" + content[4:])
    assert finding.Finder.find_spec("ringfence.one") is None
    py_compile.compile(
        str(root / "one.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    assert finding.Finder.find_spec("ringfence.one") is None
    compiled.unlink()
    assert finding.Finder.find_spec("ringfence.one") is None
    (root / "one.py").unlink()
    assert finding.Finder.find_spec("ringfence.one") is None
