"""What the tools other than bash do to paths: one table of tools, one of input keys.

A tool that is not in the table may do anything: every input that is named like a path, or looks
like one outside, is taken for one, with an unknown operation, and its commands are read as bash.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ringfence.engine import patches
from ringfence.engine.call import ToolCall
from ringfence.engine.escape import is_half
from ringfence.engine.filesystem import FileSystem
from ringfence.engine.paths import join, kernel_path
from ringfence.engine.policy.globs import glob
from ringfence.grammar.records import evolve, frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.commands.values import selected
from ringfence.rules.model import Certainty, Effect, Opaque, OpaqueKind, Operation
from ringfence.rules.tool_names import is_harmless

PATH_KEYS = frozenset(
    (
        *("path", "paths", "file", "files", "filename", "file_path", "file_paths", "filePath"),
        *("filePaths", "absolute_path", "notebook_path", "dir_path", "dir", "directory"),
        *("directories", "folder", "root", "target_file"),
        *("cwd", "workdir", "work_dir", "workDir", "working_dir", "workingDir"),
        *("working_directory", "workingDirectory"),
        *("source", "destination", "source_path", "destination_path", "old_path", "new_path"),
        *("output_path", "input_path", "uri"),
    )
)
"""Names of inputs that hold a path, several, or objects that do, whatever the tool."""

_ARGUMENTS = frozenset(("args", "arguments", "params", "parameters", "input"))
"""Names of inputs that may hold another tool's arguments as JSON."""

_WORK_KEYS = frozenset(
    (
        *("cwd", "workdir", "work_dir", "workDir", "working_dir", "workingDir"),
        *("working_directory", "workingDirectory"),
    )
)
"""Those of them that say where the tool works."""

DIRECTORY_KEYS = _WORK_KEYS | {"dir", "directory", "folder"}
"""Those that say where commands start."""

COMMAND_KEYS = frozenset(
    (
        *("command", "cmd", "command_line", "commandLine", "cmdline", "shell_command"),
        *("shellCommand", "bash_command", "shell_cmd"),
    )
)
"""Those that hold a command as a text, or as a list of its words."""

_COMMAND_KEYS = COMMAND_KEYS | {"commands", "cmds"}
"""Those, and lists of commands."""

_PATH_KEY = compiled(r"(?:[Pp]ath|[Ff]ile|[Dd]ir|[Dd]irectory|[Ff]older|[Ff]ilename)s?$")
"""How the name of an input that holds a path ends, in a tool that is not known."""

_OUTSIDE = compiled(
    r"~[\w.-]*(?:/\S*)?|\$(?:HOME\b|\{HOME\})\S*|\s*(?i:file):/*[^\s/]\S*"
    r"|/(?:bin|boot|dev|etc|home|lib|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var"
    r"|Applications|Library|System|Users|Volumes|private)(?:/\S*)?"
    r"|/[^\s/\\^|]+/[^\s\\^|]*"  # what has these is rather a regular expression
    r"|(?:\S*/)?\.\.(?:/\S*)?"
)
"""A value that is a path outside, whatever its input is named."""

_OWN = compiled(r"(?:\S*/)?\.ringfence(?:/\S*)?", re.IGNORECASE)
"""A value that is a path of Ringfence's own, whatever its input is named."""

_WINDOWS = compiled(r"[A-Za-z]:[\\/]|\\\\")
"""How a path of Windows begins. Here it is a file's odd name, but nobody means that."""

_MAX_PATHS = 1000
_MAX_VALUES = 1_000_000


@frozen
class Tool:
    """What a tool does with the paths in its input.

    ``needs_path`` if it cannot work without one: then a call without is not understood.
    ``patterns`` name the inputs that hold globs, which may themselves lead somewhere else;
    ``program`` one that holds a program in a language that is not read here. ``patches`` if one
    of its inputs is a patch, which names the paths; ``tree`` if it looks at all below a folder.
    ``texts`` name the inputs that hold no path, whatever they look like; without any, only those
    of PATH_KEYS do.
    """

    operation: Operation
    needs_path: bool = True
    patterns: tuple[str, ...] = ()
    program: str | None = None
    patches: bool = False
    tree: bool = False
    texts: tuple[str, ...] = ()


_SEARCHED = ("pattern", "patterns", "query", "regex", "regexp", "search", "text", "content")
_GLOBS = ("glob", "globs", "include", "includes")

TOOLS: Mapping[str, Tool] = {
    "read": Tool(Operation.READ),
    "write": Tool(Operation.WRITE),
    "edit": Tool(Operation.WRITE),
    "delete": Tool(Operation.DELETE, tree=True),
    "patch": Tool(Operation.WRITE, patches=True),
    "find": Tool(
        Operation.READ,
        needs_path=False,
        patterns=("pattern", "patterns", *_GLOBS),
        tree=True,
        texts=("pattern", "patterns", *_GLOBS, "exclude", "ignore"),
    ),
    "grep": Tool(
        Operation.READ,
        needs_path=False,
        patterns=_GLOBS,
        tree=True,
        texts=(*_SEARCHED, *_GLOBS, "exclude", "ignore"),
    ),
    "ls": Tool(Operation.READ, needs_path=False, texts=("exclude", "ignore")),
    "fetch": Tool(Operation.READ, needs_path=False),
    # Its name, in one of these, and what it is told.
    "skill": Tool(
        Operation.READ,
        needs_path=False,
        texts=("name", "skill", "command", "args", "arguments"),
    ),
    "powershell": Tool(Operation.UNKNOWN, needs_path=False, program="command"),
}

_UNKNOWN_TOOL = Tool(Operation.UNKNOWN, needs_path=False)
_UNKNOWN_MOVER = evolve(_UNKNOWN_TOOL, tree=True)
_MOVES = compiled(
    r"(?i:delete|remove|rename|rmdir|trash|unlink)|(?<![A-Za-z])(?:[Mm]ove|rm|mv)(?![a-z])"
)
"""In the name of a tool that is not known: what it takes away goes with all that is in it."""


def _tool(name: str) -> Tool:
    unknown = _UNKNOWN_MOVER if _MOVES.search(name) else _UNKNOWN_TOOL
    return TOOLS.get(name, unknown)


def tool_effects(
    call: ToolCall, home: str, filesystem: FileSystem
) -> tuple[tuple[Effect, ...], tuple[Opaque, ...]]:
    """The effects of a call of a tool other than bash, and what in it is not understood."""
    if is_harmless(call.tool):
        return (), ()
    tool = _tool(call.tool)
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

    named = list(_values(call))
    # Where the tool works comes first: the other paths start there.
    for key, value in sorted(named, key=lambda item: item[0] not in _WORK_KEYS):
        if not isinstance(value, str):
            opaque.append(_opaque(f"the {key} of {call.tool} is no text", repr(value)))
        elif is_half(value):
            opaque.append(_opaque(f"the {key} of {call.tool} holds half a character", value))
        elif _WINDOWS.match(value):
            opaque.append(_opaque(f"the {key} of {call.tool} is a path of Windows", value))
        elif key in _WORK_KEYS:
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
    if tool.needs_path and not patched and all(key in _WORK_KEYS for key, _ in named):
        opaque.append(_opaque(f"{call.tool} names no path that is understood", ""))
    if tool.program:
        program = str(call.input.get(tool.program, ""))
        opaque.append(_opaque(f"commands of {call.tool} are not read", program))
    if len(named) >= _MAX_PATHS:
        reason = f"{call.tool} names too many paths"
        opaque.append(_opaque(reason, "", OpaqueKind.LIMIT))

    # A relative pattern starts at the directory searched.
    searched = [effect for effect in effects if effect.operation is tool.operation]
    start = searched[0].path if searched else start
    for key, pattern in _globs(call.input, tool.patterns):
        patterns, problem = _alternatives(pattern)
        for text in patterns:
            if text.startswith(("/", "~", "$")) or any(map(_is_parent, text.split("/"))):
                add(_plain(text), key, tool.operation, Certainty.POSSIBLE)
            elif call.tool == "grep":  # what it picks is read
                effects += (
                    Effect(path, Operation.READ, (0, 0), text, call.tool, Certainty.POSSIBLE)
                    for path in (join(start, place) for place in selected(text))
                )
        if problem:
            opaque.append(_opaque(problem, pattern, OpaqueKind.LIMIT))
    if call.tool == "fetch":
        for key, url in _inputs(call.input):
            if isinstance(url, str) and key not in PATH_KEYS and _is_file_url(url):
                add(url, key, Operation.READ, Certainty.CERTAIN)
    return tuple(effects), tuple(opaque)


def _globs(data: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The globs in these inputs, each of which may hold several."""
    for name in keys:
        for _, value in _inputs({name: _several(data.get(name))}):
            if isinstance(value, str):
                yield name, value


def _is_parent(component: str) -> bool:
    """Whether a component of a glob is ``..``, spelt in one way or another."""
    if "*" in component or component.startswith(("?", "[!", "[^")):
        return False  # stars do not find it, nor what leaves out a leading dot
    return glob(component.replace("\\", "")).matches("..") or ".." in _ALTERNATIVES.split(component)


_ALTERNATIVES = compiled(r"[@+?!]\(|[|)]")


def _plain(pattern: str) -> str:
    """The glob with each ``..`` spelt so."""
    return "/".join(".." if _is_parent(part) else part for part in pattern.split("/"))


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
    if is_harmless(call.tool) or (tool is not None and not tool.program):
        return ()
    commands = []
    for key, value in _inputs(call.input):
        if key not in _COMMAND_KEYS or value is None or isinstance(value, Mapping):
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

    An object comes itself, too, if it is to name a path, but with a name that is not known.
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
        elif key in PATH_KEYS:
            value = _several(value)
        unnamed = key in PATH_KEYS and isinstance(value, Mapping) and PATH_KEYS.isdisjoint(value)
        if unnamed or key in COMMAND_KEYS or not isinstance(value, (Mapping, list, tuple)):
            yield key, value
        if isinstance(value, Mapping):
            stack += [(str(k), v) for k, v in reversed(list(value.items()))]
        elif isinstance(value, (list, tuple)) and not (key in COMMAND_KEYS and _is_argv(value)):
            stack += [(key, item) for item in reversed(value)]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _several(value: Any) -> Any:
    """What a text that is a JSON list of texts, or of objects, says; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{", '"'):
        return value
    said = _parsed(value)
    items = said if isinstance(said, list) else [said]
    return said if all(isinstance(item, (str, Mapping)) for item in items) else value


def _values(call: ToolCall) -> Iterator[tuple[str, Any]]:
    """The (key, value) of every input that holds a path.

    A known tool's are those named in PATH_KEYS; of any other, each that is named like a path or
    looks like one that leads outside.
    """
    known = TOOLS.get(call.tool)
    count = 0
    for key, value in _inputs(call.input):
        text = value if isinstance(value, str) else ""
        if value is None or isinstance(value, (list, tuple)):
            continue
        if key in _COMMAND_KEYS and (known is None or known.program):
            continue  # it is read as a command
        outside = _OUTSIDE.fullmatch(text) is not None
        if known is None:
            if isinstance(value, Mapping):
                continue  # what is in it comes by itself
            named = text != "" and _PATH_KEY.search(key) is not None
            looks = outside or named or _OWN.fullmatch(text) is not None
        else:
            looks = outside and known.texts != () and key not in known.texts
        found = key in PATH_KEYS or looks
        if not found or (_URL.match(text) and ".." not in text.split("/")):
            continue  # an address on the net is no path
        count += 1
        yield key, value
        if count >= _MAX_PATHS:
            return


_URL = compiled(r"\s*(?!file:)[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def local_path(text: str, home: str) -> str:
    """The path that a tool takes ``text`` for: most understand ``~``, ``$HOME`` and ``file://``."""
    if _is_file_url(text):
        from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - few calls need it

        return "/" + unquote(urlsplit(_url(text)).path).lstrip("/")
    of_home = _HOME.match(text)
    if of_home:
        return home + text[of_home.end() :]
    if text.startswith("~"):
        name, slash, rest = text[1:].partition("/")
        try:
            return pwd.getpwnam(name).pw_dir + slash + rest
        except (KeyError, ValueError):
            return text
    return text


_HOME = compiled(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")


def _is_file_url(text: str) -> bool:
    return _url(text[:100])[:5].lower() == "file:"


def _url(text: str) -> str:
    """An address as it is read: without blanks around it, tabs and line ends, in plain slashes."""
    return re.sub(r"[\t\r\n]", "", text).strip("".join(map(chr, range(33)))).replace("\\", "/")


def _opaque(reason: str, text: str, kind: OpaqueKind = OpaqueKind.UNKNOWN) -> Opaque:
    return Opaque(reason, (0, 0), text, kind)


def home_of(env: Mapping[str, str]) -> str:
    """HOME as ``env`` says, else as this process does."""
    return env.get("HOME") or os.environ.get("HOME") or os.path.expanduser("~")
