"""Small languages of filters: jq and yq, which may load files, dc and m4, which run commands."""

from __future__ import annotations

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.regex import compiled
from ringfence.rules.classify import leads_out
from ringfence.rules.model import UNKNOWN, Operation

_TEXT = r'"((?:[^"\\]|\\.)*)"'

# --- jq ----------------------------------------------------------------------------------------

_MODULE = compiled(rf"\b(?:import|include)\s*{_TEXT}")
_SEARCHED = compiled(rf'(?:"search"|\bsearch)\s*:\s*{_TEXT}')


def inspect_jq(program: Program, findings: Findings) -> None:
    """Modules and data that a jq program imports; whatever else it is given, its operands say."""
    if "import" not in program.text and "include" not in program.text:
        return
    for match in (*_MODULE.finditer(program.text), *_SEARCHED.finditer(program.text)):
        path = program.expanduser(match[1])
        if leads_out(path) or UNKNOWN in path:  # any other is looked for in jq's own folders
            findings.path(path, Operation.READ, match.span(1), "import")


# --- yq ----------------------------------------------------------------------------------------

_LOAD = compiled(r"\b(load(?:_\w+)?)\s*\(\s*(?:" + _TEXT + r"\s*\))?")


def inspect_yq(program: Program, findings: Findings) -> None:
    """``load("file")`` and the like."""
    for match in _LOAD.finditer(program.text):
        path = UNKNOWN if match[2] is None else match[2]
        findings.path(path, Operation.READ, match.span(), f"{match[1]}()")


# --- dc ----------------------------------------------------------------------------------------

_SYSTEM = compiled(r"!(?![<>=])[ \t]*([^\n]*)")


def inspect_dc(program: Program, findings: Findings) -> None:
    """``!`` gives the rest of its line to a shell, unless it negates a comparison."""
    for match in _SYSTEM.finditer(program.text):
        if match[1]:
            findings.shell(match[1], match.span(1), "!")


# --- m4 ----------------------------------------------------------------------------------------

_MACRO = compiled(r"\b(s?include|undivert|e?syscmd)\(\s*(`?)([^'(),]*)('?)\s*(?=[,)])?")


def inspect_m4(program: Program, findings: Findings) -> None:
    """The files that m4's own macros include, and the commands that they run."""
    for match in _MACRO.finditer(program.text):
        name, text = match[1], match[3]
        plain = bool(text) and bool(match[2]) == bool(match[4]) and "$" not in text
        if name.endswith("cmd"):
            findings.shell(_quoted(program.text, match.start(2)) or UNKNOWN, match.span(), name)
        elif name != "undivert" or not text.isdigit():
            findings.path(text if plain else UNKNOWN, Operation.READ, match.span(3), name)


def _quoted(text: str, start: int) -> str:
    """What stands in m4's quotes, which nest; "" if there are none."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "`") - (text[place] == "'")
        if depth == 0:
            return text[start + 1 : place]
    return ""
