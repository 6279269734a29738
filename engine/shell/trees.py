"""Links below a directory that lead elsewhere, as ``grep -R`` and ``cp -rL`` follow them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ringfence.engine.filesystem import FileSystem, Kind
from ringfence.engine.paths import is_inside, join, normalise, outside, real_path
from ringfence.engine.shell.environment import SYSTEM_DIRECTORIES
from ringfence.engine.shell.limits import MAX_BELOW, MAX_LINKS_BELOW, MAX_LINKS_NAMED
from ringfence.grammar.regex import compiled

_INTERPRETER = compiled(r"(?:python|pypy)[\d.]*t?")


def leading_out(
    root: str,
    named: str,
    cwd: str,
    filesystem: FileSystem,
    *,
    deep: bool = True,
    hidden: bool = True,
    changes: bool = False,
    excluded: Iterable[str] = (),
) -> list[str]:
    """The links below ``root`` that lead out of ``cwd`` to something that is there.

    The command has ``named`` the root so. Links that lead to other directories inside are
    followed. Unless what they lead to ``changes``, links to programs where programs are do not
    count: each virtual environment has some, and nothing of anyone's is in them. Nor do those that
    a pattern of ``excluded`` leaves out.
    """
    found: list[str] = []
    todo = [real_path(root, filesystem)]
    done: list[str] = []
    left, links_left = MAX_BELOW, MAX_LINKS_BELOW
    while todo and left > 0:
        here = todo.pop(0)
        if not is_inside(here, real_path(cwd, filesystem)):
            continue  # it is reported itself
        if any(is_inside(here, tree) for tree in done):
            continue
        done.append(here)
        links, looked = filesystem.links_below(here, left, deep=deep, hidden=hidden)
        left -= looked
        for link in links[:links_left]:
            if any(_leaves_out(pattern, named, link[len(here) :]) for pattern in excluded):
                continue
            real = real_path(link, filesystem)
            kind = filesystem.kind(real)
            if outside(link, cwd, filesystem) is None:
                if deep and kind is Kind.DIRECTORY:
                    todo.append(real)
            elif kind is not Kind.MISSING and (changes or not _is_program(link, real, filesystem)):
                found.append(link)
                if len(found) == MAX_LINKS_NAMED:
                    return found
        links_left = max(links_left - len(links), 0)
    return found


def _leaves_out(pattern: str, named: str, path: str) -> bool:
    """Whether all of a command's ways to read ``pattern`` leave out ``path``, below its tree.

    A pattern with a slash is one for paths that begin as the command has ``named`` the tree.
    """
    name = pattern.removeprefix("./").rstrip("/")
    if "/" in name:
        whole = normalise(f"{named}{path}").lstrip("/")
        return fnmatchcase(whole, name) or fnmatchcase(whole, f"{name}/*")
    return any(fnmatchcase(part, name) for part in path.split("/"))


def _is_program(link: str, real: str, filesystem: FileSystem) -> bool:
    """Whether it leads to a program of the system, or to a virtual environment's interpreter."""
    if filesystem.kind(real) is not Kind.FILE:
        return False
    home, _, name = link.rpartition("/")
    named = normalise(join(home, filesystem.link(link) or ""))
    folders = {path.rpartition("/")[0] for path in (named, real)}
    if not folders.isdisjoint(SYSTEM_DIRECTORIES):
        return True
    environment = home.removesuffix("/bin")
    return (
        environment != home
        and filesystem.kind(f"{environment}/pyvenv.cfg") is Kind.FILE
        and _INTERPRETER.fullmatch(name) is not None
        and _INTERPRETER.fullmatch(real.rpartition("/bin/")[2]) is not None
    )
