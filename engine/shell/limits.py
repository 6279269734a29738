"""What one evaluation may cost. Past a limit the rest of the command is opaque, never allowed.

A limit that only loses precision (alternatives, fields of a glob) does so silently: what was
several known texts becomes one with an unknown part.
"""

from __future__ import annotations

MAX_STEPS = 3000
"""Commands evaluated in all, each round of a loop and each combination of alternatives counted."""

MAX_SCRIPT_STEPS = 600
"""Of these, in one script file of the project; what it does after them goes unseen."""

MAX_DEPTH = 40
"""Functions, substitutions, ``eval`` and ``bash -c`` within each other."""

MAX_ALTERNATIVES = 8
"""Texts that one variable may have, and working directories, before they are joined."""

MAX_WORLDS = 24
"""Combinations of alternatives in which one simple command is tried."""

MAX_ROUNDS = 64
"""Rounds of a loop over known words, or whose condition is known, taken one by one."""

STEADY_ROUNDS = 3
"""Rounds of another loop before what still changes is taken for unknown."""

MAX_UNSTEADY_ROUNDS = 16
"""Rounds after MAX_ROUNDS in which a loop must come to rest."""

MAX_TEXT = 1 << 16
"""Code points of a value. A longer one is cut, its end unknown."""

MAX_ELEMENTS = 1000
"""Elements of an array before one that stands for all is kept."""

MAX_FIELDS = 256
"""Fields that a pattern may expand to before it stands for itself."""

MAX_FILE = 1 << 16
"""Bytes of a file in the project that is read to see what it would do."""


MAX_BELOW = 10_000
"""Entries of directories that are looked at for the links that one path leads through. Where there
are more, nothing is said of the rest: a large project is no reason to ask."""

MAX_LINKS_BELOW = 2000
"""Links among them that are followed."""

MAX_LINKS_NAMED = 8
"""Links below one directory that are reported each."""


class LimitExceededError(Exception):
    """The evaluation costs too much; ``args[0]`` says in which way."""
