"""Commands of ``vim -c`` and ``ex``, line by line."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.regex import compiled
from ringfence.rules.model import Operation

_COMMAND = compiled(
    r"[: \t]*(?:silent!?[ \t]+)?[%0-9,.$'<>+-]*(?P<name>[a-z]*)(?P<bang>!?)(?P<rest>.*)", re.DOTALL
)
_WRITES = frozenset(("w", "wr", "write", "wq", "x", "xit", "sav", "saveas", "up", "update", "wn"))
_READS = frozenset(
    (
        *("e", "edit", "r", "read", "so", "source", "sp", "split", "vs", "vsplit", "tabe"),
        *("tabedit", "view", "n", "next", "cd", "lcd", "luafile", "pyfile", "py3file"),
    )
)
_PROGRAMS = compiled(
    r"\b(system|systemlist|writefile|readfile|delete|rename|mkdir|exe(cute)?|eval"
    r"|py(thon)?[3x]?|perl|ruby|lua)\b"
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    for line in re.finditer(r"[^\n]+", program.text):
        match = _COMMAND.fullmatch(line[0])
        if match is None:
            continue
        name, rest = match["name"], match["rest"].strip()
        start = line.start() + match.start("rest") + match["rest"].find(rest)
        span = (start, start + len(rest))
        if rest.startswith("!") and name in _WRITES | _READS:
            findings.shell(rest[1:].strip(), span, "vim !")
        elif match["bang"] and not name:
            findings.shell(rest, span, "vim !")
        elif name in _WRITES | _READS and rest and re.match(r"[ \t]", match["rest"]):
            operation = Operation.WRITE if name in _WRITES else Operation.READ
            findings.path(program.expanduser(rest), operation, span, f"vim :{name}")
        elif _PROGRAMS.search(line[0]) and name not in ("s", "g", "v", "normal"):
            findings.opaque("a vim command that runs a program of its own")
