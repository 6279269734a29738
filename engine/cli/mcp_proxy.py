"""``ringfence mcp-proxy -- SERVER…``: stand between an MCP client and a server."""

from __future__ import annotations

import argparse
import os
from pathlib import PurePath
from typing import Any

from ringfence.engine.cli.output import warn
from ringfence.engine.engine import Engine
from ringfence.engine.grants import GrantStore
from ringfence.engine.log import ReviewLog
from ringfence.engine.loops import LoopStore
from ringfence.engine.mcp.judge import Bench, Judge
from ringfence.engine.mcp.pipes import serve
from ringfence.engine.mcp.proxy import Proxy

_LAUNCHERS = frozenset(
    (
        *("npx", "bunx", "pnpx", "uvx", "pipx", "uv", "pnpm", "yarn", "bun", "deno", "env"),
        *("node", "nodejs", "tsx", "python", "python3", "ruby", "perl", "bash", "sh", "cmd"),
    )
)
"""Programs that run another: the server is the next word."""

_WORDS = frozenset(("run", "exec", "dlx", "tool", "x"))
"""Subcommands of theirs."""


_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".sh")


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "mcp-proxy",
        help="judge the calls to an MCP server",
        description="Run an MCP server that speaks on its standard streams, and judge each call of"
        " its tools before it gets there. Exit status: the server's.",
    )
    parser.add_argument("--name", metavar="NAME", help="the server's name in the rules of [mcp]")
    parser.add_argument("--cwd", metavar="DIR", help="where the server works (default: here)")
    parser.add_argument("--config", metavar="FILE", help="use this config, not the user's")
    parser.add_argument("server", nargs="+", help="the server's command, after --")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start the server, and return its exit status when it ends."""
    try:
        if arguments.cwd is not None:
            os.chdir(arguments.cwd)
        cwd = os.getcwd()
    except OSError as error:
        warn(f"cannot work in {arguments.cwd or 'this directory'}: {error.strerror}")
        return 2
    log = ReviewLog.of_user("mcp-proxy")

    def load() -> Engine:
        return Engine.load(
            cwd,
            config=arguments.config,
            log=log,
            grants=GrantStore.of_user(),
            loops=LoopStore.of_user(),
        )

    load()  # a config that cannot be used is told at once
    name = arguments.name or server_name(arguments.server)
    warn(f"calls are judged as {name}:TOOL, in {cwd}")
    bench = Bench(Judge(load, log))
    try:
        return serve(Proxy(bench, name, cwd, log), arguments.server)
    except OSError as error:
        warn(f"cannot run {arguments.server[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    finally:
        bench.close()


def server_name(command: list[str]) -> str:
    """The server's name by its command: of ``npx -y @scope/server-github@2`` it is server-github.

    A launcher's options are passed over, which may be wrong for one with a value.
    """
    words = list(command)
    while len(words) > 1 and PurePath(words[0]).name.rstrip("0123456789.") in _LAUNCHERS:
        words = words[1:]
        while len(words) > 1 and (words[0].startswith("-") or words[0] in _WORDS):
            words = words[1:]
    name = PurePath(words[0]).name
    name = name.partition("@")[0] or name  # without the version
    return name.removesuffix(PurePath(name).suffix) if name.endswith(_SUFFIXES) else name
