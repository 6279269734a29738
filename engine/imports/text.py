"""The tables of a config as TOML."""

from __future__ import annotations

import re
from typing import Any

from ringfence.engine.escape import visible
from ringfence.engine.imports.model import Tables


def toml(tables: Tables) -> str:
    """Tables of a config as TOML; the innermost, answers by operation, stand on one line."""
    return "\n".join(_tables(tables, ())).strip("\n") + "\n"


def _tables(tables: Tables, above: tuple[str, ...]) -> list[str]:
    plain = {key: value for key, value in tables.items() if not _is_table(value)}
    lines = []
    if plain:
        if above:
            lines += ["", f"[{'.'.join(map(_key, above))}]"]
        lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in tables.items():
        if _is_table(value):
            lines += _tables(value, (*above, key))
    return lines


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and not set(value) <= {"read", "write"}


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _text(text)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}"
    return _text(str(value))


def _text(text: str) -> str:
    """A basic string; what is not plainly visible is escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if visible(c) == c else f"\\U{ord(c):08x}" for c in escaped) + '"'
