"""What files hold, as far as this command wrote them itself or the project has them."""

from __future__ import annotations

from collections.abc import Iterable

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import is_exempt, is_inside, kernel_path, real_path
from ringfence.engine.shell.core import Run, World
from ringfence.engine.shell.limits import MAX_FILE
from ringfence.engine.shell.state import State
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, is_known

FIRST_SUBSTITUTION = 32
"""From here on bash numbers what process substitutions open, from 63 downwards."""

_DESCRIPTOR = compiled(r"/(?:dev|proc/self)/(?:fd/(?P<number>\d+)|(?P<name>std(?:in|out|err)))\Z")
_STANDARD = {"stdin": "0", "stdout": "1", "stderr": "2"}


def descriptor(path: str) -> str | None:
    """The number of the open file that ``/dev/fd/N`` or ``/dev/stdin`` stands for, or None."""
    found = _DESCRIPTOR.match(path)
    return found and (found["number"] or _STANDARD[found["name"]])


def close_substitutions(state: State, before: Iterable[str]) -> None:
    """Close what process substitutions have opened since ``before`` was what is open."""
    for number in state.descriptors.keys() - set(before):
        if number.isdecimal() and int(number) >= FIRST_SUBSTITUTION:
            del state.descriptors[number]


def is_open(state: State, path: str) -> bool:
    """Whether ``path`` stands for a file that the command has opened itself."""
    number = descriptor(path)
    return number is not None and (number in "012" or number in state.descriptors)


def read(world: World, path: str) -> str:
    """The text of the file at the absolute ``path``; UNKNOWN where nobody can say."""
    number = descriptor(path)
    if number is not None:
        return world.state.input if number == "0" else world.state.descriptors.get(number, UNKNOWN)
    if is_exempt(path):
        return "" if path == "/dev/null" else UNKNOWN
    written = written_text(world.state, path)
    if written is not None:
        return written
    text = None if world.state.changed else project_text(world.run, path)
    return UNKNOWN if text is None else text


def written_text(state: State, path: str) -> str | None:
    """The text that this command wrote to ``path`` (UNKNOWN if it is not known); None if none."""
    if path in state.files:
        text = state.files[path]
        return UNKNOWN if text is None else text
    if any(text is None and is_inside(path, above) for above, text in state.files.items()):
        return UNKNOWN
    return None


def is_kept(run: Run, state: State, path: str) -> bool:
    """Whether the text at ``path`` was there before this command, as a file of the project."""
    if descriptor(path) is not None or is_exempt(path):
        return False
    names = (path, real_path(path, run.shell.filesystem))
    return all(written_text(state, name) is None for name in names)


def is_dictated(state: State, path: str) -> bool:
    """Whether the command itself has put an unknown text there: a download, ``sed -i``, ``dd``.

    What is built from the project's sources does not count: it is the project's own.
    """
    if descriptor(path) is not None:
        return True
    if path not in state.files:
        # Two names that nobody knows may be one.
        own = (name for name in state.files if name not in state.built)
        return not is_known(path) and any(not is_known(name) for name in own)
    text = state.files[path]
    return path not in state.built if text is None else UNKNOWN in text


def project_text(run: Run, path: str, *, null: str = "") -> str | None:
    """The text of a small file in the working directory, or None; ``null`` for null bytes."""
    if not is_known(path):
        return None
    shell = run.shell
    real = real_path(path, shell.filesystem)
    if not is_inside(real, real_path(shell.cwd, shell.filesystem)):
        return None
    text = shell.filesystem.text(real, MAX_FILE)
    return None if text is None else text.replace("\0", null)


def listing(world: World, path: str) -> str | None:
    """The text of a list of names; UNKNOWN where nobody can say, None if there is none to read."""
    text = written_text(world.state, path)
    if text is None and not world.state.changed:
        text = project_text(world.run, path, null="\n")
    if text is not None:
        return text
    shell = world.run.shell
    inside = is_inside(real_path(path, shell.filesystem), real_path(shell.cwd, shell.filesystem))
    gone = shell.filesystem.kind(path) is Kind.MISSING and not world.state.changed
    return UNKNOWN if inside and not gone else None


def write(state: State, path: str, text: str | None) -> None:
    """Remember that ``path`` now holds ``text`` (None: nobody knows what)."""
    number = descriptor(path)
    if number is not None:
        for file, _ in state.opened.get(number, ()):
            write(state, file, None)
        return
    state.files[path] = text
    state.built -= {path}


def build(state: State, path: str) -> None:
    """Remember that ``path`` was made of the project's own sources."""
    state.files[path] = None
    state.built |= {path}


def append(run: Run, state: State, path: str, text: str) -> None:
    """Remember that ``text`` was added to ``path``: what stood there before may be unknown."""
    before = written_text(state, path)
    if before is None and not state.changed:
        before = project_text(run, path)
        if before is None and run.shell.filesystem.kind(path) is Kind.MISSING:
            before = ""
    state.files[path] = (UNKNOWN if before is None else before) + text


def make_directory(state: State, path: str) -> None:
    """Remember that the directory ``path`` and those above it exist."""
    made = set(state.made)
    while path not in ("", "/"):
        made.add(path)
        path = path.rpartition("/")[0]
    state.made = frozenset(made)


def directory_exists(world: World, path: str) -> bool | None:
    """Whether ``path`` is a directory when the command gets there; None if nobody can say."""
    state, filesystem = world.state, world.run.filesystem
    if path in state.made:
        return True
    real = real_path(kernel_path(path, filesystem), filesystem)
    if real in state.made:
        return True
    if is_inside(world.run.shell.cwd, path):
        return True  # the working directory and those above it
    kind = filesystem.kind(real)
    if kind is Kind.DIRECTORY:
        return True if written_text(state, path) is None else None
    if kind is Kind.UNKNOWN or state.changed or written_text(state, path) is not None:
        return None
    return False
