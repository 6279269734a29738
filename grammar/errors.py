"""What can go wrong, and how it is shown."""

from __future__ import annotations

from attrs import frozen

from ringfence.grammar.nodes import Span


class TooComplex(ValueError):  # noqa: N818 - it is an answer, not a fault
    """The text is nested deeper, or continued over more lines, than the documented limits."""


@frozen
class Unexpected(Exception):  # noqa: N818 - caught inside this package, never seen outside
    """Bash would refuse the text: ``span`` is where, ``message`` says why in one line."""

    message: str
    span: Span


_SPOKEN = {
    "NEWLINE": "a newline",
    "$END": "the end",
    "BLANK": "a blank",
    "ARRAY_BLANK": "a blank",
    "LITERAL": "a word",
    "SEMI": "`;`",
    "AMP": "`&`",
    "AND_IF": "`&&`",
    "OR_IF": "`||`",
    "PIPE": "`|`",
    "PIPE_AMP": "`|&`",
    "CLAUSE_END": "`;;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "PARENS": "`()`",
    "ARITHMETIC_COMMAND": "`((`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "BANG": "`!`",
    "CONDITIONAL": "`[[`",
    "CONDITIONAL_END": "`]]`",
    "REDIRECT": "a redirection",
    "PARAMETER_END": "`}`",
    "PARAMETER_NAME": "a parameter",
    "SUBSCRIPT_END": "`]`",
    "DQUOTE_END": '`"`',
    "EXTGLOB_END": "`)`",
    "REGEX_RPAR": "`)`",
    "BINARY_TEST": "a test operator",
    "ASSIGN_SIGN": "`=`",
}
_WORDS = frozenset(
    "IF THEN ELIF ELSE FI WHILE UNTIL DO DONE FOR SELECT CASE IN ESAC FUNCTION COPROC TIME".split()
)
_COMMAND_STARTS = frozenset(("IF", "WHILE", "LITERAL"))


def spoken(terminals: frozenset[str]) -> str:
    """What could have stood somewhere, for a person: at most four things."""
    if _COMMAND_STARTS <= terminals:
        closers = sorted(
            f"`{name.lower()}`" for name in terminals & {"FI", "DONE", "ESAC", "THEN", "DO", "ELSE"}
        )
        closers += [_SPOKEN[name] for name in ("RPAR", "RBRACE") if name in terminals]
        return " or ".join(["a command", *closers[:3]])
    names = []
    for name in sorted(terminals):
        text = f"`{name.lower()}`" if name in _WORDS else _SPOKEN.get(name)
        if text is not None and text not in names:
            names.append(text)
    if len(names) > 4:
        names = names[:4]
    return " or ".join(names) or "something else"


def caret(source: str, span: Span, message: str) -> str:
    """The line of ``source`` where ``span`` begins, marked, with the message below it."""
    start, end = span
    begin = source.rfind("\n", 0, start) + 1
    stop = source.find("\n", start)
    line = source[begin : stop if stop >= 0 else len(source)]
    width = max(1, min(end, begin + len(line)) - start)
    return f"{line}\n{' ' * (start - begin)}{'^' * width}\n{message}"
