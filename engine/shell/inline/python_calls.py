"""Calls in a Python program: what they open and run, and what they give."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attrs import field, frozen

from ringfence.engine.shell.inline import python_library as library
from ringfence.engine.shell.inline.python_values import (
    ANYTHING,
    CONTENT,
    HANDLE,
    NUMBER,
    UNKNOWN_VALUES,
    Items,
    Local,
    Named,
    Plain,
    Table,
    Text,
    Value,
    Values,
    combine,
    directory_name,
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
from ringfence.engine.shell.outputs.places import last_name
from ringfence.rules.model import NAME, UNKNOWN, Operation, is_known

if TYPE_CHECKING:
    from ringfence.engine.shell.inline.python import Interpreter

_URL = re.compile(r"(?!file:)[a-zA-Z][a-zA-Z0-9+.-]+://")


@frozen
class Arguments:
    """The arguments of a call; ``spread`` if there may be more than are told."""

    node: ast.Call
    positional: tuple[Values, ...] = ()
    keywords: Mapping[str, Values] = field(factory=dict)
    spread: bool = False

    def get(self, position: int | None, keyword: str = "") -> Values | None:
        """An argument by position or keyword, or None if it is not given."""
        if position is not None and position < len(self.positional):
            return self.positional[position]
        if position is not None and self.spread:
            return UNKNOWN_VALUES
        return self.keywords.get(keyword)

    def operation(self, position: int) -> Operation:
        """Read or write, as the mode at ``position`` says."""
        modes = texts(self.get(position, "mode") or (Text("r"),))
        writes = any(set(mode) & set(f"wax+{UNKNOWN}") for mode in modes)
        return Operation.WRITE if writes else Operation.READ


@frozen
class Caller:
    """Knows the calls of one program, which ``interpreter`` follows."""

    interpreter: Interpreter

    # --- what is found -------------------------------------------------------------------------

    def _path(self, values: Values, operation: Operation, node: ast.AST, by: str) -> None:
        """The program opens each of ``values`` as a path."""
        findings, directory = self.interpreter.findings, self.interpreter.directory
        for value in values:
            if isinstance(value, Items):
                self._path(elements((value,)), operation, node, by)
            elif value == ANYTHING or isinstance(value, Table):
                findings.opaque(f"{by} of a path that is only known at run time")
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
        if name == "os.chdir":
            self._change_directory(arguments.get(0, "path") or UNKNOWN_VALUES)
        if name in library.TEMPORARY:
            return self._temporary(arguments, by)
        result = _RESULTS.get(name)
        if result is not None:
            return result(self, arguments)
        self.follow_callbacks(arguments)
        if library.FUNCTIONS.get(name, (None,))[0] is not None and "mode" in _kinds(name):
            return (HANDLE,)
        return UNKNOWN_VALUES

    def _run(self, name: str, arguments: Arguments, by: str) -> None:
        first = arguments.get(0, "args") or arguments.get(0, "cmd") or arguments.get(0, "command")
        if name in library.SHELLS:
            self._shell(first or UNKNOWN_VALUES, arguments, by)
        elif name in library.RUNNERS:
            # Any value but a False that is written out may mean a shell.
            keywords = arguments.node.keywords
            if any(k.arg == "shell" and not _is_false(k.value) for k in keywords):
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
        for text in texts(values):
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
        from ringfence.engine.shell.inline.python import parse  # noqa: PLC0415 - they recurse

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
        if receiver == HANDLE:
            return (CONTENT,) if name in ("read", "readlines", "readline") else (HANDLE,)
        if receiver == CONTENT:
            return (CONTENT,) if name in ("strip", "decode", "encode") else UNKNOWN_VALUES
        if name in library.TELLING_METHODS:
            self.interpreter.findings.opaque(f"{by} of a path that is only known at run time")
        values = arguments.get(0, "path")
        if name in library.ARGUMENT_METHODS and values is not None:
            self._path(values, library.ARGUMENT_METHODS[name], arguments.node, by)
        if name == "map" and len(arguments.positional) > 1:
            return _mapped(self, arguments)
        if name == "submit" and arguments.positional:
            return _submitted(self, arguments)
        self.follow_callbacks(arguments)
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
                return (Text(self._absolute(path.text), "path"),)
            case "iterdir":
                return listing(combine(lambda p: join(p, NAME), here, kind="path"))
            case "glob":
                return listing(combine(lambda p, g: join(p, globbed(g)), here, first, kind="path"))
            case "rglob":
                return listing(combine(below, here, kind="path"))
            case "walk":
                return _walked(here, "path")
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

    def _absolute(self, path: str) -> str:
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


def _kinds(name: str) -> str:
    return "mode" if any(use.operation is None for use in library.FUNCTIONS[name]) else ""


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


# --- what functions give -----------------------------------------------------------------------


def _walked(roots: Values, kind: str) -> Values:
    name = listing((Text(NAME),))
    return listing((Items((combine(below, roots, kind=kind), name, name)),))


def _first(arguments: Arguments) -> Values:
    return arguments.get(0, "path") or UNKNOWN_VALUES


def _path_function(
    function: Callable[..., str], kind: str = "text"
) -> Callable[[Caller, Arguments], Values]:
    return lambda _, arguments: combine(function, *arguments.positional, kind=kind)


def _joined_paths(_: Caller, arguments: Arguments) -> Values:
    values = combine(join, *arguments.positional) if arguments.positional else (Text("."),)
    return combine(lambda path: path + UNKNOWN, values) if arguments.spread else values


def _path_object(_: Caller, arguments: Arguments) -> Values:
    if not arguments.positional:
        return (Text(UNKNOWN if arguments.spread else ".", "path"),)
    return combine(join, *arguments.positional, kind="path")


def _expanded_user(caller: Caller, arguments: Arguments) -> Values:
    return combine(caller.interpreter.program.expanduser, _first(arguments))


def _expanded_variables(caller: Caller, arguments: Arguments) -> Values:
    def expand(path: str) -> str:
        variable = caller.interpreter.program.variable
        return re.sub(r"\$(?:(\w+)|\{(\w+)\})", lambda m: variable(m[1] or m[2]) or m[0], path)

    return combine(expand, _first(arguments))


def _environment(caller: Caller, arguments: Arguments) -> Values:
    values = combine(caller.interpreter.program.variable, _first(arguments))
    known = tuple(value for value in values if value != Text(""))
    default = arguments.get(1, "default") or (Plain("nothing"),)
    sure = known == values and UNKNOWN not in texts(values)
    return known if sure else union(known, default)


def _absolute(caller: Caller, arguments: Arguments) -> Values:
    return combine(caller._absolute, _first(arguments))  # noqa: SLF001


def _working_directory(kind: str) -> Callable[[Caller, Arguments], Values]:
    return lambda caller, _: (Text(caller._absolute(""), kind),)  # noqa: SLF001


def _home(caller: Caller, _: Arguments) -> Values:
    return (Text(caller.interpreter.program.home, "path"),)


def _split_path(_: Caller, arguments: Arguments) -> Values:
    values = _first(arguments)
    return (Items((combine(directory_name, values), combine(last_name, values))),)


def _split_suffix(_: Caller, arguments: Arguments) -> Values:
    values = _first(arguments)
    stems = combine(lambda path: posixpath.splitext(path)[0], values)
    return (Items((stems, combine(lambda path: posixpath.splitext(path)[1], values))),)


def _names(_: Caller, arguments: Arguments) -> Values:  # noqa: ARG001
    return listing((Text(NAME),))


def _scanned(_: Caller, arguments: Arguments) -> Values:
    roots = arguments.get(0, "path") or (Text("."),)
    return listing(combine(lambda path: join(path, NAME), roots, kind="path"))


def _matching(_: Caller, arguments: Arguments) -> Values:
    return listing(combine(globbed, _first(arguments)))


def _same(_: Caller, arguments: Arguments) -> Values:
    return arguments.get(0) or listing(UNKNOWN_VALUES)


def _sequence(_: Caller, arguments: Arguments) -> Values:
    values = arguments.get(0)
    if values is None:
        return (Items(()),)
    return values if all(isinstance(v, Items) for v in values) else listing(elements(values))


def _string(_: Caller, arguments: Arguments) -> Values:
    values = arguments.get(0) or (Text(""),)
    return tuple(
        Text(v.text, "number" if v.kind == "number" else "text") if isinstance(v, Text) else v
        for v in values
    )


def _numbered(_: Caller, arguments: Arguments) -> Values:
    return listing((Items((NUMBER, elements(_first(arguments)))),))


def _zipped(_: Caller, arguments: Arguments) -> Values:
    return listing((Items(tuple(map(elements, arguments.positional))),))


def _mapped(caller: Caller, arguments: Arguments) -> Values:
    items = tuple(map(elements, arguments.positional[1:]))
    return listing(_applied(caller, arguments, items))


def _submitted(caller: Caller, arguments: Arguments) -> Values:
    _applied(caller, arguments, arguments.positional[1:])
    return UNKNOWN_VALUES


def _applied(caller: Caller, arguments: Arguments, items: tuple[Values, ...]) -> Values:
    inner = Arguments(arguments.node, items)
    found: list[Values] = []
    for function in arguments.positional[0]:
        if isinstance(function, Local):
            found.append(caller.interpreter.apply(function, inner))
        elif isinstance(function, Named):
            found.append(caller.function(function.name, inner))
    return union(*found) or UNKNOWN_VALUES


def _filtered(caller: Caller, arguments: Arguments) -> Values:
    items = arguments.get(1) or UNKNOWN_VALUES
    _applied(caller, arguments, (elements(items),))
    return listing(elements(items))


def _one_of(_: Caller, arguments: Arguments) -> Values:
    return union(elements(_first(arguments)), arguments.get(1) or ())


def _module(_: Caller, arguments: Arguments) -> Values:
    return tuple(Named(text) for text in texts(_first(arguments)))


def _attribute(caller: Caller, arguments: Arguments) -> Values:
    names = texts(arguments.get(1) or UNKNOWN_VALUES)
    found: list[Value] = []
    for value in _first(arguments):
        for name in names:
            if isinstance(value, Named) and is_known(name):
                found.append(Named(f"{value.name}.{name}"))
            elif isinstance(value, Named):
                reason = f"getattr() of something in {value.name} that is only known at run time"
                caller.interpreter.findings.opaque(reason)
            else:
                found.append(ANYTHING)
    return union(tuple(found))


def _always(values: Values) -> Callable[[Caller, Arguments], Values]:
    return lambda _caller, _arguments: values


_RESULTS: Mapping[str, Callable[[Caller, Arguments], Values]] = {
    "os.path.join": _joined_paths,
    "os.path.dirname": _path_function(directory_name),
    "os.path.basename": _path_function(last_name),
    "os.path.abspath": _absolute,
    "os.path.realpath": _absolute,
    "os.path.normpath": _path_function(lambda p: posixpath.normpath(p) if is_known(p) else p),
    "os.path.expanduser": _expanded_user,
    "os.path.expandvars": _expanded_variables,
    "os.path.split": _split_path,
    "os.path.splitext": _split_suffix,
    "os.path.relpath": _always((Text(UNKNOWN),)),
    "os.getcwd": _working_directory("text"),
    "os.environ.get": _environment,
    "os.getenv": _environment,
    "os.listdir": _names,
    "os.scandir": _scanned,
    "os.walk": lambda _, arguments: _walked(_first(arguments), "text"),
    "os.fspath": _string,
    "os.getpid": _always(NUMBER),
    "glob.glob": _matching,
    "glob.iglob": _matching,
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"),
        _path_object,
    ),
    "pathlib.Path.home": _home,
    "pathlib.Path.cwd": _working_directory("path"),
    "tempfile.gettempdir": lambda caller, _: (
        Text(caller.interpreter.program.variable("TMPDIR").strip(UNKNOWN) or "/tmp"),  # noqa: S108
    ),
    "str": _string,
    "repr": _always(UNKNOWN_VALUES),
    "bytes": _string,
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "iter", "sorted", "reversed"), _sequence),
    "collections.deque": _sequence,
    "dict": _always((Table(()),)),
    "enumerate": _numbered,
    "zip": _zipped,
    "map": _mapped,
    "filter": _filtered,
    "next": _one_of,
    "min": _one_of,
    "max": _one_of,
    "range": _always(listing(NUMBER)),
    **dict.fromkeys(
        ("len", "int", "sum", "abs", "round", "ord", "hash", "id", "time.time", "os.getuid"),
        _always(NUMBER),
    ),
    "uuid.uuid4": _always(NUMBER),
    "time.strftime": _always(UNKNOWN_VALUES),
    **dict.fromkeys(
        ("io.StringIO", "io.BytesIO", "urllib.request.urlopen", "os.fdopen"), _always((HANDLE,))
    ),
    "__import__": _module,
    "importlib.import_module": _module,
    "getattr": _attribute,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "compile": _same,
}
"""What functions give, by their full name."""
