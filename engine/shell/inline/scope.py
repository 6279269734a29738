"""Variables and expressions of scripting languages, found among the tokens.

A variable may hold whatever is assigned to it anywhere in the program. An expression is a text,
a variable, texts put together, or one of the library's functions on paths.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from itertools import islice, product

from ringfence.engine.shell.inline.language import Language, Range
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_values import directory_name, globbed, join
from ringfence.engine.shell.inline.tokens import (
    Lexer,
    Token,
    Tokens,
    closer_index,
    decoded,
    opener_index,
    split_at,
)
from ringfence.engine.shell.outputs.places import last_name
from ringfence.grammar.records import define, field
from ringfence.rules.model import NAME, UNKNOWN

MAX_VALUES = 12
"""How many possible values of one expression are told apart."""

MAX_DEPTH = 12
"""How deep expressions and variables that hold each other are followed."""

MAX_NAMES = 200
"""How many tokens of one import, one loop's head or one list of parameters are looked at."""

MAX_STEPS = 20_000
"""How many expressions are looked at, repetitions counted."""


class TooLong(Exception):  # noqa: N818 - it is an answer
    """A program takes more than MAX_STEPS, or has too much code inside of texts."""


@define
class Scope:
    """The variables and expressions of one run of tokens."""

    language: Language
    program: Program
    findings: Findings
    tokens: Tokens
    _given: dict[str, list[list[str]]] = field(factory=dict)  # from the code around
    codes: list[tuple[str, int]] = field(factory=list)
    _assigned: dict[str, list[Range]] = field(factory=dict)
    _changed: set[str] = field(factory=set)
    _unknown: set[str] = field(factory=set)  # may hold anything besides
    _aliases: dict[str, str] = field(factory=dict)
    _active: set[str] = field(factory=set)
    _steps: list[int] = field(factory=lambda: [0])  # shared with the readers of inner code

    # --- tokens --------------------------------------------------------------------------------

    def operator(self, index: int) -> str:
        """The operator at ``index``, or an empty text."""
        if 0 <= index < len(self.tokens) and self.tokens[index].kind == "operator":
            return self.tokens[index].text
        return ""

    def name(self, index: int) -> str:
        """The name at ``index``, or an empty text."""
        if 0 <= index < len(self.tokens) and self.tokens[index].kind == "name":
            return self.tokens[index].text
        return ""

    def span(self, part: Range) -> tuple[int, int]:
        """Where a range of tokens stands in the program."""
        first = self.tokens[min(part[0], len(self.tokens) - 1)]
        last = self.tokens[max(part[0], min(part[1], len(self.tokens)) - 1)]
        return first.start, max(first.start, last.end)

    def _ends(self, index: int, stops: frozenset[str]) -> int:
        """The first of ``stops`` from ``index`` on, outside of brackets, or where these close."""
        while index < len(self.tokens) - 1:
            operator = self.operator(index)
            if self.name(index) in stops:
                return index
            if operator in stops and not (operator == "\n" and self._continues(index)):
                return index
            if operator in ("(", "[", "{"):
                index = closer_index(self.tokens, index)
            elif operator in (")", "]", "}"):
                return index
            index += 1
        return index

    def end_of(self, index: int) -> int:
        """The end of the statement that holds the token at ``index``."""
        return self._ends(index, self.language.stops)

    def _continues(self, index: int) -> bool:
        """Whether the newline at ``index`` stands within an expression."""
        continuing = (self.language.concatenation, ",", "=", "||", "&&", "??", "?", ":", ".", "\\")
        after = index + 1
        while self.operator(after) == "\n":
            after += 1
        return self.operator(index - 1) in continuing or self.operator(after) in (
            self.language.concatenation,
            "?",
            ".",
            "||",
        )

    # --- variables -----------------------------------------------------------------------------

    def collect(self) -> None:
        """Find out what each variable may hold, and what modules are called."""
        stops = self.language.stops | {",", "and", "or"}
        parameters: dict[str, list[str]] = {}
        for index in range(len(self.tokens)):
            name = self.name(index)
            if not name:
                continue
            following = self.operator(index + 1)
            if following == "=" and self.operator(index - 1) not in (".", "->", "::"):
                end = self._ends(index + 2, stops)
                self._assigned.setdefault(name, []).append((index + 2, end))
                self._alias(name, index + 2)
            elif following in ("+=", ".=", "||=", "<<", "<<="):
                self._changed.add(name)
            elif following == "=>" or self._is_block_parameter(index):
                self._unknown.add(name)
            elif name == "as" or (name in ("of", "in") and self.name(index - 1)):
                self._loop(index, name)
            elif name in ("for", "foreach") and self.language.name == "perl":
                at = index + 1 + (self.name(index + 1) in ("my", "our"))
                if self.name(at) and self.operator(at + 1) == "(":
                    close = closer_index(self.tokens, at + 1)
                    self._assigned.setdefault(self.name(at), []).append((at + 2, close))
            elif name in ("function", "def") and self.name(index + 1):
                opener = index + 2
                if self.operator(opener) == "(":
                    close = closer_index(self.tokens, opener)
                    names = [
                        self.name(start)
                        for start, _ in split_at(self.tokens, opener + 1, close, ",")
                    ]
                    parameters[self.name(index + 1)] = names
            elif name == "function" and self.operator(index + 1) == "(":
                self._unknown_names(index + 2, closer_index(self.tokens, index + 1))
        for index in range(len(self.tokens)):
            if self.operator(index) == "=>" and self.operator(index - 1) == ")":
                self._unknown_names(opener_index(self.tokens, index - 1), index)
        self._bind_parameters(parameters)
        self._collect_modules()

    def _is_block_parameter(self, index: int) -> bool:
        """``{ |x, y| … }``."""
        around = (self.operator(index - 1), self.operator(index + 1))
        return self.language.bare_calls and around in {("|", "|"), ("|", ","), (",", "|")}

    def _unknown_names(self, start: int, end: int) -> None:
        """The parameters of a function without a name may be anything."""
        last = min(end, start + MAX_NAMES)
        self._unknown.update(filter(None, map(self.name, range(start, last))))

    def _loop(self, index: int, word: str) -> None:
        """``for (const x of …)``, ``for x in …`` or PHP's ``foreach (… as $x)``."""
        end = self._ends(index + 1, self.language.stops | {"{", "do"})
        if word == "as":
            start = index
            while start > index - MAX_NAMES and self.operator(start - 1) != "(":
                start -= 1
            self._assigned.setdefault(self.name(index + 1), []).append((start, index))
        elif word == "of" or self.language.name == "ruby":
            self._assigned.setdefault(self.name(index - 1), []).append((index + 1, end))

    def _bind_parameters(self, functions: Mapping[str, Sequence[str]]) -> None:
        for index in range(len(self.tokens)):
            names = functions.get(self.name(index), ())
            if not names or self.name(index - 1) in ("function", "def"):
                continue
            if self.operator(index + 1) != "(":
                self._unknown.update(names)  # it is called from elsewhere
            else:
                close = closer_index(self.tokens, index + 1)
                ranges = split_at(self.tokens, index + 2, close, ",")
                for name, part in zip(names, ranges, strict=False):
                    self._assigned.setdefault(name, []).append(part)

    def _alias(self, name: str, index: int) -> None:
        """``name = require("fs")``."""
        module = self._required(index)
        if module:
            after = closer_index(self.tokens, index + 1) + 1
            member = self.name(after + 1) if self.operator(after) == "." else ""
            self._aliases[name] = f"{module}.{member}" if member else module

    def _required(self, index: int) -> str:
        """The module in ``require("module")`` or ``await import("module")`` at ``index``."""
        index += self.name(index) == "await"
        if index + 2 >= len(self.tokens):
            return ""
        if self.name(index) in ("require", "import") and self.operator(index + 1) == "(":
            token = self.tokens[index + 2]
            if token.kind in ("text", "escaped", "raw"):
                return _module(token.content)
        return ""

    def _collect_modules(self) -> None:
        """``const {a, b: c} = require("fs")``, ``import x, {a as b} from "fs"``."""
        for index in range(len(self.tokens)):
            if self.operator(index) == "=" and self.operator(index - 1) == "}":
                module = self._required(index + 1)
                if module:
                    opener = opener_index(self.tokens, index - 1)
                    self._members(opener + 1, index - 1, module, ":")
            elif self.name(index) == "from" and self.tokens[index + 1].kind in (
                "text",
                "escaped",
                "raw",
            ):
                module = _module(self.tokens[index + 1].content)
                start = index
                while start > index - MAX_NAMES and self.name(start) != "import":
                    start -= 1
                for at in range(start + 1, index):
                    if self.operator(at) == "{":
                        self._members(at + 1, index - 1, module, "as")
                        break
                    if self.name(at) and self.name(at) not in ("as", "type"):
                        self._aliases[self.name(at)] = module

    def _members(self, start: int, end: int, module: str, mark: str) -> None:
        for begin, stop in split_at(self.tokens, start, end, ","):
            member = self.name(begin)
            renamed = stop - begin == 3 and mark in (self.operator(begin + 1), self.name(begin + 1))
            if member:
                self._aliases[self.name(stop - 1) if renamed else member] = f"{module}.{member}"

    def known(self) -> dict[str, list[list[str]]]:
        """What the variables may hold, for code inside of texts."""
        found = {name: [self.variable(name, 0)] for name in self._assigned}
        return {**self._given, **found}

    def variable(self, name: str, depth: int) -> list[str]:
        """The texts that a variable may hold."""
        if name in self.language.constants:
            return [self._constant(self.language.constants[name])]
        if name in self._active or depth > MAX_DEPTH:
            return [UNKNOWN]
        values = [value for values in self._given.get(name, ()) for value in values]
        self._active.add(name)
        for start, end in self._assigned.get(name, ()):
            values += self.values((start, end), depth + 1)
        self._active.discard(name)
        if name in self._changed:
            values = [value + UNKNOWN for value in values]
        if name in self._unknown:
            values.append(UNKNOWN)
        return values or [UNKNOWN]

    def _constant(self, kind: str) -> str:
        if kind == "directory":
            return self.program.directory
        return self.program.home if kind == "home" else kind

    # --- expressions ---------------------------------------------------------------------------

    def values(self, part: Range, depth: int = 0) -> list[str]:
        """The texts that an expression may have; those of a list are its items."""
        start, end = part
        self._steps[0] += 1
        if self._steps[0] > MAX_STEPS:
            raise TooLong
        if depth > MAX_DEPTH or start >= end:
            return [UNKNOWN]
        for separator in ("||", "??", "//", "or"):
            ranges = split_at(self.tokens, start, end, separator)
            if len(ranges) > 1:
                return _union(*(self.values(one, depth + 1) for one in ranges))
        question = split_at(self.tokens, start, end, "?")
        if len(question) == 2:
            branches = split_at(self.tokens, *question[1], ":")
            return _union(*(self.values(one, depth + 1) for one in branches))
        items = split_at(self.tokens, start, end, ",")
        if len(items) > 1:
            return _union(*(self.values(one, depth + 1) for one in items))
        terms = split_at(self.tokens, start, end, self.language.concatenation)
        if len(terms) == 1:
            return self._operand(start, end, depth)
        parts = [self._operand(*term, depth) for term in terms]
        if all(all(v == NAME or v.isdecimal() for v in part) for part in parts):
            return [NAME]
        combined = islice(product(*parts), MAX_VALUES + 1)
        return _union(["".join(pieces) for pieces in combined])

    def _operand(self, start: int, end: int, depth: int) -> list[str]:
        while self.name(start) in ("await", "new", "my", "our", "local", "const", "let", "var"):
            start += 1
        while end > start and self.operator(end - 1) == "\n":
            end -= 1
        while start < end and self.operator(start) in ("\n", "\\"):
            start += 1
        if start >= end:
            return [UNKNOWN]
        token = self.tokens[start]
        alone = end == start + 1
        if token.kind == "text" and alone:
            return [token.content]
        if token.kind == "escaped" and alone:
            return [decoded(token.content)]
        if token.kind == "raw" and alone:
            return self.interpolated(token, depth)
        if token.kind == "words" and alone:
            return token.content.split() or [UNKNOWN]
        if token.kind == "number" and alone:
            return [token.text]
        if token.text in ("(", "[") and token.kind == "operator":
            if closer_index(self.tokens, start) == end - 1:
                ranges = split_at(self.tokens, start + 1, end - 1, ",")
                return _union(*(self.values(one, depth + 1) for one in ranges)) or [UNKNOWN]
            return [UNKNOWN]
        if token.kind == "name":
            return self._named(start, end, depth)
        return [UNKNOWN]

    def interpolated(self, token: Token, depth: int = 0) -> list[str]:
        """The texts that a quotation with variables in it may have."""
        pattern = self.language.interpolation
        if pattern is None:
            return [decoded(token.content)]
        parts: list[list[str]] = []
        at = 0
        for match in pattern.finditer(token.content):
            parts.append([decoded(token.content[at : match.start()])])
            groups = match.groupdict()
            name = groups.get("name") or groups.get("code") or ""
            if not name:
                parts.append([UNKNOWN])
            elif self.language.lexis.name.fullmatch(name):
                parts.append(self.variable(name, depth + 1))
            else:
                parts.append(self._code_value(name, depth))
            at = match.end()
        parts.append([decoded(token.content[at:])])
        combined = islice(product(*parts), MAX_VALUES + 1)
        return _union(["".join(pieces) for pieces in combined])

    def _code_value(self, code: str, depth: int) -> list[str]:
        """The value of an expression inside of a text."""
        if depth > MAX_DEPTH:
            return [UNKNOWN]
        tokens = Lexer(self.language.lexis).tokens(code)
        names = {token.text for token in tokens if token.kind == "name"} - self._active
        given = {name: [self.variable(name, depth + 2)] for name in names if self._holds(name)}
        inner = Scope(self.language, self.program, Findings(), tokens, given)
        inner._aliases, inner._steps = self._aliases, self._steps
        return inner.values((0, len(tokens) - 1), depth + 1)

    def _holds(self, name: str) -> bool:
        return name in self._assigned or name in self._given

    def _named(self, start: int, end: int, depth: int) -> list[str]:
        """A variable, an element of one, or what a function gives."""
        module = self._required(start)
        last = closer_index(self.tokens, start + 1) if module else start
        while self.operator(last + 1) in (".", "->", "::", "?.") and self.name(last + 2):
            last += 2
        text = "".join(token.text for token in self.tokens[start : last + 1])
        if module:
            text = re.sub(r".*?\)", module, text, count=1, flags=re.DOTALL)
        name = self._resolved(re.sub(r"->|::|\?\.", ".", text))
        if end == last + 1:
            return self._plain(name, depth)
        if self.operator(last + 1) in ("[", "{"):
            close = closer_index(self.tokens, last + 1)
            if close == end - 1:
                return self._element(name, (last + 2, close), depth)
        if self.operator(last + 1) == "(" and closer_index(self.tokens, last + 1) == end - 1:
            ranges = split_at(self.tokens, last + 2, end - 1, ",")
            return self._result(name, [self.values(one, depth + 1) for one in ranges])
        if self.language.bare_calls and name in self.language.results:
            ranges = split_at(self.tokens, last + 1, end, ",")
            return self._result(name, [self.values(one, depth + 1) for one in ranges])
        return [UNKNOWN]

    def _plain(self, name: str, depth: int) -> list[str]:
        kind = self.language.results.get(name)
        if kind in ("home", "directory", "temporary", "parameters"):
            return self._result(name, [])
        head, _, key = name.rpartition(".")
        if self.language.results.get(head) == "environment" and key:
            return [self.program.variable(key)]
        return self.variable(name, depth)

    def _element(self, name: str, key: Range, depth: int) -> list[str]:
        kind = self.language.results.get(name)
        if kind == "environment":
            words = [self.name(key[0])] if self.name(key[0]) else self.values(key, depth + 1)
            return [self.program.variable(word) for word in words]
        if kind == "parameters":
            return self._result(name, [])
        sigil = "@" + name[1:] if name.startswith("$") else name
        return self.variable(sigil if sigil in self._assigned else name, depth)

    def _result(self, name: str, arguments: list[list[str]]) -> list[str]:
        """What a function on paths gives."""
        kind = self.language.results.get(name) or self.language.results.get(
            "*." + name.rpartition(".")[2], ""
        )
        first = arguments[0] if arguments else [UNKNOWN]
        program = self.program
        match kind:
            case "join" | "resolve":
                start = [[program.directory]] if kind == "resolve" else []
                combined = islice(product(*start, *arguments), MAX_VALUES + 1)
                return _union([join(*pieces) for pieces in combined if pieces]) or ["."]
            case "same":
                return first
            case "home":
                return [program.home]
            case "directory":
                return [program.directory]
            case "temporary":
                return [program.variable("TMPDIR").strip(UNKNOWN) or "/tmp"]  # noqa: S108
            case "parameters":
                return [parameter.text for parameter in program.parameters] or [UNKNOWN]
            case "environment":
                return [program.variable(word) for word in first]
            case "expand":
                base = arguments[1] if len(arguments) > 1 else [""]
                paths = [program.expanduser(path) for path in first]
                return _union([join(*pair) for pair in islice(product(base, paths), MAX_VALUES)])
            case "dirname":
                return [directory_name(path) or "." for path in first]
            case "basename":
                return [last_name(path) for path in first]
            case "names":
                return [NAME]
            case "glob":
                return [globbed(path) for path in first]
            case "number":
                return [NAME]
        return [UNKNOWN]

    def _resolved(self, name: str) -> str:
        """The full name, with what the program calls its modules replaced."""
        head, dot, rest = name.partition(".")
        return self._aliases.get(head, head) + dot + rest


def _module(text: str) -> str:
    return posixpath.normpath(text.removeprefix("node:"))


def _union(*several: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(value for values in several for value in values))
    return found if len(found) <= MAX_VALUES else [UNKNOWN]
