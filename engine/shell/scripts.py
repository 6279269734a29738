"""Scripts: files that the command runs, as far as their text is known.

The text is what the command wrote itself, or what the project has. What a project's own script
does counts where it is certain enough to name; what cannot be known of it is not held against
the command that runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell import environment, files, nested, variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.outputs import Context
from ringfence.engine.shell.programs import LANGUAGES, inspect_program
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Field, Operation
from ringfence.rules.own_commands import MODULE, NAME

MAX_MODULES = 20
"""Files that a script loads, and those that they load, before it may look at its arguments."""

_SHEBANG = compiled(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(?P<name>[\w.+-]+)")
_TOLD = frozenset(("awk", "sed"))  # whose programs can change no file unseen
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))

_LOOKS = {
    "bash": compiled(
        r"\$\{?[#!]?[@*0-9]|\$\{?#|\b(?:getopts|shift|set|source|BASH_ARGV|eval)\b|^\s*\.\s",
        re.MULTILINE,
    ),
    "python": compiled(
        r"\b(?:argv|orig_argv|argparse|optparse|getopt|fileinput|runpy|exec|eval)\b"
    ),
    "node": compiled(r"argv|parseArgs|\beval\b|process\s*[\[;,)]|\bFunction\b"),
}
"""What a script that looks at its arguments must hold somewhere."""

_IMPORTS = {
    "python": compiled(r"^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))", re.MULTILINE),
    "node": compiled(
        r"""\brequire\s*\(\s*['"]([^'"]+)['"]|\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]"""
    ),
}
_NODE_MODULES = frozenset((
    *("assert", "buffer", "crypto", "events", "fs", "fs/promises", "http", "https", "os", "path"),
    *("querystring", "readline", "stream", "string_decoder", "timers", "url", "util", "zlib"),
))  # fmt: skip


def context(call: Call) -> Context:
    """What a program sees of the shell that starts it."""
    return Context(
        directory=call.world.directory,
        filesystem=call.run.filesystem,
        read=lambda path: read(call, path),
        lookup=lambda name: variables.number(call.world, name),
        project=call.run.shell.cwd,
    )


def read(call: Call, path: str) -> str | None:
    """The text of a file that an argument names, or None."""
    directory = call.world.directory
    if UNKNOWN in path or directory.startswith(UNKNOWN):
        return None
    text = files.read(call.world, kernel_path(join(directory, path), call.run.filesystem))
    return None if text == UNKNOWN else text


def command_word(call: Call, head: Field) -> None:
    """A command word with a slash names the file that is executed, one without is searched for."""
    if "/" not in head.text:
        environment.search(call)
    elif not environment.is_plain(call, head.text):
        path = call.touch(head, Operation.EXECUTE)
        if path is not None:
            run(call, path, head, call.arguments, None)


def run(
    call: Call, path: str, at: Field, parameters: Sequence[Field], language: str | None
) -> None:
    """Evaluate a script that the command wrote itself, or that the project has.

    ``language`` is what the command takes it for; without one the script's first line says it.
    """
    text, written = _text(call, path)
    if text is None or text == UNKNOWN:
        call.state.changed = True
        if files.is_dictated(call.state, path):
            call.unknown("runs a script whose text is only known at run time", at, runs=True)
        return
    if language is None:
        language = _language(text, written=written)
    if language == "bash":
        nested.script_file(call, text, at, parameters=parameters, path=path, trusted=not written)
        return
    if language == "make" and not written:
        call.state.changed = True
        return  # the project's own targets, as those of its Makefile
    if language is not None:
        recorder = call.run.recorder
        origin = Origin(nested.shown(recorder, path), text)
        with (
            call.run.lenient(not written),
            recorder.possibly(not written),
            recorder.stands_in(origin),
        ):
            inspect(call, at.text, language, text, at, parameters)
    call.state.changed = call.state.changed or language not in _TOLD


def ignores_arguments(call: Call, path: str, language: str | None) -> bool:
    """Whether the script at the absolute ``path`` surely never looks at its arguments."""
    text, written = _text(call, path)
    if text is None or UNKNOWN in text:
        return False
    language = language or _language(text, written=written)
    if language == "bash":
        return not _LOOKS["bash"].search(text)
    if language not in _IMPORTS:
        return False
    seen = {path}
    left = [(path, text)]
    while left:
        file, text = left.pop()
        if _LOOKS[language].search(text) or len(seen) > MAX_MODULES:
            return False
        for name in _imported(text, language):
            found = _module(call, file, name, language)
            if found is None:
                return False
            if found[0] not in seen:
                seen.add(found[0])
                left.append(found)
    return True


def _imported(text: str, language: str) -> list[str]:
    """The modules that a program loads and that are not the language's own."""
    names = []
    for found in _IMPORTS[language].finditer(text):
        for name in (found[1] or found[2]).split(","):
            name = name.strip().partition(" as ")[0].strip()  # noqa: PLW2901
            if language == "python" and name.partition(".")[0] not in sys.stdlib_module_names:
                names.append(name)
            if language == "node" and name.removeprefix("node:") not in _NODE_MODULES:
                names.append(name)
    return names


def _module(call: Call, file: str, name: str, language: str) -> tuple[str, str] | None:
    """The file of a module that stands beside the one that loads it, and its text."""
    folder = file.rpartition("/")[0]
    if language == "python":
        candidates = [
            f"{folder}/{name.lstrip('.').replace('.', '/')}{end}" for end in (".py", "/__init__.py")
        ]
    elif name.startswith("."):
        base = join(folder, name)
        candidates = [f"{base}{end}" for end in ("", ".js", ".mjs", ".cjs", ".json", "/index.js")]
    else:
        return None
    for candidate in candidates:
        text, _ = _text(call, kernel_path(candidate, call.run.filesystem))
        if text is not None and UNKNOWN not in text:
            return candidate, text
    return None


def _text(call: Call, path: str) -> tuple[str | None, bool]:
    """A script's text, if anything is known of it, and whether the command wrote it itself."""
    for name in (path, real_path(path, call.run.filesystem)):
        text = files.written_text(call.state, name)
        if text is not None:
            return text, True
    return (None if call.state.changed else files.project_text(call.run, path)), False


def _language(text: str, *, written: bool) -> str | None:
    """The language of a file that is executed; without a ``#!`` line, bash runs it itself."""
    shebang = _SHEBANG.match(text)
    if shebang is None:
        plain = not text.startswith("#!") and (written or UNKNOWN not in text)
        return "bash" if plain else None
    name = shebang["name"]
    if name in _SHELLS:
        return "bash"
    return next((language for language in LANGUAGES if name.startswith(language)), None)


def inspect(
    call: Call, by: str, language: str, text: str, at: Field, parameters: Sequence[Field]
) -> None:
    """Record what a program in another language touches."""
    recorder = call.run.recorder
    found = inspect_program(language, text, parameters, context(call))
    positions = nested.places(recorder, at.span, text)
    for path, operation, start, end in found.paths:
        span = at.span if positions is None else (positions[start], positions[end])
        anchor = None
        if recorder.origin is not None and recorder.origin.text is text:
            span, anchor = (start, end), recorder.span(at.span)
        place = evolve(at, span=span, glob=False)
        with recorder.anchored(anchor):
            absolute = recorder.effect(path, operation, place, by, call.world.directory)
        if absolute is not None and operation is Operation.WRITE:
            files.write(call.state, absolute, None)
    for script, _ in found.shell:
        nested.child(call.run, call.state, script, at)
    for words in _own_commands(found.modules, at, parameters):
        recorder.command(at.span, words, within=True)
    for reason in found.opaque:
        call.unknown(f"{by}: {reason}", at, runs=reason not in found.of_paths)


def _own_commands(
    modules: Sequence[str], at: Field, parameters: Sequence[Field]
) -> Iterator[tuple[Field, ...]]:
    """What a program is that loads Ringfence: it may do all that ``ringfence`` can.

    One that loads its command line may be ``ringfence`` by another name.
    """
    name = Field(NAME, at.span)
    if any(module.partition(".")[0] == NAME for module in modules):
        yield name, Field(UNKNOWN, at.span)
    if any(module.startswith(MODULE) for module in modules):
        yield name, *parameters
