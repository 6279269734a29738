"""``python -m ringfence.engine.cli``: the same as the ``ringfence`` command."""

from ringfence.engine.cli import program

program()
