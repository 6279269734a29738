"""Words and their parts, but for ``${…}``."""

from __future__ import annotations

from ringfence.grammar import ansi
from ringfence.grammar.builder.base import Base, around, join
from ringfence.grammar.errors import Unexpected
from ringfence.grammar.machine import Offsets, Token
from ringfence.grammar.nodes import (
    AnsiCQuoted,
    ArithmeticExpansion,
    CommandSubstitution,
    DoubleQuoted,
    Escaped,
    ExtendedGlob,
    List,
    Literal,
    ParameterExpansion,
    ProcessSubstitution,
    Script,
    SingleQuoted,
    SyntaxProblem,
    Word,
    WordPart,
)


class Words(Base):
    """Words and their parts."""

    # --- words ---

    def element_start(self, name: Token, subscript: Word, closer: Token) -> list[WordPart]:
        opener = Literal(name.span, name.text)
        return [opener, *subscript.parts, Literal(closer.span, closer.text)]

    def element_word(self, start: list[WordPart], parts: list[WordPart]) -> Word:
        return self.word(start + parts)

    def word(self, parts: list[WordPart]) -> Word:
        return Word(around(parts), tuple(parts))

    def word_or_empty(self, parts: list[WordPart]) -> Word:
        if parts:
            return self.word(parts)
        return Word(self.machine.after_last(), ())

    def parts_none(self) -> list[WordPart]:
        return []

    def parts_first(self, part: WordPart) -> list[WordPart]:
        return [part]

    def parts_more(self, parts: list[WordPart], part: WordPart) -> list[WordPart]:
        parts.append(part)
        return parts

    def plain_word(self, token: Token) -> Word:
        """The word of a literal alone, which most words are."""
        span = token.span
        return Word(span, (Literal(span, token.text),))

    def parts_nested(
        self, parts: list[WordPart], opener: Token, inner: list[WordPart], closer: Token
    ) -> list[WordPart]:
        parts.append(Literal(opener.span, opener.text))
        parts.extend(inner)
        parts.append(Literal(closer.span, closer.text))
        return parts

    def literal(self, token: Token) -> Literal:
        return Literal(token.span, token.text)

    def escaped(self, token: Token) -> Escaped:
        return Escaped(token.span, token.text[1:])

    def single_quoted(self, token: Token) -> SingleQuoted:
        return SingleQuoted(token.span, token.text[1:-1])

    def ansi_quoted(self, token: Token) -> AnsiCQuoted:
        return AnsiCQuoted(token.span, ansi.decode(token.text[2:-1]))

    def double_quoted(self, opener: Token, parts: list[WordPart], closer: Token) -> DoubleQuoted:
        return DoubleQuoted(join(opener, closer), tuple(parts), opener.text[0] == "$")

    def variable(self, token: Token) -> ParameterExpansion:
        return ParameterExpansion(token.span, token.text[1:])

    def command_substitution(self, opener: Token, body: List, closer: Token) -> CommandSubstitution:
        return CommandSubstitution(join(opener, closer), Script(body.span, body))

    def process_substitution(self, opener: Token, body: List, closer: Token) -> ProcessSubstitution:
        span = join(opener, closer)
        return ProcessSubstitution(span, opener.text[0], Script(body.span, body))

    def process_text(self, token: Token) -> ProcessSubstitution:
        inner = token.text[2:-1]
        places = self.machine.places(token.end - len(inner) - 1, inner)
        found = self._substitution(token, inner, places, backquoted=False)
        span = (token.span[0] + 2, token.span[1] - 1)
        body = found.body or Script(
            span, List(span, ()), SyntaxProblem(span, found.error or "", span)
        )
        return ProcessSubstitution(token.span, token.text[0], body)

    def backquoted(self, token: Token) -> CommandSubstitution:
        in_quotes = self.machine.opened[-1].context in ("dquote", "here", "parameter_quoted")
        inner = token.text[1:-1]
        begin = token.end - len(token.text) + 1
        text, kept = ansi.unescape_backquoted(inner, in_quotes)
        places = self.machine.places(begin, inner)
        if len(text) != len(inner):
            source = range(places, places + len(inner) + 1) if isinstance(places, int) else places
            places = [source[i] for i in kept]
        return self._substitution(token, text, places, backquoted=True)

    def command_text(self, token: Token) -> CommandSubstitution:
        inner = token.text[2:-1]
        places = self.machine.places(token.end - len(inner) - 1, inner)
        return self._substitution(token, inner, places, backquoted=False)

    def _substitution(
        self, token: Token, text: str, places: Offsets, *, backquoted: bool
    ) -> CommandSubstitution:
        try:
            script: Script = self._sub_parse(text, "script", places)
        except Unexpected as problem:
            return CommandSubstitution(token.span, None, backquoted, problem.message)
        return CommandSubstitution(token.span, script, backquoted)

    def arithmetic_expansion(self, token: Token) -> ArithmeticExpansion:
        return ArithmeticExpansion(token.span, self._arithmetic(token, 3, 2))

    def arithmetic_old(self, token: Token) -> ArithmeticExpansion:
        return ArithmeticExpansion(token.span, self._arithmetic(token, 2, 1))

    def _arithmetic(self, token: Token, opener: int, closer: int) -> Word:
        """The expression between an opener and a closer of so many characters."""
        inner = token.text[opener:-closer]
        places = self.machine.places(token.end - len(token.text) + opener, inner)
        try:
            word: Word = self._sub_parse(inner, "arithmetic", places)
        except Unexpected as problem:
            # Bash finds it when it evaluates the expression.
            span = (token.span[0] + opener, token.span[1] - closer)
            return Word(span, (CommandSubstitution(span, None, error=problem.message),))
        return word

    def extended_glob(self, opener: Token, patterns: list[Word], closer: Token) -> ExtendedGlob:
        return ExtendedGlob(join(opener, closer), opener.text[0], tuple(patterns))

    def extglob_first(self, parts: list[WordPart]) -> list[Word]:
        return [self.word_or_empty(parts)]

    def extglob_more(self, patterns: list[Word], _or: Token, parts: list[WordPart]) -> list[Word]:
        patterns.append(self.word_or_empty(parts))
        return patterns

    def extglob_nested(
        self, parts: list[WordPart], opener: Token, patterns: list[Word], closer: Token
    ) -> list[WordPart]:
        parts.append(Literal(opener.span, "("))
        for number, pattern in enumerate(patterns):
            if number:
                parts.append(Literal((pattern.span[0] - 1, pattern.span[0]), "|"))
            parts.extend(pattern.parts)
        parts.append(Literal(closer.span, ")"))
        return parts

    def regex_group(self, opener: Token, parts: list[WordPart], closer: Token) -> list[WordPart]:
        return self.parts_nested([], opener, parts, closer)

    def parts_joined(self, parts: list[WordPart], more: list[WordPart]) -> list[WordPart]:
        parts.extend(more)
        return parts


def split(word: Word, separator: str, most: int = 0) -> list[Word]:
    """Cut a word at ``separator`` where it stands unquoted; at most ``most`` pieces."""
    pieces: list[list[WordPart]] = [[]]
    starts = [word.span[0]]
    for part in word.parts:
        if not isinstance(part, Literal):
            pieces[-1].append(part)
            continue
        place, text = part.span[0], part.text
        while (at := text.find(separator)) >= 0 and not (most and len(pieces) >= most):
            if at:
                pieces[-1].append(Literal((place, place + at), text[:at]))
            place += at + 1
            text = text[at + 1 :]
            pieces.append([])
            starts.append(place)
        if text:
            pieces[-1].append(Literal((place, part.span[1]), text))
    return [
        Word((parts[0].span[0], parts[-1].span[1]) if parts else (start, start), tuple(parts))
        for parts, start in zip(pieces, starts, strict=True)
    ]
