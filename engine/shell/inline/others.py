"""Languages that are rare on a command line: Lua, R, Julia and fish."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline import scripting
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.scripting import Language, uses
from ringfence.engine.shell.inline.tokens import Lexis, Quote, Token
from ringfence.grammar.regex import compiled

_LONG = compiled(r"\[(=*)\[(.*?)\]\1\]", re.DOTALL)


def _long_text(text: str, at: int, before: Token | None) -> Quote | None:  # noqa: ARG001
    """``[[text]]``."""
    match = _LONG.match(text, at)
    return Quote("text", match[2], match.end()) if match else None


LUA = Language(
    name="lua",
    lexis=Lexis(
        name=compiled(r"[A-Za-z_]\w*"),
        comment=compiled(r"--\[\[.*?(?:\]\]|\Z)|--[^\n]*", re.DOTALL),
        quotes={"'": "escaped", '"': "escaped"},
        quote_like=_long_text,
    ),
    concatenation="..",
    functions=uses(
        {
            "mode:0:1": "io.open",
            "read:0": "io.lines io.input dofile loadfile",
            "write:0": "io.output",
            "delete:0": "os.remove",
            "delete:0 write:1": "os.rename",
        }
    ),
    shells=frozenset(("os.execute", "io.popen")),
    runners=frozenset(),
    evaluators=frozenset(("load", "loadstring")),
    results={"os.getenv": "environment", "arg": "parameters", "os.time": "number"},
)

R = Language(
    name="r",
    lexis=Lexis(
        name=compiled(r"[A-Za-z.][\w.]*(?:::[A-Za-z.][\w.]*)?"),
        comment=compiled(r"#[^\n]*"),
        quotes={"'": "escaped", '"': "escaped"},
    ),
    concatenation="\0",  # none: R puts texts together by functions
    functions=uses(
        {
            "read:0": "readLines read.csv read.table read.delim readRDS load source scan "
            "list.files list.dirs readr::read_csv readChar setwd",
            "mode:0:1": "file gzfile",
            "test:0": "file.exists dir.exists file.info file.size",
            "write:0": "dir.create file.create sink pdf png",
            "write:1": "write.csv write.table saveRDS writeLines",
            "delete:*": "unlink file.remove",
            "delete:0 write:1": "file.rename",
            "read:0 write:1": "file.copy",
        }
    ),
    shells=frozenset(("system", "shell", "pipe")),
    runners=frozenset(("system2",)),
    evaluators=frozenset(("parse",)),
    results={
        "file.path": "join",
        "Sys.getenv": "environment",
        "path.expand": "expand",
        "dirname": "dirname",
        "basename": "basename",
        "getwd": "directory",
        "commandArgs": "parameters",
    },
)

JULIA = Language(
    name="julia",
    lexis=Lexis(
        name=compiled(r"[A-Za-z_]\w*!?"),
        comment=compiled(r"#=.*?(?:=#|\Z)|#[^\n]*", re.DOTALL),
        quotes={"'": "text", '"': "raw", "`": "shell"},
    ),
    concatenation="*",
    functions=uses(
        {
            "mode:0:1": "open",
            "read:0": "read readlines eachline readdir include cd walkdir",
            "test:0": "isfile isdir ispath stat filesize",
            "write:0": "write mkdir mkpath touch",
            "delete:0": "rm",
            "delete:0 write:1": "mv",
            "read:0 write:1": "cp",
        }
    ),
    shells=frozenset(),
    runners=frozenset(),
    evaluators=frozenset(("Meta.parse", "include_string")),
    results={
        "joinpath": "join",
        "homedir": "home",
        "pwd": "directory",
        "tempdir": "temporary",
        "ENV": "environment",
        "ARGS": "parameters",
        "expanduser": "expand",
        "dirname": "dirname",
        "basename": "basename",
    },
    interpolation=compiled(r"\$\((?P<code>[^()]*)\)|\$(?P<name>[A-Za-z_]\w*)"),
)


def inspect_fish(program: Program, findings: Findings) -> None:
    """A fish program is looked at as bash's: what differs is a syntax error or unknown there."""
    findings.shell(program.text, (0, len(program.text)), "fish")


def inspect_lua(program: Program, findings: Findings) -> None:
    """Look into a Lua program."""
    scripting.inspect(LUA, program, findings)


def inspect_r(program: Program, findings: Findings) -> None:
    """Look into an R program."""
    scripting.inspect(R, program, findings)


def inspect_julia(program: Program, findings: Findings) -> None:
    """Look into a Julia program."""
    scripting.inspect(JULIA, program, findings)
