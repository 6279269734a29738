"""What the scripting languages share: calls with texts for arguments, found among the tokens.

A program is not parsed. A call is a name, perhaps after ``object.``, and the arguments after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ringfence.engine.shell.inline.language import Call, Language, Range, Use, uses
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_values import glob_root
from ringfence.engine.shell.inline.scope import Scope, TooLong
from ringfence.engine.shell.inline.tokens import Lexer, Token, closer_index, opener_index, split_at
from ringfence.grammar.records import define
from ringfence.rules.model import UNKNOWN, Operation, is_known

__all__ = ["Call", "Language", "Reader", "inspect", "uses"]

MAX_CODES = 200
"""How many pieces of code inside of texts are looked into."""


def inspect(language: Language, program: Program, findings: Findings) -> None:
    """Look into a program of ``language``."""
    try:
        _inspect(language, program, findings)
    except TooLong:
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
    raise TooLong


@define
class Reader(Scope):
    """Looks into one run of tokens."""

    def search(self) -> None:
        """Find all calls that open files or run commands."""
        for index, token in enumerate(self.tokens):
            if token.kind == "shell":
                for text in self.interpolated(token):
                    self.findings.shell(text, (token.start, token.end), f"{self.language.name} `…`")
            if token.kind in ("raw", "shell"):
                self._code_inside(token)
            if self.operator(index) == "[":
                self._computed(index)
            if token.kind == "name":
                if self.language.look_at_name is not None:
                    self.language.look_at_name(self, index)
                call = self._call(index)
                if call is not None:
                    self.look(call)
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

    def _callee(self, index: int) -> str:
        """The full name of what is called at ``index``: ``fs.promises.readFile``."""
        name = self.name(index)
        at = index
        while self.operator(at - 1) in (".", "->", "::", "?."):
            at -= 2
            if self.name(at):
                name = f"{self.name(at)}.{name}"
                continue
            module = ""
            if self.operator(at) == ")":
                module = self._required(opener_index(self.tokens, at) - 1)
            return f"{module or '()'}.{name}"
        return self._resolved(name)

    def _computed(self, index: int) -> None:
        """A call of ``object["name"](…)``, whose ``[`` is at ``index``."""
        close = closer_index(self.tokens, index)
        if self.operator(close + 1) != "(" or close == index + 1:
            return
        base = self._callee(index - 1) if self.name(index - 1) else ""
        if self.operator(index - 1) == ")":
            base = self._required(opener_index(self.tokens, index - 1) - 1)
        if not base:
            return
        end = closer_index(self.tokens, close + 1)
        arguments = tuple(split_at(self.tokens, close + 2, end, ","))
        for name in self.values((index + 1, close)):
            if is_known(name):
                self.look(Call(f"{base}.{name}", arguments, index, end + 1))
            elif any(known.startswith(f"{base}.") for known in self.language.functions):
                self.findings.opaque(f"a function of {base} that is only known at run time")

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

    def look(self, call: Call) -> None:
        """Find what a call opens and runs."""
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
