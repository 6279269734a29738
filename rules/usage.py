"""What a command does with its arguments: the answer that the knowledge of commands gives.

``ringfence.rules.commands.usage(argv)`` makes a Usage from the arguments of one simple command
and the data about that command; the engine turns it into effects. Nothing here looks at files.
"""

from __future__ import annotations

from ringfence.grammar.frozen import frozen
from ringfence.rules.model import Field, Operation


@frozen
class PathUse:
    """An argument, or a piece of one (``-f/etc/x``, ``of=/x``), names a path.

    ``path`` is the piece's text (it may hold unknowns). ``argument`` is its index in argv, or
    past its end in the environment given to ``usage``.
    A relative path starts at ``base`` if there is one (``git -C base``, ``tar -C base``; itself
    relative to the working directory), else at the working directory.
    ``fact`` says, for a person, why it is a path: ``operand of cat``, ``value of grep --file``.
    ``language`` is that of a script that is executed, where the command fixes it.
    """

    path: str
    operation: Operation
    argument: int
    fact: str
    base: str | None = None
    possible: bool = False  # only perhaps touched
    there: bool = False  # a path only if something stands there: it may be any other word
    recursive: bool = False  # the whole tree below it is (rm -r, grep -r, find)
    glob: bool = False  # the argument holds a glob that bash could not expand
    language: str | None = None
    follow: bool = True  # False if a link in the last place is itself meant (rm, find, ls -l)
    tilde: bool = False  # the command itself takes a leading ~ for the home directory
    through: bool = False  # links below it are followed (grep -R); what they lead to is touched too
    hidden: bool = True  # whether that goes for names with a dot in front
    paired: bool = False  # only those that stand below each other path of this kind as well
    excluded: tuple[str, ...] = ()  # patterns of names, or of paths below it, that are left out
    names: bool = False  # the file lists paths, which are read as well; ``-`` is standard input


@frozen
class ProgramUse:
    """An argument holds a program in some language.

    ``language`` is ``bash`` (sh, dash, zsh too), ``python``, ``node``, ``perl``, ``ruby``, ``awk``,
    ``sed``, ``jq``…. ``text`` is None where the program comes on standard input.
    ``parameters`` are the arguments that the program receives; for ``bash -c text a b`` the
    first is ``$0``.
    """

    language: str
    text: str | None
    argument: int
    parameters: tuple[Field, ...] = ()
    in_place: bool = False  # sed -i, perl -i: file operands are written
    variables: tuple[tuple[str, str], ...] = ()  # set from outside: awk -v name=value


@frozen
class CommandUse:
    """The command runs another: ``env X=1 cmd``, ``sudo cmd``, ``xargs cmd``, ``find -exec cmd``.

    ``words`` is the other command's argv. ``directory`` is where it runs, if elsewhere
    (``env -C``). ``appends_input`` if words from standard input are added to its end
    (``xargs``), ``placeholder`` if such words replace that text in its words (``xargs -I{}``).
    """

    words: tuple[Field, ...]
    directory: str | None = None
    assignments: tuple[tuple[str, str], ...] = ()
    clears_environment: bool = False
    appends_input: bool = False
    placeholder: str | None = None
    unset: tuple[str, ...] = ()  # variables that it does not get: env -u
    null_separated: bool = False  # xargs -0
    group: int | None = None  # how many input words each command gets: xargs -n
    input_file: str | None = None  # the words come from this file instead: xargs -a
    other_user: bool = False  # sudo, su: HOME may be another


@frozen
class Usage:
    """Everything known of one simple command's arguments.

    ``known`` is False for a command that is not in the table: its path-shaped words are in
    ``paths`` then. ``opaque`` holds (reason, index of the argument) for what cannot be judged.
    """

    command: str
    known: bool
    paths: tuple[PathUse, ...] = ()
    programs: tuple[ProgramUse, ...] = ()
    commands: tuple[CommandUse, ...] = ()
    opaque: tuple[tuple[str, int], ...] = ()
