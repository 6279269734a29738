"""What the tests of inline programs share."""

from collections.abc import Callable

import pytest

from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.shell.inline.model import Inspection
from ringfence.engine.shell.outputs import Context
from ringfence.engine.shell.programs import inspect_program
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field

VARIABLES = {"HOME": "/home/dev", "UNSET": "", "TMPDIR": ""}
SHOWN = str.maketrans({UNKNOWN: "?", NAME: "*", BELOW: "§"})


def _inspect(language: str, text: str, *parameters: str) -> Inspection:
    context = Context("/home/dev/project", NoFileSystem(), lookup=VARIABLES.get)
    fields = [Field(parameter, (0, 0)) for parameter in parameters]
    return inspect_program(language, text, fields, context)


@pytest.fixture(scope="session")
def inspect() -> Callable[..., Inspection]:
    """Inspects a program of a language with some parameters."""
    return _inspect


@pytest.fixture(scope="session")
def found() -> Callable[..., str]:
    """As `inspect`, shown as one line.

    ``operation:path`` of each path, ``sh:text`` and ``opaque``, in this order;
    ``?`` is an UNKNOWN, ``*`` a NAME, ``§`` a BELOW.
    """

    def shown(language: str, text: str, *parameters: str) -> str:
        inspection = _inspect(language, text, *parameters)
        items = [f"{path.operation}:{path.path}" for path in inspection.paths]
        items += [f"sh:{shell.text}" for shell in inspection.shell]
        items += ["opaque"] * bool(inspection.opaque)
        return " ".join(items).translate(SHOWN)

    return shown
