"""Paths: what the kernel would open, and whether that is inside a directory.

All paths here are absolute. They may hold the unknowns of ``rules.model``: a NAME stays within
its directory and a BELOW within its tree, so both can be judged; an UNKNOWN is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ringfence.engine.filesystem import FileSystem, Kind
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, UNKNOWN

MAX_LINKS = 40
"""How many symbolic links one path may lead through: the kernel's own limit."""

MAX_PATH = 4096
"""The longest path that the kernel takes; a longer one is looked at as text alone."""

_EXEMPT = frozenset(
    f"/dev/{name}"
    for name in (
        *("null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr"),
        *("fd/0", "fd/1", "fd/2"),
    )
)
_ODD = compiled(r"/(?:/|\Z|\.\.?(?:/|\Z))")
"""What `normalise` takes out: segments that are empty, ``.`` or ``..``."""
_SOCKETS = ("/dev/tcp/", "/dev/udp/")
_PROC = "/proc/"
"""What its links lead to differs by process: the caller's are not the command's."""
_HERE = ("/proc/self/", "/proc/thread-self/")


def is_exempt(path: str) -> bool:
    """Whether ``path`` is a device that holds nothing: ``/dev/null`` and its friends.

    ``/dev/fd/3`` is not among them: only who knows what is open there can tell.
    """
    return path in _EXEMPT or path.startswith(_SOCKETS)


def is_inside(path: str, directory: str) -> bool:
    """Whether the normalised ``path`` is ``directory`` or lies below it."""
    return directory in ("/", path) or path.startswith(directory + "/")


def join(directory: str, path: str) -> str:
    """``path`` as seen from ``directory``, nothing removed."""
    return path if path.startswith("/") else f"{directory}/{path}"


def _up(parts: list[str], *, absorbed: bool) -> bool:
    """Take one ``..`` from ``parts``; returns whether a BELOW at the end absorbed it.

    What is below a directory may be one or many levels below: one ``..`` leaves it in the
    directory's tree (the directory included), the next may lead out.
    """
    if not parts:
        return False
    if UNKNOWN in parts[-1]:
        parts[-1] = UNKNOWN
        return False
    if BELOW in parts[-1]:
        if not absorbed:
            parts[-1] = BELOW
            return True
        parts.pop()
        if parts:
            parts.pop()
        return False
    parts.pop()
    return False


def normalise(path: str) -> str:
    """The path without ``.``, doubled slashes and ``..``, looked at as text alone."""
    if path[:1] == "/" and len(path) > 1 and _ODD.search(path) is None:
        return path
    parts: list[str] = []
    absorbed = False
    for part in path.split("/"):
        if part == "..":
            absorbed = _up(parts, absorbed=absorbed)
        elif part not in ("", "."):
            parts.append(part)
            absorbed = False
    return "/" + "/".join(parts)


def kernel_path(path: str, filesystem: FileSystem) -> str:
    """The path as written, except that each ``..`` leads where the kernel would go.

    ``link/../x`` is ``x`` beside the link's target, ``link/x`` stays as it is.
    """
    if "/.." not in path or len(path) > MAX_PATH:
        return normalise(path)
    done = ""
    for part in path.split("/"):
        if part == "..":
            done = normalise(real_path(done or "/", filesystem) + "/..")
            if done == "/":
                done = ""
        elif part not in ("", "."):
            done = f"{done}/{part}"
    return done or "/"


def real_path(path: str, filesystem: FileSystem, *, follow: bool = True) -> str:
    """Where ``path`` really leads: every link followed, ``..`` taken after that.

    Components that do not exist, or that nobody can look at, stand for themselves. Without
    ``follow``, a link in the last place is not followed. Past MAX_LINKS the rest stays as it is.
    """
    if len(path) > MAX_PATH:
        return normalise(path)
    straight: set[str] | None = getattr(filesystem, "straight", None)  # see ``Seen``
    if straight is None:
        return _walked(path, filesystem, follow=follow)
    folder, _, name = path.rpartition("/")
    if folder in straight and name not in _DOTS:
        if not follow or path in straight:
            return path
        if path.startswith(_PROC):
            return path
        if filesystem.kind(path) is not Kind.LINK:
            straight.add(path)
            return path
    return _walked(path, filesystem, follow=follow, straight=straight)


_DOTS = ("", ".", "..")


def _walked(
    path: str, filesystem: FileSystem, *, follow: bool, straight: set[str] | None = None
) -> str:
    """``real_path``, component by component; what leads through no link joins ``straight``."""
    done = ""
    if straight:
        done = path
        while done and done not in straight:
            done = done.rpartition("/")[0]
    todo = [part for part in reversed(path[len(done) :].split("/")) if part not in ("", ".")]
    parts = done.split("/")[1:]
    links = 0
    absorbed = False
    while todo:
        part = todo.pop()
        if part == "..":
            absorbed = _up(parts, absorbed=absorbed)
            straight = None  # an unknown may now stand where nothing was looked at
            continue
        absorbed = False
        here = "/".join(("", *parts, part))
        target = None
        if (todo or follow) and links < MAX_LINKS and not here.startswith(_PROC):
            kind = filesystem.kind(here)
            if kind is Kind.LINK:
                target = filesystem.link(here)
            elif straight is not None:
                if kind is Kind.MISSING and ".." not in todo:  # nothing stands below nothing
                    return "/".join((here, *reversed(todo)))
                if not links:
                    straight.add(here)
        if target is None:
            parts.append(part)
            continue
        links += 1
        if target.startswith("/"):
            parts.clear()
        todo.extend(piece for piece in reversed(target.split("/")) if piece not in ("", "."))
    return "/" + "/".join(parts)


def through_proc(path: str, directory: str) -> str:
    """``path`` with ``/proc/self/cwd`` and ``/proc/self/root`` replaced by what they stand for."""
    for start in _HERE:
        if path.startswith(start):
            name, _, rest = path[len(start) :].partition("/")
            if name == "cwd":
                return f"{directory}/{rest}"
            if name == "root":
                return f"/{rest}"
    return path


def spelled(directories: Iterable[str], filesystem: FileSystem) -> tuple[str, ...]:
    """The directories as written, and as their links lead."""
    written = list(directories)
    real = [real_path(directory, filesystem) for directory in written]
    return tuple(dict.fromkeys(written + real))


def outside(
    path: str, cwd: str, filesystem: FileSystem, *, follow: bool = True
) -> tuple[str, str] | None:
    """The path and where it really leads if that is outside ``cwd``; see ``outside_all``."""
    return outside_all(path, spelled((cwd,), filesystem), filesystem, follow=follow)


def stays_inside(
    path: str, directories: Iterable[str], filesystem: FileSystem, *, follow: bool = True
) -> bool:
    """Whether the normalised ``path`` is below one of ``directories`` and no link is between.

    Then it is inside, wherever the directory itself leads; if not, ``outside_all`` tells.
    """
    for directory in directories:
        if directory == "/" or (path == directory and follow):
            return True
        if not path.startswith(directory + "/"):
            continue
        if "/.." in path:
            return False
        here = directory
        names = path[len(directory) + 1 :].split("/")
        for name in names if follow else names[:-1]:
            here = f"{here}/{name}"
            kind = filesystem.kind(here)
            if kind is Kind.LINK:
                return False
            if kind is Kind.MISSING:
                break
        return True
    return False


def outside_all(
    path: str, directories: Sequence[str], filesystem: FileSystem, *, follow: bool = True
) -> tuple[str, str] | None:
    """The path and where it really leads if that is outside ``directories``, else None.

    ``directories`` are those where a call may work: see ``spelled``. A path that only passes
    through a link outside and ends inside is inside. ``follow`` is False for operations on a
    link itself (deleting it).
    """
    if is_exempt(path):
        return None
    real = real_path(path, filesystem, follow=follow)
    for directory in directories:
        if is_inside(real, directory):
            return None
    if is_exempt(real):
        return None
    for directory in directories:
        if _is_spelled(real, directory, filesystem):
            return None
    return path, real


def _is_spelled(path: str, directory: str, filesystem: FileSystem) -> bool:
    """Whether ``path`` is in ``directory``, spelled with other cases as some disks allow."""
    start = path[: len(directory)]
    return (
        path[len(directory) : len(directory) + 1] in ("", "/")
        and start != directory
        and start.casefold() == directory.casefold()
        and filesystem.same(start, directory)
    )
