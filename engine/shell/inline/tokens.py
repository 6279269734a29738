"""Tokens of scripting languages: enough to tell texts, comments and patterns from code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled

_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ESCAPE = compiled(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[xu]\{([0-9a-fA-F]+)\}|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\033"}


@frozen
class Token:
    """A token; ``content`` is the inside of a text.

    ``kind`` is ``text`` (decoded), ``escaped`` (with escapes), ``raw`` (with escapes and
    interpolations), ``shell`` (a command in backquotes; raw), ``words`` (a list of words),
    ``regex``, ``name``, ``number``, ``operator`` or ``end``.
    """

    kind: str
    text: str
    start: int
    end: int
    content: str = ""


@frozen
class Quote:
    """A quote-like piece that a language's own function has read: see `Lexis.quote_like`."""

    kind: str
    content: str
    end: int
    code: str = ""  # a part of it that is code, at ``code_start``
    code_start: int = 0
    skip: tuple[int, int] | None = None  # the body of a here-document, further on


QuoteLike = Callable[[str, int, "Token | None"], Quote | None]


@frozen
class Lexis:
    """How a language's tokens look.

    ``quotes`` gives the kind of token for each quote character. ``quote_like`` reads other
    quotations at a position, given the token before. ``regexes`` if ``/…/`` may be one.
    """

    name: re.Pattern[str]
    comment: re.Pattern[str]
    quotes: Mapping[str, str]
    regexes: bool = False
    quote_like: QuoteLike | None = None
    operand_names: frozenset[str] = frozenset()  # after these a `/` begins a regex


_NUMBER = compiled(r"0[xX][0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9]+)?")
_OPERATOR = compiled(
    r"=>|->|::|\.\.\.?|<<=|>>=|===|!==|&&|\|\||\+\+|--|[-+*/.|&=!<>~^%?]=|.", re.DOTALL
)
_REGEX = compiled(r"/(?:\\.|\[(?:\\.|[^]\\\n])*\]|[^/\\\n[])+/[a-z]*")


@define
class Lexer:
    """Splits a text into tokens; ``codes`` collects code that stands inside of quotations."""

    lexis: Lexis
    codes: list[tuple[str, int]] = field(factory=list)
    _skips: dict[int, int] = field(factory=dict)

    def tokens(self, text: str, offset: int = 0) -> Tokens:
        """The tokens of ``text``, whose places are counted from ``offset``."""
        found: list[Token] = []
        at = 0
        self._skips.clear()
        while at < len(text):
            if at in self._skips:
                at = self._skips[at]
                continue
            token, end = self._next(text, at, found[-1] if found else None, offset)
            if token is not None:
                found.append(token)
            at = max(end, at + 1)
        found.append(Token("end", "", offset + len(text), offset + len(text)))
        return Tokens(found)

    def _next(
        self, text: str, at: int, before: Token | None, offset: int
    ) -> tuple[Token | None, int]:
        lexis = self.lexis
        comment = lexis.comment.match(text, at)
        if comment:
            return None, comment.end()
        if text[at].isspace() and text[at] != "\n":
            return None, at + 1
        quote = lexis.quote_like(text, at, before) if lexis.quote_like is not None else None
        if quote is not None:
            if quote.skip is not None:
                self._skips[quote.skip[0]] = quote.skip[1]
            if quote.code:
                self.codes.append((quote.code, offset + quote.code_start))
            token = Token(
                quote.kind, text[at : quote.end], offset + at, offset + quote.end, quote.content
            )
            return token, quote.end
        if text[at] in lexis.quotes:
            end = closing(text, at, nested=text[at] == "`")
            kind, content = lexis.quotes[text[at]], text[at + 1 : end - 1]
            if kind == "text":
                content = content.replace("\\\\", "\\").replace("\\'", "'")
            return Token(kind, text[at:end], offset + at, offset + end, content), end
        if lexis.regexes and text[at] == "/" and self._operand_fits(before):
            regex = _REGEX.match(text, at)
            if regex:
                return Token("regex", regex[0], offset + at, offset + regex.end()), regex.end()
        for kind, pattern in (("name", lexis.name), ("number", _NUMBER), ("operator", _OPERATOR)):
            match = pattern.match(text, at)
            if match:
                return Token(kind, match[0], offset + at, offset + match.end()), match.end()
        return None, at + 1

    def _operand_fits(self, before: Token | None) -> bool:
        return operand_fits(before, self.lexis.operand_names)


def operand_fits(before: Token | None, names: frozenset[str]) -> bool:
    """Whether an operand may stand after the token ``before``, so that a ``/`` is no division."""
    if before is None:
        return True
    if before.kind == "operator":
        return before.text not in (")", "]", "}")
    return before.kind == "name" and before.text in names


def closing(text: str, at: int, *, nested: bool = False) -> int:
    """The position after the quotation at ``at``, which its first character or bracket ends.

    With ``nested``, ``${…}`` inside may hold the quote itself.
    """
    opener = text[at]
    closer = _BRACKETS.get(opener, opener)
    depth = 0
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1
        elif character == closer and (depth == 1 or closer == opener) and depth:
            return at + 1
        elif character == closer and closer != opener:
            depth -= 1
        elif character == opener:
            depth += 1
        elif nested and text.startswith("${", at):
            at = closing(text, at + 1) - 1
        at += 1
    return len(text)


_HERE = compiled(r"<<(?P<indent>[~-]?)(?P<quote>[\"'`]?)(?P<name>[A-Za-z_]\w*)(?P=quote)")


def here_document(text: str, at: int) -> Quote | None:
    """A here-document that ``<<"name"`` at ``at`` announces, as in Perl and Ruby."""
    match = _HERE.match(text, at)
    if match is None:
        return None
    start = text.find("\n", match.end()) + 1
    closer = re.compile(rf"^[ \t]*{match['name']}$", re.MULTILINE).search(text, start)
    if not start or closer is None:
        return None
    kind = {"'": "text", "`": "shell"}.get(match["quote"], "raw")
    return Quote(kind, text[start : closer.start()], match.end(), skip=(start, closer.end()))


def decoded(text: str) -> str:
    """``text`` with its backslash escapes decoded."""

    def decode(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        if code:
            return chr(min(int(code, 16), 0x10FFFF))
        if match[4]:
            return chr(int(match[4], 8)) if int(match[4], 8) else ""
        return "" if match[5] == "\n" else _ESCAPES.get(match[5], match[5])

    return _ESCAPE.sub(decode, text)


class Tokens(list[Token]):
    """Tokens, and for each bracket the index of its partner.

    The partner of a bracket that is never closed is the last token.
    """

    def __init__(self, tokens: Iterable[Token]) -> None:
        super().__init__(tokens)
        self.partners: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self):
            if token.kind != "operator":
                continue
            if token.text in ("(", "[", "{"):
                opened.append(index)
                self.partners[index] = len(self) - 1
            elif token.text in (")", "]", "}") and opened:
                opener = opened.pop()
                self.partners[opener] = index
                self.partners[index] = opener


def closer_index(tokens: Tokens, index: int) -> int:
    """The index of the bracket that closes the one at ``index``; ``index`` if it is none."""
    return max(index, tokens.partners.get(index, index))


def opener_index(tokens: Tokens, index: int) -> int:
    """The index of the bracket that opens the one at ``index``; ``index`` if it is none."""
    return min(index, tokens.partners.get(index, index))


def split_at(tokens: Tokens, start: int, end: int, separator: str) -> list[tuple[int, int]]:
    """The ranges of tokens between ``separator``s outside of brackets; none of an empty range."""
    ranges: list[tuple[int, int]] = []
    begin = at = start
    while at < end:
        token = tokens[at]
        if token.kind == "operator" and token.text in ("(", "[", "{"):
            at = closer_index(tokens, at)
        elif token.kind == "operator" and token.text == separator:
            ranges.append((begin, at))
            begin = at + 1
        at += 1
    if begin < end:
        ranges.append((begin, end))
    return ranges
