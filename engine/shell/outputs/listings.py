"""Commands that list files: ``ls``, ``find``, ``fd``, ``rg -l`` and git's own.

What they print stands for many lines: ``find src`` prints ``src/`` and a BELOW, whatever is there.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatch
from itertools import pairwise

from ringfence.engine.filesystem import Kind
from ringfence.engine.shell.outputs.call import (
    Invocation,
    all_known,
    as_printed,
    below,
    lines,
    parse_options,
)
from ringfence.rules.commands.found import Names, found_names
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field

MAX_ENTRIES = 100
"""How many entries of a directory are named one by one; more are a NAME."""


def ls(call: Invocation) -> str | None:
    """``ls [-1AaBbcdFfhikrStUuvX] [path…]``; long formats are not known."""
    fields = tuple(field for field in call.fields if not field.text.startswith("--color"))
    options = parse_options(fields, "1AacdrStuUvXhk", "")
    if options is None or "a" in options:  # -a lists `..`
        return None
    hidden = "A" in options
    operands = options.operands or (Field(".", (0, 0)),)
    if "d" in options:
        return lines(*map(as_printed, operands))
    files = [as_printed(field) for field in operands if _is_file(call, field)]
    if len(files) == len(operands):
        return lines(*files)
    if len(operands) > 1:
        return None  # a heading for each directory
    return lines(*_entries(call, operands[0], hidden=hidden))


def _is_file(call: Invocation, operand: Field) -> bool:
    """Whether ``ls`` prints the operand itself, not what is in it."""
    path = posixpath.join(call.context.directory, operand.text)
    kind = call.context.filesystem.kind(path) if all_known(path) else Kind.UNKNOWN
    if kind in (Kind.FILE, Kind.DIRECTORY):
        return kind is Kind.FILE
    # Nothing can be asked: a name with a dot inside is a file's, or tells nothing new.
    return "." in posixpath.basename(operand.text).strip(".")


def _entries(call: Invocation, operand: Field, *, hidden: bool) -> Iterable[str]:
    path = posixpath.join(call.context.directory, operand.text)
    names = call.context.filesystem.entries(posixpath.normpath(path)) if all_known(path) else None
    if names is None or len(names) > MAX_ENTRIES:
        return (NAME,)
    # The same command may have made others before.
    return (*(name for name in names if hidden or not name.startswith(".")), NAME)


_FIND_GLOBAL = frozenset(("-H", "-L", "-P"))
_FIND_SILENT = ("-exec", "-ok", "-printf", "-fprint", "-delete", "-ls", "-fls", "-quit")


def find(call: Invocation) -> str | None:
    """``find [root…] [expression]``, unless the expression prints in another way."""
    words = list(call.fields)
    while words and words[0].text in _FIND_GLOBAL:
        words.pop(0)
    roots: list[Field] = []
    while words and not words[0].text.startswith(("-", "(", ")", "!", ",")):
        roots.append(words.pop(0))
    expression = [field.text for field in words]
    if any(word.startswith(_FIND_SILENT) for word in expression):
        return None
    roots = roots or [Field(".", (0, 0))]
    prints = [index for index, word in enumerate(expression) if word.startswith("-print")]
    names = found_names(expression, *prints) if len(prints) < 2 else None
    found = _below_all(roots, names)
    if found is None or UNKNOWN in found or "-mindepth" in expression:
        return found
    return (
        lines(*(r for r in map(as_printed, roots) if _may_be_found(r, expression, names))) + found
    )


def _may_be_found(root: str, expression: list[str], names: Names) -> bool:
    """Whether the root itself may be printed: the tests on names and types may say no."""
    if any(test == "-type" and value != "d" for test, value in pairwise(expression)):
        return False
    name = (posixpath.basename(root) or root).casefold()
    return names is None or any(fnmatch(name, n.casefold().replace(NAME, "*")) for n in names)


def _below_all(roots: Iterable[Field], names: Names = None) -> str | None:
    """The roots' trees, or the files of these names in them, a line each."""
    printed = [as_printed(root) for root in roots]
    if any(UNKNOWN in root for root in printed):
        return UNKNOWN
    trees = map(below, printed)
    return lines(*(trees if names is None else (f"{t}/{name}" for t in trees for name in names)))


_FD_VALUES = "tdeExXSocjgqM"
_FD_LONG = ("--type", "--extension", "--exclude", "--max-depth", "--min-depth", "--threads")


def fd(call: Invocation) -> str | None:
    """``fd [option…] [pattern] [root…]``."""
    fields: list[Field] = []
    rest = list(call.fields)
    while rest:
        field = rest.pop(0)
        if field.text.startswith(("--exec", "--format", "--absolute", "--search", "--base")):
            return None
        if field.text in _FD_LONG:
            rest[:1] = []
        elif not field.text.startswith("--") or field.text == "--":
            fields.append(field)
    options = parse_options(tuple(fields), "HIuspiLF01", _FD_VALUES)
    if options is None or not {"x", "X", "a"}.isdisjoint(options.given):
        return None
    roots = options.operands[1:]
    return _below_all(roots) if roots else lines(BELOW)


def files_with_matches(call: Invocation) -> str | None:
    """``grep -l`` or ``rg -l``: some of the operands, or files below them."""
    letters = "".join(
        field.text[1:]
        for field in call.fields
        if field.text.startswith("-") and not field.text.startswith("--")
    )
    long = {field.text for field in call.fields if field.text.startswith("--")}
    if "l" not in letters and not long & {"--files-with-matches", "--files"}:
        return None
    rest = [field for field in call.fields if not field.text.startswith("-")]
    operands = rest if "--files" in long else rest[1:]
    if "e" in letters or "f" in letters or "--regexp" in long:
        operands = rest
    if not operands:
        return lines(BELOW)
    printed = [as_printed(field) for field in operands]
    if any(UNKNOWN in text for text in printed):
        return UNKNOWN
    return lines(*(text for path in printed for text in (path, below(path))))
