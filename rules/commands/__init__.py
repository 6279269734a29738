"""What commands do with their arguments: the TOML files say it, ``usage`` applies it."""

from __future__ import annotations

from ringfence.rules.commands.data import lookup
from ringfence.rules.commands.interpret import usage

__all__ = ["lookup", "usage"]
