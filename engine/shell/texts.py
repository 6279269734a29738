"""Texts that may hold unknowns: joining several into one that stands for all of them."""

from __future__ import annotations

from collections.abc import Iterable

from ringfence.engine.shell.limits import MAX_TEXT
from ringfence.engine.shell.outputs.call import as_printed
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field


def is_name(text: str) -> bool:
    """Whether a NAME could stand for the text, split into words or not."""
    return (
        text not in ("", ".", "..")
        and not any(c in text for c in ("/", UNKNOWN, BELOW))
        and not any(map(str.isspace, text))
    )


def is_below(text: str) -> bool:
    """Whether a BELOW could stand for the text: a relative path without ``..``."""
    return (
        bool(text)
        and not text.startswith("/")
        and UNKNOWN not in text
        and not any(map(str.isspace, text))
        and ".." not in text.split("/")
    )


def joined(texts: Iterable[str]) -> str:
    """One text that stands for all of ``texts``, with as much known of it as possible."""
    several = list(dict.fromkeys(texts))
    if not several:
        return UNKNOWN
    if len(several) == 1:
        return several[0]
    if all(map(is_name, several)):
        return NAME
    start = _common_prefix(several).partition(UNKNOWN)[0]
    directory = start[: start.rfind("/") + 1]
    rests = [text[len(directory) :] for text in several]
    if all(map(is_name, rests)):
        return directory + NAME
    if all(map(is_below, rests)):
        return directory + BELOW
    return start + UNKNOWN


def _common_prefix(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    for index, character in enumerate(first):
        if character != last[index]:
            return first[:index]
    return first


def as_value(field: Field) -> str:
    """The text that a variable gets from a field: that of a pattern is not what it matches."""
    return as_printed(field) if field.glob else field.text


def bounded(text: str) -> str:
    """The text, its end unknown if it is too long to handle."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + UNKNOWN


def trimmed(text: str) -> str:
    """What a command substitution leaves of an output: no newlines at its end."""
    return text.rstrip("\n")
