"""Telling options from operands, the way the command itself does.

Only the shape is read here; what a value means is decided in ``interpret``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ringfence.grammar.frozen import frozen
from ringfence.grammar.records import define
from ringfence.rules.commands.schema import Entry, Option, Syntax
from ringfence.rules.model import Field, is_known


@frozen
class Piece:
    """An argument or a part of one: ``text`` of argument number ``argument`` in argv.

    One that is a command's operand stands ``after`` ``--``, or not.
    """

    text: str
    argument: int
    glob: bool = False
    several: bool = False
    after: bool = False


@frozen
class Given:
    """An option as it was given; ``option`` is None for one the entry does not list."""

    name: str
    option: Option | None
    values: tuple[Piece, ...] = ()


Item = Given | Piece
"""An option, or an operand."""


@frozen
class Arguments:
    """The items of a command in order, and the index of the first word left unread.

    Words are left unread behind the first operand of a command whose options end there.
    """

    items: Sequence[Item]
    rest: int
    ended: bool = False  # the options were ended by --


def piece(argv: Sequence[Field], index: int, *, after: bool = False) -> Piece:
    """The whole of an argument."""
    field = argv[index]
    return Piece(field.text, index, field.glob, field.several, after)


def read_arguments(entry: Entry, argv: Sequence[Field], start: int) -> Arguments:
    """Read ``argv`` from index ``start`` on.

    For an entry that ``stops``, or that has subcommands, the operands are left unread.
    """
    return _Reader(entry, argv, start).read()


_SIGNS = ("-", "+")
"""How options begin."""


@define
class _Reader:
    entry: Entry
    argv: Sequence[Field]
    index: int
    ended: bool = False

    def read(self) -> Arguments:
        entry = self.entry
        items: list[Item] = []
        stops = entry.stops or bool(entry.commands)
        if entry.bundled and self.index < len(self.argv):
            items += self._bundle()
        while self.index < len(self.argv):
            text = self.argv[self.index].text
            if self.ended or text[:1] not in _SIGNS or not self._is_option(text):
                if entry.skip is not None and entry.skip.match(text):
                    self.index += 1
                    continue
                if stops:
                    break
                items.append(piece(self.argv, self.index, after=self.ended))
                self.index += 1
                continue
            if text == "--":
                self.ended = True
                self.index += 1
                if stops:
                    break
                continue
            found = self._option(text)
            items += found
            if self._ends(found):
                break
        return Arguments(items, self.index, self.ended)

    def _is_option(self, text: str) -> bool:
        if len(text) < 2 or self.entry.syntax is Syntax.NONE:
            return False
        if text[0] == "+":
            return self.entry.option(text) is not None or self.entry.option(text[:2]) is not None
        pattern = self.entry.hyphen_operands
        return pattern is None or pattern.match(text) is None

    @staticmethod
    def _ends(items: Sequence[Item]) -> bool:
        """Whether nothing behind these options is read as one: ``python -c``, ``-exec``."""
        for item in items:
            if isinstance(item, Given) and item.option is not None and item.option.ends:
                return True
        return False

    def _option(self, text: str) -> list[Item]:
        self.index += 1
        if self.entry.syntax is Syntax.SINGLE_DASH:
            return [self._named(text)]
        if text.startswith("--"):
            return [self._named(text)]
        return self._cluster(text)

    def _named(self, text: str) -> Given:
        """Read ``--name``, ``--name=value`` or ``-name value``."""
        option = self.entry.option(text)
        if option is not None:
            return Given(text, option, self._separate(option))
        name, equals, value = text.partition("=")
        if equals:
            option = self.entry.option(name)
            if option is None:
                glued = self._glued(text)
                if glued is not None:
                    return glued
                name, option = self._abbreviated(name)
            return Given(name, option, self._attached(option, value))
        name, option = self._abbreviated(text)
        # A value that is no path might as well be an operand: then it is safer to call it one.
        if option is not None and all(value.operation is not None for value in option.values):
            return Given(name, option, self._separate(option))
        return self._glued(text) or Given(name, option)

    def _glued(self, text: str) -> Given | None:
        """``-Ldir`` among single-dash options: the longest listed name that begins the text."""
        if not self.entry.glued or text.startswith("--"):
            return None
        for end in range(len(text) - 1, 1, -1):
            option = self.entry.option(text[:end])
            if option is not None and option.values:
                return Given(text[:end], option, self._attached(option, text[end:]))
        return None

    def _abbreviated(self, name: str) -> tuple[str, Option | None]:
        """GNU programs take any unambiguous beginning of a long option."""
        if not self.entry.abbreviations or len(name) < 4:
            return name, None
        known = {**self.entry.persistent, **self.entry.options}
        found = [(full, option) for full, option in known.items() if full.startswith(name)]
        paths = [pair for pair in found if any(value.operation for value in pair[1].values)]
        return next(iter(paths or found), (name, None))

    def _cluster(self, text: str) -> list[Item]:
        """``-abc``, ``-fvalue``, ``-f value``."""
        whole = self.entry.option(text)
        if whole is not None and len(text) > 2:
            return [Given(text, whole, self._separate(whole))]
        items: list[Item] = []
        for position in range(1, len(text)):
            name = text[0] + text[position]
            rest = text[position + 1 :]
            option = self.entry.option(name)
            if option is None:
                if rest and not rest[0].isalnum() and rest[0] != "-":
                    items.append(Given(name, None, (self._part(rest.removeprefix("=")),)))
                    break
                if not is_known(text[position]):
                    break
                items.append(Given(name, None))
                continue
            if not option.values:
                items.append(Given(name, option))
                continue
            if self.entry.apart:
                items.append(Given(name, option, self._separate(option)))
                continue
            if rest:
                value = self._attached(option, rest.removeprefix("="))
                items.append(Given(name, option, value))
            else:
                items.append(Given(name, option, self._separate(option)))
            break
        return items

    def _separate(self, option: Option) -> tuple[Piece, ...]:
        if option.optional:
            # BSD's sed -i takes a separate value; no program wants an empty operand.
            bare = self.index < len(self.argv) and self.argv[self.index].text == ""
            return self._take(1) if bare else ()
        values = option.values
        if values and values[0].kind in ("words", "parameters", "arguments"):
            return ()
        if values and values[0].kind == "exec":
            return self._until_end()
        return self._take(len(values))

    def _attached(self, option: Option | None, text: str) -> tuple[Piece, ...]:
        """The values of an option to which the first one is glued."""
        first = self._part(text)
        if option is None or not option.values:
            return (first,)
        if option.values[0].kind == "exec":
            return (first, *self._until_end())
        return (first, *self._take(len(option.values) - 1))

    def _take(self, count: int) -> tuple[Piece, ...]:
        end = min(self.index + count, len(self.argv))
        taken = tuple([piece(self.argv, index) for index in range(self.index, end)])
        self.index = end
        return taken

    def _until_end(self) -> tuple[Piece, ...]:
        """The words of ``-exec`` up to ``;``, or to ``+`` behind ``{}``."""
        words: list[Piece] = []
        while self.index < len(self.argv):
            (word,) = self._take(1)
            if word.text == ";" or (word.text == "+" and words and words[-1].text == "{}"):
                break
            words.append(word)
        return tuple(words)

    def _part(self, text: str) -> Piece:
        index = self.index - 1
        field = self.argv[index]
        return Piece(text, index, field.glob, field.several)

    def _bundle(self) -> list[Item]:
        """``tar xf archive``: letters without a hyphen, whose values follow in order."""
        text = self.argv[self.index].text
        if text.startswith("-") or not text.isalpha():
            return []
        self.index += 1
        items: list[Item] = []
        for letter in text:
            option = self.entry.option(f"-{letter}")
            values = self._take(len(option.values)) if option and not option.optional else ()
            items.append(Given(f"-{letter}", option, values))
        return items


def names_given(items: Sequence[Item]) -> frozenset[str]:
    """The names of the options given, as they were written but for abbreviations."""
    return frozenset([item.name for item in items if isinstance(item, Given)])


def overridden(items: Sequence[Item], options: Mapping[str, Option]) -> list[Item]:
    """The items with options replaced by those of the same name in ``options``."""
    return [
        Given(item.name, options.get(item.name, item.option), item.values)
        if isinstance(item, Given)
        else item
        for item in items
    ]
