"""Registering in files: what is ours is put in, replaced or taken out, and nothing else changes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ringfence.engine.hosts import jsonc
from ringfence.engine.hosts.registration import Own, Shared

BACKUP: Final = ".before-ringfence"
"""What the name of a file's old content ends with."""


class SettingsError(Exception):
    """A settings file that is not to be touched; the text says why."""


def is_registered(file: Shared | Own, host: str, text: str | None) -> bool:
    """Whether a file's text registers Ringfence, this installation or another.

    Raises SettingsError if that cannot be told.
    """
    if text is None or _is_blank(text):
        return False
    if isinstance(file, Own):
        return "ringfence" in text.lower()
    return bool(_ours(_parsed(text), host))


def installed(file: Shared | Own, host: str, text: str | None, program: str) -> str:
    """The file's text with Ringfence registered, once. Raises SettingsError."""
    if isinstance(file, Own):
        if text is not None and not is_registered(file, host, text):
            raise SettingsError("another hook has that name")
        return file.text(program)
    if text is None or _is_blank(text):
        text = "{}\n"
    try:
        root = _parsed(text)
        for key, value in file.fixed.items():
            if key not in root.value:
                text = jsonc.with_member(text, key, value)
        wanted = file.entries(program)
        for path in reversed(_ours(jsonc.parse(text), host)):
            if path[:-1] not in wanted:
                text = jsonc.without(text, path)
        for path, entry in wanted.items():
            text = _with_entry(text, host, path, entry)
    except jsonc.JsoncError as error:
        raise SettingsError(str(error)) from error
    return text


def _with_entry(text: str, host: str, path: tuple[str, ...], entry: Any) -> str:
    """The text with our entry in one list: in the place of one that is there already."""
    there = [ours for ours in _ours(jsonc.parse(text), host) if ours[: len(path)] == path]
    whole = [ours for ours in there if ours[:-1] == path]
    for ours in reversed(there):
        if ours not in whole[:1]:
            text = jsonc.without(text, ours)
    if not whole:
        return jsonc.with_item(text, path, entry)
    node = jsonc.parse(text).at(whole[0])
    if node is not None and node.value == entry:
        return text
    return jsonc.replaced(text, whole[0], entry)


def uninstalled(host: str, text: str) -> str:
    """A settings file's text without Ringfence. Raises SettingsError."""
    try:
        for path in reversed(_ours(_parsed(text), host)):
            text = jsonc.without(text, path)
    except jsonc.JsoncError as error:
        raise SettingsError(str(error)) from error
    return text


def is_bare(file: Shared, text: str) -> bool:
    """Whether the text holds nothing, not even a comment, but what an installation writes."""
    root = _parsed(text)
    if root.value == file.fixed and root.parts:
        return True
    return not root.parts and not text[root.start + 1 : root.end - 1].strip()


def switched_off(file: Shared | Own, text: str) -> str | None:
    """The name of the member by which the file turns our hooks off, if one does."""
    if isinstance(file, Own):
        return None
    with suppress(jsonc.JsoncError):
        root = jsonc.parse(text)
        for path, value in file.switches.items():
            node = root.at(path)
            if node is None:
                continue
            if node.value == value or (isinstance(node.value, list) and value in node.value):
                return ".".join(path)
    return None


def is_current(file: Shared | Own, host: str, text: str, program: str) -> bool:
    """Whether the file says what an installation of this program would write."""
    return installed(file, host, text, program) == text


def _is_blank(text: str) -> bool:
    return not text.strip("\ufeff \t\r\n")


def _parsed(text: str) -> jsonc.Node:
    try:
        root = jsonc.parse(text)
    except jsonc.JsoncError as error:
        raise SettingsError(str(error)) from error
    if not isinstance(root.value, dict):
        raise SettingsError("it holds no JSON object")
    return root


def _ours(root: jsonc.Node, host: str) -> list[tuple[jsonc.Key, ...]]:
    """The paths of our entries, in their order; of handlers, where an entry has others, too."""
    found: list[tuple[jsonc.Key, ...]] = []
    for path, entry in _entries(root):
        handlers = entry.at(("hooks",))
        parts = handlers.parts if handlers is not None else ()
        mine = [part.key for part in parts if _runs_ringfence(part.node.value, host)]
        if mine and len(mine) < len(parts):
            found += [(*path, "hooks", key) for key in mine]
        elif mine or (not parts and _runs_ringfence(entry.value, host)):
            found.append(path)
    return found


def _entries(root: jsonc.Node) -> Iterator[tuple[tuple[jsonc.Key, ...], jsonc.Node]]:
    """The entries of every event, each with its path."""
    events = root.at(("hooks",))
    for event in events.parts if events is not None else ():
        if isinstance(event.node.value, list):
            for item in event.node.parts:
                yield ("hooks", event.key, item.key), item.node


def _runs_ringfence(handler: Any, host: str) -> bool:
    """Whether a handler runs ``… ringfence hook HOST``, as one text or as words."""
    if not isinstance(handler, dict):
        return False
    program = str(handler.get("command") or handler.get("bash") or "")
    arguments = handler.get("args")  # a form of Claude Code's, in which there is no shell
    words = " ".join(map(str, arguments)) if isinstance(arguments, list) else ""
    line = f"{program} {words} "
    return "ringfence" in line and f" hook {host} " in line


def read(path: Path) -> str | None:
    """A file's text, its line ends as they are; None if there is none. Raises SettingsError."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"it cannot be read: {error}") from error


def replace(path: Path, text: str) -> None:
    """Write a settings file as a whole, or leave it as it is. Raises OSError.

    A link is followed, so that the file stays where a dotfile manager keeps it; its rights stay
    as they are.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        _write(target, text.encode(), target.stat().st_mode & 0o7777)
    else:
        _write(target, text.encode(), 0o700 if text.startswith("#!") else 0o600)


def back_up(path: Path) -> Path | None:
    """Keep a file's content beside it: where, or None if there is no file. Raises OSError."""
    target = Path(os.path.realpath(path))
    if not target.exists():
        return None
    backup = backup_of(path)
    _write(backup, target.read_bytes(), target.stat().st_mode & 0o7777)
    return backup


def drop_backup(path: Path) -> None:
    """Take the backup away if the file is again what it was. Raises OSError."""
    backup = backup_of(path)
    with suppress(FileNotFoundError):
        if backup.read_bytes() == path.read_bytes():
            backup.unlink()


def backup_of(path: Path) -> Path:
    """Where the old content of a file is kept: beside the file itself, not beside a link to it."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + BACKUP)


def _write(target: Path, content: bytes, mode: int) -> None:
    """A file of that content and those rights, which is never there by halves."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".ringfence-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Take a file away that is ours, and the folders that it leaves empty. Raises OSError."""
    path.unlink()
    for folder in path.parents[:2]:
        with suppress(OSError):
            if folder.name in ("ringfence", "hooks"):
                folder.rmdir()
