"""``ringfence import``: another system's permissions as a config of ours."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ringfence.engine.cli.output import warn, write_text
from ringfence.engine.hosts.registration import File
from ringfence.engine.imports import Import, from_claude, from_opencode, from_pi, toml
from ringfence.engine.policy.document import content_of, parse_json, parse_toml, text_of
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.front_matter import KEY, read_agent
from ringfence.engine.policy.tables import agent_layers, layer
from ringfence.engine.state import user_folder
from ringfence.grammar.records import frozen

ERROR = 2


@frozen
class Source:
    """Whose permissions can be read: where they usually are, and what makes tables of them."""

    files: tuple[File, ...]  # the first that is there counts
    make: Callable[[Mapping[str, Any]], Import]

    def path(self, env: Mapping[str, str]) -> Path:
        """The file that there is, or the one that would be first."""
        home = Path(env.get("HOME") or Path.home())
        paths = [file.path(home, env=env) for file in self.files]
        return next((path for path in paths if os.path.lexists(path)), paths[0])


def _file(name: str, folder: str, variable: str) -> File:
    return File(f"{folder}/{name}", "", folder=folder, variable=variable)


SOURCES: Mapping[str, Source] = {
    "pi": Source((_file("pi-permissions.jsonc", ".pi/agent", "PI_CODING_AGENT_DIR"),), from_pi),
    "claude-code": Source((_file("settings.json", ".claude", "CLAUDE_CONFIG_DIR"),), from_claude),
    "opencode": Source(
        (
            _file("opencode/opencode.json", ".config", "XDG_CONFIG_HOME"),
            _file("opencode/opencode.jsonc", ".config", "XDG_CONFIG_HOME"),
        ),
        from_opencode,
    ),
}
"""As ``install`` has it, a variable may say where a host's folder is."""


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "import",
        help="take over another system's permissions",
        description="Print the permissions of pi-permission-system, Claude Code or opencode as a"
        " config of ours, never looser than they are; on standard error, what could not be carried"
        " over.",
    )
    parser.add_argument("source", choices=sorted(SOURCES), help="whose they are")
    parser.add_argument("file", nargs="?", help="the file (default: where it usually is)")
    parser.add_argument(
        "--write", action="store_true", help="make it your config, if you have none yet"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the config, or write it. Raises ConfigError."""
    source = SOURCES[arguments.source]
    path = Path(arguments.file).expanduser() if arguments.file else source.path(os.environ)
    content = content_of(path)
    if content is None:
        raise ConfigError(str(path), None, "", "there is no such file")
    found = _imported(path, content, source.make)
    text = f"# Made from {_plain(str(path))} by `ringfence import`.\n\n{toml(found.tables)}"
    document = parse_toml("the config that was made", text)
    layer("import", document, (), document.data)  # what is wrong with it is told, not left out
    agent_layers("import", document)
    for note in found.notes:
        warn(f"not carried over: {note}")
    if not arguments.write:
        write_text(text.rstrip("\n"))
        return 0
    return _write(text)


def _imported(path: Path, content: bytes, make: Callable[[Mapping[str, Any]], Import]) -> Import:
    if path.suffix != ".md":
        return make(parse_json(str(path), text_of(path, content)).data)
    document = read_agent(path, content)
    if document is None or not isinstance(document.data[KEY], dict):
        raise ConfigError(str(path), None, "", f"has no table {KEY} in its front matter")
    agent = make(document.data[KEY])
    if "defaultPolicy" not in document.data[KEY]:
        agent.tables.pop("defaultPolicy", None)  # an agent's file sets nothing that it leaves out
    return Import({"agents": {path.stem: agent.tables}}, agent.notes)


def _plain(text: str) -> str:
    return text if text.isprintable() else ascii(text)


def _write(text: str) -> int:
    path = Path(user_folder(os.environ), "config.toml")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        warn(f"{path} is there already; print the config instead and merge it by hand")
        return ERROR
    except OSError as error:
        warn(f"{path} cannot be written: {error.strerror}")
        return ERROR
    write_text(f"Written: {path}")
    return 0
