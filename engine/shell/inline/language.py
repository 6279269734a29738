"""What has to be told about a scripting language so that its programs can be looked into."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ringfence.engine.shell.inline.tokens import Lexis
from ringfence.grammar.records import field, frozen
from ringfence.rules.model import Operation

if TYPE_CHECKING:
    from ringfence.engine.shell.inline.scripting import Reader

Range = tuple[int, int]


@frozen
class Use:
    """Arguments that name paths: the one at ``position``, or all of them if it is None.

    ``operation`` is None where the text at ``mode`` decides between read and write.
    """

    operation: Operation | None
    position: int | None
    mode: int = 1


def uses(*tables: Mapping[str, str]) -> dict[str, tuple[Use, ...]]:
    """Uses by the names of functions, from lines such as ``{"read:0 write:1": "copy rename"}``."""
    found: dict[str, tuple[Use, ...]] = {}
    for table in tables:
        for text, names in table.items():
            parsed = []
            for item in text.split():
                operation, position, *mode = item.split(":")
                parsed.append(
                    Use(
                        None if operation == "mode" else Operation(operation),
                        None if position == "*" else int(position),
                        int(mode[0]) if mode else 1,
                    )
                )
            found.update(dict.fromkeys(names.split(), tuple(parsed)))
    return found


@frozen
class Language:
    """A scripting language, as far as it matters here.

    Functions are named as they are called, with ``.`` between the parts; ``*.name`` is ``name``
    of any object, or alone.
    """

    name: str
    lexis: Lexis
    concatenation: str
    functions: Mapping[str, tuple[Use, ...]]
    shells: frozenset[str]  # the first argument is for a shell
    runners: frozenset[str]  # the arguments are a command's words; a single one is for a shell
    plain_runners: frozenset[str] = frozenset()  # never a shell
    evaluators: frozenset[str] = frozenset()  # the first argument is run as code
    results: Mapping[str, str] = field(factory=dict)  # what functions on paths give
    constants: Mapping[str, str] = field(factory=dict)
    interpolation: re.Pattern[str] | None = None  # ``name`` or ``code`` in raw texts
    bare_calls: bool = False  # arguments may stand without parentheses
    bare_names: frozenset[str] = frozenset()  # of these alone
    globs: frozenset[str] = frozenset()  # the first argument is a pattern
    look_at_name: Callable[[Reader, int], None] | None = None
    loads: frozenset[str] = frozenset()  # load a module by path
    special: Mapping[str, Callable[[Reader, Call], bool]] = field(factory=dict)
    stops: frozenset[str] = frozenset((";", "\n"))  # end arguments without parentheses


@frozen
class Call:
    """A call: its name, the ranges of its arguments, and the tokens that it covers."""

    name: str
    arguments: tuple[Range, ...]
    start: int
    end: int
