"""What the tools other than bash do to paths: one table of tools, one of input keys.

A tool that is not in the table may do anything: every input that is named like a path, or looks
like one outside, is taken for one, with an unknown operation, and its ``command`` is read as bash.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from attrs import frozen

from ringfence.engine import patches
from ringfence.engine.call import ToolCall
from ringfence.engine.filesystem import FileSystem
from ringfence.engine.paths import join, kernel_path
from ringfence.rules.model import Certainty, Effect, Opaque, OpaqueKind, Operation

PATH_KEYS = frozenset(
    (
        *("path", "paths", "file", "files", "filename", "file_path", "file_paths", "filePath"),
        *("filePaths", "absolute_path", "notebook_path", "dir_path", "dir", "directory"),
        *("directories", "folder", "root", "cwd", "workdir", "working_directory", "target_file"),
        *("source", "destination", "source_path", "destination_path", "old_path", "new_path"),
        *("output_path", "input_path", "uri"),
    )
)
"""Names of inputs that hold a path, several, or objects that do, whatever the tool."""

_ARGUMENTS = frozenset(("args", "arguments", "params", "parameters", "input"))
"""Names of inputs that may hold another tool's arguments as JSON."""

DIRECTORY_KEYS = frozenset(("cwd", "workdir", "working_directory"))
"""Those of them that say where the tool works."""

_PATH_KEY = re.compile(r"(?:[Pp]ath|[Ff]ile|[Dd]ir|[Dd]irectory|[Ff]older|[Ff]ilename)s?$")
"""How the name of an input that holds a path ends, in a tool that is not known."""

_OUTSIDE = re.compile(
    r"(?:~|\.\.|file:/+[^\s/]+"
    r"|/(?:bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var"
    r"|Applications|Library|System|Users|Volumes|private))(?:/[^\s]*)?",
)
"""A value that is a path outside, whatever its input is named."""

_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
"""How a path of Windows begins. Here it is a file's odd name, but nobody means that."""

_MAX_PATHS = 1000
_MAX_VALUES = 1_000_000


@frozen
class Tool:
    """What a tool does with the paths in its input.

    ``needs_path`` if it cannot work without one: then a call without is not understood.
    ``pattern`` names the input that holds a glob, which may itself lead somewhere else;
    ``program`` one that holds a program in a language that is not read here. ``patches`` if one
    of its inputs is a patch, which names the paths; ``tree`` if it looks at all below a folder.
    """

    operation: Operation
    needs_path: bool = True
    pattern: str | None = None
    program: str | None = None
    patches: bool = False
    tree: bool = False


TOOLS: Mapping[str, Tool] = {
    "read": Tool(Operation.READ),
    "write": Tool(Operation.WRITE),
    "edit": Tool(Operation.WRITE),
    "delete": Tool(Operation.DELETE),
    "patch": Tool(Operation.WRITE, patches=True),
    "find": Tool(Operation.READ, needs_path=False, pattern="pattern", tree=True),
    "grep": Tool(Operation.READ, needs_path=False, pattern="glob", tree=True),
    "ls": Tool(Operation.READ, needs_path=False),
    "fetch": Tool(Operation.READ, needs_path=False),
    "powershell": Tool(Operation.UNKNOWN, needs_path=False, program="command"),
}

_UNKNOWN_TOOL = Tool(Operation.UNKNOWN, needs_path=False)


def tool_effects(
    call: ToolCall, home: str, filesystem: FileSystem
) -> tuple[tuple[Effect, ...], tuple[Opaque, ...]]:
    """The effects of a call of a tool other than bash, and what in it is not understood."""
    tool = TOOLS.get(call.tool, _UNKNOWN_TOOL)
    known = call.tool in TOOLS
    start = call.cwd
    effects: list[Effect] = []
    opaque: list[Opaque] = []

    def add(text: str, key: str, operation: Operation, certainty: Certainty) -> None:
        path = kernel_path(join(start, local_path(text, home)), filesystem)
        facts = (f"{key} of {call.tool}",)
        tree = tool.tree and operation is tool.operation
        effects.append(
            Effect(path, operation, (0, 0), text, call.tool, certainty, "", facts, tree=tree)
        )

    named = list(_values(call.input, known=known))
    # Where the tool works comes first: the other paths start there.
    for key, value in sorted(named, key=lambda item: item[0] not in DIRECTORY_KEYS):
        if not isinstance(value, str):
            opaque.append(_opaque(f"the {key} of {call.tool} is no text", repr(value)))
        elif _WINDOWS.match(value):
            opaque.append(_opaque(f"the {key} of {call.tool} is a path of Windows", value))
        elif key in DIRECTORY_KEYS:
            add(value, key, Operation.ENTER, Certainty.CERTAIN)
            start = effects[-1].path
        else:
            add(value, key, tool.operation, Certainty.CERTAIN)
    patched = False
    if tool.patches:
        texts = (value for key, value in call.input.items() if key in patches.KEYS)
        for text in texts:
            for path, operation, _ in patches.touched(text if isinstance(text, str) else ""):
                patched = True
                add(path, "patch", operation, Certainty.CERTAIN)
    if tool.needs_path and not patched and all(key in DIRECTORY_KEYS for key, _ in named):
        opaque.append(_opaque(f"{call.tool} names no path that is understood", ""))
    if tool.program:
        program = str(call.input.get(tool.program, ""))
        opaque.append(_opaque(f"commands of {call.tool} are not read", program))
    if len(named) >= _MAX_PATHS:
        reason = f"{call.tool} names too many paths"
        opaque.append(_opaque(reason, "", OpaqueKind.LIMIT))

    pattern = call.input.get(tool.pattern) if tool.pattern else None
    if isinstance(pattern, str):
        # A relative pattern starts at the directory searched.
        searched = [effect for effect in effects if effect.operation is tool.operation]
        start = searched[0].path if searched else start
        patterns, problem = _alternatives(pattern)
        for text in patterns:
            if text.startswith(("/", "~")) or ".." in text.split("/"):
                add(text, str(tool.pattern), tool.operation, Certainty.POSSIBLE)
        if problem:
            opaque.append(_opaque(problem, pattern, OpaqueKind.LIMIT))
    url = call.input.get("url")
    if isinstance(url, str) and _is_file_url(url):
        add(url, "url", Operation.READ, Certainty.CERTAIN)
    return tuple(effects), tuple(opaque)


def _alternatives(pattern: str) -> tuple[tuple[str, ...], str]:
    """The patterns that one with braces stands for, and why not all of them are known."""
    if "{" not in pattern:
        return (pattern,), ""
    from ringfence.engine.shell.braces import TooManyWords, expand_braces  # noqa: PLC0415
    from ringfence.grammar.nodes import Literal, Word  # noqa: PLC0415  # few patterns need it

    span = (0, len(pattern))
    try:
        words = expand_braces(Word(span, (Literal(span, pattern),)))
    except TooManyWords as error:
        return (pattern,), str(error)
    texts = ("".join(part.text for part in w.parts if isinstance(part, Literal)) for w in words)
    return tuple(dict.fromkeys(texts)), ""


def commands_of(call: ToolCall) -> tuple[str, ...]:
    """The commands in the input of a tool that may run them: of any that is not known not to."""
    tool = TOOLS.get(call.tool)
    if tool is not None and not tool.program:
        return ()
    commands = []
    for key, value in _inputs(call.input):
        if key != "command" or value is None or isinstance(value, Mapping):
            continue
        if isinstance(value, str):
            commands.append(value)
        elif _is_argv(value):
            commands.append(shlex.join(value))
        elif not isinstance(value, (list, tuple)):  # whose items come by themselves
            raise ValueError("a command that is no text cannot be judged")
    return tuple(commands)


def _is_argv(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)


def _inputs(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every (key, value) of the input, however deep it stands; a list's items have its key.

    A tool that calls others may have their arguments as JSON in a text.
    """
    stack: list[tuple[str, Any]] = [("", data)]
    seen = 0
    while stack:
        key, value = stack.pop()
        seen += 1
        if seen > _MAX_VALUES:
            raise ValueError("the input is too large, or contains itself")
        if key in _ARGUMENTS and isinstance(value, str):
            value = _parsed(value)  # what it says, in the place of its text
        if key == "command" or not isinstance(value, (Mapping, list, tuple)):
            yield key, value
        if isinstance(value, Mapping):
            stack += [(str(k), v) for k, v in reversed(list(value.items()))]
        elif isinstance(value, (list, tuple)) and not (key == "command" and _is_argv(value)):
            stack += [(key, item) for item in reversed(value)]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _values(data: Mapping[str, Any], *, known: bool) -> Iterator[tuple[str, Any]]:
    """The (key, value) of every input that holds a path.

    A known tool's are those named in PATH_KEYS; of any other, each that is named like a path or
    looks like one that leads outside.
    """
    count = 0
    for key, value in _inputs(data):
        if value is None or isinstance(value, (Mapping, list, tuple)):
            continue
        text = value if isinstance(value, str) else ""
        if key not in PATH_KEYS and (
            known or not text or not (_PATH_KEY.search(key) or _OUTSIDE.fullmatch(text))
        ):
            continue
        if key == "command" or ("://" in text and not _is_file_url(text)):
            continue  # a command is read as one; an address on the net is no path
        count += 1
        yield key, value
        if count >= _MAX_PATHS:
            return


def local_path(text: str, home: str) -> str:
    """The path that a tool takes ``text`` for: ``~`` and ``file://`` are understood by most."""
    if _is_file_url(text):
        return unquote(urlsplit(text).path)
    if text == "~" or text.startswith("~/"):
        return home + text[1:]
    if text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        try:
            return pwd.getpwnam(name).pw_dir + slash + rest
        except (KeyError, ValueError):
            return text
    return text


def _is_file_url(text: str) -> bool:
    return text[:5].lower() == "file:"


def _opaque(reason: str, text: str, kind: OpaqueKind = OpaqueKind.UNKNOWN) -> Opaque:
    return Opaque(reason, (0, 0), text, kind)


def home_of(env: Mapping[str, str]) -> str:
    """HOME as ``env`` says, else as this process does."""
    return env.get("HOME") or os.environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
