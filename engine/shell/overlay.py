"""The file system as it is while the command runs: with the links that it has made."""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.filesystem import FileSystem, Kind
from ringfence.engine.paths import is_inside, real_path
from ringfence.engine.shell.state import Opened
from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Operation, is_known

_DESCRIPTOR = compiled(
    rf"/(?:dev|proc/(?:self|thread-self|[0-9{NAME}]+)(?:/task/[^/]+)?)"
    rf"/(?:fd/(?P<number>[0-9]+|[^/]*[{UNKNOWN}{NAME}{BELOW}][^/]*)"
    r"|(?P<name>std(?:in|out|err)))(?P<rest>/.*)?\Z"
)
_STANDARD = {"stdin": "0", "stdout": "1", "stderr": "2"}
_OF_THE_LINK = frozenset((Operation.DELETE, Operation.TEST))


@define
class Overlay:
    """The file system with ``links`` (absolute paths to absolute targets) added to it.

    ``opened`` is what descriptors have open: see State. ``names`` are another name of the working
    directory, if it has one, and its own.
    """

    below: FileSystem
    links: dict[str, str] = field(factory=dict)
    opened: Mapping[str, Opened] = field(factory=dict)
    names: tuple[str, str] = ("", "")

    @property
    def straight(self) -> set[str] | None:
        """See ``Seen``; None where links were made, which may stand anywhere."""
        known: set[str] | None = None if self.links else getattr(self.below, "straight", None)
        return known

    def kind(self, path: str) -> Kind:
        """See FileSystem."""
        return Kind.LINK if path in self.links else self.below.kind(path)

    def link(self, path: str) -> str | None:
        """See FileSystem."""
        return self.links[path] if path in self.links else self.below.link(path)

    def entries(self, path: str) -> list[str] | None:
        """See FileSystem."""
        return self.below.entries(path)

    def text(self, path: str, limit: int) -> str | None:
        """See FileSystem."""
        return self.below.text(path, limit)

    def same(self, path: str, other: str) -> bool:
        """See FileSystem."""
        return self.below.same(path, other)

    def links_below(
        self, path: str, limit: int, *, deep: bool = True, hidden: bool = True
    ) -> tuple[tuple[str, ...], int]:
        """See FileSystem."""
        found, looked = self.below.links_below(path, limit, deep=deep, hidden=hidden)
        made = (link for link in self.links if link != path and is_inside(link, path))
        return (*found, *(link for link in made if link not in found)), looked

    def through(self, path: str, *, follow: bool = True) -> str:
        """The path itself, or where it leads if that is through a link of ``links``."""
        other, own = self.names
        if other and is_inside(path, other):
            path = own.rstrip("/") + path[len(other) :] or "/"
        if not self.links:
            return path
        if any(is_inside(path, link) and (follow or path != link) for link in self.links):
            return real_path(path, self, follow=follow)
        return path

    def reopened(self, path: str, operation: Operation) -> tuple[str, ...]:
        """The files behind the descriptor that ``path`` stands for, or leads to.

        Only those with which ``operation`` does something else than what they were opened for: to
        open ``/dev/fd/3`` is to open the file once more, so what was open for reading is written.
        """
        if not self.opened:
            return ()
        found = _DESCRIPTOR.match(path) or _DESCRIPTOR.match(real_path(path, self))
        if found is None:
            return ()
        rest = found["rest"] or ""
        if operation in _OF_THE_LINK and not rest:
            return ()
        number = found["number"] or _STANDARD[found["name"]]
        if is_known(number):
            files = self.opened.get(number, ())
        else:  # any of them
            files = tuple(file for opened in self.opened.values() for file in opened)
        return tuple(
            dict.fromkeys(
                file + rest
                for file, how in files
                if rest or (how is not operation and (how, operation) != _RUN_AS_READ)
            )
        )


_RUN_AS_READ = (Operation.READ, Operation.EXECUTE)
