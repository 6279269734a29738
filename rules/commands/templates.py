"""Command templates that another program fills in: ``find -exec``, ``parallel``."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence

from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.commands.found import Names, below
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field
from ringfence.rules.usage import CommandUse

MAX_INPUTS = 32
"""Inputs of one template that are followed each; the rest is unknown."""

_PLACEHOLDER = compiled(r"\{(?P<form>/?\.|//?|#|%)?\}")


def executed(
    words: Sequence[Field],
    roots: Sequence[str],
    names: Names,
    *,
    in_directory: bool,
    appends: bool,
) -> Iterator[CommandUse]:
    """The commands of ``-exec``: ``{}`` stands for what is found below each root.

    With ``in_directory`` they run in the found file's own directory; with ``appends`` a command
    without a placeholder gets what is found as its last word.
    """
    upward = any(".." in word.text or "dirname" in word.text for word in words)
    for root in roots:
        places: list[tuple[str, str | None]]
        if in_directory:
            found_in = posixpath.join(root, BELOW)
            places = [(f"./{name}", found_in) for name in names or (NAME,)]
            if upward:  # what stands right in the root, and the root itself
                places += [(f"./{NAME}", root), (f"./{NAME}", posixpath.dirname(root) or ".")]
        else:
            places = [(path, None) for path in below(root, names)]
            if upward:
                places.append((root, None))
        for found, directory in places:
            filled = [
                evolve(word, text=fill(word.text, found), glob=False)
                if _PLACEHOLDER.search(word.text)
                else word
                for word in words
            ]
            if appends and filled == list(words):
                filled.append(evolve(words[0], text=found, glob=False))
            yield CommandUse(tuple(filled), directory=directory)


def filled_scripts(words: Sequence[Field], separator: str) -> Iterator[str]:
    """The shell commands of ``parallel words ::: inputs``, one for each input."""
    texts = [word.text for word in words]
    end = next((i for i, text in enumerate(texts) if text.startswith(separator)), len(texts))
    template = " ".join(texts[:end])
    inputs = [text for text in texts[end + 1 :] if not text.startswith(separator)]
    if end == len(texts) or texts[end] != separator or len(inputs) > MAX_INPUTS:
        inputs = [*inputs[:MAX_INPUTS], UNKNOWN]
    for text in inputs:
        if not template:
            yield text
        elif _PLACEHOLDER.search(template):
            yield fill(template, text, quoted=True)
        else:
            yield f"{template} {_quoted(text)}"


def fill(template: str, found: str, *, quoted: bool = False) -> str:
    """The template with its placeholders replaced by ``found``, or the part they name."""
    parts = {
        "/": posixpath.basename(found) or NAME,
        "//": posixpath.dirname(found) or ".",
        ".": posixpath.splitext(found)[0],
        "/.": posixpath.splitext(posixpath.basename(found))[0] or NAME,
        "#": NAME,
        "%": NAME,
    }

    def part(match: re.Match[str]) -> str:
        text = parts.get(match["form"] or "", found)
        return _quoted(text) if quoted else text

    return _PLACEHOLDER.sub(part, template)


def _quoted(text: str) -> str:
    return text if UNKNOWN in text else shlex.quote(text)
