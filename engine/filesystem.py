"""The one small port through which Ringfence looks at files.

Three forms: the real file system, one rooted at a folder (as if the folder were ``/``), and none.
Nothing here ever writes or runs anything.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from enum import StrEnum
from itertools import islice
from typing import Protocol

from ringfence.grammar.records import define, field, frozen

_LARGE = frozenset((".git", "node_modules"))
"""Folders that hold much, and little of what anyone looks for: they come last."""
_OBJECTS = "/.git/objects"  # git's own, of which it makes no links


class Kind(StrEnum):
    """What stands at a path, the last component's link not followed."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"
    MISSING = "missing"
    UNKNOWN = "unknown"  # there is no file system to ask, or it refuses


class FileSystem(Protocol):
    """Looks at paths. All paths are absolute; errors are answers, never exceptions."""

    def kind(self, path: str) -> Kind:
        """What stands at ``path``, without following a link there."""

    def link(self, path: str) -> str | None:
        """The target of the symbolic link at ``path`` as stored, None if it is none."""

    def entries(self, path: str) -> list[str] | None:
        """The names in the directory ``path`` (a real directory, no link), sorted; or None."""

    def text(self, path: str, limit: int) -> str | None:
        """The text of a regular file of at most ``limit`` bytes (bad UTF-8 escaped), or None."""

    def same(self, path: str, other: str) -> bool:
        """Whether both surely name one directory, such as ``/Src`` and ``/src`` on some disks."""

    def links_below(
        self, path: str, limit: int, *, deep: bool = True, hidden: bool = True
    ) -> tuple[tuple[str, ...], int]:
        """The links below the directory ``path``, and how many entries were looked at.

        No link is followed. At most ``limit`` entries are looked at, those near ``path`` first;
        not ``deep``: those in ``path`` itself; not ``hidden``: no names with a dot in front.
        """


_KINDS = {stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK, stat.S_IFREG: Kind.FILE}


@frozen
class RealFileSystem:
    """The file system as it is below ``root``, which is taken for ``/``."""

    root: str = ""

    def _host(self, path: str) -> bytes:
        """The name as bash gets it from an agent: UTF-8, whatever the locale of this process."""
        name = self.root + path
        try:
            return name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half a character, such as bash writes for `$'\ud800'`
            return b"".join([_bytes_of(character) for character in name])

    def kind(self, path: str) -> Kind:
        """See FileSystem."""
        try:
            mode = os.lstat(self._host(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return Kind.MISSING
        except (OSError, ValueError):
            return Kind.UNKNOWN
        return _KINDS.get(stat.S_IFMT(mode), Kind.OTHER)

    def link(self, path: str) -> str | None:
        """See FileSystem."""
        try:
            return _text_of(os.readlink(self._host(path)))
        except (OSError, ValueError):
            return None

    def entries(self, path: str) -> list[str] | None:
        """See FileSystem."""
        try:
            return sorted(map(_text_of, os.listdir(self._host(path))))
        except (OSError, ValueError):
            return None

    def text(self, path: str, limit: int) -> str | None:
        """See FileSystem."""
        try:
            # Without blocking, so that a named pipe in the project cannot stop the gate.
            handle = os.open(self._host(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                return None
            with open(handle, "rb", closefd=False) as file:
                return file.read(limit).decode("utf-8", "surrogateescape")
        except OSError:
            return None
        finally:
            os.close(handle)

    def links_below(
        self, path: str, limit: int, *, deep: bool = True, hidden: bool = True
    ) -> tuple[tuple[str, ...], int]:
        """See FileSystem."""
        found: list[str] = []
        near, far = deque([path.rstrip("/")]), deque[str]()
        looked = 0
        while looked < limit and (near or far):
            here = (near or far).popleft()
            try:
                # Not read to its end: one directory may hold more than all that is looked at.
                with os.scandir(self._host(here) or b"/") as scanned:
                    entries = sorted(islice(scanned, limit - looked), key=lambda entry: entry.name)
            except (OSError, ValueError):
                continue
            looked += len(entries)
            for entry in entries:
                own = _text_of(entry.name)
                name = f"{here}/{own}"
                if own.startswith(".") and not hidden:
                    continue
                if entry.is_symlink():
                    found.append(name)
                elif deep and _is_folder(entry) and not name.endswith(_OBJECTS):
                    (far if own in _LARGE else near).append(name)
        return tuple(found), looked

    def same(self, path: str, other: str) -> bool:
        """See FileSystem."""
        try:
            return os.path.samestat(os.stat(self._host(path)), os.stat(self._host(other)))
        except (OSError, ValueError):
            return False


def _bytes_of(character: str) -> bytes:
    is_byte = "\udc80" <= character <= "\udcff"  # one that was no UTF-8
    return character.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")


def _text_of(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


@frozen
class NoFileSystem:
    """Knows nothing: every path may or may not exist."""

    def kind(self, path: str) -> Kind:  # noqa: ARG002
        """See FileSystem."""
        return Kind.UNKNOWN

    def link(self, path: str) -> str | None:  # noqa: ARG002
        """See FileSystem."""
        return None

    def entries(self, path: str) -> list[str] | None:  # noqa: ARG002
        """See FileSystem."""
        return None

    def text(self, path: str, limit: int) -> str | None:  # noqa: ARG002
        """See FileSystem."""
        return None

    def same(self, path: str, other: str) -> bool:  # noqa: ARG002
        """See FileSystem."""
        return False

    def links_below(
        self,
        path: str,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        *,
        deep: bool = True,  # noqa: ARG002
        hidden: bool = True,  # noqa: ARG002
    ) -> tuple[tuple[str, ...], int]:
        """See FileSystem."""
        return (), 0


@define(eq=False)
class Seen:
    """A file system as it is at one moment: what it is asked once, it is not asked again.

    A decision looks at the same directories again and again.
    """

    below: FileSystem
    read: int = field(default=0, init=False)
    """Characters of the texts and names that were read."""
    straight: set[str] = field(factory=set, init=False)
    """Normalised paths that lead through no link, for ``paths.real_path``."""
    _missing: set[str] = field(factory=set, init=False)
    _kinds: dict[str, Kind] = field(factory=dict, init=False)
    _links: dict[str, str | None] = field(factory=dict, init=False)
    _entries: dict[str, list[str] | None] = field(factory=dict, init=False)
    _texts: dict[tuple[str, int], str | None] = field(factory=dict, init=False)
    _same: dict[tuple[str, str], bool] = field(factory=dict, init=False)
    _below: dict[tuple[str, int, bool, bool], tuple[tuple[str, ...], int]] = field(
        factory=dict, init=False
    )

    def kind(self, path: str) -> Kind:
        """See FileSystem."""
        kind = self._kinds.get(path)
        if kind is not None:
            return kind
        if path.rpartition("/")[0] in self._missing:  # nothing stands below nothing
            kind = Kind.MISSING
        else:
            kind = self._kinds[path] = self.below.kind(path)
        if kind is Kind.MISSING:
            self._missing.add(path)
        return kind

    def link(self, path: str) -> str | None:
        """See FileSystem."""
        if path not in self._links:
            self._links[path] = self.below.link(path)
        return self._links[path]

    def entries(self, path: str) -> list[str] | None:
        """See FileSystem."""
        if path not in self._entries:
            self._entries[path] = found = self.below.entries(path)
            self.read += sum(map(len, found or ()))
        kept = self._entries[path]
        return None if kept is None else list(kept)

    def text(self, path: str, limit: int) -> str | None:
        """See FileSystem."""
        if (path, limit) not in self._texts:
            self._texts[path, limit] = found = self.below.text(path, limit)
            self.read += len(found or "")
        return self._texts[path, limit]

    def same(self, path: str, other: str) -> bool:
        """See FileSystem."""
        if (path, other) not in self._same:
            self._same[path, other] = self.below.same(path, other)
        return self._same[path, other]

    def links_below(
        self, path: str, limit: int, *, deep: bool = True, hidden: bool = True
    ) -> tuple[tuple[str, ...], int]:
        """See FileSystem."""
        key = (path, limit, deep, hidden)
        if key not in self._below:
            found = self.below.links_below(path, limit, deep=deep, hidden=hidden)
            self._below[key] = found
            self.read += found[1] + sum(map(len, found[0]))
        return self._below[key]

    @property
    def questions(self) -> int:
        """How many different things it was asked."""
        paths = len(self._kinds) + len(self._links) + len(self._entries)
        return paths + len(self._texts) + len(self._same) + len(self._below)

    def is_still(self, filesystem: FileSystem) -> bool:
        """Whether ``filesystem`` would say now what this one said."""
        return (
            all(filesystem.kind(path) is kind for path, kind in self._kinds.items())
            and all(filesystem.link(path) == link for path, link in self._links.items())
            and all(filesystem.same(*paths) is same for paths, same in self._same.items())
            and all(filesystem.entries(path) == names for path, names in self._entries.items())
            and all(filesystem.text(*asked) == text for asked, text in self._texts.items())
            and all(
                filesystem.links_below(path, limit, deep=deep, hidden=hidden) == found
                for (path, limit, deep, hidden), found in self._below.items()
            )
        )
