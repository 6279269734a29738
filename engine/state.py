"""The folders of Ringfence's user, and the files that it keeps below ``$XDG_STATE_HOME``.

Only their owner may read and write them. One that others could have written is not believed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TypeAlias

StrPath: TypeAlias = str | os.PathLike[str]
MAX_BYTES = 4 << 20
_PATIENCE = 5.0  # seconds to wait for a lock


class StateError(Exception):
    """A file cannot be read, believed or written; the text says why."""


def state_folder(env: Mapping[str, str]) -> str:
    """The folder, which need not exist yet."""
    return _folder(env, "XDG_STATE_HOME", _VARIABLES["XDG_STATE_HOME"])


def user_folder(env: Mapping[str, str]) -> str:
    """Where the user's own config is, below ``$XDG_CONFIG_HOME``."""
    return _folder(env, "XDG_CONFIG_HOME", _VARIABLES["XDG_CONFIG_HOME"])


def misplaced(env: Mapping[str, str], work: Iterable[str]) -> tuple[str, str, str] | None:
    """The first of these folders that is inside one of ``work``, that one, and what says so.

    None if there is none. The folders that this user has without any variable are where they
    belong, wherever anybody works; and who works in ``/`` has nothing outside.
    """
    places = [(_spelt(place), place) for place in work if place != "/"]
    for variable, otherwise in (*_VARIABLES.items(), ("XDG_RUNTIME_DIR", "")):
        if not otherwise and not env.get(variable, "").startswith("/"):
            continue
        folder = _folder(env, variable, otherwise)
        inside = _inside(folder, places)
        if inside is not None and not (otherwise and _is_usual(folder, otherwise)):
            by = variable if env.get(variable, "").startswith("/") else "HOME"
            return folder, inside, by
    return None


_VARIABLES = {"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state"}


def _spelt(path: str) -> tuple[str, str]:
    """The path as it is written, and as its links lead."""
    return os.path.abspath(path), os.path.realpath(path)


def _inside(folder: str, places: Iterable[tuple[tuple[str, str], str]]) -> str | None:
    mine = _spelt(folder)
    for theirs, place in places:
        for path in theirs:
            if any(f"{one}/".startswith(f"{path.rstrip('/')}/") for one in mine):
                return place
    return None


def _is_usual(folder: str, otherwise: str) -> bool:
    import pwd  # noqa: PLC0415 - nearly nobody works where these folders are

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return False
    usual = f"{home}/{otherwise}/ringfence"
    return home.startswith("/") and _spelt(usual)[1] == _spelt(folder)[1]


def _folder(env: Mapping[str, str], variable: str, otherwise: str) -> str:
    base = env.get(variable, "")
    if not base.startswith("/"):  # the XDG specification: a relative path is to be ignored
        base = f"{env.get('HOME') or os.path.expanduser('~')}/{otherwise}"
    return _below(base)


@lru_cache(maxsize=64)
def _below(base: str) -> str:
    parts = [part for part in base.split("/") if part not in ("", ".")]
    return "/" * base.startswith("/") + "/".join([*parts, "ringfence"])


def read_private(path: StrPath) -> bytes | None:
    """The content of a file that only its owner could write; None if there is none."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        handle = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}") from error
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise StateError(f"{path} is no regular file")
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise StateError(f"{path} may have been written by others, so it is not believed")
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    if len(content) > MAX_BYTES:
        raise StateError(f"{path} is larger than {MAX_BYTES} bytes")
    return content


def write_private(path: StrPath, content: bytes) -> None:
    """Put a new file in the place of the old one, whole or not at all."""
    name = ""
    try:
        folder, stem = os.path.split(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        new = f"{folder}/.{stem}-{os.urandom(8).hex()}"
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        name = new
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        os.replace(name, path)
    except BaseException as error:
        if name:
            with suppress(OSError):
                os.unlink(name)
        if isinstance(error, OSError):
            raise StateError(f"{path} cannot be written: {error.strerror}") from error
        raise


@contextmanager
def locked(path: StrPath) -> Iterator[None]:
    """Within, nobody else changes ``path``: a lock on the file of that name with ``.lock``."""
    lock = f"{os.fspath(path)}.lock"
    try:
        os.makedirs(os.path.dirname(lock), mode=0o700, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StateError(f"{lock} cannot be opened: {error.strerror}") from error
    try:
        _wait(handle, lock)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, lock: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StateError(f"{lock} is held by another process") from None
            time.sleep(0.01)
        else:
            return
