"""What files of the project, and patches, make programs do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ringfence.engine import patches
from ringfence.engine.paths import join, kernel_path
from ringfence.engine.shell import files, nested
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import World
from ringfence.engine.shell.origin import Origin
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Field, Operation, is_known

_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_RUN = frozenset(("run", "run-script", "rum", "urn"))
_SHORT = frozenset(("test", "t", "tst", "start", "stop", "restart"))  # npm's own names of scripts
_TRANSFERS = {
    "fetch": Operation.READ,
    "pull": Operation.READ,
    "ls-remote": Operation.READ,
    "push": Operation.WRITE,
}
_REMOTE = compiled(r'\[remote "(?P<name>[^"]+)"\](?P<body>[^\[]*)')
_URL = compiled(r"^\s*(?:push)?url\s*=\s*(?P<url>\S+)", re.MULTILINE)


def look(call: Call) -> None:
    """Evaluate what the project's files add to the program's arguments."""
    name = call.name.rpartition("/")[2]
    if name in _RUNNERS:
        _package_script(call)
    elif name == "git":
        _remote(call)
    elif name in ("apply_patch", "applypatch"):
        _patch(call)
    elif name in ("make", "gmake"):
        _makefile(call)


def _patch(call: Call) -> None:
    """The patch that agents pipe, or give, to a command of that name."""
    texts = [word.text for word in call.arguments] or [call.state.input]
    at = call.arguments[0] if call.arguments else call.argv[0]
    for text in texts:
        if UNKNOWN in text:
            call.unknown("a patch that is only known at run time", at)
        for path, operation, _ in patches.touched(text):
            call.touch(at, operation, path=path)


def _text(call: Call, name: str) -> str | None:
    """The text of a file of the working directory, or None."""
    directory = call.world.directory
    if not is_known(directory):
        return None
    text = files.read(call.world, f"{directory}/{name}")
    return None if UNKNOWN in text else text


# --- make --------------------------------------------------------------------------------------

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MAKE_FILE = compiled(r"-[A-Za-z]*f|--(?:make)?file\b")
_MAKE_VALUES = frozenset(("-C", "-f", "-I", "-o", "-W", "-j", "-l", "--directory", "--file"))


def make_words(call: Call) -> list[Field]:
    """The goals and variables among the words of make, and its options, but not their values."""
    words, before = [], ""
    for word in call.arguments:
        if before not in _MAKE_VALUES or (before in ("-j", "-l") and not word.text.isdecimal()):
            words.append(word)
        before = word.text
    return words


def _makefile(call: Call) -> None:
    """A Makefile that the command has just written; that of the project is not looked into."""
    words = call.arguments
    if any(_MAKE_FILE.match(word.text) for word in words):
        return
    directory, before = call.world.directory, ""
    for word in words:
        if before in ("-C", "--directory"):
            directory = join(directory, word.text)
        elif word.text.startswith("--directory=") or re.match("-C.", word.text):
            directory = join(directory, re.sub("-C|--directory=", "", word.text, count=1))
        before = word.text
    if not is_known(directory):
        return
    for name in _MAKEFILES:
        path = kernel_path(f"{directory}/{name}", call.run.filesystem)
        text = call.state.files.get(path)
        if text is not None:  # what a program made of the project's own is the project's own
            from ringfence.engine.shell import scripts  # noqa: PLC0415  # they use each other

            state = call.state.copy()
            state.directories = (directory,)
            inner = evolve(call, world=World(call.run, state, []))
            scripts.inspect(inner, "make", "make", text, call.argv[0], make_words(call))
            return


# --- package.json ------------------------------------------------------------------------------


def _package_script(call: Call) -> None:
    words = [word for word in call.arguments if not word.text.startswith("-")]
    if words and words[0].text in _RUN:
        words = words[1:]
    elif not words or (words[0].text not in _SHORT and call.name == "npm"):
        return
    if not words:
        return
    text = _text(call, "package.json")
    if text is None:
        return
    path = "package.json"
    for one, script in _scripts(text, words[0].text):
        origin = Origin(path, line=_line(text, f'"{one}"'), part=f'script "{one}"')
        nested.script_file(
            call, script, words[0], parameters=(), path=path, trusted=True, origin=origin
        )


def _line(text: str, word: str) -> int:
    """The line of a word that a file holds, the first of several; 0 if it is not written so."""
    place = text.find(word)
    return text.count("\n", 0, place) + 1 if place >= 0 else 0


def _scripts(text: str, name: str) -> Iterator[tuple[str, str]]:
    """The script ``name`` of a ``package.json``, those before and after it, and their names."""
    try:
        scripts = json.loads(text)["scripts"]
        names = [prefix + name for prefix in ("pre", "", "post")] if name in scripts else []
        found = [(one, scripts.get(one)) for one in names]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    yield from ((one, script) for one, script in found if isinstance(script, str))


# --- git ---------------------------------------------------------------------------------------


def _remote(call: Call) -> None:
    words = [word for word in call.arguments if not word.text.startswith("-")]
    directory = call.world.directory
    if not words or not is_known(directory):
        return
    config = f"{directory}/.git/config"
    if [word.text for word in words[:2]] in (["remote", "add"], ["remote", "set-url"]):
        names = [word.text for word in words[2:4]]
        if len(names) == 2:
            added = '[remote "{}"]\n\turl = {}\n'.format(*names)
            files.append(call.run, call.state, config, added)
    if words[0].text not in _TRANSFERS:
        return
    text = files.read(call.world, config)
    at = words[1] if len(words) > 1 else Field("origin", words[0].span)
    for remote in _REMOTE.finditer(text):
        if remote["name"] != at.text:
            continue
        for found in _URL.finditer(remote["body"]):
            path = found["url"].removeprefix("file://")
            if path.startswith(("/", "./", "../")):
                line = text.count("\n", 0, remote.start("body") + found.start("url")) + 1
                origin = Origin(".git/config", line=line, part=f'remote "{at.text}"')
                with call.run.recorder.stands_in(origin):
                    call.touch(at, _TRANSFERS[words[0].text], path=path)
