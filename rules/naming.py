"""Other names that a command goes by when rules are matched: `git -C sub push` is `git push`."""

from __future__ import annotations

from collections.abc import Sequence

from ringfence.rules.commands import lookup

HARMLESS = frozenset(
    ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "-q", "--quiet")
)
"""Options before a subcommand that change nothing about what it does."""

INERT = frozenset(("cd", "pushd", "popd", "true", "false", ":", "echo", "printf"))
"""Commands that do nothing by themselves beside others: where a ``cd`` leads, the gate for paths
judges, and what they print goes to a command that is judged."""


def without_options(words: Sequence[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The command from its subcommand on, if options stand before that.

    The first answer is for rules that allow: only options that say where (``git -C sub``) or are
    harmless were left out. The second, for rules that ask or deny, leaves out all of them. None
    where there is nothing to leave out.
    """
    entry = lookup(words[0]) if len(words) > 2 and words[1].startswith("-") else None
    if entry is None or not entry.commands:
        return None, None
    harmless = True
    index = 1
    while index < len(words) and words[index].startswith("-"):
        name, equals, _ = words[index].partition("=")
        option = entry.option(name)
        takes = option is not None and bool(option.values) and not option.optional
        moves = option is not None and bool(option.values) and option.values[0].kind == "base"
        harmless = harmless and (moves or name in HARMLESS)
        index += 2 if takes and not equals else 1
    if index >= len(words):
        return None, None
    left = (words[0], *words[index:])
    return (left if harmless else None), left


def is_inert(words: Sequence[str]) -> bool:
    """Whether the command, without redirections, does nothing by itself."""
    return bool(words) and (words[0] in INERT or tuple(words) == ("cat",))
