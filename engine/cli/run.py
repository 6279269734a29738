"""``ringfence run -- COMMAND``: ask if need be, then run it under bash."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import sys
from typing import Any

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.output import warn
from ringfence.engine.cli.terminal import Terminal, terminal_session
from ringfence.engine.engine import Engine
from ringfence.engine.grants import GrantStore
from ringfence.engine.log import ReviewLog
from ringfence.engine.loops import LoopStore
from ringfence.engine.policy import ConfigError
from ringfence.rules.model import State

REFUSED = 126
"""The exit status of a command that was not run, as bash has it for one that cannot be executed."""

_CHANGED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores for itself; what it starts must not inherit that."""


def register(commands: Any) -> None:
    """Add the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a command if it may",
        description="Decide a bash command, ask at the terminal if need be, and run it under bash"
        f" with the same standard streams and exit status. {REFUSED}: it was not run.",
    )
    parser.add_argument("--config", metavar="FILE", help="use this config, not the user's")
    parser.add_argument("--agent", metavar="NAME", help="the agent that makes the call")
    parser.add_argument(
        "--session",
        metavar="ID",
        help="the agent's session, for its grants (default: $RINGFENCE_SESSION, or the terminal's)",
    )
    parser.add_argument(
        "command", nargs="+", help="one word: a bash command; several: a command's words"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Decide, ask, and become bash; returns only if the command is not run."""
    words = [os.fsencode(w).decode("utf-8", "surrogateescape") for w in arguments.command]
    command = words[0] if len(words) == 1 else shlex.join(words)
    return gate(
        command,
        ["-c", "--", command],
        by="run",
        config=arguments.config,
        agent=arguments.agent,
        session=arguments.session,
    )


def gate(
    command: str,
    bash_arguments: list[str],
    *,
    by: str,
    config: str | None = None,
    agent: str | None = None,
    session: str | None = None,
) -> int:
    """Decide ``command`` and become bash with its arguments, or say why not and return REFUSED.

    Whatever fails on the way, the command is not run.
    """
    try:
        cwd = os.getcwd()
    except OSError:
        warn("the working directory is gone, so nothing can be judged here")
        return REFUSED
    bash = shutil.which("bash")
    if bash is None:
        warn("there is no bash")
        return 127
    call = ToolCall("bash", {"command": command}, cwd, agent, session or terminal_session())
    try:
        engine = Engine.load(
            cwd,
            config=config,
            log=ReviewLog.of_user(by),
            grants=GrantStore.of_user(),
            loops=LoopStore.of_user(),
        )
        decision = engine.approve(call, Terminal())
    except ConfigError as error:
        warn(f"nothing is run while a config is wrong: {error}")
        return REFUSED
    except Exception as error:  # noqa: BLE001  # whatever it is, it must not look like success
        warn(f"internal error {type(error).__name__}, so the command was not run: {error}")
        return REFUSED
    if decision.state is not State.ALLOW:
        warn(decision.message)
        return REFUSED
    for note in decision.notes:
        warn(note)
    return become(bash, bash_arguments)


def become(bash: str, arguments: list[str]) -> int:
    """Replace this process by bash; returns only if that fails."""
    encoded = [argument.encode("utf-8", "surrogateescape") for argument in arguments]
    for name in _CHANGED_BY_PYTHON:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    sys.stdout.flush()
    try:
        os.execv(bash, [b"bash", *encoded])  # noqa: S606 - what was judged, no shell before it
    except OSError as error:
        warn(f"{bash} cannot be run: {error.strerror}")
    return REFUSED
