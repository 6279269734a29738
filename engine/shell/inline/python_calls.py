"""Calls in a Python program: what they open and run, and what they give."""

from __future__ import annotations

import ast
import posixpath
import re
from typing import TYPE_CHECKING

from ringfence.engine.shell.inline import python_library as library
from ringfence.engine.shell.inline.python_results import RESULTS, mapped, submitted, walked
from ringfence.engine.shell.inline.python_state import parse
from ringfence.engine.shell.inline.python_values import (
    ANYTHING,
    ARCHIVE,
    CONTENT,
    HANDLE,
    NAMESPACE,
    NUMBER,
    UNKNOWN_VALUES,
    Arguments,
    Items,
    Local,
    Named,
    Plain,
    Table,
    Text,
    Value,
    Values,
    combine,
    elements,
    glob_root,
    globbed,
    join,
    listing,
    string_method,
    subscript,
    texts,
    union,
    with_name,
    with_suffix,
)
from ringfence.engine.shell.outputs.call import below
from ringfence.grammar.records import frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, Operation, is_known

if TYPE_CHECKING:
    from ringfence.engine.shell.inline.python_expressions import Expressions

_URL = compiled(r"(?!file:)[a-zA-Z][a-zA-Z0-9+.-]+://")


_LOADS = frozenset(("__import__", "importlib.import_module", "runpy.run_module"))
"""Functions that load the module that a text names."""


@frozen
class Caller:
    """Knows the calls of one program, which ``interpreter`` follows."""

    interpreter: Expressions

    # --- what is found -------------------------------------------------------------------------

    def _path(self, values: Values, operation: Operation, node: ast.AST, by: str) -> None:
        """The program opens each of ``values`` as a path."""
        findings, directory = self.interpreter.findings, self.interpreter.directory
        for value in values:
            if isinstance(value, Items):
                self._path(elements((value,)), operation, node, by)
            elif value in (ANYTHING, NAMESPACE) or isinstance(value, Table) or _imported(value):
                findings.unknown_path(by)
            elif isinstance(value, Text) and value.kind != "number" and not _URL.match(value.text):
                path = value.text.removeprefix("file://")
                if directory and path:
                    path = join(directory, path)
                findings.path(path, operation, self.interpreter.span(node), by)

    def _argument_node(self, arguments: Arguments, position: int | None, keyword: str) -> ast.AST:
        node = arguments.node
        if position is not None and position < len(node.args):
            return node.args[position]
        return next((k.value for k in node.keywords if k.arg == keyword), node)

    # --- functions -----------------------------------------------------------------------------

    def function(self, name: str, arguments: Arguments) -> Values:
        """A call of a function of the library, or of one that is not known."""
        by = f"{name}()"
        if name in library.FUNCTIONS and any(k.arg is None for k in arguments.node.keywords):
            self.interpreter.findings.opaque(
                f"{by} with arguments only known at run time", runs=False
            )
        for use in library.FUNCTIONS.get(name, ()):
            values = arguments.get(use.position, use.keyword)
            if values is None:
                continue
            operation = use.operation or arguments.operation(1)
            node = self._argument_node(arguments, use.position, use.keyword)
            if name.startswith("glob."):
                values = combine(glob_root, values)
            if name == "sqlite3.connect":
                if all("?mode=ro" in text for text in texts(values)):
                    operation = Operation.READ
                values = _databases(values)
            self._path(values, operation, node, by)
        self._run(name, arguments, by)
        if name in _LOADS:
            for text in texts(arguments.get(0, "mod_name" if "run" in name else "name") or ()):
                self.interpreter.findings.module(text)
        if name == "urllib.request.urlopen":
            urls = tuple(v for v in arguments.get(0, "url") or () if isinstance(v, Text))
            files = tuple(v for v in urls if v.text.startswith("file:"))
            self._path(files, Operation.READ, arguments.node, by)
        if name == "os.chdir":
            self._change_directory(arguments.get(0, "path") or UNKNOWN_VALUES)
        if name in library.TEMPORARY:
            return self._temporary(arguments, by)
        result = RESULTS.get(name)
        if result is not None:
            return result(self, arguments)
        self.follow_callbacks(arguments)
        if name in library.ARCHIVES:
            return (ARCHIVE,)
        return (HANDLE,) if _opens(name) else UNKNOWN_VALUES

    def _run(self, name: str, arguments: Arguments, by: str) -> None:
        first = arguments.get(0, "args") or arguments.get(0, "cmd") or arguments.get(0, "command")
        if name in library.SHELLS:
            self._shell(first or UNKNOWN_VALUES, arguments, by)
        elif name in library.RUNNERS:
            # Any value but a False that is written out may mean a shell.
            keywords = arguments.node.keywords
            if any(k.arg in ("shell", None) and not _is_false(k.value) for k in keywords):
                script = first or UNKNOWN_VALUES
                if any(isinstance(value, Items) for value in script):
                    script = subscript(script, (Text("0"),))
                self._shell(script, arguments, by)
            else:
                self._command(first or UNKNOWN_VALUES, arguments, by)
        elif name in library.SPREAD_RUNNERS:
            words = arguments.positional[library.SPREAD_RUNNERS[name] :]
            self._command((Items(words, many=arguments.spread),), arguments, by)
        elif name in library.LISTED_RUNNERS:
            values = arguments.get(library.LISTED_RUNNERS[name])
            self._command(values or UNKNOWN_VALUES, arguments, by)
        elif name in library.EVALUATORS:
            self._evaluate(arguments, by)

    def _shell(self, values: Values, arguments: Arguments, by: str) -> None:
        findings, span = self.interpreter.findings, self.interpreter.span(arguments.node)
        where = self._where(arguments)
        for text in texts(values) if values else ():
            if where:
                findings.command((*where, "sh", "-c", text), span, by)
            else:
                node = self._argument_node(arguments, 0, "args")
                findings.shell(text, self.interpreter.span(node), by)

    def _command(self, values: Values, arguments: Arguments, by: str) -> None:
        findings, span = self.interpreter.findings, self.interpreter.span(arguments.node)
        where = self._where(arguments)
        for value in values:
            words: list[str] = []
            if isinstance(value, Items):
                for item in value.items:
                    known = texts(item)
                    words.append(known[0] if len(known) == 1 else UNKNOWN)
                if value.many:
                    words.append(UNKNOWN)
            elif isinstance(value, Text):
                words = [value.text]
            findings.command((*where, *words) if words and words[0] != UNKNOWN else (), span, by)

    def _where(self, arguments: Arguments) -> tuple[str, ...]:
        """The words that say where a command runs, if it is elsewhere."""
        directory = self.interpreter.directory
        values = arguments.get(None, "cwd")
        if values is not None and values != (Plain("constant"),):
            known = texts(values)
            cwd = known[0] if len(known) == 1 else UNKNOWN
            directory = join(directory, cwd) if directory else cwd
        return ("env", "-C", directory) if directory else ()

    def _evaluate(self, arguments: Arguments, by: str) -> None:
        interpreter = self.interpreter
        for value in arguments.get(0, "source") or UNKNOWN_VALUES:
            if value == CONTENT or (isinstance(value, Plain) and value != ANYTHING):
                continue
            module = parse(value.text) if isinstance(value, Text) else None
            if module is None:
                interpreter.findings.opaque(f"{by} of a text that is only known at run time")
            else:
                with interpreter.within(arguments.node):
                    interpreter.body(module.body)

    def _change_directory(self, values: Values) -> None:
        known = texts(values)
        path = known[0] if len(known) == 1 else UNKNOWN
        interpreter = self.interpreter
        interpreter.directory = join(interpreter.directory, path) if path else UNKNOWN

    def _temporary(self, arguments: Arguments, by: str) -> Values:
        directory = arguments.get(None, "dir")
        if directory is None or directory == (Plain("constant"),):
            root = self.interpreter.program.variable("TMPDIR").strip(UNKNOWN) or "/tmp"  # noqa: S108
            directory = (Text(root),)
        made = combine(lambda path: join(path, NAME), directory, kind="path")
        self._path(made, Operation.WRITE, arguments.node, by)
        if arguments.node.func is not None and by == "tempfile.mkstemp()":
            return (Items((NUMBER, made)),)
        return made

    def follow_callbacks(self, arguments: Arguments) -> None:
        """A function given to one that is not known may be called with anything."""
        for values in (*arguments.positional, *arguments.keywords.values()):
            for value in values:
                if isinstance(value, Local):
                    self.interpreter.follow(value)

    # --- methods -------------------------------------------------------------------------------

    def method(self, node: ast.Attribute, receiver: Value, arguments: Arguments) -> Values:
        """A call of ``receiver.name(…)`` where the receiver is no module."""
        name = node.attr
        by = f"{name}()"
        if isinstance(receiver, Text) and receiver.kind == "path":
            return self._path_method(node, receiver, arguments)
        if isinstance(receiver, Text):
            return string_method(receiver.text, name, arguments.positional)
        if isinstance(receiver, Items | Table):
            return self._collection_method(node, receiver, arguments)
        if receiver == ARCHIVE:
            return self._archive_method(name, arguments)
        if receiver == NAMESPACE:
            return self.obscure()
        if receiver == HANDLE:
            return (CONTENT,) if name in ("read", "readlines", "readline") else (HANDLE,)
        if receiver == CONTENT:
            return (CONTENT,) if name in ("strip", "decode", "encode") else UNKNOWN_VALUES
        if name in library.TELLING_METHODS:
            self.interpreter.findings.unknown_path(by)
        given = tuple(v for v in arguments.get(0, "path") or () if isinstance(v, Text))
        if name in library.ARGUMENT_METHODS:
            self._path(given, library.ARGUMENT_METHODS[name], arguments.node, by)
        if name == "system":  # of a C library
            self._shell(given, arguments, by)
        if name == "map" and len(arguments.positional) > 1:
            return mapped(self, arguments)
        if name == "submit" and arguments.positional:
            return submitted(self, arguments)
        self.follow_callbacks(arguments)
        return UNKNOWN_VALUES

    def obscure(self) -> Values:
        """A call of something that was found by a name that is a text."""
        self.interpreter.findings.opaque("a function that is only known at run time")
        return UNKNOWN_VALUES

    def _archive_method(self, name: str, arguments: Arguments) -> Values:
        if name in library.ARCHIVE_METHODS:
            position, keyword, operation = library.ARCHIVE_METHODS[name]
            values = arguments.get(position, keyword) or (Text("."),)
            node = self._argument_node(arguments, position, keyword)
            self._path(values, operation, node, f"archive.{name}()")
        return UNKNOWN_VALUES

    def _path_method(self, node: ast.Attribute, path: Text, arguments: Arguments) -> Values:
        name, by = node.attr, f"Path.{node.attr}()"
        if name in library.PATH_METHODS:
            operation = library.PATH_METHODS[name] or arguments.operation(0)
            self._path((path,), operation, node.value, by)
        target = arguments.get(0, "target")
        if name in library.PATH_TARGETS and target is not None:
            place = self._argument_node(arguments, 0, "target")
            self._path(target, library.PATH_TARGETS[name], place, by)
        first = arguments.get(0) or ()
        here: Values = (path,)
        match name:
            case "joinpath":
                return combine(join, here, *arguments.positional, kind="path")
            case "with_name":
                return combine(with_name, here, first, kind="path")
            case "with_suffix":
                return combine(with_suffix, here, first, kind="path")
            case "expanduser":
                return (Text(self.interpreter.program.expanduser(path.text), "path"),)
            case "resolve" | "absolute":
                return (Text(self.absolute(path.text), "path"),)
            case "iterdir":
                return listing(combine(lambda p: join(p, NAME), here, kind="path"))
            case "glob":
                return listing(combine(lambda p, g: join(p, globbed(g)), here, first, kind="path"))
            case "rglob":
                return listing(combine(below, here, kind="path"))
            case "walk":
                return walked(here, "path")
            case "rename" | "replace":
                return first
            case "open":
                return (HANDLE,)
            case "read_text" | "read_bytes":
                return (CONTENT,)
            case "relative_to":
                return (Text(UNKNOWN, "path"),)
            case "as_posix" | "__str__" | "__fspath__":
                return (Text(path.text),)
        return UNKNOWN_VALUES

    def absolute(self, path: str) -> str:
        """``path`` as seen from where the program runs."""
        program = self.interpreter.program
        absolute = join(program.directory, self.interpreter.directory, path)
        return posixpath.normpath(absolute) if is_known(absolute) else absolute

    def _collection_method(
        self, node: ast.Attribute, receiver: Items | Table, arguments: Arguments
    ) -> Values:
        name, first = node.attr, arguments.get(0) or UNKNOWN_VALUES
        if isinstance(node.value, ast.Name):
            variable = node.value.id
            if name in ("append", "add", "insert", "appendleft"):
                values = arguments.positional[-1] if arguments.positional else UNKNOWN_VALUES
                self.interpreter.add_item(variable, NUMBER, values)
            elif name in ("extend", "update"):
                self.interpreter.add_item(variable, (Text(UNKNOWN),), elements(first))
            elif name == "setdefault":
                self.interpreter.add_item(variable, first, arguments.get(1) or ())
        here: Values = (receiver,)
        match name:
            case "get" | "setdefault":
                return union(subscript(here, first), arguments.get(1) or ())
            case "pop" | "popleft":
                return elements(here) if isinstance(receiver, Items) else subscript(here, first)
            case "copy":
                return here
            case "keys":
                return listing(elements(here))
            case "values" if isinstance(receiver, Table):
                return listing(_table_values(receiver))
            case "items" if isinstance(receiver, Table):
                return listing((Items((elements(here), _table_values(receiver))),))
        return UNKNOWN_VALUES


def _imported(value: Value) -> bool:
    """Whether a value comes from a module of which nothing is known: ``settings.PATH``."""
    return isinstance(value, Named) and "." in value.name and not value.name.startswith("sys.std")


def _opens(name: str) -> bool:
    """Whether a function gives an open file."""
    return any(use.operation is None for use in library.FUNCTIONS.get(name, ()))


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _table_values(table: Table) -> Values:
    return union(*(values for _, values in table.entries), table.rest) or UNKNOWN_VALUES


def _databases(values: Values) -> Values:
    """The files of sqlite's ``file:`` URIs; a database in memory has none."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Text):
            text = value.text
            if text.startswith("file:"):
                text = re.sub(r"^file:(//(localhost)?(?=/))?", "", text).partition("?")[0]
            found.append(Text("" if text.startswith(":memory:") else text))
        else:
            found.append(value)
    return union(tuple(found))
