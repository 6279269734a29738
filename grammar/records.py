"""How every class of the package that holds values is declared: as with attrs.

For whoever reads types it is attrs; declaring.py says what it is at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringfence.grammar.declaring import names

if TYPE_CHECKING:
    from attrs import define, evolve, field, frozen
else:
    from ringfence.grammar.declaring import define, evolve, field, frozen

__all__ = ["define", "evolve", "field", "frozen", "names"]
