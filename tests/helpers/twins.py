"""Compare each prepared class with what attrs makes of the same body.

    python tests/helpers/twins.py PREPARED

Prints the differences as JSON, and how many classes there are.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import json
import pickle
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

NAME = "ringfence.grammar.prepared"
ADDRESS = re.compile(" at 0x[0-9a-f]+")
SKIPPED = {"ringfence.engine.mcp.judge.Bench"}  # to make one starts a process


def outcome(do: Callable[[], Any]) -> tuple[str, Any]:
    """What it returns, or what it raises."""
    try:
        return "returned", do()
    except Exception as error:  # noqa: BLE001 - that is what is compared
        return "raised", (type(error), str(error))


def told(value: Any) -> Any:
    """A value without where in memory it is."""
    return value if isinstance(value, (str, int, tuple)) else type(value)


def instances(cls: type) -> Iterator[tuple[str, Any]]:
    """Making one, by fitting arguments and by others."""
    if f"{cls.__module__}.{cls.__qualname__}" in SKIPPED:
        return
    arguments = [a for a in attrs.fields(cls) if a.init]
    required = [a for a in arguments if a.default is attrs.NOTHING]
    for what, given in (
        ("all", {a.alias: f"/{a.name}" for a in arguments}),
        ("required", {a.alias: f"/{a.name}" for a in required}),
        ("too few", {a.alias: "" for a in required[1:]}),
        ("unknown", {"unknown": 1}),
    ):
        yield what, outcome(lambda given=given: cls(**given))  # type: ignore[misc]
    places = [a for a in arguments if not a.kw_only]
    yield "by place", outcome(lambda: cls(*(f"/{a.name}" for a in places)))
    yield "too many", outcome(lambda: cls(*range(50)))


def state(value: Any) -> list[Any]:
    """The values of all fields."""
    return [told(getattr(value, a.name, None)) for a in attrs.fields(type(value))]


def behaviour(cls: type, evolve: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Whatever can be seen of a class, under a name."""
    yield "fields", attrs.fields(cls)
    own = cls.__dict__
    yield "own", sorted(own.keys() - {"__ne__", "__attrs_base_of_slotted__"})
    for name in ("__slots__", "__match_args__", "__doc__", "__module__", "__annotations__"):
        yield name, own.get(name)
    yield "signature", str(inspect.signature(cls))
    yield "can be hashed", cls.__hash__ is not None
    for what, (how, made) in instances(cls):
        if how == "raised":
            yield f"{what}: raised", made
            continue
        yield f"{what}: values", state(made)
        yield f"{what}: repr", outcome(lambda made=made: ADDRESS.sub("", repr(made)))  # type: ignore[misc]
        twice = evolve(made) if how == "returned" else made
        yield f"{what}: evolve", state(twice)
        yield f"{what}: eq", outcome(lambda m=made, t=twice: (m == t, m != t, m == 1, m != 1))  # type: ignore[misc]
        yield f"{what}: hash", outcome(lambda m=made, t=twice: hash(m) == hash(t))  # type: ignore[misc]
        copied, copy_of = outcome(lambda made=made: copy.copy(made))  # type: ignore[misc]
        yield f"{what}: copy", copy_of if copied == "raised" else state(copy_of)
        if copied == "raised":
            continue
        for a in attrs.fields(cls):
            changed = copy.copy(made)
            yield f"{what}: set", outcome(lambda c=changed, n=a.name: setattr(c, n, 1))  # type: ignore[misc]
            yield f"{what}: after", state(changed)
            yield f"{what}: delete", outcome(lambda c=changed, n=a.name: delattr(c, n))  # type: ignore[misc]
            if a.init:
                other = outcome(lambda m=made, n=a.alias: evolve(m, **{n: "/other"}))  # type: ignore[misc]
                yield f"{what}: evolved", other if other[0] == "raised" else state(other[1])
                yield f"{what}: other", outcome(lambda m=made, o=other: m == o[1])  # type: ignore[misc]


def main() -> None:
    """See above."""
    spec = importlib.util.spec_from_file_location(NAME, Path(sys.argv[1]))
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[NAME] = module
    # The same for both.
    secrets.token_hex = lambda _=None: "0"
    time.monotonic = lambda: 0.0

    from ringfence.grammar import declaring, prepare

    prepare.load("ringfence")
    differences = []
    classes = [cls for cls in declaring.declared if cls in declaring._prepared]
    for cls in classes:
        twin = declaring._twin(cls)
        here = list(behaviour(cls, declaring.evolve))
        there = list(behaviour(twin, attrs.evolve))
        differences += [
            f"{cls.__module__}.{cls.__qualname__}: {ours!r} is {theirs!r} by attrs"
            for ours, theirs in zip(here, there, strict=True)
            if ours != theirs
        ]
        if "<locals>" not in cls.__qualname__:
            for _, (how, made) in instances(cls):
                if how == "returned":
                    kept = outcome(lambda made=made: state(pickle.loads(pickle.dumps(made))))  # type: ignore[misc]
                    if kept[0] == "returned" and kept[1] != state(made):
                        differences.append(f"{cls.__qualname__}: pickled to {kept[1]}")
    print(
        json.dumps(
            {
                "classes": len(classes),
                "declared": len(declaring.declared),
                "differences": differences,
            }
        )
    )


if __name__ == "__main__":
    main()
