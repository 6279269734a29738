"""Simple commands: words, redirections, here-documents, assignments."""

from __future__ import annotations

from collections.abc import Iterator

from ringfence.grammar import ansi
from ringfence.grammar.builder.base import Base, Simple, join, literal_word
from ringfence.grammar.errors import Unexpected
from ringfence.grammar.machine import MAX_HERE_DOCUMENTS, Offsets, PendingHere, Token
from ringfence.grammar.nodes import (
    ArrayElement,
    ArrayLiteral,
    Assignment,
    CommandSubstitution,
    HereDocument,
    Literal,
    ProcessSubstitution,
    Redirection,
    SimpleCommand,
    Word,
    WordPart,
)
from ringfence.grammar.records import evolve


class SimpleCommands(Base):
    """Simple commands."""

    # --- simple commands ---

    def simple_prefix(self, simple: Simple) -> SimpleCommand:
        return simple.node()

    def simple_called(self, simple: Simple) -> SimpleCommand:
        return simple.node()

    def prefix_first(self, item: Assignment | Redirection) -> Simple:
        return _add(Simple(*item.span), item)

    def prefix_more(self, simple: Simple, _blank: Token | None, item: Assignment) -> Simple:
        first = simple.assignments[0].span if simple.assignments else None
        interrupted = first is not None and any(r.span > first for r in simple.redirections)
        if interrupted and item.value is not None and _is_compound(item):
            # Between assignments, bash allows no compound one behind a redirection.
            place = item.value.span[0]
            raise Unexpected("found `(`, expected a word", (place, place + 1))
        return _add(simple, item)

    def prefix_redirection(self, simple: Simple, item: Redirection) -> Simple:
        return _add(simple, item)

    def prefix_closing_first(self, redirection: Redirection, item: Assignment) -> Simple:
        return _add(self.prefix_first(redirection), item)

    def prefix_closing(self, simple: Simple, redirection: Redirection, item: Assignment) -> Simple:
        return self.prefix_more(_add(simple, redirection), None, item)

    def called_first(self, word: Word) -> Simple:
        return _argument(Simple(*word.span), word)

    def called_after_prefix(self, simple: Simple, _blank: Token, word: Word) -> Simple:
        return _argument(simple, word)

    def called_more(self, simple: Simple, _blank: Token, word: Word | Assignment) -> Simple:
        if isinstance(word, Assignment) and _is_compound(word):
            for before in simple.arguments:
                if isinstance(before, Word) and isinstance(before.parts[0], ProcessSubstitution):
                    # Like a redirection, it ends what bash reads as assignments.
                    place = word.span[0] + len(word.name)
                    raise Unexpected("found an array, expected a word", (place, word.span[1]))
        simple.arguments.append(word)
        simple.end = word.span[1]
        return simple

    def called_redirection(self, simple: Simple, item: Redirection) -> Simple:
        return _add(simple, item)

    def declared_first(self, name: Token) -> Simple:
        return self.called_first(literal_word(name))

    def declared_after_prefix(self, simple: Simple, _blank: Token, name: Token) -> Simple:
        return _argument(simple, literal_word(name))

    def called_after_closing(self, redirection: Redirection, word: Word) -> Simple:
        return _argument(self.prefix_first(redirection), word)

    def called_closing(self, simple: Simple, redirection: Redirection, word: Word) -> Simple:
        return _argument(_add(simple, redirection), word)

    def closing(self, close: Token) -> Redirection:
        target = close.text[2:].lstrip(" \t")
        place = (close.span[1] - len(target), close.span[1])
        word = Word(place, (Literal(place, target),))
        return Redirection(close.span, close.text[:2], word)

    def closing_fd(self, fd: Token, close: Token) -> Redirection:
        return evolve(self.closing(close), span=join(fd, close), fd=fd.text)

    def redirection(self, operator: Token, target: Word) -> Redirection:
        return Redirection((operator.span[0], target.span[1]), operator.text, target)

    def redirection_fd(self, fd: Token, operator: Token, target: Word) -> Redirection:
        return Redirection((fd.span[0], target.span[1]), operator.text, target, fd.text)

    def here_document(self, operator: Token, target: Word) -> Redirection:
        return self._here(operator, target, None)

    def here_document_fd(self, fd: Token, operator: Token, target: Word) -> Redirection:
        return self._here(operator, target, fd)

    def _here(self, operator: Token, target: Word, fd: Token | None) -> Redirection:
        first = fd or operator
        redirection = Redirection(
            (first.span[0], target.span[1]), operator.text, target, fd.text if fd else None
        )
        # The delimiter is the word as written, quotes removed and nothing expanded.
        written = self.machine.text[operator.end : self.machine.shifted_end].lstrip(" \t")
        delimiter, quoted = ansi.remove_quotes(written)
        strip = operator.text == "<<-"
        heres = self.machine.opened[-1].heres
        if len(heres) >= MAX_HERE_DOCUMENTS:
            raise Unexpected("more here-documents than bash allows on a line", operator.span)
        heres.append(PendingHere(delimiter, quoted, strip, redirection))
        return redirection

    def complete_here(
        self, pending: PendingHere, pieces: list[tuple[int, str]], end: int, *, terminated: bool
    ) -> None:
        """Give a redirection its here-document; the only node that is completed later."""
        machine = self.machine
        begin = pieces[0][0] if pieces else end
        span = (machine.source_start(begin), machine.source_start(end))
        text = "".join(line for _, line in pieces)
        if pending.quoted or not any(c in text for c in "$`\\"):
            body = Word(span, (Literal(span, text),) if text else ())
        else:
            if pending.strip_tabs or machine.cuts or not isinstance(machine.offsets, int):
                offsets: Offsets = [
                    machine.source_start(place + i)
                    for place, line in pieces
                    for i in range(len(line))
                ] + [span[1]]
            else:
                offsets = machine.offsets + begin
            try:
                body = self._sub_parse(text, "here_text", offsets)
                body = evolve(body, span=span)
            except Unexpected as problem:
                failed = CommandSubstitution(span, None, error=problem.message)
                body = Word(span, (failed,))
        document = HereDocument(span, pending.delimiter, pending.quoted, body, terminated)
        object.__setattr__(pending.redirection, "document", document)

    # --- assignments ---

    def assignment_empty(self, name: Token) -> Assignment:
        return _assignment(name, None, name.span[1])

    def assignment(self, name: Token, value: Word) -> Assignment:
        return _assignment(name, value, value.span[1])

    def assignment_array(
        self, name: Token, elements: list[ArrayElement], close: Token
    ) -> Assignment:
        array = ArrayLiteral((name.span[1] - 1, close.span[1]), tuple(elements))
        sign = Token(name.text.removesuffix("("), name.span, name.end)
        return _assignment(sign, array, close.span[1])

    def assignment_element_empty(
        self, name: Token, subscript: Word, _close: Token, sign: Token
    ) -> Assignment:
        return _element_assignment(name, subscript, sign, None, sign.span[1])

    def assignment_element(
        self, name: Token, subscript: Word, _close: Token, sign: Token, value: Word
    ) -> Assignment:
        return _element_assignment(name, subscript, sign, value, value.span[1])

    def assignment_element_array(
        self,
        name: Token,
        subscript: Word,
        _close: Token,
        sign: Token,
        elements: list[ArrayElement],
        close: Token,
    ) -> Assignment:
        array = ArrayLiteral((sign.span[1] - 1, close.span[1]), tuple(elements))
        return _element_assignment(name, subscript, sign, array, close.span[1])

    def assignment_glued(self, assignment: Assignment, rest: Word) -> Assignment:
        # `a=(1 2)x` is no array: its value is the text `(1 2)x`, with what expands in it.
        array = assignment.value
        assert isinstance(array, ArrayLiteral)
        word = Word((array.span[0], rest.span[1]), (*self._unparsed(array), *rest.parts))
        return evolve(assignment, span=(assignment.span[0], word.span[1]), value=word)

    @staticmethod
    def _unparsed(array: ArrayLiteral) -> Iterator[WordPart]:
        """The parts of a word that an array is, put together as bash does: with single blanks."""
        place, end = array.span
        text = "("
        for element in array.elements:
            sign = "+=" if element.append else "="
            subscripted = ((element.subscript, "[", f"]{sign}"), (element.value, "", ""))
            for word, before, after in subscripted:
                if word is not None:
                    yield Literal((place, word.span[0]), text + before)
                    yield from word.parts
                    place, text = word.span[1], after
            text += " "
        yield Literal((place, end), text.rstrip(" ") + ")")

    def array_empty(self) -> list[ArrayElement]:
        return []

    def array_first(self, element: ArrayElement) -> list[ArrayElement]:
        return [element]

    def array_more(
        self, elements: list[ArrayElement], _blank: Token, element: ArrayElement
    ) -> list[ArrayElement]:
        elements.append(element)
        return elements

    def array_element(self, word: Word) -> ArrayElement:
        return ArrayElement(word.span, word)

    def array_element_keyed_empty(
        self, key: Token, subscript: Word, _close: Token, sign: Token
    ) -> ArrayElement:
        span = (key.span[0], sign.span[1])
        return ArrayElement(span, None, subscript, append=sign.text[0] == "+")

    def array_element_keyed(
        self, key: Token, subscript: Word, _close: Token, sign: Token, value: Word
    ) -> ArrayElement:
        span = (key.span[0], value.span[1])
        return ArrayElement(span, value, subscript, append=sign.text[0] == "+")


def _is_compound(assignment: Assignment) -> bool:
    value = assignment.value
    if isinstance(value, Word):  # `a=(1)x`: nothing else begins with a bare parenthesis
        return isinstance(value.parts[0], Literal) and value.parts[0].text.startswith("(")
    return isinstance(value, ArrayLiteral)


def _add(simple: Simple, item: Assignment | Redirection) -> Simple:
    if isinstance(item, Redirection):
        simple.redirections.append(item)
    else:
        simple.assignments.append(item)
    simple.end = item.span[1]
    return simple


def _argument(simple: Simple, word: Word | Assignment) -> Simple:
    simple.arguments.append(word)
    simple.end = word.span[1]
    return simple


def _assignment(name: Token, value: Word | ArrayLiteral | None, end: int) -> Assignment:
    append = name.text.endswith("+=")
    variable = name.text[: -2 if append else -1]
    return Assignment((name.span[0], end), variable, value, append=append)


def _element_assignment(
    name: Token, subscript: Word, sign: Token, value: Word | ArrayLiteral | None, end: int
) -> Assignment:
    append = sign.text[0] == "+"
    return Assignment((name.span[0], end), name.text[:-1], value, subscript, append)
