"""What was compiled at build is what ``re`` compiles now, or is not used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringfence.grammar import bash, prepare, regex


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The file that a build would write."""
    prepare.load("ringfence")
    monkeypatch.setattr(regex, "missed", regex.missed | regex._KEPT.keys())
    path = tmp_path / "patterns.bin"
    path.write_bytes(prepare.patterns(bash().parse))
    return str(path)


def test_all_expressions(kept: str) -> None:
    """They are equal (flags, pattern and what the machine runs) and have the same groups."""
    found = regex.read(kept)
    assert found.keys() == regex.missed
    assert len(found) > 150
    for (pattern, flags), one in found.items():
        re.purge()
        made, now = regex.made_of(pattern, one), re.compile(pattern, flags)
        assert made == now
        assert (made.groups, dict(made.groupindex)) == (now.groups, dict(now.groupindex))


def test_of_another_python(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another Python has compiled is not even read."""
    monkeypatch.setattr(regex, "STAMP", regex.STAMP + b"+")
    assert regex.read(kept) == {}


def test_without_the_file(tmp_path: Path) -> None:
    """A checkout has none."""
    assert regex.read(f"{tmp_path}/patterns.bin") == {}


def test_an_expression_that_was_edited_since(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``re`` compiles it; flags count as well."""
    monkeypatch.setattr(regex, "_KEPT", regex.read(kept))
    pattern = next(pattern for pattern, flags in regex._KEPT if not flags)
    assert regex.compiled(pattern) == re.compile(pattern)
    assert regex.compiled(pattern, re.DOTALL) == re.compile(pattern, re.DOTALL)
    assert regex.compiled(f"{pattern}(?P<new>x)").groupindex["new"]
