"""The small types that rules see and make.

They live here, not in ``engine/``, so that nothing in ``rules/`` has to import the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from ringfence.grammar.frozen import frozen
from ringfence.grammar.nodes import Span
from ringfence.grammar.records import evolve, field

UNKNOWN = "\0"
"""Stands, inside a Field's text or an Effect's path, for text that cannot be known.

Bash cannot hold a NUL in a word, so it never clashes with real text.
``/etc/\\0`` is some path that begins with ``/etc/``.
"""


NAME = "\ufdd0"
"""Like UNKNOWN, but the text is at least known to hold no ``/`` and to be neither empty, ``.``
nor ``..``: a number, a date, the name of a directory entry. It cannot lead out of a directory.

Should real text hold this noncharacter, nothing is lost: it is itself such a text.
"""

BELOW = "\ufdd1"
"""Like UNKNOWN, but known to be a relative path without ``..``: what ``find`` prints below
a root, what ``git ls-files`` prints. After ``dir/`` it cannot lead out of ``dir`` but by a link.
"""

UNCERTAIN = frozenset((UNKNOWN, NAME, BELOW))


def is_known(text: str) -> bool:
    """Whether no part of ``text`` is one of the unknowns."""
    return UNKNOWN not in text and NAME not in text and BELOW not in text


class State(StrEnum):
    """What a rule says of a call, from the mildest to the strictest."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """0 for allow, 1 for ask, 2 for deny."""
        return _STRICTNESS[self]


_STRICTNESS = {State.ALLOW: 0, State.ASK: 1, State.DENY: 2}


class Operation(StrEnum):
    """What happens to a path."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    EXECUTE = "execute"
    ENTER = "enter"  # becomes the working directory
    TEST = "test"  # only its existence or attributes are looked at
    UNKNOWN = "unknown"


class Certainty(StrEnum):
    """Whether a path is touched whenever the command runs, or only perhaps."""

    CERTAIN = "certain"
    POSSIBLE = "possible"  # a branch, a glob, or a path with an unknown part


@frozen
class Field:
    """One argument as a program receives it: a word after all of bash's expansions.

    ``text`` may hold UNKNOWN for parts that cannot be known. ``span`` is that of the word in
    the command. ``steps`` tell a person how the text came about, one expansion each.
    """

    text: str
    span: Span
    quoted: bool = False  # any part of the word was quoted
    glob: bool = False  # holds an unquoted glob that could not be expanded
    several: bool = False  # an unknown, unquoted expansion: may be no field, one, or many
    steps: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the whole text is known."""
        return is_known(self.text) and not self.several

    @property
    def prefix(self) -> str:
        """The text before the first unknown part of any kind."""
        for index, character in enumerate(self.text):
            if character in UNCERTAIN:
                return self.text[:index]
        return self.text


@frozen
class Effect:
    """A path that a call would touch, inside or outside.

    ``path`` is absolute and as bash would resolve it, ``..`` removed where bash removes it; it
    may hold UNKNOWN or glob characters (then ``certainty`` is possible).
    """

    path: str
    operation: Operation
    span: Span  # where in the command the path is named
    text: str  # the command's text there
    by: str  # the command, or "redirection", or the tool
    certainty: Certainty = Certainty.CERTAIN
    classifier: str = ""  # the name of the classifier that saw a path in the word
    steps: tuple[str, ...] = ()
    follow: bool = True  # False if a symbolic link at ``path`` is itself what is touched
    tree: bool = False  # everything below ``path`` is touched as well (rm -r, grep -r)
    listing: bool = False  # ``path`` is a pattern for whose names bash reads directories
    origin: str = ""  # where it is named, if not in the command: ``build.sh:3``


@frozen
class Finding:
    """An Effect with its path; ``real`` is where its symlinks lead.

    Of Facts: the ``findings`` are outside the working directory, the ``touched`` anywhere.
    """

    effect: Effect
    path: str
    real: str


class OpaqueKind(StrEnum):
    """Why a part of a command cannot be judged."""

    SYNTAX = "syntax"  # it does not parse
    UNKNOWN = "unknown"  # a path that is only known at run time
    CODE = "code"  # it runs what is only known at run time
    LIMIT = "limit"  # too deep or too much


@frozen
class Opaque:
    """A part of the command whose effects cannot be known, with the reason for a person."""

    reason: str
    span: Span
    text: str
    kind: OpaqueKind = OpaqueKind.UNKNOWN


@frozen
class CommandLine:
    """One simple command that would run: its text as written, and as words after expansion.

    A redirection that writes a file, other than /dev/null and friends, is one of its own, with
    the words ``>`` and the file, and so is an assignment to a variable that says which code runs
    (``PATH=./bin``): bash runs both alone, too, and a rule for ``git log`` means neither.
    """

    text: str
    span: Span
    words: tuple[str, ...]  # may hold UNKNOWN
    redirection: bool = False  # it is one, see above
    writes: bool = False  # it has one
    within: bool = False  # ``text`` is that of another command, which runs this one
    kept: bool = False  # it stands in a script that was there before
    origin: str = ""  # where it comes from, if not from the command's own text: ``build.sh:3``


class Doubt(StrEnum):
    """Why a rule that asks or denies makes a question only."""

    PERHAPS = "perhaps"  # something is not known, and may be what the rule is for
    INSIDE = "inside"  # the rule is for a place inside what is touched as a whole


@frozen
class Rule:
    """What the policy says of one subject, and where it says so."""

    state: State
    rule: str  # e.g. `special.external_directory` or `bash "git *"`
    source: str  # e.g. `/home/dev/.config/ringfence/config.toml:3` or `built-in default`
    default: bool = False  # no rule of anyone's, only a default
    built_in: bool = False  # nor does any file set that default
    reason: str | None = None  # the user's own words
    pattern: str | None = None  # the pattern that matched
    repeats: int = 0  # of doom_loop: it holds from this many calls in a row on
    perhaps: bool = False  # it only may match, and nothing else does
    doubt: Doubt | None = None  # ``state`` is ask then
    written: State | None = None  # and this is the state that stands in the file

    def doubted(self, doubt: Doubt) -> Rule:
        """The question that the rule makes where it is not certain to match.

        Its reason was written for what does match, so only a place inside keeps it.
        """
        reason = self.reason if doubt is Doubt.INSIDE else None
        written = self.written or self.state
        return evolve(self, state=State.ASK, doubt=doubt, written=written, reason=reason)

    @property
    def says(self) -> State:
        """The state as it stands in the file."""
        return self.written or self.state


class Policy(Protocol):
    """The merged policy, as gates see it."""

    def rule(
        self,
        surface: str,
        *subjects: str,
        aliases: tuple[str, ...] = (),
    ) -> Rule:
        """The rule that decides on ``surface``: the last one that matches any of ``subjects``.

        ``subjects`` are the names of one and the same thing. Ask and deny rules are also held
        against ``aliases``, other names that it may go by; allow rules never are.
        Surfaces are ``special``, ``bash``, ``tools``, ``mcp`` and ``skills``. There always is
        an answer: a default if no rule matches.
        """

    def across(self, line: str, parts: Sequence[str]) -> Rule | None:
        """The last bash rule that asks or denies and matches the whole line, but none of ``parts``.

        ``parts`` are all names of all its simple commands: a rule that matches one of them has
        been heard, or been overruled, there. None if there is no such rule.
        """

    @property
    def held(self) -> Sequence[Policy]:
        """Policies, each of one file, that may only tighten this one; they are judged apart."""

    def works_elsewhere(self, *names: str) -> bool:
        """Whether an MCP tool with these names works elsewhere: no path in its inputs is of here.

        The last rule that matches one of them, and says where it works, decides.
        """

    @property
    def names_paths(self) -> bool:
        """Whether any rule is about single paths (see ``path``)."""

    def path(
        self, path: str, real: str, operation: Operation, cwd: str, *, tree: bool = False
    ) -> Rule | None:
        """What the rules for single paths say of one, inside or outside; None if nothing.

        With ``tree``, all that is below it is touched, too.
        """

    def outside(self, path: str, real: str, operation: Operation, *, tree: bool = False) -> Rule:
        """The rule for one path outside, as named and as it leads (both may hold unknowns).

        ``tree`` as above.
        """


@frozen
class Facts:
    """Everything that gates may look at: the call and what was found about it."""

    tool: str
    input: Mapping[str, Any]
    command: str | None  # the bash command, for bash
    findings: tuple[Finding, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    commands: tuple[CommandLine, ...] = ()
    touched: tuple[Finding, ...] = ()  # inside too; only if someone asks for those
    cwd: str = "/"
    own: tuple[str, ...] = ()  # folders of Ringfence's own config and state
    bases: tuple[str, ...] = ()  # where patterns for paths begin: cwd, roots, the projects above
    missing: frozenset[str] = frozenset()  # those of ``own`` where nothing stands
    repeated: int = 0  # how often the session made this call in a row; 0 if nobody counts
    spelling: str = ""  # what the host calls the tool


@frozen
class Verdict:
    """What one gate says, by which rule, about what."""

    gate: str
    rule: Rule
    findings: tuple[Finding, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    subject: str = ""  # e.g. the simple command that a bash rule judged
    span: Span | None = field(default=None)
    words: tuple[str, ...] = ()  # of that command
    origin: str = ""  # and where it comes from, if not from the call's own text

    @property
    def state(self) -> State:
        """The rule's state."""
        return self.rule.state
