"""Policies of other systems, as tables of a config file of ours.

What is made is never looser than what it is made of: an allow that has no counterpart is left out,
a refusal or a question that has none becomes a question about the whole tool. Both are told.
"""

from __future__ import annotations

from ringfence.engine.imports.claude_code import from_claude
from ringfence.engine.imports.model import Import
from ringfence.engine.imports.opencode import from_opencode
from ringfence.engine.imports.pi import from_pi
from ringfence.engine.imports.text import toml

__all__ = ["Import", "from_claude", "from_opencode", "from_pi", "toml"]
