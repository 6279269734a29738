"""Commands that print a number, a name or a date."""

from __future__ import annotations

import re
from itertools import pairwise

from ringfence.engine.shell.arithmetic import evaluate
from ringfence.engine.shell.outputs.call import Invocation, all_known, lines
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME

MAX_NUMBERS = 1000
"""How many numbers ``seq`` prints one by one."""


def name(call: Invocation) -> str | None:  # noqa: ARG001
    """A text without ``/``: a number, a name, an identifier."""
    return lines(NAME)


def user(call: Invocation) -> str | None:
    """The name of the user."""
    return lines(call.context.lookup("USER") or call.context.lookup("LOGNAME") or NAME)


def printenv(call: Invocation) -> str | None:
    """``printenv name``."""
    value = call.context.lookup(call.words[0]) if len(call.words) == 1 else None
    return None if value is None else lines(value) if value else ""


def date(call: Invocation) -> str | None:
    """``date [+format]``: the literal text of the format, and a NAME for each part of the date."""
    formats = [word for word in call.words if word.startswith("+")]
    if not formats:
        return lines(NAME) if all(word.startswith("-") for word in call.words[:1]) else None
    template = formats[0][1:]
    pieces = re.split(r"(%[-_0^#]?[EO]?[:a-zA-Z%])", template)
    texts = {"%n": "\n", "%t": "\t", "%%": "%", "%D": "/".join((NAME,) * 3), "%x": None}
    result = [texts.get(piece, NAME) if piece[:1] == "%" else piece for piece in pieces]
    return None if None in result else lines("".join(filter(None, result)))


_ONE_NUMBER = compiled(r"(?:[^%]|%%)*%[-+ 0#]*\d{0,3}(?:\.\d{0,3})?[gfe](?:[^%]|%%)*")


def seq(call: Invocation) -> str | None:
    """``seq [first [step]] last`` of whole numbers."""
    words = call.words
    form = "%d"
    if words[:1] == ("-f",) and len(words) > 1:
        form, words = words[1], words[2:]
        if not _ONE_NUMBER.fullmatch(form):
            return None
    if any(word.startswith(("-f", "-s", "--f", "--s")) for word in words):
        return None
    if not all(re.fullmatch(r"-?\d{1,9}", word) for word in words) or not 1 <= len(words) <= 3:
        return lines(NAME)
    numbers = [int(word) for word in words]
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0:
        return None
    found = range(first, numbers[-1] + (1 if step > 0 else -1), step)
    if len(found) > MAX_NUMBERS:
        return lines(re.sub(r"%[^%]*?[dgfe]", lambda _: NAME, form))
    return lines(*(form % number for number in found))


def expr(call: Invocation) -> str | None:
    """``expr number operator number``."""
    if len(call.words) != 3 or call.words[1] not in ("+", "-", "*", "/", "%"):
        return None
    if not all_known(*call.words):
        return lines(NAME)
    value = evaluate(" ".join(call.words), lambda _: None).value
    return None if value is None else lines(str(value))


def stat(call: Invocation) -> str | None:
    """``stat -c format``, where the format asks for numbers alone."""
    words = call.words
    formats = [b for a, b in pairwise(words) if a in ("-c", "-f", "--format")]
    if len(formats) == 1 and re.fullmatch(
        r"(%[-+ 0-9]*[abBdfghiostuUGWXYZmz]|[\s:,])+", formats[0]
    ):
        return lines(NAME)
    return None
