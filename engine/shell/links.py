"""Symbolic links that the command itself makes: what comes after it sees them."""

from __future__ import annotations

import re

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell.call import Call
from ringfence.rules.model import Field, is_known


def remember(call: Call, command: str) -> None:
    """Remember the link that ``ln -s target link``, ``mv link new`` or ``cp -P link new`` makes."""
    operands = [word for word in call.arguments if not word.text.startswith("-")]
    letters = "".join(w.text for w in call.arguments if re.fullmatch(r"-[A-Za-z]+", w.text))
    if command == "ln" and "s" in letters and operands:
        _linked(call, operands, letters)
    elif (command == "mv" or not {"a", "d", "P"}.isdisjoint(letters)) and len(operands) == 2:
        source, filesystem = _absolute(call, operands[0]), call.run.filesystem
        target = filesystem.link(source) if filesystem.kind(source) is Kind.LINK else None
        if target is not None:
            made = _destination(call, operands[1], source)
            _add(call, made, join(source.rpartition("/")[0], target))


def _linked(call: Call, operands: list[Field], letters: str) -> None:
    target = operands[0].text
    if len(operands) == 1:
        made = _absolute(call, Field(target.rstrip("/").rpartition("/")[2], operands[0].span))
    elif "n" in letters or "T" in letters:
        made = _absolute(call, operands[1])
    else:
        made = _destination(call, operands[1], target)
    _add(call, made, join(made.rpartition("/")[0], target))


def _add(call: Call, made: str, target: str) -> None:
    if is_known(made) and is_known(target):
        call.state.links[made] = kernel_path(target, call.run.filesystem)


def _absolute(call: Call, word: Field) -> str:
    return kernel_path(join(call.world.directory, word.text), call.run.filesystem)


def _destination(call: Call, word: Field, source: str) -> str:
    """The path that gets the name of ``source`` if ``word`` is a directory."""
    path, filesystem = _absolute(call, word), call.run.filesystem
    if filesystem.kind(real_path(path, filesystem)) is Kind.DIRECTORY:
        return f"{path}/{source.rstrip('/').rpartition('/')[2]}"
    return path
