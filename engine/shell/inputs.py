"""Words that a command takes from its standard input: ``xargs``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Field
from ringfence.rules.usage import CommandUse

MAX_ITEMS = 64
"""Words of standard input that are followed; one unknown word stands for the rest."""

_CHECKSUM = compiled(r"\\?[0-9a-fA-F]{32,128} [ *]")
_STEP = "read from standard input"


def filled(command: CommandUse, text: str, at: Field) -> Iterator[list[Field]]:
    """The words of each command that ``xargs`` makes of ``command`` and the input ``text``."""
    items = _items(command, text)
    words = list(command.words)
    if command.placeholder is None:
        fields = [
            Field(item, at.span, quoted=True, several=item == UNKNOWN, steps=(_STEP,))
            for item in items
        ]
        size = command.group or max(len(fields), 1)
        for start in range(0, max(len(fields), 1), size):
            yield words + fields[start : start + size]
        return
    for item in items:
        yield [_replaced(word, command.placeholder, item) for word in words]


def listed(text: str) -> Iterator[str]:
    """The names in a list: one on a line or between null bytes, perhaps behind a checksum."""
    lines = [line for line in re.split(r"[\n\0]", text) if line.strip()]
    for line in lines[:MAX_ITEMS]:
        yield _CHECKSUM.sub("", line)
    if len(lines) > MAX_ITEMS:
        yield UNKNOWN


def _replaced(word: Field, placeholder: str, item: str) -> Field:
    if placeholder not in word.text:
        return word
    return evolve(
        word, text=word.text.replace(placeholder, item), steps=(*word.steps, f"{_STEP}: `{item}`")
    )


def _items(command: CommandUse, text: str) -> list[str]:
    if command.null_separated:
        # A null byte is an unknown here, too: only between known texts is it a separator.
        items = _lines(text.split("\0") if text.strip("\0\n") else [text] if text else [])
    elif command.placeholder is not None:
        items = [line.strip() for line in text.splitlines()]
    else:
        try:
            items = shlex.split(text)
        except ValueError:
            items = text.split()
    items = [item for item in items if item]
    return items if len(items) <= MAX_ITEMS else [*items[:MAX_ITEMS], UNKNOWN]


def _lines(texts: Sequence[str]) -> list[str]:
    """Programs whose output is known end their records with a newline in any case."""
    return [line for text in texts for line in text.split("\n")]
