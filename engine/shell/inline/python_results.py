"""What the functions of Python's library give, as far as `python` follows it."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ringfence.engine.shell.inline import python_library as library
from ringfence.engine.shell.inline.python_values import (
    ANYTHING,
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
    directory_name,
    elements,
    globbed,
    join,
    listing,
    texts,
    union,
)
from ringfence.engine.shell.outputs.call import below
from ringfence.engine.shell.outputs.places import last_name
from ringfence.rules.model import NAME, UNKNOWN, is_known

if TYPE_CHECKING:
    from ringfence.engine.shell.inline.python_calls import Caller


def walked(roots: Values, kind: str) -> Values:
    """What walking the trees of ``roots`` gives: directories, their directories, their files."""
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
    return combine(caller.absolute, _first(arguments))


def _working_directory(kind: str) -> Callable[[Caller, Arguments], Values]:
    return lambda caller, _: (Text(caller.absolute(""), kind),)


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


def mapped(caller: Caller, arguments: Arguments) -> Values:
    """``map(function, items…)``."""
    items = tuple(map(elements, arguments.positional[1:]))
    return listing(_applied(caller, arguments, items))


def submitted(caller: Caller, arguments: Arguments) -> Values:
    """``executor.submit(function, arguments…)``."""
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


def _split_words(_: Caller, arguments: Arguments) -> Values:
    (text, *others) = texts(_first(arguments))
    if others or not is_known(text):
        return listing(UNKNOWN_VALUES)
    try:
        return (Items(tuple((Text(word),) for word in shlex.split(text))),)
    except ValueError:
        return listing(UNKNOWN_VALUES)


def _always(values: Values) -> Callable[[Caller, Arguments], Values]:
    return lambda _caller, _arguments: values


RESULTS: Mapping[str, Callable[[Caller, Arguments], Values]] = {
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
    "os.walk": lambda _, arguments: walked(_first(arguments), "text"),
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
    "map": mapped,
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
    "shlex.split": _split_words,
    "shlex.quote": _same,
    **dict.fromkeys(library.NAMESPACES, _always((NAMESPACE,))),
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "compile": _same,
}
"""What functions give, by their full name."""
