"""Grants: what a person's answers to questions allow from then on."""

from __future__ import annotations

from ringfence.engine.grants.apply import granted, holds
from ringfence.engine.grants.model import Grant, Offer, Scope
from ringfence.engine.grants.offers import offers
from ringfence.engine.grants.store import GrantError, GrantStore

__all__ = ["Grant", "GrantError", "GrantStore", "Offer", "Scope", "granted", "holds", "offers"]
