"""Grants: what a person's answers to questions allow from then on."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ringfence.engine.grants.apply import granted, holds
    from ringfence.engine.grants.model import Grant, Offer, Scope
    from ringfence.engine.grants.store import GrantError, GrantStore

__all__ = ["Grant", "GrantError", "GrantStore", "Offer", "Scope", "granted", "holds"]

_PLACES = {
    "Grant": "model",
    "GrantError": "store",
    "GrantStore": "store",
    "Offer": "model",
    "Scope": "model",
    "granted": "apply",
    "holds": "apply",
}


def __getattr__(name: str) -> object:
    """See ringfence: loaded when it is asked for. Most calls ask for the store alone."""
    if name in _PLACES:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
