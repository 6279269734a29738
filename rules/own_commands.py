"""Which commands run Ringfence itself so that its config, trust or grants may change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ringfence.grammar.regex import compiled
from ringfence.rules.commands import lookup
from ringfence.rules.model import UNCERTAIN, UNKNOWN, CommandLine
from ringfence.rules.naming import WRAPPERS

NAME: Final = "ringfence"
MODULE: Final = "ringfence.engine.cli"
"""What runs it: a program of that name, or what loads that module."""

_PRINTS: Final = {
    "trust": (frozenset(("--list", "--help", "-h")), True),
    "grants": (frozenset(("list", "--json", "--help", "-h")), False),
    "install": (frozenset(("--help", "-h")), True),
    "uninstall": (frozenset(("--help", "-h")), True),
}
"""Commands that change something unless all the words behind them are among these, of which some
need one at least."""

_PROGRAM_OPTIONS = frozenset(("--version", "--help", "-h"))
_HELP = frozenset(("--help", "-h"))
_LAUNCHERS = frozenset(("uv", "uvx", "pipx", "pipenv", "poetry", "hatch", "rye", "pdm"))
_TYPISTS = frozenset(("screen", "tmux", "zellij", "osascript", "expect", "xdotool", "wtype"))
"""Programs whose arguments are typed into another shell."""
_INSTALLERS = compiled(r"(?:pip[\d.]*|conda|mamba|micromamba|brew|python[\d.]*)$")
_PYTHON = compiled(r"(?:python|pypy)[\d.]*$")
_OWN_MODULE = compiled(r"ringfence\.engine\.cli(?:\W|$)")
_OWN_PROGRAM = compiled(
    r"\b(?:import|from)\s+ringfence\b|\bringfence\.engine\b|import_module\(\s*.ringfence"
)
_SPOKEN = compiled(r"""(?:^|[\s;&|/"'`(])ringfence(?=[\s"'])["']?([^;&|\n"'`)]*)""")
_UNINSTALLED = compiled(r"ringfence(?:\W|$)")


def changes_own(command: CommandLine) -> bool:
    """Whether the command may change what Ringfence goes by."""
    words = command.words
    if not any(NAME in word.casefold() for word in words):
        return False
    starter = _name(words[0])
    python = _PYTHON.match(starter) is not None
    # What a command does that nobody here knows may be to run its arguments.
    hands_on = python or starter in _LAUNCHERS or starter in WRAPPERS or lookup(starter) is None
    types = hands_on or starter in _TYPISTS
    for index, word in enumerate(words):
        behind = words[index + 1 :]
        if _name(word) == NAME and (index == 0 or hands_on):
            if command.kept and behind[:1] == (UNKNOWN,):
                continue  # the project's own code, of which nobody knows what it does
            if changes(behind):
                return True
        elif _runs_module(words, index):
            if changes(behind):
                return True
        elif python and _OWN_PROGRAM.search(word):
            return True  # it may do anything that Ringfence can
        elif types and any(changes(said[1].split()) for said in _SPOKEN.finditer(word)):
            return True
    return _uninstalls(words, starter)


def changes(arguments: Sequence[str]) -> bool:
    """Whether Ringfence, given these, may change what it goes by; what is not known may."""
    if not arguments:
        return False
    first, *rest = arguments
    if first == "import":
        return not _HELP.issuperset(rest) and not all(map(_is_plain, rest))
    if first in _PRINTS:
        harmless, needs_one = _PRINTS[first]
        return not harmless.issuperset(rest) or (needs_one and not rest)
    return first not in _PROGRAM_OPTIONS and not _is_plain(first)


def _is_plain(word: str) -> bool:
    """Whether a word is known, and no option."""
    return not word.startswith("-") and UNCERTAIN.isdisjoint(word)


def _name(word: str) -> str:
    """The name of a program, as disks may take it that do not mind the case."""
    return word.rpartition("/")[2].casefold()


def _runs_module(words: Sequence[str], index: int) -> bool:
    word = words[index]
    option, _, module = word.partition("m") if word.startswith("-") else ("", "", word)
    after_m = index > 0 and words[index - 1].startswith("-") and words[index - 1].endswith("m")
    return _OWN_MODULE.match(module) is not None and bool(option or after_m)


def _uninstalls(words: Sequence[str], starter: str) -> bool:
    """Whether Ringfence itself is taken away: then nobody judges what comes next."""
    if starter not in _LAUNCHERS and not _INSTALLERS.match(starter):
        return False
    place = next((n for n, word in enumerate(words) if word in ("uninstall", "remove")), None)
    return place is not None and any(map(_UNINSTALLED.match, words[place:]))
