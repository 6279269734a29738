"""The shape of the data about commands.

``docs/commands.md`` describes it for people who add a command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ringfence.grammar.records import evolve, field, frozen
from ringfence.rules.model import Operation


class CommandDataError(ValueError):
    """The data about a command breaks the schema; the message names the file and the entry."""


class Syntax(StrEnum):
    """How a command reads its options."""

    GETOPT = "getopt"  # -abc is -a -b -c, -fx is -f x; --long, --long=x
    SINGLE_DASH = "single-dash"  # -name x and -name=x are long options; no clusters
    NONE = "none"  # every word is an operand
    TEST = "test"  # the expression of test and [


PATH_KINDS: Mapping[str, Operation] = {
    **{operation.value: operation for operation in Operation},
    "base": Operation.ENTER,
    "directory": Operation.ENTER,
}
"""Kinds of values that are paths, and what happens to them.

``base`` is where the command's other paths start, ``directory`` where a nested command runs.
"""

PLAIN_KINDS = frozenset(("text", "pattern", "number", "name"))
"""Kinds of values that never name a path; the different names are for the reader."""

ROLE_KINDS = frozenset(
    (
        "flag",  # an option without a value
        "url",  # no path, unless it is file://
        "program",  # program:LANGUAGE
        "command",  # a shell command as text
        "runs",  # the name of a program that will be started
        "words",  # this and all later words are another command
        "shell",  # this and all later words, joined, are a shell command
        "exec",  # all words up to ; or + are another command
        "login",  # this and all later words are the arguments of a shell
        "host",  # a machine, on which the later words are run
        "split",  # a text that is split into another command's words
        "assignment",  # NAME=value for the nested command
        "variable",  # NAME=value for the program
        "clear",  # a flag: the nested command's environment is empty
        "unset",  # the name of a variable that the nested command does not get
        "group",  # how many input words each nested command gets
        "null",  # a flag: input words end in a null byte
        "deletes",  # a flag: what is found below the operands is deleted
        "placeholder",  # this text in the nested command's words stands for input
        "parameters",  # arguments of the program given before
        "arguments",  # arguments of an unknown script: paths if they look like paths
        "module",  # the name of a subcommand, or of another command; its operands follow
        "options",  # of a variable: options of the command in one text
        "setting",  # key=value; the entry's settings say which values matter
        "key",  # the key of the setting that the next operand is
    )
)

MODIFIERS = frozenset(
    (
        "tree",  # the whole tree below the path
        "through",  # links below the path are followed
        "paired",  # of through: only those that stand below the other operands, too
        "shown",  # of through: but none of those with a dot in front
        "excludes",  # of pattern: names, or paths below a tree, that are left out
        "wildcards",  # of a path: one of excludes if it has any
        "possible",  # only perhaps touched
        "shaped",  # a path only if it looks like one that leads out
        "revision",  # the same, for git: no path if it is rev:path or not known
        "selects",  # a glob that picks names of files below the directories that are searched
        "address",  # of setting: KEY:value,option… as socat has it
        "scheme",  # text:PATH, text:@PATH and concat:PATH|PATH are paths
        "there",  # with both: any other word, and the path in rev:path, if something stands there
        "known",  # no path if its beginning is not known
        "url",  # an address is no path, file:// is
        "remote",  # host:path is no path
        "optional",  # the value is only ever glued to its option
        "commas",  # several, between commas
        "colons",  # several, between colons
        "last",  # the last of several words
        "braces",  # several, in braces between commas
        "at",  # only after a leading @
        "response",  # with or without a leading @
        "name-at",  # only after NAME@ or a leading @
        "item",  # only what stands behind `@`, `=@` or `:=@`
        "form",  # only after =@ or =<
        "prefix",  # the part before the first : (host:container)
        "named",  # the part after NAME=, or all of it if there is none
        "keys",  # keys=a,b: in a,b=x lists the values of these keys; of setting: its key's variable
        "later",  # of base: only for what comes after it
        "ends",  # option parsing ends after this option
        "bang",  # of command: only after a leading !
        "absolute",  # of command: or if it is an absolute path with arguments
        "prompt",  # of command: what is expanded in a prompt
        "pipe",  # of command: with or without a leading | or -
        "environment",  # of setting: the value is in the variable of that name
        "several",  # of setting: several, as shell words
        "subsection",  # of a setting's value: what is between the first and the last dot of its key
        "slash",  # only if it holds a slash
        "nofollow",  # a link in the last place is itself meant, not what it leads to
        "tilde",  # the command itself takes a leading ~ for the home directory
        "folder",  # the folder that holds it is read as well
        "input",  # of read: input words of the nested command come from this file
        "made",  # XXX in the last place stands for a name that is made up
        "names",  # of read: the file lists paths that are read as well; - is standard input
        "appends",  # of exec: what is found is added to its end unless there is a placeholder
    )
)


@frozen
class Value:
    """What one operand or option value is: a kind, and modifiers of it.

    Written as ``kind modifier…``; ``...`` at the end makes an operand repeat.
    """

    kind: str
    language: str = ""  # of a program, or of a script that is executed
    modifiers: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    repeats: bool = False
    operation: Operation | None = field(init=False, eq=False, repr=False)
    """What happens to the path, None if the value is not a path."""

    @operation.default
    def _of_kind(self) -> Operation | None:
        return PATH_KINDS.get(self.kind)

    @property
    def is_flag(self) -> bool:
        """Whether an option of this kind takes no value."""
        return self.kind in ("flag", "clear", "null", "deletes")

    def has(self, modifier: str) -> bool:
        """Whether the modifier is given."""
        return modifier in self.modifiers

    @classmethod
    @lru_cache(maxsize=4096)
    def parse(cls, text: str) -> Value:
        """Read ``text``; ValueError says what is wrong."""
        repeats = text.endswith("...")
        kind, *modifiers = text.removesuffix("...").split()
        kind, _, language = kind.partition(":")
        if kind not in PATH_KINDS and kind not in PLAIN_KINDS and kind not in ROLE_KINDS:
            raise ValueError(f"no such kind of value: {kind!r}")
        if kind != "execute" and bool(language) != (kind == "program"):
            raise ValueError(f"a program has a language, and a script may have one: {text!r}")
        keys: tuple[str, ...] = ()
        names = set()
        for modifier in modifiers:
            name, _, argument = modifier.partition("=")
            if name not in MODIFIERS:
                raise ValueError(f"no such modifier: {modifier!r}")
            if (name == "keys") != bool(argument):
                raise ValueError(f"keys, and nothing else, has a list: {modifier!r}")
            if argument:
                keys = tuple(argument.split(","))
            names.add(name)
        return cls(kind, language, frozenset(names), keys, repeats)


@frozen(eq=False)
class Option:
    """One option under all its names; ``values`` is empty for a flag.

    ``role`` is the kind of a flag that says something of a nested command.
    """

    names: tuple[str, ...]
    values: tuple[Value, ...]
    role: str = ""
    kinds: frozenset[str] = field(init=False, repr=False)
    """Those of its values."""
    optional: bool = field(init=False, repr=False)
    """Whether its value is only ever glued to it."""
    ends: bool = field(init=False, repr=False)
    """Whether nothing behind it is read as an option."""

    @kinds.default
    def _of_values(self) -> frozenset[str]:
        return frozenset([value.kind for value in self.values])

    @optional.default
    def _is_glued(self) -> bool:
        return bool(self.values) and self.values[0].has("optional")

    @ends.default
    def _is_last(self) -> bool:
        return "words" in self.kinds or any(value.has("ends") for value in self.values)


@frozen(eq=False)
class When:
    """What changes if one of the options ``given`` is there (or, with ``absent``, none is)."""

    given: frozenset[str]
    absent: frozenset[str]
    operands: tuple[Value, ...] | None
    options: Mapping[str, Option]
    implied: tuple[tuple[Value, str], ...] | None
    default: str | None
    operation: Operation | None
    tree: bool
    in_place: bool
    stdin: str | None
    follow: bool | None
    through: bool | None
    hidden: bool

    def holds(self, names: frozenset[str]) -> bool:
        """Whether it applies to a command with the options ``names``."""
        if self.given and self.given.isdisjoint(names):
            return False
        return self.absent.isdisjoint(names)

    @lru_cache(maxsize=1024)  # noqa: B019 - entries and what changes them live as long as their tables
    def applied(self, entry: Entry) -> Entry:
        """The entry with what this changes of it."""
        return evolve(
            entry,
            operands=entry.operands if self.operands is None else self.operands,
            implied=entry.implied if self.implied is None else self.implied,
            default=entry.default if self.default is None else self.default,
            stdin=entry.stdin if self.stdin is None else self.stdin,
        )


@frozen(eq=False)  # compared by identity, so that it can be a key of a cache
class Entry:
    """Everything known about one command or subcommand.

    ``operands`` are the kinds of the operands in order; a repeated one leaves room for those
    after it. ``after`` replaces them behind ``--``. ``default`` is the operand that a command
    without operands works on, ``implied`` what it touches in any case. ``persistent`` options
    are read by subcommands too. ``keys`` are operands of the form ``key=value``.
    """

    name: str
    syntax: Syntax = Syntax.GETOPT
    stops: bool = False  # options end at the first operand
    apart: bool = False  # a letter's value is always the next word: bash -oc pipefail TEXT
    operands: tuple[Value, ...] = ()
    after: tuple[Value, ...] | None = None
    default: str | None = None
    implied: tuple[tuple[Value, str], ...] = ()
    options: Mapping[str, Option] = field(factory=dict)
    persistent: Mapping[str, Option] = field(factory=dict)
    commands: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    modules: Mapping[str, Mapping[str, Any]] = field(factory=dict)  # like commands: python -m
    keys: Mapping[str, Value] = field(factory=dict)
    settings: Mapping[str, Value] = field(factory=dict)
    variables: Mapping[str, Value] = field(factory=dict)  # of its environment
    when: tuple[When, ...] = ()
    glued: bool = False  # single-dash options may have their value glued to them: -L/dir
    abbreviations: bool = False  # long options may be abbreviated, as GNU programs allow
    assignments: bool = False  # operands NAME=value are no paths
    hyphen_operands: re.Pattern[str] | None = None  # words like -x that are operands
    skip: re.Pattern[str] | None = None  # operands that do not count
    bundled: bool = False  # the first word may be options without a hyphen: tar xf
    stdin: str = ""  # the language of a program read from standard input
    inputs: str = ""  # the word behind which inputs of a shell command stand: parallel's :::
    appends_input: bool = False
    other_user: bool = False
    kinds: frozenset[str] = field(init=False, repr=False)
    """Those of its operands."""
    reads: bool = field(init=False, repr=False)
    """Whether any operand is only read."""

    @kinds.default
    def _of_operands(self) -> frozenset[str]:
        return frozenset([value.kind for value in self.operands])

    @reads.default
    def _any_read(self) -> bool:
        return any(value.operation is Operation.READ for value in self.operands)

    def option(self, name: str) -> Option | None:
        """The option of that exact name, or None."""
        return self.options.get(name) or self.persistent.get(name)
