"""Commands that list files: ``ls``, ``find``, ``fd``, ``rg -l`` and git's own.

What they print stands for many lines: ``find src`` prints ``src/`` and a BELOW, whatever is there.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
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
from ringfence.rules.commands.found import MAX_NAMES, WILDCARD, Names, found_names
from ringfence.rules.model import NAME, UNKNOWN, Field

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


def _picked(words: Sequence[str], options: tuple[str, ...], ending: str = "") -> Names:
    """The names that these options pick, each with ``ending`` before its value; None for all."""
    names: list[str] = []
    for word, value in pairwise((*words, "")):
        name, glued, text = word.partition("=")
        if name not in options:
            continue
        text = f"{ending}{text if glued else value}"
        if text.startswith("!") or "/" in text or UNKNOWN in text or len(names) == MAX_NAMES:
            return None
        names.append(WILDCARD.sub(NAME, text))
    return tuple(names) or None


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
    names = _picked(call.words, ("-e", "--extension"), "*.")
    return _below_all(options.operands[1:] or (Field("", (0, 0)),), names)


_GREP_VALUES = frozenset(("-A", "-B", "-C", "-D", "-d", "-e", "-f", "-m", "--regexp", "--file"))
_RG_VALUES = _GREP_VALUES | {
    "-E",
    "-M",
    "-T",
    "-g",
    "-j",
    "-r",
    "-t",
    "--glob",
    "--iglob",
    "--type",
}
_LONG_VALUES = frozenset(("--include", "--exclude", "--exclude-dir", "--type", "--type-not"))
_PICKS = ("--include", "-g", "--glob", "--iglob")


def grep(call: Invocation) -> str | None:
    """``grep -l``."""
    return _files_with_matches(call, _GREP_VALUES | _LONG_VALUES)


def rg(call: Invocation) -> str | None:
    """``rg -l`` and ``rg --files``."""
    return _files_with_matches(call, _RG_VALUES | _LONG_VALUES)


def _files_with_matches(call: Invocation, values: frozenset[str]) -> str | None:
    """Some of the operands, or files below them; ``values`` are the options with a value."""
    letters = "".join(
        field.text[1:]
        for field in call.fields
        if field.text.startswith("-") and not field.text.startswith("--")
    )
    long = {field.text for field in call.fields if field.text.startswith("--")}
    if "l" not in letters and not long & {"--files-with-matches", "--files"}:
        return None
    rest = [
        field
        for before, field in pairwise((Field("", (0, 0)), *call.fields))
        if not field.text.startswith("-") and before.text not in values
    ]
    operands = rest if "--files" in long else rest[1:]
    if "e" in letters or "f" in letters or "--regexp" in long:
        operands = rest
    names = _picked(call.words, _PICKS)
    if not operands:
        return _below_all((Field("", (0, 0)),), names)
    printed = [as_printed(field) for field in operands]
    found = _below_all(operands, names)
    return found if found is None or UNKNOWN in found else lines(*printed) + found
