"""What the functions that know a command's output are given."""

from __future__ import annotations

from collections.abc import Callable

from ringfence.engine.filesystem import FileSystem
from ringfence.grammar.frozen import frozen
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field, is_known


def _nothing_known(name: str) -> str | None:  # noqa: ARG001
    return None


@frozen
class Context:
    """Where a command would run.

    ``directory`` is its working directory, absolute (it may hold unknowns). ``read`` gives the
    text of a file that is known to have it when the command runs, or None. ``lookup`` gives the
    value of an environment variable: "" if unset, None if not known. ``project`` is the working
    directory of the whole tool call.
    """

    directory: str
    filesystem: FileSystem
    read: Callable[[str], str | None] = _nothing_known
    lookup: Callable[[str], str | None] = _nothing_known
    project: str = ""


@frozen
class Invocation:
    """A command's arguments, without its name, and what comes in on standard input.

    ``stdin`` may hold unknowns; None means that nothing is known of it.
    """

    fields: tuple[Field, ...]
    stdin: str | None
    context: Context

    @property
    def words(self) -> tuple[str, ...]:
        """The texts of the arguments."""
        return tuple(field.text for field in self.fields)

    def options(self, flags: str = "", values: str = "") -> Options | None:
        """The arguments as options and operands, or None if an option is not listed.

        ``flags`` are the letters of options without, ``values`` those with a value. A long
        option is never listed; the callers that know some take them out before.
        """
        return parse_options(self.fields, flags, values)


@frozen
class Options:
    """Short options, each with its value ("" for a flag; the last one wins), and operands."""

    given: dict[str, str]
    operands: tuple[Field, ...]

    def __contains__(self, letter: str) -> bool:
        return letter in self.given

    def value(self, letter: str, default: str = "") -> str:
        """The value of an option."""
        return self.given.get(letter, default)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the operands."""
        return tuple(field.text for field in self.operands)


def parse_options(fields: tuple[Field, ...], flags: str, values: str) -> Options | None:
    """See `Call.options`."""
    given: dict[str, str] = {}
    operands: list[Field] = []
    rest = list(fields)
    while rest:
        field = rest.pop(0)
        word = field.text
        if word == "--":
            operands += rest
            break
        if not word.startswith("-") or word == "-":
            operands.append(field)
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in values:
                if not letters and not rest:
                    return None
                given[letter] = letters or rest.pop(0).text
                break
            if letter not in flags:
                return None
            given[letter] = ""
    return Options(given, tuple(operands))


def as_printed(field: Field) -> str:
    """A path operand as a command that prints its operands prints it.

    Where bash could not expand a glob, its characters stand for a part of a name each.
    """
    if not field.glob:
        return field.text
    components = []
    for component in field.text.split("/"):
        text = component
        for character in "*?":
            text = text.replace(character, NAME)
        if "[" in text:
            text = NAME
        # `.*` matches `..` as well.
        components.append(UNKNOWN if text != component and component.startswith(".") else text)
    return "/".join(components)


def below(root: str) -> str:
    """Any path below ``root``, as a program that walks the tree prints it."""
    return f"{root}{BELOW}" if not root or root.endswith("/") else f"{root}/{BELOW}"


def lines(*texts: str) -> str:
    """The texts, a line each."""
    return "".join(text + "\n" for text in texts)


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` without their newlines."""
    found = text.split("\n")
    return found[:-1] if not found[-1] else found


def all_known(*texts: str) -> bool:
    """Whether no text holds an unknown."""
    return all(map(is_known, texts))
