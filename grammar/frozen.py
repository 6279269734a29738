"""``frozen`` for the small classes that a decision makes by the hundred.

attrs' own ``frozen`` sets each attribute through ``object.__setattr__``, which makes an instance
take three times as long. Here mypy alone sees to it that nobody changes one; at run time they are
slotted classes that compare, and hash, by their values. What users of the library are handed,
and keep, is frozen by attrs itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attrs import frozen as frozen  # noqa: PLC0414
else:
    from ringfence.grammar.records import define

    def frozen(cls: type | None = None, *, eq: bool = True, **options: Any) -> Any:
        """As ``attrs.frozen``."""
        return define(cls, eq=eq, unsafe_hash=True if eq else None, **options)
