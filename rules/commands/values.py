"""From the text of an option's value or an operand to the paths in it, by the value's modifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ringfence.grammar.regex import compiled
from ringfence.rules.classify import file_url_path, is_url, leads_out
from ringfence.rules.commands.schema import Value
from ringfence.rules.model import BELOW, NAME, UNKNOWN

_NO_FILE = frozenset(("", "-", ":memory:"))  # the standard streams, a database in memory
_REMOTE = compiled(r"(\[[^]]*\]|[^/:\s]*):")
_REVISION_PATH = compiled(r"[^/]*:")
_MADE = compiled(r"X{3,}(?=[^/]*$)")
_NO_PATH = ("^", UNKNOWN)  # how a revision may begin that git cannot take for a path outside
_SCHEME = compiled(r"(?:[A-Za-z][\w+-]+:)?@?")
_FORM = compiled(r"(?:^|=)[@<]\"?(?P<path>[^;\"]*)")
_ITEM = compiled(r"(?![a-z]+://)[^=@:/]*(?::?=)?@(?P<path>.*)", re.DOTALL)
_NAME_AT = compiled(r"[^=@]*@(?P<path>.*)", re.DOTALL)


def paths_in(value: Value, text: str) -> Iterable[str]:
    """The paths that ``text`` names, if it is a value of the kind and modifiers of ``value``."""
    if value.kind != "url" and value.modifiers.isdisjoint(_READ_OUT):
        return () if text in _NO_FILE else (text,)
    return _paths_in(value, text)


_READ_OUT = frozenset(
    (
        *(
            "braces",
            "last",
            "commas",
            "colons",
            "at",
            "response",
            "name-at",
            "item",
            "form",
            "prefix",
        ),
        *("named", "keys", "scheme", "selects"),
        *("url", "remote", "revision", "known", "slash", "shaped", "made"),
    )
)
"""Modifiers by which a path is less than the whole text, or the text none."""


def _paths_in(value: Value, text: str) -> Iterator[str]:
    for part in _parts(value, text):
        if part in _NO_FILE:
            continue
        if value.has("url") or value.kind == "url":
            path = file_url_path(part)
            if path is not None:
                yield path
                continue
            if value.kind == "url" or is_url(part):
                continue
        if value.has("remote") and _REMOTE.match(part) and not part.startswith(("/", ".", "~")):
            continue
        if value.has("revision") and (_REVISION_PATH.match(part) or part.startswith(_NO_PATH)):
            continue
        if value.has("known") and part.startswith(UNKNOWN):
            continue
        if value.has("slash") and "/" not in part and UNKNOWN not in part:
            continue
        if (value.has("shaped") or value.has("revision")) and not _looks_outward(part):
            continue
        yield _MADE.sub(NAME, part) if value.has("made") else part


def names_in(value: Value, text: str) -> Iterator[str]:
    """What may be a path as well as a name, of a value that says so (``there``)."""
    if not value.has("there") or text in _NO_FILE or UNKNOWN in text or is_url(text):
        return
    if value.has("revision") and (match := _REVISION_PATH.match(text)):
        text = text[match.end() :]
    if text and not _looks_outward(text):
        yield text


def read_only(value: Value, text: str) -> bool:
    """Whether a container mount says of itself that it is not written to."""
    if not value.modifiers:
        return False
    if value.has("prefix"):
        return "ro" in text.rpartition(":")[2].split(",")
    return value.has("keys") and not {"ro", "readonly", "ro=true"}.isdisjoint(text.split(","))


def _looks_outward(text: str) -> bool:
    """Like leads_out, but what may be a name as well as a path is taken for a name."""
    return leads_out(text) and not (text.startswith(UNKNOWN) and text[1:2] != "/")


def _parts(value: Value, text: str) -> Iterator[str]:
    """The parts of ``text`` that may be paths."""
    if value.has("braces") and text.startswith("{") and text.endswith("}"):
        pieces = text[1:-1].split(",")
    elif value.has("last"):
        pieces = text.split()[-1:]
    elif value.has("commas"):
        pieces = text.split(",")
    elif value.has("colons"):
        pieces = text.split(":")
    else:
        pieces = [text]
    for piece in pieces:
        yield from _part(value, piece)


def _part(value: Value, text: str) -> Iterator[str]:
    if value.has("at"):
        if text.startswith("@"):
            yield text[1:]
    elif value.has("response"):
        yield text.removeprefix("@")
    elif value.has("name-at"):
        if match := _NAME_AT.match(text):
            yield match["path"]
    elif value.has("item"):
        if match := _ITEM.match(text):
            yield match["path"]
    elif value.has("form"):
        if match := _FORM.search(text):
            yield match["path"]
    elif value.has("prefix"):
        path = text.partition(":")[0]
        # A name without a slash is a volume of the container engine.
        if leads_out(path) or "/" in path or path == ".":
            yield path
    elif value.has("named"):
        name, equals, path = text.partition("=")
        yield path if equals and "/" not in name else text
    elif value.has("keys"):
        for item in text.split(","):
            key, _, path = item.partition("=")
            if key in value.keys:
                yield path
    elif value.has("scheme") and is_url(text) and not text.startswith("file:"):
        yield text
    elif value.has("scheme"):
        yield from _SCHEME.sub("", text).split("|")
    elif value.has("selects"):
        yield from selected(text)
    else:
        yield text


def selected(text: str) -> Iterator[str]:
    """The files that a glob picks, here and below; none if it leaves them out."""
    if text.startswith("!") or ".." in text.split("/"):
        return
    name = text.lstrip("/")
    yield name
    if "/" not in text:
        yield f"{BELOW}/{name}"
