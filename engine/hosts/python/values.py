"""The arguments of a Python function as the JSON-like values that calls are judged by."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import attrs


def plain(value: Any) -> Any:
    """The value with texts, numbers, lists and dicts alone; an object becomes its fields.

    One that has none becomes its text, so that a path hidden in it is still seen. Raises
    RecursionError for a value that contains itself.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (bytes, bytearray)):
        return os.fsdecode(bytes(value))
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)):
        return [plain(item) for item in value]
    if isinstance(value, type):
        return value.__qualname__
    fields = _fields(value)
    return str(value) if fields is None else {name: plain(item) for name, item in fields.items()}


def _fields(value: Any) -> dict[str, Any] | None:
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if attrs.has(type(value)):
        return {a.name: getattr(value, a.name) for a in attrs.fields(type(value))}
    if hasattr(type(value), "model_fields"):  # a pydantic model
        return dict(value)
    return None


def arguments_of(
    function: Callable[..., Any],
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], dict[str, Any]]:
    """How to name the arguments of calls of a function, with its defaults.

    What it returns raises TypeError for arguments that do not fit.
    """
    return named_by(inspect.signature(function))


def named_by(
    signature: inspect.Signature,
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], dict[str, Any]]:
    """The same by a signature."""
    keywords = {n for n, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD}
    first = next(iter(signature.parameters), "")

    def named(positional: tuple[Any, ...], by_name: Mapping[str, Any]) -> dict[str, Any]:
        bound = signature.bind(*positional, **by_name)
        bound.apply_defaults()
        values: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if name in keywords:
                values |= value
            elif name != first or name not in ("self", "cls"):
                values[name] = value
        return values

    return named
