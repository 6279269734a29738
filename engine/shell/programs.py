"""Programs that stand in a command's argument or here-document: ``python -c``, ``awk``, ``sed``….

Only what opens files or runs commands counts: a text with a slash in it is no path. To teach
Ringfence a language, write a module in ``inline/`` and add it to `LANGUAGES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from ringfence.engine.shell.inline.model import Findings, Inspection, Inspector, Program
from ringfence.engine.shell.outputs.call import Context
from ringfence.rules.model import UNKNOWN, Field

__all__ = ["LANGUAGES", "Inspection", "inspect_program"]

MAX_LENGTH = 100_000
"""The longest program that is looked into."""

LANGUAGES: Mapping[str, tuple[str, str]] = {
    "awk": ("awk", "inspect"),
    "fish": ("others", "inspect_fish"),
    "julia": ("others", "inspect_julia"),
    "lua": ("others", "inspect_lua"),
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
}
"""The module of ``inline/`` for each language, and the function in it."""

WITHOUT_FILES = frozenset(("jq", "yq", "bc", "dc"))
"""Languages in which a program cannot open files or run commands."""


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
    findings = Findings()
    if language in WITHOUT_FILES:
        return findings.inspection()
    if language not in LANGUAGES:
        findings.opaque(f"a program in {language}")
    elif UNKNOWN in text and not text.strip(UNKNOWN + " \t\n;"):
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
