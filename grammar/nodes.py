"""The syntax tree of a bash script: frozen attrs classes, named as the bash manual names things.

Every node has a ``span``: the half-open range ``(start, end)`` of Unicode code points of the
source that it was read from, so ``source[start:end]`` is the node's own text. Sequences are
tuples. The tree holds syntax alone: nothing in it is expanded, looked up or run.
"""

from __future__ import annotations

from typing import TypeAlias

from ringfence.grammar.frozen import frozen
from ringfence.grammar.records import field

Span: TypeAlias = tuple[int, int]


@frozen
class Node:
    """What all nodes share: the range of the source they were read from."""

    span: Span


# --- words -----------------------------------------------------------------------------------


@frozen
class Literal(Node):
    """A run of unquoted characters that stand for themselves: ``foo``, ``*.py``, ``~/x``.

    Tilde prefixes, braces and globs are in here as written; they are found at expansion.
    """

    text: str


@frozen
class Escaped(Node):
    r"""A character quoted by a backslash: ``\x`` has the text ``x``."""

    text: str


@frozen
class SingleQuoted(Node):
    """``'text'``."""

    text: str


@frozen
class AnsiCQuoted(Node):
    r"""``$'text'``; ``text`` is decoded (``$'\x2f'`` has the text ``/``)."""

    text: str


@frozen
class DoubleQuoted(Node):
    """``"parts"``, or ``$"parts"`` (translated by locale) if ``localized``.

    Inside, ``Literal`` and ``Escaped`` are quoted text.
    """

    parts: tuple[WordPart, ...]
    localized: bool = False


@frozen
class ParameterExpansion(Node):
    """``$name`` or ``${…}``.

    ``parameter`` is a name, digits, or one of ``@*#?-$!``; empty in a bad substitution.
    ``operator`` is as written (``:-``, ``##``, ``/``, ``//``, ``:``, ``^^``, ``@``…), or None.
    ``argument`` holds what follows the operator as a word; for ``/`` and ``:`` the second
    half, if there is one, is in ``argument2`` (``${x/argument/argument2}``,
    ``${x:argument:argument2}``).
    In ``${!x*}`` and ``${!x@}`` the operator is ``*`` or ``@`` and ``indirect`` is set.
    """

    parameter: str
    braced: bool = False
    indirect: bool = False  # ${!x}
    length: bool = False  # ${#x}
    subscript: Word | None = None  # ${x[subscript]}
    operator: str | None = None
    argument: Word | None = None
    argument2: Word | None = None
    bad: bool = False  # bash reports "bad substitution" when this is expanded


@frozen
class CommandSubstitution(Node):
    """``$(body)`` or, if ``backquoted``, `` `body` ``.

    ``body`` is None where the text between the quotes is not valid bash; bash finds out
    when it expands the word, and ``error`` says what it finds.
    """

    body: Script | None
    backquoted: bool = False
    error: str | None = None


@frozen
class ArithmeticExpansion(Node):
    """``$((expression))`` or ``$[expression]``."""

    expression: Word


@frozen
class ProcessSubstitution(Node):
    """``<(body)`` or ``>(body)``; ``direction`` is ``<`` or ``>``."""

    direction: str
    body: Script


@frozen
class ExtendedGlob(Node):
    """``@(a|b)``, ``!(x)``…: ``operator`` is one of ``?*+@!``, ``patterns`` the alternatives.

    Read only where bash reads extended patterns: in ``[[ ]]``, or with ``extglob`` on.
    """

    operator: str
    patterns: tuple[Word, ...]


WordPart: TypeAlias = (
    Literal
    | Escaped
    | SingleQuoted
    | AnsiCQuoted
    | DoubleQuoted
    | ParameterExpansion
    | CommandSubstitution
    | ArithmeticExpansion
    | ProcessSubstitution
    | ExtendedGlob
)


@frozen
class Word(Node):
    """A sequence of parts that bash reads as one unit. ``''`` is one empty part, not none."""

    parts: tuple[WordPart, ...]


# --- assignments and redirections ------------------------------------------------------------


@frozen
class ArrayElement(Node):
    """One element of a compound assignment: ``value``, ``[subscript]=value`` or ``+=``."""

    value: Word | None  # None for an empty [subscript]=
    subscript: Word | None = None
    append: bool = False


@frozen
class ArrayLiteral(Node):
    """``(a b [k]=c)`` on the right of an assignment."""

    elements: tuple[ArrayElement, ...]


@frozen
class Assignment(Node):
    """``name=value``, ``name+=value``, ``name[subscript]=value``; value None if empty."""

    name: str
    value: Word | ArrayLiteral | None
    subscript: Word | None = None
    append: bool = False


@frozen
class HereDocument(Node):
    """The text of a here-document; ``span`` covers its lines without the closing delimiter.

    If the delimiter was ``quoted``, the body is one Literal. Otherwise its parts are those of a
    double-quoted string, except that ``"`` is an ordinary character.
    Tabs that ``<<-`` strips are not part of any part.
    """

    delimiter: str
    quoted: bool
    body: Word
    terminated: bool = True  # False if the input ended first (bash warns and goes on)


@frozen
class Redirection(Node):
    """``[fd]operator target``.

    ``fd`` is the text of the number or ``{name}`` in front, or None. ``operator`` is one of
    ``< > >> >| <> <& >& &> &>> << <<- <<<``. ``target`` is the word after it (for ``<<`` the
    delimiter word, with the text in ``document``).
    """

    operator: str
    target: Word
    fd: str | None = None
    document: HereDocument | None = None


# --- commands --------------------------------------------------------------------------------


@frozen
class SimpleCommand(Node):
    """``name=value… word… redirection…``.

    Without words, the assignments change the shell itself. ``arguments`` is ``words`` for most
    commands; a declaration command (``declare``, ``export``…) may also hold Assignments there.
    """

    assignments: tuple[Assignment, ...]
    arguments: tuple[Word | Assignment, ...]
    redirections: tuple[Redirection, ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """The arguments that are words."""
        return tuple(a for a in self.arguments if isinstance(a, Word))


@frozen
class Pipeline(Node):
    """``[time [-p]] [!] command | command |& command``.

    ``operators[i]`` (``|`` or ``|&``) stands between ``commands[i]`` and ``commands[i + 1]``.
    ``commands`` is empty for a bare ``time`` or ``!``. A single command without ``time`` and
    ``!`` is not wrapped in a Pipeline.
    """

    commands: tuple[Command, ...]
    operators: tuple[str, ...] = ()
    negated: bool = False
    timed: bool = False


@frozen
class AndOr(Node):
    """``left && right || …``; ``operators[i]`` stands between ``commands[i]`` and ``[i + 1]``.

    ``&&`` and ``||`` have the same precedence and associate to the left.
    """

    commands: tuple[Command, ...]
    operators: tuple[str, ...]


@frozen
class ListItem(Node):
    """A command of a list with what ended it: ``;``, ``&``, a newline, or None for nothing."""

    command: Command
    terminator: str | None = None


@frozen
class List(Node):
    """Commands one after the other."""

    items: tuple[ListItem, ...]


@frozen
class CompoundCommand(Node):
    """What all compound commands share: the redirections after them."""

    redirections: tuple[Redirection, ...] = field(default=(), kw_only=True)


@frozen
class Subshell(CompoundCommand):
    """``( body )``."""

    body: List


@frozen
class Group(CompoundCommand):
    """``{ body; }``."""

    body: List


@frozen
class IfClause(Node):
    """``if condition; then body`` or ``elif condition; then body``."""

    condition: List
    body: List


@frozen
class If(CompoundCommand):
    """``if …; then …; elif …; then …; else …; fi``."""

    clauses: tuple[IfClause, ...]
    otherwise: List | None = None


@frozen
class While(CompoundCommand):
    """``while condition; do body; done``, or ``until`` if ``until``."""

    condition: List
    body: List
    until: bool = False


@frozen
class For(CompoundCommand):
    """``for name in words; do body; done``; ``words`` is None without ``in`` (means ``"$@"``)."""

    name: str
    words: tuple[Word, ...] | None
    body: List


@frozen
class Select(CompoundCommand):
    """``select name in words; do body; done``; like For."""

    name: str
    words: tuple[Word, ...] | None
    body: List


@frozen
class ArithmeticFor(CompoundCommand):
    """``for ((initial; condition; step)); do body; done``; each part may be empty."""

    initial: Word
    condition: Word
    step: Word
    body: List


@frozen
class CaseClause(Node):
    """``pattern | pattern) body ;;``; ``terminator`` is ``;;``, ``;&``, ``;;&`` or None."""

    patterns: tuple[Word, ...]
    body: List
    terminator: str | None


@frozen
class Case(CompoundCommand):
    """``case word in clauses esac``."""

    word: Word
    clauses: tuple[CaseClause, ...]


@frozen
class ArithmeticCommand(CompoundCommand):
    """``(( expression ))``."""

    expression: Word


@frozen
class ConditionalTest(Node):
    """One test inside ``[[ ]]``: ``word``, ``-f word`` or ``left == right``.

    ``operator`` is None for a single word (true if not empty); ``operands`` has one or two words,
    or none where bash lets a condition be missing (``[[ ]]``: false).
    """

    operator: str | None
    operands: tuple[Word, ...]


@frozen
class ConditionalNot(Node):
    """``! operand``."""

    operand: ConditionalExpression


@frozen
class ConditionalAndOr(Node):
    """``left && right`` or ``left || right``."""

    operator: str
    left: ConditionalExpression
    right: ConditionalExpression


ConditionalExpression: TypeAlias = ConditionalTest | ConditionalNot | ConditionalAndOr


@frozen
class Conditional(CompoundCommand):
    """``[[ expression ]]``."""

    expression: ConditionalExpression


@frozen
class FunctionDefinition(Node):
    """``name () body`` or ``function name body``; the body's redirections happen at each call."""

    name: Word
    body: Command


@frozen
class Coprocess(Node):
    """``coproc [name] command``."""

    command: Command
    name: Word | None = None


@frozen
class Extension(Node):
    """What an extension of the grammar adds: ``operator`` joins ``commands``.

    Each command is judged as one that runs, in a subshell of its own if ``subshells``; so an
    operator that nobody has told Ringfence more about hides nothing.
    """

    operator: str
    commands: tuple[Command, ...]
    subshells: bool = True


Command: TypeAlias = (
    SimpleCommand
    | Pipeline
    | AndOr
    | Subshell
    | Group
    | If
    | While
    | For
    | Select
    | ArithmeticFor
    | Case
    | ArithmeticCommand
    | Conditional
    | FunctionDefinition
    | Coprocess
    | Extension
)


@frozen
class SyntaxProblem(Node):
    """Text that bash would refuse; ``span`` runs from its first bad token to the end.

    ``found`` is the span of that token; ``message`` is one line: what was found and what could
    have stood there.
    """

    message: str
    found: Span


@frozen
class Script(Node):
    """A whole input, or the inside of a substitution.

    Bash reads a script line by line and runs what it has read before it finds an error, so the
    ``body`` holds every complete line before the ``problem``.
    """

    body: List
    problem: SyntaxProblem | None = None
