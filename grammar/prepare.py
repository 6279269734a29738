"""Writes down what attrs writes for each class of the package, for declaring.py to find.

Part of a build: a wheel has the text as the module ``ringfence.grammar.prepared``.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import pkgutil
import re
from array import array
from collections.abc import Callable, Mapping
from importlib import import_module
from textwrap import indent
from types import FunctionType
from typing import Any
from unittest.mock import patch
from zlib import crc32

import attrs

from ringfence.grammar import declaring, regex

_METHODS = ("__init__", "__eq__", "__hash__")
"""What every decision needs."""
_SCRIPTS = (
    "# comment\ncd a && FOO=1 git status | head -5 > out.txt 2>&1; ls 'a b' \"$c $(d)\" || ! e &\n",
    "for f in *.py ~/a{b,c}; do python3 -c 'print(1)' \"${f%.py}\"; done\n",
    "a=(1 2) b[1]+=2; echo $((1 + 2))\n",
    "if [[ -f $a && $b =~ c+ || ( d == e ) ]]; then f; elif (( a > 1 )); then g; else h; fi\n",
    "while read -r l; do { a; }; done < <(b `c`) ; until (d); do e; done\n",
    "case $a in b|c*) d ;; *) e ;& esac; f() { g; }; function h { i; }\n",
    "cat <<A > b <<'C' <<<$d\n$e $(f) ${g[1]}\nA\nC\n",
    "time a | b |& c; $'d' $\"e\"; select f in g; do h; done; coproc i; ${j:-k l} ${m//n/o} $1\n",
)
"""Between them they hold what most commands are made of."""

_HEAD = '''"""What attrs writes for the classes of this package; made by prepare.py at build."""
# mypy: ignore-errors

_cached_setattr_get = object.__setattr__.__get__


class _Nothing:
    def __repr__(self):
        return "NOTHING"


NOTHING = _Nothing()

'''


def prepared(package: str) -> str:
    """The text for all classes of a package."""
    load(package)
    return written(declaring.declared)


def load(package: str) -> None:
    """Load all modules of a package."""
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        if found.name.endswith(".__main__"):
            continue
        try:
            import_module(found.name)
        except ImportError:  # it is for something that is not installed
            continue


def patterns(parse: Callable[[str], Any]) -> bytes:
    """What regex.py keeps: the expressions that loading the modules and parsing some text takes."""
    for script in _SCRIPTS:
        parse(script)
    return regex.to_bytes({key: kept for key in sorted(regex.missed) if (kept := _kept(*key))})


def _kept(pattern: str, flags: int) -> regex.Kept | None:
    """What ``re`` hands on for an expression; None if that would not make the same again."""
    re.purge()
    try:
        with patch("_sre.compile", wraps=regex.MACHINE.compile) as handed:
            made = re.compile(pattern, flags)
        _, flags, numbers, groups, index, names = handed.call_args.args
        kept = (flags, memoryview(array("I", numbers)), groups, index, names)
        return kept if regex.made_of(pattern, kept) == made else None
    except (AttributeError, TypeError, ValueError):  # another Python
        return None


def written(declared: Mapping[type, declaring.Said]) -> str:
    """The text for some classes."""
    makers, rows = [], []
    for number, (cls, said) in enumerate(declared.items()):
        made = _written(cls, said, f"_{number}")
        if made is not None:
            makers.append(made[0])
            rows.append(made[1])
    return "".join([_HEAD, *makers, "\nCLASSES = {\n", *rows, "}\n"])


def _written(cls: type, said: declaring.Said, maker: str) -> tuple[str, str] | None:
    """The function that makes the methods of a class, and its row; None if attrs must do it."""
    old = said[2].__dict__
    slots = cls.__dict__.get("__slots__")
    if slots is None or "<locals>" in cls.__qualname__:
        return None
    if any(type(value).__module__.startswith("attr.") for value in old.values()):
        return None  # a field that declaring.py knows nothing of
    added = {n: v for n, v in cls.__dict__.items() if n not in old or old[n] is not v}
    methods, constants, later = [], {}, []
    for name, value in added.items():
        if name in _METHODS and isinstance(value, FunctionType):
            method = _method(value)
            if not _is_plain(method):
                return None
            methods.append(method)
        elif name in {"__attrs_own_setattr__", "__hash__", "__match_args__"}:
            constants[name] = value
        elif name in declaring.LATER:
            later.append(name)
        elif name not in (*slots, "__slots__", "__ne__", "__dict__", "__weakref__"):
            return None
    arguments = tuple((a.name, a.alias if a.init else None) for a in attrs.fields(cls))
    names = ", ".join(method.name for method in methods)
    text = [f"\n\ndef {maker}(fields):\n"]
    text += [indent(ast.unparse(method), "    ") + "\n" for method in methods]
    text.append(f"    return ({names}{',' if len(methods) == 1 else ''})\n")
    key = f"{cls.__module__}.{cls.__qualname__}"
    row = (declaring.look(said), slots, arguments, constants, tuple(later))
    return "".join(text), f"    {key!r}: ({', '.join(map(repr, row))}, {maker}),\n"


def _method(made: FunctionType) -> ast.FunctionDef:
    """A method that attrs made, in terms of ``fields``."""
    lines = linecache.getlines(made.__code__.co_filename)
    tree = ast.parse("".join(lines))
    method = next(
        one
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and one.lineno == made.__code__.co_firstlineno
    )
    _OfFields().visit(method)
    for argument in (*method.args.args, *method.args.kwonlyargs):
        if argument.arg in made.__annotations__:
            argument.annotation = ast.Constant(str(made.__annotations__[argument.arg]))
    if "return" in made.__annotations__:
        method.returns = ast.Constant(made.__annotations__["return"])
    if made.__name__ == "__hash__":
        _salt(method, f"{made.__module__}.{made.__qualname__}")
    return method


def _salt(method: ast.FunctionDef, name: str) -> None:
    """Let a class have the same hashes in each build: attrs begins them by a number of its own."""
    for node in ast.walk(method):
        if isinstance(node, ast.Tuple) and isinstance(node.elts[0], ast.Constant | ast.UnaryOp):
            node.elts[0] = ast.Constant(crc32(name.encode()))


def _is_plain(method: ast.FunctionDef) -> bool:
    """Whether it needs nothing but what the module of the prepared classes has."""
    used = [node for node in ast.walk(method) if isinstance(node, ast.Name)]
    known = {argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)}
    known |= {node.id for node in used if isinstance(node.ctx, ast.Store)}
    known |= {"NOTHING", "_cached_setattr_get", "fields"} | vars(builtins).keys()
    return {node.id for node in used} <= known


class _OfFields(ast.NodeTransformer):
    """What attrs puts into the globals of a method is looked up in ``fields``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """``attr_dict['name'].default``."""
        inner = node.value
        if (
            isinstance(inner, ast.Subscript)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "attr_dict"
            and isinstance(inner.slice, ast.Constant)
        ):
            return _option(str(inner.slice.value), node.attr)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """``__attr_factory_name`` and ``__attr_converter_name``."""
        for what in ("factory", "converter"):
            name = node.id.removeprefix(f"__attr_{what}_")
            if name != node.id:
                return _option(name, what)
        return node


def _option(field: str, what: str) -> ast.expr:
    return ast.parse(f"fields[{field!r}][{what!r}]", mode="eval").body
