"""Programs that stand in a command's argument or here-document: ``python -c``, ``awk``, ``sed``….

Only what opens files or runs commands counts: a text with a slash in it is no path. To teach
Ringfence a language, write a module in ``inline/`` and add it to `LANGUAGES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ringfence.engine.shell.outputs.call import Context
from ringfence.rules.model import UNKNOWN, Field

if TYPE_CHECKING:
    from ringfence.engine.shell.inline.model import Inspection, Inspector

__all__ = ["LANGUAGES", "inspect_program"]

MAX_LENGTH = 100_000
"""The longest program that is looked into."""

LANGUAGES: Mapping[str, tuple[str, str]] = {
    "awk": ("awk", "inspect"),
    "dc": ("filters", "inspect_dc"),
    "duckdb": ("sql", "inspect_duckdb"),
    "fish": ("others", "inspect_fish"),
    "jq": ("filters", "inspect_jq"),
    "julia": ("others", "inspect_julia"),
    "lua": ("others", "inspect_lua"),
    "m4": ("filters", "inspect_m4"),
    "make": ("make", "inspect"),
    "mysql": ("sql", "inspect_mysql"),
    "node": ("javascript", "inspect"),
    "perl": ("perl", "inspect"),
    "php": ("php", "inspect"),
    "psql": ("sql", "inspect_psql"),
    "python": ("python", "inspect"),
    "r": ("others", "inspect_r"),
    "ruby": ("ruby", "inspect"),
    "sed": ("sed", "inspect"),
    "sqlite": ("sql", "inspect_sqlite"),
    "vim": ("vim", "inspect"),
    "yq": ("filters", "inspect_yq"),
}
"""The module of ``inline/`` for each language, and the function in it."""

QUERIES = frozenset(("jq", "yq"))
"""Languages of which a program that is not known is taken to open no file: few do, and many a
query is in a variable."""


def inspect_program(
    language: str,
    text: str,
    parameters: Sequence[Field] = (),
    context: Context | None = None,
) -> Inspection:
    """What the program ``text`` does with files, as far as its text tells.

    ``text`` may hold unknowns, ``parameters`` are the arguments that the program receives. A
    language that is not known is opaque.
    """
    # Most commands hold no program.
    from ringfence.engine.shell.inline.model import Findings, Program  # noqa: PLC0415

    findings = Findings()
    if language not in LANGUAGES:
        findings.opaque(f"a program in {language}")
    elif UNKNOWN in text and not text.strip(UNKNOWN + " \t\n;"):
        if language in QUERIES:
            return findings.inspection()
        findings.opaque(f"a {language} program that is only known at run time")
    elif len(text) > MAX_LENGTH:
        findings.opaque(f"a {language} program of more than {MAX_LENGTH} characters")
    else:
        module, function = LANGUAGES[language]
        found = import_module(f"ringfence.engine.shell.inline.{module}")
        inspector: Inspector = getattr(found, function)
        try:
            inspector(Program(text, tuple(parameters), context), findings)
        except RecursionError:
            findings.opaque(f"a {language} program that is nested too deeply")
    return findings.inspection()
