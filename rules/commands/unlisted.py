"""Words of commands that nothing is known about: those that look like paths count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ringfence.rules.classify import classify, file_url_path, is_url, leads_out
from ringfence.rules.model import Field, Operation
from ringfence.rules.usage import PathUse

_NAMED = re.compile(r"--?[\w.-]+[=:]|[A-Za-z_][\w.-]*\+?=|@(?=[/~.])")
_SHORT = re.compile(r"-[A-Za-z]+(?=[/~.\0])")
_HOST = re.compile(r"[\w.@-]+:(?=[/~])")


def path_parts(text: str) -> Iterator[str]:
    """The parts of one word that look like paths, for a command that is not known.

    The word itself, or what is glued to an option (``--file=/x``, ``-o../x``), assigned
    (``of=/x``) or behind a colon that no port or scheme explains (``key:/x``).
    """
    if is_url(text):
        path = file_url_path(text)
        if path is not None:
            yield path
        return
    for pattern in (_NAMED, _SHORT, _HOST):
        match = pattern.match(text)
        if match is not None:
            part = text[match.end() :]
            part = file_url_path(part) or part
            if leads_out(part):
                yield part
            return
    if classify(text).path:
        yield text


def shaped_uses(
    argv: Sequence[Field], start: int, fact: str, *, only_outward: bool = False
) -> Iterator[PathUse]:
    """A use for every word from ``start`` on that looks like a path.

    With ``only_outward`` words that are plainly below the working directory are left out.
    """
    for index in range(start, len(argv)):
        field = argv[index]
        for part in path_parts(field.text):
            if only_outward and not leads_out(part):
                continue
            yield PathUse(
                part,
                Operation.UNKNOWN,
                index,
                fact,
                possible=True,
                glob=field.glob,
            )
