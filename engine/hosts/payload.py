"""Reading what a host sends: JSON, checked, or a PayloadError that says what is wrong."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from typing import Any

from ringfence.engine.hosts import MAX_BYTES
from ringfence.grammar.regex import compiled


class PayloadError(ValueError):
    """A payload that cannot be understood; the host must be told to refuse the call."""


def read_object(content: bytes, what: str = "payload") -> dict[str, Any]:
    """The JSON object in ``content``: UTF-8, with or without a byte-order mark."""
    if len(content) > MAX_BYTES:
        raise PayloadError(f"the {what} is larger than {MAX_BYTES} bytes")
    value = read_json(content, what)
    if not isinstance(value, dict):
        raise PayloadError(f"the {what} is not a JSON object")
    return value


def read_json(content: bytes, what: str) -> Any:
    """The JSON value in ``content``, in which no object has a key twice."""
    try:
        value = json.loads(content.removeprefix(BOM_UTF8).decode(), object_pairs_hook=_distinct)
        if b"\\u" in content and _HALF.search(json.dumps(value, ensure_ascii=False)):
            raise PayloadError(f"the {what} holds half a character, which hosts read as another")
    except UnicodeDecodeError as error:
        raise PayloadError(f"the {what} is not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise PayloadError(f"the {what} is not valid JSON: {error}") from error
    except RecursionError as error:
        raise PayloadError(f"the {what} is nested too deeply") from error
    return value


_HALF = compiled("[\ud800-\udfff]")
"""A surrogate alone: for it, hosts write another character, and so open another file."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object, if no key stands in it twice: the host may read the other one."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise PayloadError("a key stands twice in one object of the payload")
    return value


def text_of(payload: dict[str, Any], key: str) -> str:
    """A string that must be there."""
    value = payload.get(key)
    if not isinstance(value, str) or not value:
        raise PayloadError(f"{key} is missing or no text")
    return value


def optional_text(payload: dict[str, Any], key: str) -> str | None:
    """A string that may be left out; None too if it is something else."""
    value = payload.get(key)
    return value if isinstance(value, str) and value else None


def directory_of(payload: dict[str, Any], key: str) -> str:
    """An absolute path that must be there."""
    return absolute(text_of(payload, key), key)


def absolute(path: str, key: str) -> str:
    """The path, if it is absolute."""
    if _WINDOWS.match(path):
        raise PayloadError(f"{key} is a folder of Windows, where Ringfence cannot judge calls")
    if not path.startswith("/"):
        raise PayloadError(f"{key} is no absolute path")
    return path


_WINDOWS = compiled(r"[A-Za-z]:[\\/]|\\\\")


def object_of(payload: dict[str, Any], key: str) -> dict[str, Any]:
    """An object that must be there; some hosts send it as a string of JSON."""
    value = payload.get(key)
    if isinstance(value, str):
        return read_object(value.encode("utf-8", "surrogatepass"), key)
    if not isinstance(value, dict):
        raise PayloadError(f"{key} is missing or no object")
    return value
