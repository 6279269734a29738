"""``${…}`` in all its forms."""

from __future__ import annotations

from typing import Any

from ringfence.grammar.builder.base import join
from ringfence.grammar.builder.words import Words, split
from ringfence.grammar.errors import Unexpected
from ringfence.grammar.machine import Token
from ringfence.grammar.nodes import (
    CommandSubstitution,
    Escaped,
    Literal,
    ParameterExpansion,
    Word,
    WordPart,
)
from ringfence.grammar.records import define


@define
class _QuotedInParameter:
    """``'text'`` in a ``${…}`` inside double quotes: what it means depends on the operator."""

    token: Token


@define
class _Operation:
    """An operator of ``${…}`` with the parts after it; operator None if it is none."""

    operator: str | None
    parts: list[Any]
    start: int


_PATTERN_OPERATORS = frozenset(["#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,"])
_NO_SECOND = frozenset((":-", ":=", ":?", ":+"))


class Parameters(Words):
    """``${…}``."""

    # --- ${…} ---

    def parameter_bad(
        self, opener: Token, _bad: Token, parts: list[WordPart], closer: Token
    ) -> ParameterExpansion:
        argument = self._argument(parts, opener.span[1], quoted_literally=True)
        return ParameterExpansion(
            join(opener, closer), "", braced=True, argument=argument, bad=True
        )

    def parameter_none(self, opener: Token, closer: Token) -> ParameterExpansion:
        return ParameterExpansion(join(opener, closer), "", braced=True, bad=True)

    def parameter_subscript(self, _open: Token, subscript: Word, _close: Token) -> Word:
        return subscript

    def parameter_operation(self, operator: Token, parts: list[Any]) -> _Operation:
        return _Operation(operator.text or None, parts, operator.span[1])

    def parameter_escaped(self, token: Token) -> WordPart:
        # Inside double quotes a backslash quotes only these.
        if token.text[1] in '"`$\\}':
            return Escaped(token.span, token.text[1])
        return Literal(token.span, token.text)

    def parameter_quoted(self, token: Token) -> _QuotedInParameter:
        return _QuotedInParameter(token)

    def parameter_expansion(
        self,
        opener: Token,
        prefix: Token | None,
        name: Token,
        subscript: Word | None,
        operation: _Operation | None,
        closer: Token,
    ) -> ParameterExpansion:
        argument = argument2 = None
        operator = None
        if operation is not None:
            operator = operation.operator
            literally = operator not in _PATTERN_OPERATORS
            argument = self._argument(operation.parts, operation.start, quoted_literally=literally)
            if operator is not None and operator[0] in "/:" and operator not in _NO_SECOND:
                halves = split(argument, operator[0], most=2)
                argument = halves[0]
                argument2 = halves[1] if len(halves) > 1 else None
        return ParameterExpansion(
            join(opener, closer),
            name.text,
            braced=True,
            indirect=prefix is not None and prefix.text == "!",
            length=prefix is not None and prefix.text == "#",
            subscript=subscript,
            operator=operator,
            argument=argument,
            argument2=argument2,
            bad=operation is not None and operator is None,
        )

    def _argument(self, parts: list[Any], start: int, *, quoted_literally: bool) -> Word:
        flat: list[WordPart] = []
        for part in parts:
            if not isinstance(part, _QuotedInParameter):
                flat.append(part)
            elif quoted_literally:
                flat.extend(self._quotes_as_text(part.token))
            else:
                flat.append(self.single_quoted(part.token))
        if not flat:
            return Word((start, start), ())
        return Word((flat[0].span[0], flat[-1].span[1]), tuple(flat))

    def _quotes_as_text(self, token: Token) -> tuple[WordPart, ...]:
        """``"${x:-'$y'}"``: the quotes are text and ``$y`` is expanded."""
        places = self.machine.places(token.end - len(token.text), token.text)
        try:
            word: Word = self._sub_parse(token.text, "here_text", places)
        except Unexpected as problem:
            return (CommandSubstitution(token.span, None, error=problem.message),)
        return word.parts
