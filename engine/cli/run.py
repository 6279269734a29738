"""``ringfence run -- COMMAND``: ask if need be, then run it under bash."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
from typing import Any

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.output import warn
from ringfence.engine.cli.terminal import Terminal
from ringfence.engine.engine import Engine
from ringfence.engine.grants import GrantStore
from ringfence.engine.log import ReviewLog
from ringfence.rules.model import State

REFUSED = 126
"""The exit status of a command that was not run, as bash has it for one that cannot be executed."""


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
    parser.add_argument("--session", metavar="ID", help="the agent's session, for its grants")
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
    """Decide ``command`` and run bash with its arguments, or say why not and return REFUSED."""
    try:
        cwd = os.getcwd()  # noqa: PTH109
    except OSError:
        warn("the working directory is gone, so nothing can be judged here")
        return REFUSED
    bash = shutil.which("bash")
    if bash is None:
        warn("there is no bash")
        return 127
    call = ToolCall("bash", {"command": command}, cwd, agent, session)
    engine = Engine.load(cwd, config=config, log=ReviewLog.of_user(by), grants=GrantStore.of_user())
    decision = engine.approve(call, Terminal())
    if decision.state is not State.ALLOW:
        warn(decision.message)
        return REFUSED
    encoded = [argument.encode("utf-8", "surrogateescape") for argument in bash_arguments]
    os.execv(bash, [b"bash", *encoded])  # noqa: S606 - what was judged, and no shell before it
    return REFUSED
