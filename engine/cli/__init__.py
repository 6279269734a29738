"""The command line: one module a command.

Exit status: 0 allow (and success of everything that is no decision), 1 deny, 2 an error in the
usage or in a config file, 3 ask.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from ringfence.engine import finding
from ringfence.engine.loading import without_collector

ERROR = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = sys.argv[1:] if argv is None else list(argv)
    with without_collector():
        run = _runner(given)
    return guarded(run)


def program() -> NoReturn:
    """The command ``ringfence``: as ``main``, and the end of this process."""
    in_utf8()
    if sys.argv[1:2] != ["hook"]:
        sys.exit(main())
    finding.install()
    # All is written then. Python would take a while to tidy up behind itself.
    os._exit(main())


def in_utf8() -> None:
    """Start this program anew if Python encodes the names of files otherwise than agents do.

    They send names as UTF-8. Under another encoding, a file that is there would seem to be missing.
    """
    if sys.getfilesystemencoding() == "utf-8":
        return
    words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    os.execv(sys.executable, words)  # noqa: S606 - this very program


def _runner(given: list[str]) -> Callable[[], int]:
    if given[:1] == ["hook"]:
        from ringfence.engine.cli.hook import plain  # noqa: PLC0415 - each command its own

        answer = plain(given[1:])
        if answer is not None:
            return answer
    if given[:1] == ["shell"]:
        return partial(import_module("ringfence.engine.cli.shell").shell, given[1:])
    from ringfence.engine.cli.parser import parser  # noqa: PLC0415 - a hook needs none

    arguments = parser(given).parse_args(given)
    return partial(arguments.run, arguments)


def guarded(run: Callable[[], int]) -> int:
    """The exit status that ``run`` returns, or the one for what it raises."""
    try:
        status = run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output is gone. Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # noqa: BLE001  # a traceback would leave with the status of a deny
        return _failed(error)
    return status


def _failed(error: Exception) -> int:
    from ringfence.engine.cli.output import warn  # noqa: PLC0415 - a hook's parent needs neither
    from ringfence.engine.policy.errors import ConfigError  # noqa: PLC0415

    known = isinstance(error, ConfigError)
    warn(str(error) if known else f"internal error {type(error).__name__}: {error}")
    return ERROR
