"""Pathname expansion: the paths that a pattern matches, asked of the file system port."""

from __future__ import annotations

from collections.abc import Collection

from ringfence.engine.filesystem import FileSystem, Kind
from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell.limits import MAX_FIELDS
from ringfence.engine.shell.patterns import compile_pattern, has_magic, matches, unquote
from ringfence.grammar.records import define, field


@define
class Matcher:
    """Expands patterns as seen from ``directory`` under the shell options ``options``.

    ``links`` are the links that were looked behind on the way.
    """

    filesystem: FileSystem
    directory: str
    options: Collection[str]
    links: list[str] = field(factory=list)

    @property
    def _extglob(self) -> bool:
        return "extglob" in self.options

    def magic(self, pattern: str) -> bool:
        """Whether bash takes ``pattern`` (quoted characters escaped) for one."""
        return has_magic(pattern, extglob=self._extglob)

    def expand(self, pattern: str) -> list[str] | None:
        """The sorted paths that match, as bash writes them; None if nobody can say.

        ``pattern`` quotes literal characters by a backslash.
        """
        found = [""]
        parts = pattern.split("/")  # quoting never puts a backslash before a slash
        for index, part in enumerate(parts):
            last = index + 1 == len(parts)
            following: list[str] = []
            for base in found:
                if part == "":  # a slash more, at the beginning, the end or between
                    following.append(base + ("" if last else "/"))
                    continue
                names = self._names(base, part, last=last)
                if names is None:
                    return None
                following.extend(base + name + ("" if last or not name else "/") for name in names)
                if len(following) > MAX_FIELDS:
                    return None
            found = following
        return sorted(self._existing(found, parts))

    def _existing(self, found: list[str], parts: list[str]) -> list[str]:
        if not self.magic(parts[-1]):
            return [path for path in found if self._kind(path) is not Kind.MISSING]
        return found

    def _absolute(self, path: str) -> str:
        return kernel_path(join(self.directory, path or "."), self.filesystem)

    def _kind(self, path: str) -> Kind:
        follow = path.endswith("/")
        return self.filesystem.kind(real_path(self._absolute(path), self.filesystem, follow=follow))

    def _is_directory(self, path: str) -> bool:
        kind = self._kind(path)
        if kind is Kind.LINK:
            self.links.append(self._absolute(path))
            kind = self._kind(path + "/")
        return kind in (Kind.DIRECTORY, Kind.UNKNOWN)

    def _names(self, base: str, part: str, *, last: bool) -> list[str] | None:
        """The names in the directory ``base`` that match ``part``; with ``**``, paths below it."""
        if not self.magic(part):
            return [unquote(part)]
        if part == "**" and "globstar" in self.options:
            return self._below(base, last=last)
        entries = self._entries(base)
        if entries is None:
            return None
        names = [name for name in entries if self._matches(part, name)]
        return names if last else [n for n in names if self._is_directory(base + n)]

    def _entries(self, base: str) -> list[str] | None:
        """The names in ``base``: none if it is no directory, None if it cannot be read."""
        real = real_path(self._absolute(base), self.filesystem)
        entries = self.filesystem.entries(real)
        if entries is None and self.filesystem.kind(real) in (Kind.MISSING, Kind.FILE, Kind.OTHER):
            return []
        return entries

    def _matches(self, part: str, name: str) -> bool:
        hidden = name.startswith(".") and "dotglob" not in self.options
        if hidden and not compile_pattern(part, extglob=self._extglob).dotted:
            return False
        if "nocaseglob" in self.options:
            part, name = part.lower(), name.lower()
        return matches(part, name, extglob=self._extglob)

    def _below(self, base: str, *, last: bool) -> list[str] | None:
        """What ``**`` stands for in ``base``: no directory, each directory below, or each path."""
        found = [] if last else [""]
        todo = [""]
        while todo:
            here = todo.pop()
            entries = self._entries(base + here)
            if entries is None:
                return None
            for name in entries:
                if name.startswith(".") and "dotglob" not in self.options:
                    continue
                path = here + name
                kind = self._kind(base + path)
                if kind is Kind.DIRECTORY:
                    todo.append(path + "/")
                if last or kind is Kind.DIRECTORY:
                    found.append(path)
                if len(found) > MAX_FIELDS:
                    return None
        return found
