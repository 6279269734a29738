"""Awk programs, read token by token.

Files are opened by ``print > file``, ``>>`` and ``getline < file``, and by what is assigned to
``ARGV``; commands are run by ``print | command``, ``command | getline`` and ``system()``. A
variable may hold whatever the program assigns to it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, product

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, Operation, is_known

MAX_VALUES = 12
"""How many possible values of one expression are told apart."""

MAX_STEPS = 20_000
"""How many expressions are looked at, repetitions counted."""

MAX_COMMAND = 500
"""How many tokens before a ``| getline`` may belong to its command."""

MAX_DEPTH = 20
"""How deep parentheses and variables that hold each other are followed."""

_TOKEN = compiled(
    r"""
      (?P<skip>[ \t\r]+|\\\n|\#[^\n]*)
    | (?P<string>"(?:\\.|[^"\\])*")
    | (?P<number>(?:0x[0-9a-fA-F]+|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+))
    | (?P<name>@?[A-Za-z_][A-Za-z_0-9:]*)
    | (?P<operator>\n|\|&|&&|\|\||\+\+|--|\*\*=?|>>|[-+*/%^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = compiled(r"/(?:\\.|\[\^?\]?(?:\[:\w+:\]|\\.|[^]\n\\])*\]|[^/\\\n[])*/", re.DOTALL)
_ESCAPE = compiled(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ASSIGNMENT = compiled(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)

# After these a `/` begins a regular expression.
_OPERATOR_NAMES = frozenset("print printf return in case do else getline exit delete".split())  # noqa: SIM905
_NUMBERS = frozenset("NR NF FNR RSTART RLENGTH ARGC RT ARGIND".split())  # noqa: SIM905
_NUMERIC_FUNCTIONS = frozenset(
    ("length", "int", "index", "match", "rand", "srand", "systime", "split", "sub", "gsub", "sqrt")
)
_CHANGES = frozenset(("+=", "-=", "*=", "/=", "%=", "^=", "++", "--"))
_ENDS = frozenset((";", "\n", "}"))


@frozen
class _Token:
    kind: str  # string, regex, number, name, operator or end
    text: str
    start: int
    end: int


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    reader = _Reader(program, findings, _tokens(program.text))
    reader.pair()
    reader.collect()
    try:
        reader.search()
    except _TooLong:
        findings.opaque("an awk program that is too long to follow")


class _TooLong(Exception):  # noqa: N818 - it is an answer
    """The program takes more than MAX_STEPS."""


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    while position < len(text):
        match = _REGEX.match(text, position) if _regex_fits(found) else None
        kind = "regex"
        if match is None:
            match = _TOKEN.match(text, position)
            assert match is not None  # its last alternative takes any character
            kind = match.lastgroup or ""
        if kind != "skip":
            found.append(_Token(kind, match[0], position, match.end()))
        position = match.end()
    found.append(_Token("end", "", len(text), len(text)))
    return found


def _regex_fits(before: Sequence[_Token]) -> bool:
    """Whether a ``/`` after these tokens begins a regular expression, and is no division."""
    if not before:
        return True
    last = before[-1]
    if last.kind == "operator":
        return last.text not in (")", "]", "$", "++", "--")
    return last.kind == "name" and last.text in _OPERATOR_NAMES


def _decoded(literal: str) -> str:
    def decode(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 8))
        if match[2]:
            return chr(int(match[2], 16))
        return "" if match[3] == "\n" else _ESCAPES.get(match[3], match[3])

    return _ESCAPE.sub(decode, literal[1:-1])


@define
class _Reader:
    program: Program
    findings: Findings
    tokens: list[_Token]
    variables: dict[str, list[tuple[int, int]]] = field(factory=dict)  # ranges of tokens
    given: dict[str, list[str]] = field(factory=dict)  # by an argument
    counters: set[str] = field(factory=set)  # changed by arithmetic
    changed: set[str] = field(factory=set)  # in another way
    files: list[str] = field(factory=list)
    partners: dict[int, int] = field(factory=dict)  # of each bracket, the other one
    steps: int = 0

    # --- tokens --------------------------------------------------------------------------------

    def _text(self, index: int) -> str:
        """The token's text; that of a string is never an operator's."""
        if not 0 <= index < len(self.tokens):
            return ""
        token = self.tokens[index]
        return token.text if token.kind in ("operator", "name") else ""

    def _closer(self, index: int) -> int:
        """The index of the bracket that closes the one at ``index``, or the end's."""
        return self.partners.get(index, len(self.tokens) - 1)

    def _opener(self, index: int) -> int:
        """The index of the bracket that opens the one at ``index``; ``index`` if it is none."""
        return min(index, self.partners.get(index, index))

    def pair(self) -> None:
        """Find the partner of each bracket."""
        opened: list[int] = []
        for index in range(len(self.tokens)):
            text = self._text(index)
            if text in ("(", "[", "{"):
                opened.append(index)
            elif text in (")", "]", "}") and opened:
                opener = opened.pop()
                self.partners[opener], self.partners[index] = index, opener

    def _find(self, index: int, wanted: frozenset[str]) -> int:
        """The first of ``wanted`` from ``index`` on, outside of brackets, or where that ends."""
        while index < len(self.tokens) - 1:
            text = self._text(index)
            if text in wanted:
                return index
            if text in ("(", "["):
                index = self._closer(index)
            elif text in (")", "]", "}"):
                return index
            index += 1
        return index

    # --- variables -----------------------------------------------------------------------------

    def collect(self) -> None:
        """Find out what each variable may hold."""
        for parameter in self.program.parameters:
            match = _ASSIGNMENT.fullmatch(parameter.text)
            if match:
                self.given.setdefault(match[1], []).append(_decoded(f'"{match[2]}"'))
            else:
                self.files.append(parameter.text)
        for index, token in enumerate(self.tokens):
            if token.kind != "name":
                continue
            following, before = self._text(index + 1), self._text(index - 1)
            if following == "=" and before not in ("$", "]"):
                end = self._find(index + 2, _ENDS | {",", ")"})
                self.variables.setdefault(token.text, []).append((index + 2, end))
            elif following in _CHANGES or before in ("++", "--"):
                self.counters.add(token.text)
            elif following == "in" or before == "getline":
                self.changed.add(token.text)
            if token.text in ("function", "func"):
                opener = index + 2
                for parameter_index in range(opener, self._closer(opener)):
                    self.changed.add(self._text(parameter_index))
            if token.text in ("sub", "gsub", "split", "match", "sprintf", "printf"):
                self._arguments_change(index)

    def _arguments_change(self, index: int) -> None:
        """``sub`` and ``gsub`` change a variable, ``split`` and ``match`` fill one."""
        name = self.tokens[index].text
        if name in ("sprintf", "printf") or self._text(index + 1) != "(":
            return
        for inner in range(index + 2, self._closer(index + 1)):
            if self.tokens[inner].kind == "name" and self._text(inner + 1) in (",", ")"):
                self.changed.add(self.tokens[inner].text)

    def _variable(self, name: str, depth: int) -> list[str]:
        if name in _NUMBERS:
            return [NAME]
        if name == "FILENAME":
            return self.files or [UNKNOWN]
        values = list(self.given.get(name, ()))
        for start, end in self.variables.get(name, ()):
            values += self._values(start, end, depth + 1)
        if name in self.changed:
            values.append(UNKNOWN)
        if name in self.counters:
            values.append(NAME)
        # Nothing is assigned to it here; an argument may do it.
        return values or [UNKNOWN]

    # --- expressions ---------------------------------------------------------------------------

    def _values(self, start: int, end: int, depth: int = 0) -> list[str]:
        """The texts that the expression in tokens ``start`` to ``end`` may have."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise _TooLong
        if depth > MAX_DEPTH:
            return [UNKNOWN]
        terms: list[list[str]] = []
        index = start
        while index < end:
            text = self._text(index)
            if text in ("+", "-", "*", "/", "%", "^", "**", "++", "--") and terms:
                # Arithmetic binds more tightly than concatenation.
                index = (
                    index + 1 if text in ("++", "--") else self._primary(index + 1, end, depth)[1]
                )
                terms[-1] = [NAME]
                continue
            values, index = self._primary(index, end, depth)
            if values is None:
                return [UNKNOWN]
            terms.append(values)
        combined = islice(product(*terms), MAX_VALUES + 1)
        found = list(dict.fromkeys("".join(combination) for combination in combined))
        return found if len(found) <= MAX_VALUES else [UNKNOWN]

    def _primary(self, index: int, end: int, depth: int) -> tuple[list[str] | None, int]:
        """The values of one operand, None if it is an operator, and the index after it."""
        if index >= end:
            return [""], index
        token = self.tokens[index]
        following = self._text(index + 1)
        if token.kind == "string":
            return [_decoded(token.text)], index + 1
        if token.kind == "number":
            return [token.text], index + 1
        if token.text == "(" and token.kind == "operator":
            close = self._closer(index)
            return self._values(index + 1, close, depth + 1), close + 1
        if token.text == "$" and token.kind == "operator":
            return [UNKNOWN], self._primary(index + 1, end, depth)[1]
        if token.kind != "name":
            return None, index + 1
        if following == "[":
            close = self._closer(index + 1)
            return self._element(token.text, index + 2, close, depth), close + 1
        if following == "(":
            close = self._closer(index + 1)
            return self._function(token.text, index + 2, close, depth), close + 1
        return self._variable(token.text, depth), index + 1

    def _element(self, name: str, start: int, end: int, depth: int) -> list[str]:
        keys = self._values(start, end, depth + 1)
        if name == "ENVIRON":
            return [self.program.variable(key) for key in keys]
        if name == "ARGV":
            return [p.text for p in self.program.parameters] or [UNKNOWN]
        return [UNKNOWN]

    def _function(self, name: str, start: int, end: int, depth: int) -> list[str]:
        if name in _NUMERIC_FUNCTIONS:
            return [NAME]
        if name == "sprintf":
            comma = self._find(start, frozenset(","))
            formats = self._values(start, min(comma, end), depth + 1)
            return [self._formatted(text, comma + 1, end, depth) for text in formats]
        return [UNKNOWN]

    def _formatted(self, template: str, start: int, end: int, depth: int) -> str:
        result = ""
        for piece in re.split(r"(%[-+ 0#]*\d*(?:\.\d+)?[a-zA-Z%])", template):
            if len(piece) < 2 or piece[0] != "%":
                result += piece
            elif piece[-1] == "%":
                result += "%"
            else:
                comma = min(self._find(start, frozenset(",")), end)
                values = self._values(start, comma, depth + 1)
                start = comma + 1
                plain = piece == "%s" and len(values) == 1
                result += values[0] if plain else NAME if piece[-1] in "dioxXuc" else UNKNOWN
        return result

    # --- what is opened and run ----------------------------------------------------------------

    def search(self) -> None:
        """Find all files and commands."""
        for index, token in enumerate(self.tokens):
            if token.kind != "name":
                continue
            following = self._text(index + 1)
            if token.text in ("print", "printf"):
                self._print(index)
            elif token.text == "getline":
                self._getline(index)
            elif token.text == "system" and following == "(":
                close = self._closer(index + 1)
                self._shell(index + 2, close, "awk system()")
            elif token.text in ("@include", "@load"):
                self._open(index + 1, index + 2, Operation.READ, f"awk {token.text}")
            elif token.text == "ARGV" and following == "[":
                close = self._closer(index + 1)
                if self._text(close + 1) == "=":
                    end = self._find(close + 2, _ENDS)
                    self._open(close + 2, end, Operation.READ, "awk ARGV")

    def _print(self, index: int) -> None:
        redirections = frozenset((">", ">>", "|", "|&"))
        at = self._find(index + 1, redirections | _ENDS)
        operator = self._text(at)
        if operator not in redirections:
            return
        end = self._find(at + 1, _ENDS)
        if operator in (">", ">>"):
            self._open(at + 1, end, Operation.WRITE, f"awk print {operator}")
        else:
            self._shell(at + 1, end, "awk print |")

    def _getline(self, index: int) -> None:
        before = self._text(index - 1)
        if before in ("|", "|&"):
            start = index - 1
            first = max(0, index - MAX_COMMAND)
            while start > first and not self._begins_command(start - 1):
                start = self._opener(start - 1)
            self._shell(start, index - 1, "awk | getline")
            return
        at = index + 1
        if self.tokens[at].kind == "name" or self._text(at) == "$":
            at = self._primary(at, len(self.tokens), 0)[1]
        if self._text(at) == "<":
            end = self._primary(at + 1, len(self.tokens) - 1, 0)[1]
            self._open(at + 1, end, Operation.READ, "awk getline <")

    def _begins_command(self, index: int) -> bool:
        """Whether the command of a ``| getline`` begins after the token at ``index``."""
        return self._text(index) in (";", "\n", "{", "}", "(", "=", "&&", "||", "!", "while", ",")

    def _span(self, start: int, end: int) -> tuple[int, int]:
        last = max(start, end - 1)
        return self.tokens[start].start, self.tokens[min(last, len(self.tokens) - 1)].end

    def _open(self, start: int, end: int, operation: Operation, by: str) -> None:
        for path in self._values(start, end):
            if path == "-" or path.startswith(("/inet", "/dev/std")):
                continue
            self.findings.path(path, operation, self._span(start, end), by)

    def _shell(self, start: int, end: int, by: str) -> None:
        for command in self._values(start, end):
            if is_known(command) and not command.strip():
                continue
            self.findings.shell(command, self._span(start, end), by)
