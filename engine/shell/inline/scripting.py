"""What the scripting languages share: calls with texts for arguments, found among the tokens.

A program is not parsed. A call is a name, perhaps after ``object.``, and the arguments after it;
an argument is a text, a variable, texts put together, or one of the library's functions on
paths. A variable may hold whatever is assigned to it anywhere in the program.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product

from attrs import define, field, frozen

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_values import (
    directory_name,
    glob_root,
    globbed,
    join,
)
from ringfence.engine.shell.inline.tokens import (
    Lexer,
    Lexis,
    Token,
    closer_index,
    decoded,
    split_at,
)
from ringfence.engine.shell.outputs.places import last_name
from ringfence.rules.model import NAME, UNKNOWN, Operation, is_known

MAX_VALUES = 12
"""How many possible values of one expression are told apart."""

MAX_DEPTH = 12
"""How deep expressions and variables that hold each other are followed."""

MAX_CODES = 200
"""How many pieces of code inside of texts are looked into."""

MAX_STEPS = 20_000
"""How many expressions are looked at, repetitions counted."""

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


class _TooLong(Exception):  # noqa: N818 - it is an answer
    """A program takes more than MAX_STEPS or MAX_CODES."""


def inspect(language: Language, program: Program, findings: Findings) -> None:
    """Look into a program of ``language``."""
    try:
        _inspect(language, program, findings)
    except _TooLong:
        findings.opaque(f"a {language.name} program that is too long to follow")


def _inspect(language: Language, program: Program, findings: Findings) -> None:
    lexer = Lexer(language.lexis)
    pending: list[tuple[str, int]] = [(program.text, 0)]
    variables: dict[str, list[list[str]]] = {}
    for _ in range(MAX_CODES):
        text, offset = pending.pop(0)
        reader = Reader(language, program, findings, lexer.tokens(text, offset), dict(variables))
        pending += lexer.codes
        lexer.codes.clear()
        reader.collect()
        reader.search()
        pending += reader.codes
        if not pending:
            return
        variables = reader.known()
    raise _TooLong


@define
class Reader:
    """Looks into one run of tokens."""

    language: Language
    program: Program
    findings: Findings
    tokens: list[Token]
    _given: dict[str, list[list[str]]] = field(factory=dict)  # from the code around
    codes: list[tuple[str, int]] = field(factory=list)
    _assigned: dict[str, list[Range]] = field(factory=dict)
    _changed: set[str] = field(factory=set)
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
        self._bind_parameters(parameters)
        self._collect_modules()

    def _loop(self, index: int, word: str) -> None:
        """``for (const x of …)``, ``for x in …`` or PHP's ``foreach (… as $x)``."""
        end = self._ends(index + 1, self.language.stops | {"{", "do"})
        if word == "as":
            start = index
            while start > 0 and self.operator(start - 1) != "(":
                start -= 1
            self._assigned.setdefault(self.name(index + 1), []).append((start, index))
        elif word == "of" or self.language.name == "ruby":
            self._assigned.setdefault(self.name(index - 1), []).append((index + 1, end))

    def _bind_parameters(self, functions: Mapping[str, Sequence[str]]) -> None:
        for index in range(len(self.tokens)):
            names = functions.get(self.name(index), ())
            if not names or self.name(index - 1) in ("function", "def"):
                continue
            if self.operator(index + 1) == "(":
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
                opener = index - 1
                while module and opener > 0 and self.operator(opener) != "{":
                    opener -= 1
                if module:
                    self._members(opener + 1, index - 1, module, ":")
            elif self.name(index) == "from" and self.tokens[index + 1].kind in (
                "text",
                "escaped",
                "raw",
            ):
                module = _module(self.tokens[index + 1].content)
                start = index
                while start > 0 and self.name(start) != "import":
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
            raise _TooLong
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
        inner = Reader(self.language, self.program, Findings(), tokens, given)
        inner._aliases, inner._steps = self._aliases, self._steps
        return inner.values((0, len(tokens) - 1), depth + 1)

    def _holds(self, name: str) -> bool:
        return name in self._assigned or name in self._given

    def _named(self, start: int, end: int, depth: int) -> list[str]:
        """A variable, an element of one, or what a function gives."""
        last = start
        while self.operator(last + 1) in (".", "->", "::", "?.") and self.name(last + 2):
            last += 2
        text = "".join(token.text for token in self.tokens[start : last + 1])
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

    # --- calls ---------------------------------------------------------------------------------

    def search(self) -> None:
        """Find all calls that open files or run commands."""
        for index, token in enumerate(self.tokens):
            if token.kind == "shell":
                for text in self.interpolated(token):
                    self.findings.shell(text, (token.start, token.end), f"{self.language.name} `…`")
            if token.kind in ("raw", "shell"):
                self._code_inside(token)
            if token.kind == "name":
                if self.language.look_at_name is not None:
                    self.language.look_at_name(self, index)
                call = self._call(index)
                if call is not None:
                    self._look(call)
                elif token.text in ("from", "import") and self.language.loads:
                    self._import(index + 1)

    def _import(self, index: int) -> None:
        """``import "./x"`` and ``from "./x"``."""
        if self.tokens[index].kind in ("text", "escaped", "raw"):
            part = (index, index + 1)
            self._load(Call("import", (part,), *part), f"{self.language.name} import")

    def _code_inside(self, token: Token) -> None:
        if self.language.interpolation is None:
            return
        offset = token.start + token.text.find(token.content)
        for match in self.language.interpolation.finditer(token.content):
            code = match.groupdict().get("code") or ""
            if code and not self.language.lexis.name.fullmatch(code):
                self.codes.append((code, offset + match.start("code")))

    def _resolved(self, name: str) -> str:
        """The full name, with what the program calls its modules replaced."""
        head, dot, rest = name.partition(".")
        return self._aliases.get(head, head) + dot + rest

    def _callee(self, index: int) -> str:
        """The full name of what is called at ``index``: ``fs.promises.readFile``."""
        name = self.name(index)
        at = index
        while self.operator(at - 1) in (".", "->", "::", "?."):
            at -= 2
            if self.name(at):
                name = f"{self.name(at)}.{name}"
                continue
            opener = at
            while self.operator(at) == ")" and opener > 0:
                opener -= 1
                if self.operator(opener) == "(" and closer_index(self.tokens, opener) == at:
                    break
            module = self._required(opener - 1) if self.operator(at) == ")" else ""
            return f"{module or '()'}.{name}"
        return self._resolved(name)

    def _call(self, index: int) -> Call | None:
        opener = index + 1
        if self.name(index - 1) in ("function", "def", "sub"):
            return None
        if self.operator(opener) == "(":
            close = closer_index(self.tokens, opener)
            ranges = split_at(self.tokens, opener + 1, close, ",")
            return Call(self._callee(index), tuple(ranges), index, close + 1)
        name = self._callee(index)
        if self.tokens[opener].kind in ("raw", "text") and self.tokens[opener].text[:1] == "`":
            return Call(name, ((opener, opener + 1),), index, opener + 1)
        bare = self.language.bare_calls or name in self.language.bare_names
        if not bare or self.operator(opener) in (
            "=",
            ".",
            "->",
            ",",
            ")",
            "=>",
        ):
            return None
        end = self._ends(opener, self.language.stops | {"and", "or", "||", "&&"})
        for at in range(opener, end):
            if self.name(at) in ("if", "unless", "or", "and", "for", "foreach", "do", "while"):
                end = at
                break
        return Call(name, tuple(split_at(self.tokens, opener, end, ",")), index, end)

    def _matching(self, name: str, table: Mapping[str, object] | frozenset[str]) -> str | None:
        """The key of ``table`` that stands for ``name``."""
        if name in table:
            return name
        general = "*." + name.rpartition(".")[2]
        return general if general in table else None

    def _look(self, call: Call) -> None:
        language = self.language
        special = language.special.get(call.name)
        if special is not None and special(self, call):
            return
        by = f"{language.name} {call.name}()"
        key = self._matching(call.name, language.functions)
        if key is not None:
            for use in language.functions[key]:
                self._open(call, use, by)
        if self._matching(call.name, language.globs) and call.arguments:
            for value in self.values(call.arguments[0]):
                self.findings.path(
                    glob_root(value), Operation.READ, self.span(call.arguments[0]), by
                )
        elif self._matching(call.name, language.shells):
            self._shell(call.arguments[:1], by)
        elif self._matching(call.name, language.runners):
            if len(call.arguments) == 1:
                self._shell(call.arguments, by)
            elif call.arguments:
                self._command(call, by)
        elif self._matching(call.name, language.plain_runners):
            self._command(call, by)
        elif self._matching(call.name, language.evaluators) and call.arguments:
            self._evaluate(call, by)
        elif self._matching(call.name, language.loads) and call.arguments:
            self._load(call, by)

    def _open(self, call: Call, use: Use, by: str) -> None:
        arguments = call.arguments
        if use.position is not None:
            arguments = arguments[use.position : use.position + 1]
        operation = use.operation
        if operation is None:
            operation = self._operation(call, use.mode)
        for argument in arguments:
            self.opened(argument, operation, by)

    def _operation(self, call: Call, position: int) -> Operation:
        if position >= len(call.arguments):
            return Operation.READ
        modes = self.values(call.arguments[position])
        writes = any(set(mode) & set(f"wax+>{UNKNOWN}") for mode in modes)
        return Operation.WRITE if writes else Operation.READ

    def opened(self, argument: Range, operation: Operation, by: str) -> None:
        """The program opens the path in ``argument``."""
        for value in self.values(argument):
            if re.match(r"(?!file:)[a-z][a-z0-9+.-]+://", value) or value.isdecimal():
                continue
            self.findings.path(value.removeprefix("file://"), operation, self.span(argument), by)

    def _shell(self, arguments: Sequence[Range], by: str) -> None:
        for argument in arguments:
            for text in self.values(argument):
                self.findings.shell(text, self.span(argument), by)

    def _command(self, call: Call, by: str) -> None:
        words: list[str] = []
        for start, end in call.arguments:
            if self.operator(start) == "{":  # options
                continue
            if self.operator(start) == "[":
                items = split_at(self.tokens, start + 1, end - 1, ",")
            else:
                items = [(start, end)]
            for item in items:
                values = self.values(item)
                words.append(values[0] if len(values) == 1 else UNKNOWN)
        if self._option(call, "shell") not in ("", "false"):
            self.findings.shell(" ".join(words), self.span((call.start, call.end)), by)
            return
        directory = self._option(call, "cwd")
        where = ("env", "-C", directory) if directory else ()
        span = self.span((call.start, call.end))
        self.findings.command((*where, *words) if words and words[0] != UNKNOWN else (), span, by)

    def _option(self, call: Call, name: str) -> str:
        """The value of an option in an object among the arguments, or an empty text."""
        for start, end in call.arguments:
            for at in range(start, end):
                if self.name(at) == name and self.operator(at + 1) in (":", "=>"):
                    values = self.values((at + 2, self._ends(at + 2, frozenset((",",)))))
                    return values[0] if len(values) == 1 else UNKNOWN
        return ""

    def _evaluate(self, call: Call, by: str) -> None:
        start = self.tokens[call.arguments[0][0]].start
        for text in self.values(call.arguments[0]):
            if is_known(text):
                self.codes.append((text, start))
            else:
                self.findings.opaque(f"{by} of a text that is only known at run time")

    def _load(self, call: Call, by: str) -> None:
        """A module is a file if it is named by a path."""
        for value in self.values(call.arguments[0]):
            if value.startswith((".", "/", UNKNOWN)):
                self.findings.path(value, Operation.READ, self.span(call.arguments[0]), by)


def _module(text: str) -> str:
    return posixpath.normpath(text.removeprefix("node:"))


def _union(*several: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(value for values in several for value in values))
    return found if len(found) <= MAX_VALUES else [UNKNOWN]
