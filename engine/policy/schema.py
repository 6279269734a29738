"""The JSON Schema of a config file, for editors: made of the forms in ``form``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ringfence.engine.policy import form

_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", bool: "boolean"}


def schema() -> dict[str, Any]:
    """The schema, as JSON Schema 2020-12."""
    definitions: dict[str, Any] = {}
    top = _object(form.ConfigForm, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Ringfence config",
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """An object with the keys of a form, and no other."""
    hints = get_type_hints(kind)
    properties = {}
    required = []
    for key, attribute, said in form.described(kind):
        value = _of(hints[attribute], definitions)
        if said is None:
            required.append(key)
        else:
            if said.bounds:
                value = {**value, "minimum": said.bounds[0], "maximum": said.bounds[1]}
            value = {"description": said.doc, **value}
        properties[key] = value
    text = " ".join((inspect.getdoc(kind) or "").split())
    found = {
        "description": text,
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    if required:
        found["required"] = required
    if kind is form.ByOperation:
        found["minProperties"] = 1
    return found


def _of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of one type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return {"anyOf": [_of(one, definitions) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is Mapping:
        # An empty pattern is an error, and so is one with a NUL.
        return {
            "type": "object",
            "propertyNames": {"pattern": "^[^\\u0000]+$"},
            "additionalProperties": _of(arguments[1], definitions),
        }
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if hint.__module__ == form.__name__:
        name = hint.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    raise TypeError(f"no schema for {hint!r}")
