"""Words of commands that nothing is known about.

Those that look like paths count, and any other if something of that name is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ringfence.grammar.regex import compiled
from ringfence.rules.classify import classify, file_url_path, is_url, leads_out
from ringfence.rules.model import UNKNOWN, Field, Operation
from ringfence.rules.usage import PathUse

_NAMED = compiled(r"--?[\w.-]+[=:]|[A-Za-z_][\w.-]*\+?=|@(?=[/~.])")
_SHORT = compiled(r"-[A-Za-z]+(?=[/~.\0])")
_HOST = compiled(r"[\w.@-]+:(?=[/~])")


def path_parts(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of one word that may be paths, and whether they look it.

    The word itself, or what is glued to an option (``--file=/x``, ``-o../x``), assigned
    (``of=/x``) or behind a colon that no port or scheme explains (``key:/x``).
    """
    if is_url(text):
        path = file_url_path(text)
        if path is not None:
            yield path, True
        return
    for pattern in (_NAMED, _SHORT, _HOST):
        match = pattern.match(text)
        if match is not None:
            part = text[match.end() :]
            part = file_url_path(part) or part
            if part and pattern is not _SHORT and not is_url(part):
                yield part, leads_out(part)
            elif leads_out(part):
                yield part, True
            return
    what = classify(text)
    if what.path or (what.name == "none" and text != "-"):
        yield text, what.path


def shaped_uses(
    argv: Sequence[Field], start: int, fact: str, *, only_outward: bool = False
) -> Iterator[PathUse]:
    """A use for every word from ``start`` on that may be a path.

    With ``only_outward`` words that are plainly below the working directory count only if they
    are there.
    """
    for index in range(start, len(argv)):
        field = argv[index]
        for part, looks in path_parts(field.text):
            sure = looks and not (only_outward and not leads_out(part))
            if not sure and (UNKNOWN in part or field.glob):
                continue
            yield PathUse(
                part,
                Operation.UNKNOWN,
                index,
                fact,
                possible=True,
                glob=field.glob,
                there=not sure,
            )
