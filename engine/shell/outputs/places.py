"""Commands that print a path made of their operands, or where they are."""

from __future__ import annotations

import posixpath
import re

from ringfence.engine.paths import real_path
from ringfence.engine.shell.outputs.call import Invocation, Options, lines, parse_options
from ringfence.rules.model import BELOW, NAME, UNKNOWN, is_known


def pwd(call: Invocation) -> str | None:
    """``pwd [-LP]``."""
    options = call.options("LP")
    if options is None:
        return None
    physical = "P" in options and is_known(call.context.directory)
    cwd = call.context.directory
    return lines(real_path(cwd, call.context.filesystem) if physical else cwd)


def dirname(call: Invocation) -> str | None:
    """``dirname path…``."""
    options = call.options()
    return None if options is None else lines(*map(parent, options.texts))


def parent(path: str) -> str:
    """The directory part of ``path``, as dirname cuts it; the path may hold unknowns."""
    stripped = path.rstrip("/")
    if not stripped:
        return "/" if path else "."
    head, slash, tail = stripped.rpartition("/")
    head = head.rstrip("/") or slash
    if UNKNOWN in tail:
        return head + UNKNOWN
    if BELOW in tail:
        return posixpath.join(head, BELOW)
    return head or "."


def basename(call: Invocation) -> str | None:
    """``basename path [suffix]``, ``basename -a path…``, ``basename -s suffix path…``."""
    options = call.options("a", "s")
    if options is None or not options.operands:
        return None
    paths, suffix = options.texts, options.value("s")
    if not options.given:
        if len(paths) > 2:
            return None
        paths, suffix = paths[:1], paths[1] if len(paths) == 2 else ""
    return lines(*(last_name(path, suffix) for path in paths))


def last_name(path: str, suffix: str = "") -> str:
    """The last component of ``path`` without ``suffix``.

    Of an unknown path it is taken for a NAME, although it could be ``/`` or ``..``.
    """
    stripped = path.rstrip("/")
    if not stripped:
        return path[:1]
    name = stripped.rpartition("/")[2]
    name = re.sub(f".*[{UNKNOWN}{BELOW}]", NAME, name, flags=re.DOTALL)
    if not is_known(suffix):
        return NAME
    return name.removesuffix(suffix) if name != suffix else name


def realpath(call: Invocation) -> str | None:
    """``realpath [-emqsLP] path…``."""
    options = call.options("emqsLPz")
    if options is None or "z" in options:
        return None
    return _resolved(call, options)


def readlink(call: Invocation) -> str | None:
    """``readlink -f path…``, or the target of one link."""
    options = call.options("femnqsvz")
    if options is None or "z" in options:
        return None
    if not {"f", "e", "m"}.isdisjoint(options.given):
        text = _resolved(call, options)
    elif len(options.operands) == 1 and is_known(options.texts[0] + call.context.directory):
        target = call.context.filesystem.link(_absolute(call, options.texts[0]))
        text = None if target is None else lines(target)
    else:
        return None
    return text.rstrip("\n") if text is not None and "n" in options else text


def _absolute(call: Invocation, path: str) -> str:
    return posixpath.join(call.context.directory, path)


def _resolved(call: Invocation, options: Options) -> str | None:
    paths = [_absolute(call, path) for path in options.texts]
    if any(UNKNOWN in path for path in paths):
        return None
    resolved = (
        real_path(path, call.context.filesystem) if is_known(path) else posixpath.normpath(path)
        for path in paths
    )
    return lines(*resolved)


def mktemp(call: Invocation) -> str | None:
    """``mktemp [-d] [-p directory] [template]``: a new name in the temporary directory."""
    fields = call.fields
    directory = suffix = None
    words = []
    for field in fields:
        name, _, value = field.text.partition("=")
        if name == "--tmpdir":
            directory = value
        elif name == "--suffix":
            suffix = value
        elif name not in ("--directory", "--quiet", "--dry-run"):
            words.append(field)
    options = parse_options(tuple(words), "dqut", "p")
    if options is None or len(options.operands) > 1:
        return None
    directory = options.value("p", directory or "") if "p" in options else directory
    template = options.texts[0] if options.operands else None
    if template is None or "t" in options or directory is not None:
        directory = directory or call.context.lookup("TMPDIR") or "/tmp"  # noqa: S108
    made = re.sub("X{3,}(?!.*X{3})", NAME, template or "tmp.XXXXXX", flags=re.DOTALL)
    return lines(posixpath.join(directory or "", made + (suffix or "")))
