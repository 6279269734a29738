"""Classes made from what attrs wrote before are those that attrs would make now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import attrs
import pytest

from ringfence.grammar import declaring, prepare, records

TWINS = Path(__file__).parent.parent / "helpers" / "twins.py"

PREPARE = """
import sys
sys.modules["ringfence.grammar.prepared"] = None  # what a wheel brings along
from ringfence.grammar.prepare import prepared
print(prepared("ringfence"))
"""

PLAIN = """
@records.frozen
class One:
    a: int
    b: str = field(default="", kw_only=True)
    c: list = field(factory=list, repr=False)
    d: int = 3

    def __attrs_post_init__(self):
        pass

    def who(self):
        return __class__
"""

Make = Callable[[str], type]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Make:
    """Declares the class of a text. What was prepared is what PLAIN says."""
    module = ModuleType("somewhere")
    monkeypatch.setitem(sys.modules, "somewhere", module)
    monkeypatch.setattr(declaring, "CLASSES", {})
    before = dict(declaring.declared)

    def run(text: str) -> type:
        module.__dict__.update(records=records, field=records.field)
        exec(f"from __future__ import annotations\n{text}", module.__dict__)
        return module.__dict__["One"]

    plain = run(PLAIN)
    written: dict[str, dict] = {}
    exec(prepare.written({plain: declaring.declared[plain]}), written)
    monkeypatch.setattr(declaring, "CLASSES", written["CLASSES"])
    yield run
    for cls in declaring.declared.keys() - before.keys():
        del declaring.declared[cls]


def test_all_classes_of_the_package(tmp_path: Path) -> None:
    """Making, comparing, changing, copying and describing one are the same in both ways."""
    env = {**os.environ, "PYTHONPATH": str(TWINS.parent)}
    text = subprocess.run(
        [sys.executable, "-c", PREPARE], capture_output=True, check=True, text=True, env=env
    ).stdout
    (tmp_path / "prepared.py").write_text(text)
    done = subprocess.run(
        [sys.executable, str(TWINS), str(tmp_path / "prepared.py")],
        capture_output=True, check=True, text=True, env=env,
    )  # fmt: skip
    said = json.loads(done.stdout)
    assert said["differences"] == []
    assert said["classes"] == said["declared"] > 200


def test_as_it_was_prepared(make: Make) -> None:
    """A class that still looks the same gets its methods without attrs, and is the same."""
    one = make(PLAIN)
    assert one in declaring._prepared
    value = one(1, b="b")
    assert value == one(1, b="b") != one(2)
    assert repr(value) == "One(a=1, b='b', d=3)"
    assert value.who() is one
    assert records.evolve(value, a=2) == attrs.evolve(value, a=2) == one(2, b="b")
    assert records.names(one) == tuple(a.name for a in attrs.fields(one)) == ("a", "b", "c", "d")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.a = 2


def test_a_default_with_another_value(make: Make) -> None:
    """Defaults are those of the class, not those that were there when it was prepared."""
    one = make(PLAIN.replace("d: int = 3", "d: int = 4"))
    assert one(1).d == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d: int = 3", "e: int = 3"),
        ("d: int = 3", "d: int = field(kw_only=True)"),
        ("d: int = 3", "d: int = 3\n    e: int = 4"),
        ("    a: int\n", ""),
        ("d: int = 3", "d: ClassVar[int] = 3"),
        ("a: int", "a: int = 0"),
        ("kw_only=True", "kw_only=False"),
        (", repr=False", ""),
        (", repr=False", ", eq=False"),
        ("factory=list", "default=()"),
        ("factory=list", "factory=list, converter=tuple"),
        ("records.frozen", "records.define"),
        ("records.frozen", "records.frozen(eq=False)"),
        ("class One:", "class One(Exception):"),
        ("__attrs_post_init__", "other"),
        ("who", "__eq__"),
        ("who", "__repr__"),
        ("who", "__init__"),
    ],
)
def test_a_class_that_was_edited_since(make: Make, old: str, new: str) -> None:
    """It is left to attrs: no method that was prepared for another class is used."""
    assert PLAIN.count(old) == 1
    assert make(PLAIN.replace(old, new)) not in declaring._prepared


def test_a_field_of_attrs_itself(make: Make) -> None:
    """Nothing is prepared for a class of which only attrs knows all that it says."""
    one = make(f"import attrs\n{PLAIN.replace('d: int = 3', 'd: int = attrs.field(default=3)')}")
    assert one(1).d == 3
    assert "One" not in prepare.written({one: declaring.declared[one]})


def test_a_base_that_was_edited_since(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """What inherits its fields is left to attrs, too."""
    below = PLAIN + "\n@records.frozen\nclass Two(One):\n    e: int = 5\n"
    monkeypatch.setattr(declaring, "CLASSES", {})
    make(below)
    two = sys.modules["somewhere"].Two
    written: dict[str, dict] = {}
    exec(prepare.written({c: declaring.declared[c] for c in (two.__base__, two)}), written)
    monkeypatch.setattr(declaring, "CLASSES", written["CLASSES"])
    make(below)
    assert sys.modules["somewhere"].Two in declaring._prepared
    make(below.replace("d: int = 3", "d: int = 3\n    f: int = 4"))
    two = sys.modules["somewhere"].Two
    assert two not in declaring._prepared
    assert two(1).f == 4
