"""What git prints, where that is a path, or a text that cannot lead anywhere."""

from __future__ import annotations

import posixpath

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import is_inside, real_path
from ringfence.engine.shell.outputs.call import Invocation, lines
from ringfence.grammar.regex import compiled
from ringfence.rules.commands.found import WILDCARD
from ringfence.rules.model import BELOW, NAME, UNKNOWN, is_known

_CLUSTER = compiled("-[A-Za-z]{2,}")


def git(call: Invocation) -> str | None:
    """``git [-C directory] subcommand …``."""
    words = list(call.words)
    directory = call.context.directory
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "-C" and words:
            directory = posixpath.join(directory, words.pop(0))
        elif option == "-c" and words:
            words.pop(0)
        elif option not in ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"):
            return None
    if not words:
        return None
    name, arguments = words[0], words[1:]
    if name == "rev-parse":
        return _rev_parse(call, directory, arguments)
    if name in ("ls-files", "grep", "diff", "ls-tree", "show", "diff-tree", "log"):
        return _names(name, arguments)
    if name in ("branch", "symbolic-ref", "describe", "tag", "for-each-ref", "name-rev"):
        return _reference(name, arguments)
    if name in ("rev-list", "merge-base", "hash-object", "write-tree", "commit-tree", "stash"):
        return lines(NAME)
    return None


def _reference(name: str, arguments: list[str]) -> str | None:
    """Names of branches and tags hold slashes, but no ``..``."""
    if name == "branch" and arguments != ["--show-current"]:
        return None
    if name in ("tag", "for-each-ref") and any(a.startswith("--format") for a in arguments):
        return None
    return lines(BELOW)


def _names(name: str, arguments: list[str]) -> str | None:
    """Names of tracked files, as seen from the working directory, or hashes."""
    flags = {a.partition("=")[0] for a in arguments if a.startswith("-")}
    flags |= {f"-{letter}" for a in flags if _CLUSTER.fullmatch(a) for letter in a[1:]}
    formats = [a.partition("=")[2] for a in arguments if a.startswith(("--format", "--pretty"))]
    if formats:
        hashes = all(f.startswith("%") and set(f) <= set("%hHtTctsi") for f in formats)
        return lines(NAME) if hashes and not flags & {"--name-only", "--name-status"} else None
    listing = name == "ls-files" or not flags.isdisjoint(
        ("--name-only", "-l", "--files-with-matches")
    )
    if not listing or flags & {"-s", "--stage", "--name-status", "-v", "-t", "--no-index"}:
        return None
    operands = [a for a in arguments if not a.startswith("-")]
    if any(a.startswith(("/", "~")) or ".." in a.split("/") for a in operands):
        return None
    if name == "ls-files" and "--" not in arguments and not flags - {"-z"}:
        return lines(*(_tracked(operand) for operand in operands or ("",)))
    return lines(BELOW)


def _tracked(pathspec: str) -> str:
    """What a pathspec stands for; its stars take in slashes."""
    first = WILDCARD.search(pathspec)
    if pathspec.startswith(":") or UNKNOWN in pathspec or (first is None and pathspec):
        return BELOW
    folder = pathspec[: first.start()].rpartition("/")[0] if first else ""
    name = WILDCARD.split(pathspec)[-1]
    picked = f"/{NAME}{name}" if name and "/" not in name else ""
    return f"{folder}/{BELOW}{picked}".removeprefix("/")


def _rev_parse(call: Invocation, directory: str, arguments: list[str]) -> str | None:
    match arguments:
        case ["--show-toplevel"]:
            top = top_level(call, directory)
            return None if top is None else lines(top)
        case ["--show-cdup"]:
            return None
        case ["--git-dir"]:
            top = top_level(call, directory)
            if top is None:
                return None
            here = real_path(directory, call.context.filesystem) == top
            return lines(".git" if here else posixpath.join(top, ".git"))
        case ["--show-prefix"]:
            return lines(BELOW)
        case ["--abbrev-ref", *_] | ["--symbolic-full-name", *_]:
            return lines(BELOW)
    paths = ("--git-path", "--git-common-dir", "--show-superproject", "--absolute-git-dir")
    if any(a.startswith((*paths, "--show", "--git")) for a in arguments):
        return None
    return lines(NAME)


def top_level(call: Invocation, directory: str) -> str | None:
    """The root of the working tree around ``directory``, or None if it cannot be found.

    Without a file system to ask, it is the working directory of the call, in which agents are
    started at the root of the tree.
    """
    if not is_known(directory):
        return None
    filesystem = call.context.filesystem
    at = real_path(directory, filesystem)
    while True:
        kind = filesystem.kind(posixpath.join(at, ".git"))
        if kind in (Kind.DIRECTORY, Kind.FILE, Kind.LINK):
            return at
        if kind is Kind.UNKNOWN:
            project = call.context.project
            return project if project and is_inside(at, project) else None
        if at == "/":
            return None
        at = posixpath.dirname(at)
