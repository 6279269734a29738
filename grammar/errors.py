"""What can go wrong, and how it is shown."""

from __future__ import annotations

from ringfence.grammar.nodes import Span
from ringfence.grammar.records import frozen


class TooComplex(ValueError):  # noqa: N818 - it is an answer, not a fault
    """The text is nested deeper, or continued over more lines, than the documented limits."""


@frozen
class Unexpected(Exception):  # noqa: N818 - caught inside this package, never seen outside
    """Bash would refuse the text: ``span`` is where, ``message`` says why in one line."""

    message: str
    span: Span


def shown(text: str) -> str:
    """A piece of source in a message: on one line, at most 20 characters, nothing invisible."""
    if text.startswith("\n"):
        return "a newline"
    text = text if len(text) <= 20 else text[:19] + "…"
    escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return f"`{escaped}`"


_CLOSERS = {
    "FI": "`fi`",
    "ELSE": "`else`",
    "THEN": "`then`",
    "DO": "`do`",
    "DONE": "`done`",
    "IN": "`in`",
    "ESAC": "`esac`",
    "CLAUSE_END": "`;;`",
    "RBRACE": "`}`",
    "RPAR": "`)`",
    "CONDITIONAL_END": "`]]`",
    "DQUOTE_END": '`"`',
    "PARAMETER_END": "`}`",
    "SUBSCRIPT_END": "`]`",
    "EXTGLOB_END": "`)`",
    "REGEX_RPAR": "`)`",
    "PARAMETER_NAME": "a parameter",
    "ASSIGN_SIGN": "`=`",
    "BINARY_TEST": "a test operator",
}
_OPERATORS = frozenset(("AND_IF", "OR_IF", "SEMI", "AMP", "PIPE"))


def spoken(terminals: frozenset[str]) -> str:
    """What could have stood somewhere, for a person: closers first, a few things at most."""
    names = [text for name, text in _CLOSERS.items() if name in terminals][:3]
    if "IF" in terminals:
        names.append("a command" if "LITERAL" in terminals else "a compound command")
    elif "LITERAL" in terminals or "PATTERN_TEXT" in terminals or "REGEX_TEXT" in terminals:
        names.append("a word")
    if terminals & _OPERATORS:
        names.append("an operator")
    if "NEWLINE" in terminals:
        names.append("a newline")
    return " or ".join(dict.fromkeys(names)) or "something else"


def caret(source: str, span: Span, message: str) -> str:
    """The line of ``source`` where ``span`` begins, marked, with the message below it."""
    start, end = span
    if start >= len(source):  # the end: show it on the last line that holds anything
        start = len(source.rstrip()) or start
        end = start + 1
    begin = source.rfind("\n", 0, start) + 1
    stop = source.find("\n", start)
    line = source[begin : stop if stop >= 0 else len(source)]
    width = max(1, min(end, begin + len(line)) - start)
    return f"{line}\n{' ' * (start - begin)}{'^' * width}\n{message}"
