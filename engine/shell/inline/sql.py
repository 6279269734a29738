r"""SQL for ``sqlite3``, ``duckdb``, ``psql`` and ``mysql``, with the commands of these clients.

The database itself is not a file of the caller's, but for the first two. Files are opened by the
clients' own commands (``.read``, ``\i``, ``source``) and by a few statements and functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.records import define, evolve, frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Operation

_READ, _WRITE = Operation.READ, Operation.WRITE

_TOKEN = compiled(
    r"""
      (?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'(?:''|[^'])*')
    | (?P<quoted>"(?:""|[^"])*"|`[^`]*`|\[[^]\n]*\])
    | (?P<name>[A-Za-z_]\w*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@frozen
class _Dialect:
    """``commands`` are those that take the rest of their line, by their first word.

    Each maps the index of an argument (-1 is the last) to what happens to the file there;
    ``shells`` take a command for a shell.
    """

    pattern: re.Pattern[str]
    commands: Mapping[str, tuple[int, Operation]]
    shells: frozenset[str]
    tables: bool = False  # whether a text in the place of a table is a file


_SQLITE = _Dialect(
    compiled(r"^[ \t]*(\.[a-z]+)\b([^\n]*)", re.MULTILINE),
    {
        ".read": (0, _READ),
        ".output": (-1, _WRITE),
        ".once": (-1, _WRITE),
        ".import": (-2, _READ),
        ".open": (-1, _WRITE),
        ".backup": (-1, _WRITE),
        ".save": (-1, _WRITE),
        ".restore": (-1, _READ),
        ".clone": (-1, _WRITE),
        ".log": (-1, _WRITE),
        ".trace": (-1, _WRITE),
        ".load": (0, _READ),
        ".cd": (0, Operation.ENTER),
        ".testcase": (0, _WRITE),
    },
    frozenset((".system", ".shell")),
)
_DUCKDB = evolve(_SQLITE, shells=_SQLITE.shells | {".sh"}, tables=True)
_PSQL = _Dialect(
    compiled(r"(\\(?:[a-z_]+|!))([^\n]*)"),
    {
        **dict.fromkeys((r"\i", r"\ir", r"\include", r"\include_relative"), (0, _READ)),
        **dict.fromkeys((r"\o", r"\out", r"\w", r"\write", r"\g", r"\gx", r"\s"), (0, _WRITE)),
        r"\cd": (0, Operation.ENTER),
        r"\e": (0, _WRITE),
        r"\lo_import": (0, _READ),
        r"\lo_export": (1, _WRITE),
    },
    frozenset((r"\!",)),
)
_MYSQL = _Dialect(
    compiled(
        r"^[ \t]*(\\[.!TP]|source\b|system\b|tee\b|pager\b)([^\n;]*)", re.MULTILINE | re.IGNORECASE
    ),
    {
        **dict.fromkeys(("source", r"\."), (0, _READ)),
        **dict.fromkeys(("tee", r"\t"), (0, _WRITE)),
    },
    frozenset((r"\!", "system", "pager", r"\p")),
)
_FUNCTIONS = {
    "readfile": _READ,
    "writefile": _WRITE,
    "load_extension": _READ,
    "fsdir": _READ,
    "lsdir": _READ,
    "zipfile": _READ,
    "read_csv": _READ,
    "read_csv_auto": _READ,
    "read_json": _READ,
    "read_json_auto": _READ,
    "read_parquet": _READ,
    "read_text": _READ,
    "read_blob": _READ,
    "glob_files": _READ,
    "glob": _READ,
    "parquet_scan": _READ,
    "read_ndjson": _READ,
    "read_xlsx": _READ,
}
_TABLES = {
    **dict.fromkeys(("from", "join", "load", "import", "install", "update"), _READ),
    **dict.fromkeys(("to", "into", "export"), _WRITE),
}
# Texts that are no file where a file is expected.
_NO_FILES = frozenset(
    ("stdout", "stdin", "stderr", "on", "off", "pstdin", "pstdout", ":memory:", "")
)
_ARGUMENT = compiled(r"""\s*('(?:''|[^'])*'|"(?:\\.|[^"\\])*"|[^\s;]+)""")


def inspect_sqlite(program: Program, findings: Findings) -> None:
    """Look into what ``sqlite3`` is told to do."""
    _Reader(program.text, findings, _SQLITE).read(statements=True)


def inspect_duckdb(program: Program, findings: Findings) -> None:
    """Look into what ``duckdb`` is told to do, which takes files for tables."""
    _Reader(program.text, findings, _DUCKDB).read(statements=True)


def inspect_psql(program: Program, findings: Findings) -> None:
    """Look into what ``psql`` is told to do; its statements run on the server."""
    _Reader(program.text, findings, _PSQL).read(statements=False)


def inspect_mysql(program: Program, findings: Findings) -> None:
    """Look into what ``mysql`` is told to do; its statements run on the server."""
    _Reader(program.text, findings, _MYSQL).read(statements=False)


@define
class _Reader:
    text: str
    findings: Findings
    dialect: _Dialect

    def read(self, *, statements: bool) -> None:
        """Find the client's commands and, if they run here, the statements that open files."""
        rest = self.dialect.pattern.sub(self._command, self.text)
        if not rest.strip(UNKNOWN + " ;\n") and UNKNOWN in rest:
            self.findings.opaque("SQL that is only known at run time")
        self._statements(rest, local=statements)

    def _command(self, match: re.Match[str]) -> str:
        """Look at one command of the client; returns blanks in its place."""
        name, rest = match[1].lower(), match[2]
        start = match.start(2)
        if name in self.dialect.shells:
            stripped = rest.strip()
            if stripped:
                self.findings.shell(stripped, (start + rest.find(stripped), match.end()), name)
        elif name == r"\copy":
            self._copy(rest, start)
        elif name in self.dialect.commands:
            self._client_file(name, rest, start)
        return " " * len(match[0])

    def _client_file(self, name: str, rest: str, start: int) -> None:
        index, operation = self.dialect.commands[name]
        pipe = re.match(r"\s*['\"]?\|\s*([^'\"\n]*)", rest)
        if pipe:
            self.findings.shell(pipe[1], (start + pipe.start(1), start + pipe.end(1)), name)
            return
        words = [m for m in _ARGUMENT.finditer(rest) if not m[1].startswith("-")]
        if -len(words) <= index < len(words):
            word = words[index]
            path = word[1].strip("'\"")
            if path.lower() not in _NO_FILES:
                span = (start + word.start(1), start + word.end(1))
                self.findings.path(path, operation, span, name)

    def _copy(self, rest: str, start: int) -> None:
        match = re.search(
            r"\b(from|to)\s+(program\s+)?('(?:''|[^'])*'|[^\s;]+)", rest, re.IGNORECASE
        )
        if match is None or match[3].lower() in _NO_FILES:
            return
        span = (start + match.start(3), start + match.end(3))
        if match[2]:
            self.findings.shell(match[3].strip("'"), span, r"\copy")
        else:
            operation = _READ if match[1].lower() == "from" else _WRITE
            self.findings.path(match[3].strip("'"), operation, span, r"\copy")

    def _statements(self, text: str, *, local: bool) -> None:
        tokens = [m for m in _TOKEN.finditer(text) if m.lastgroup != "skip"]
        words = [m[0].lower() if m.lastgroup in ("name", "other") else "" for m in tokens]
        for index, word in enumerate(words):
            if word == "infile" and "local" in words[max(0, index - 3) : index]:
                self._argument(tokens, index + 1, _READ, "load data local infile")
            if not local:
                continue
            if word == "attach":
                skipped = words[index + 1 : index + 2] == ["database"]
                self._argument(tokens, index + 1 + skipped, _WRITE, "attach")
            elif word == "into" and words[max(0, index - 2) : index].count("vacuum"):
                self._argument(tokens, index + 1, _WRITE, "vacuum into")
            elif self.dialect.tables and word in _TABLES:
                self._table(tokens, words, index)
            elif word in _FUNCTIONS and words[index + 1 : index + 2] == ["("]:
                self._argument(tokens, index + 2, _FUNCTIONS[word], f"{word}()")

    def _table(self, tokens: list[re.Match[str]], words: list[str], index: int) -> None:
        """``FROM 'file'``, ``COPY … TO 'file'``, ``EXPORT DATABASE 'folder'``, ``LOAD 'file'``."""
        at = index + 2 if words[index + 1 : index + 2] == ["database"] else index + 1
        if at < len(tokens) and tokens[at].lastgroup in ("string", "quoted"):
            self._argument(tokens, at, _TABLES[words[index]], words[index])

    def _argument(
        self, tokens: list[re.Match[str]], index: int, operation: Operation, by: str
    ) -> None:
        """A file that a statement names; an expression is not followed."""
        if index >= len(tokens):
            return
        token = tokens[index]
        after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
        if token.lastgroup not in ("string", "quoted") or after == "|":
            self.findings.unknown_path(by)
            return
        path = token[0][1:-1].replace("''", "'")
        if path.startswith("file:"):
            path = re.sub(r"^file:(//(localhost)?(?=/))?", "", path).partition("?")[0]
        if path not in _NO_FILES and not re.match(r"[a-z]+://", path):
            self.findings.path(path, operation, token.span(), by)
