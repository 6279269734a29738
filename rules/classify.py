"""Classifiers: what a word looks like before anything is known about the command it stands in.

Each one is a small declared rule with examples that a test checks. They are tried in order; the
first that matches gives the word its tag, whose name shows up in explanations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringfence.grammar.records import frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, UNKNOWN


@frozen
class Classifier:
    """One tag for words.

    ``matches`` gets the word after all expansions (it may hold the unknowns of the model) and
    its source text. ``path`` says whether such a word names a path in any command's arguments.
    ``examples`` and ``counterexamples`` are words that get this tag, and words that do not.
    """

    name: str
    doc: str
    matches: Callable[[str, str], bool]
    path: bool
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


_URL = compiled(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILE_URL = compiled(r"file:(//(localhost(?=/))?)?", re.IGNORECASE)
_PERCENT = compiled(r"%([0-9A-Fa-f]{2})")
_SCOPED_PACKAGE = compiled(r"@[A-Za-z0-9._-]+/[A-Za-z0-9._-]+(@[^/\s]+)?")
_ASSIGNMENT = compiled(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")
_DEVICE = compiled(
    r"/dev/(null|zero|full|u?random|tty|std(in|out|err)|fd(/\d+)?)|/dev/(tcp|udp)/.*"
)
_TILDE = compiled(r"~([A-Za-z_][\w.-]*|[+-]?\d*)(/|\Z)")
_FILE_NAME = compiled(
    r"\.?[\w@+-]([\w@+. -]*[\w@+-])?\.[A-Za-z][A-Za-z0-9_]{0,9}|\.[A-Za-z][\w.-]*|\."
)


def _dot_dot(text: str) -> bool:
    return ".." in text and ".." in text.split("/")


CLASSIFIERS: tuple[Classifier, ...] = (
    Classifier(
        "device",
        "A device or a descriptor of the process itself, which is no file of anyone's.",
        lambda text, _: _DEVICE.fullmatch(text) is not None,
        path=False,
        examples=("/dev/null", "/dev/stdin", "/dev/fd/3", "/dev/tcp/host/80"),
        counterexamples=("/dev/sda", "/dev/nullx", "dev/null"),
    ),
    Classifier(
        "url",
        "An address with a scheme, other than file://.",
        lambda text, _: _URL.match(text) is not None and not text.lower().startswith("file://"),
        path=False,
        examples=("https://x.io/a", "git+ssh://host/x", "s3://bucket/key"),
        counterexamples=("file:///etc/hosts", "://x", "C:/x"),
    ),
    Classifier(
        "scoped-package",
        "An npm package in a scope.",
        lambda text, _: _SCOPED_PACKAGE.fullmatch(text) is not None,
        path=False,
        examples=("@scope/package", "@a/b@1.2.3"),
        counterexamples=("@scope", "@/x", "a@b/c", "@scope/a/b"),
    ),
    Classifier(
        "flag",
        "An option: a hyphen and more.",
        lambda text, _: len(text) > 1 and text.startswith("-"),
        path=False,
        examples=("-x", "--file", "--file=/etc/x", "-f/etc/x"),
        counterexamples=("-", "a-b", "/-x"),
    ),
    Classifier(
        "assignment",
        "A name and =, before any slash.",
        lambda text, _: _ASSIGNMENT.match(text) is not None,
        path=False,
        examples=("NAME=value", "CC=/usr/bin/cc", "a[1]=x", "p+=/x"),
        counterexamples=("=x", "a/b=c", "1a=x", "a-b=c"),
    ),
    Classifier(
        "home-relative",
        "A tilde prefix, as bash or the program itself expands it.",
        lambda text, written: _TILDE.match(text) is not None or _TILDE.match(written) is not None,
        path=True,
        examples=("~", "~/x", "~user/x", "~user", "~+/x", "~-"),
        counterexamples=("a~", "a/~", "~ x"),
    ),
    Classifier(
        "dot-dot",
        "Holds a .. segment, so it may climb out of any directory.",
        lambda text, _: _dot_dot(text),
        path=True,
        examples=("..", "../x", "a/../../b", "/a/..", "a/.."),
        counterexamples=("a..b", "...", "HEAD..main", "a/..b"),
    ),
    Classifier(
        "absolute",
        "Begins with a slash.",
        lambda text, _: text.startswith("/"),
        path=True,
        examples=("/", "/etc/hosts", "//x", "/[a-z]*"),
        counterexamples=("a/b", "./x", "~/x"),
    ),
    Classifier(
        "unknown",
        "Begins with text that is only known at run time: it may be any path, or none.",
        lambda text, _: text.startswith((UNKNOWN, BELOW)),
        path=True,
        examples=(UNKNOWN, f"{UNKNOWN}/x", f"{BELOW}.py"),
        counterexamples=("x", f"x{UNKNOWN}", f"/etc/{UNKNOWN}"),
    ),
    Classifier(
        "relative",
        "Has a slash, or looks like the name of a file.",
        lambda text, _: "/" in text or _FILE_NAME.fullmatch(text) is not None,
        path=True,
        examples=("a/b", "./x", "a.py", ".env", ".", "my file.txt", "src/"),
        counterexamples=("a", "1.5", "", "x.", "a b"),
    ),
    Classifier(
        "none",
        "Nothing that looks like a path.",
        lambda _text, _written: True,
        path=False,
        examples=("", "word", "1.5", "a b", "-"),
        counterexamples=("/x", "a/b", "-x"),
    ),
)

_LEADS_OUT = frozenset({"home-relative", "dot-dot", "absolute"})


def classify(text: str, written: str = "") -> Classifier:
    """The first classifier that matches ``text``, a word after expansion.

    ``written`` is the word's source text, if there is one: a tilde shows only there.
    """
    return next(c for c in CLASSIFIERS if c.matches(text, written))


def leads_out(text: str) -> bool:
    """Whether the word, taken for a path, is not plainly below the working directory."""
    return text.startswith(UNKNOWN) or classify(text).name in _LEADS_OUT


def is_url(text: str) -> bool:
    """Whether the word is an address with a scheme, file:// included."""
    return _URL.match(text) is not None


def file_url_path(text: str) -> str | None:
    """The path that a ``file:`` address names, without its query, or None if it is not one."""
    match = _FILE_URL.match(text)
    return None if match is None else _decoded(re.split("[?#]", text[match.end() :])[0])


def _decoded(text: str) -> str:
    """Decode ``%2F`` and its like, without the slow import of urllib."""
    return _PERCENT.sub(lambda match: chr(int(match[1], 16)), text)
