"""The contexts in which bash reads text, and which terminals open, close and change them.

An LALR state does not always know whether it stands in a command, in double quotes or in
``${…}``: after the closer of an expansion, the look-aheads of all of them have been merged.
So the lexer keeps a stack of contexts, and in each lets only its own terminals through.

A terminal that no context below claims belongs to the command contexts, so a new operator
needs no entry here.
"""

from __future__ import annotations

from attrs import frozen

EXPANSIONS = frozenset(
    "VARIABLE PARAMETER COMMAND COMMAND_TEXT BACKQUOTED ARITHMETIC ARITHMETIC_OLD".split()
)
QUOTES = frozenset("SINGLE_QUOTED ANSI_QUOTED DQUOTE ESCAPED".split())
_INSIDE = QUOTES | EXPANSIONS
_CONDITION = _INSIDE | frozenset(
    "PROCESS BLANK NEWLINE AND_IF OR_IF LPAR RPAR CONDITIONAL_END".split()
)
_PARAMETER = EXPANSIONS | frozenset(
    "DQUOTE PROCESS SUBSCRIPT PARAMETER_NAME PARAMETER_INDIRECT PARAMETER_LENGTH"
    " PARAMETER_OPERATOR PARAMETER_BAD PARAMETER_TEXT PARAMETER_END".split()
)
_ARITHMETIC = EXPANSIONS | frozenset(
    "SINGLE_QUOTED DQUOTE ARITHMETIC_TEXT ARITHMETIC_ESCAPED ARITHMETIC_LPAR".split()
)


@frozen
class Context:
    """``terminals`` is None for the command contexts: all that no other context claims.

    ``skip`` names what may be skipped between tokens: ``blanks`` and comments, also ``newlines``,
    or nothing. ``expansions_quoted`` if ``'`` is an ordinary character in a ``${…}`` that stands
    here. ``one_word`` names the context that follows where this one's single word ends.
    """

    name: str
    terminals: frozenset[str] | None
    skip: str = ""
    expansions_quoted: bool = False
    one_word: str = ""


def _terminals(names: str, *more: frozenset[str]) -> frozenset[str]:
    return frozenset(names.split()).union(*more)


CONTEXTS = {
    context.name: context
    for context in (
        Context("command", None, skip="blanks"),
        Context("case_head", None, skip="blanks"),  # case word in
        Context("case_pattern", None, skip="blanks"),  # pattern | pattern)
        Context("case_body", None, skip="blanks"),  # commands ;;
        Context(
            "dquote",
            _terminals("DQUOTE_TEXT DQUOTE_ESCAPED DQUOTE_END", EXPANSIONS),
            expansions_quoted=True,
        ),
        Context(
            "here",
            _terminals("HERE_TEXT HERE_ESCAPED", EXPANSIONS),
            expansions_quoted=True,
        ),
        Context("parameter", _terminals("SINGLE_QUOTED ANSI_QUOTED ESCAPED", _PARAMETER)),
        Context(
            "parameter_quoted",
            _terminals("PARAMETER_ESCAPED PARAMETER_QUOTED", _PARAMETER),
            expansions_quoted=True,
        ),
        Context("arithmetic", _terminals("DPAREN_END", _ARITHMETIC), expansions_quoted=True),
        Context(
            "arithmetic_nested",
            _terminals("ARITHMETIC_RPAR", _ARITHMETIC),
            expansions_quoted=True,
        ),
        Context(
            "subscript", _terminals("SUBSCRIPT_TEXT SUBSCRIPT_NESTED SUBSCRIPT_END", _INSIDE)
        ),
        Context(
            "array",
            _terminals("LITERAL PROCESS ARRAY_BLANK ARRAY_KEY ASSIGN_SIGN RPAR", _INSIDE),
            skip="newlines",
        ),
        Context(
            "conditional",
            _terminals(
                "LITERAL CONDITION_NOT UNARY_TEST BINARY_TEST MATCH_TEST REGEX_TEST ORDER_TEST",
                _CONDITION,
            ),
            skip="blanks",
        ),
        Context(
            "conditional_pattern",
            _terminals("PATTERN_TEXT EXTGLOB", _CONDITION),
            skip="blanks",
            one_word="conditional",
        ),
        Context(
            "conditional_regex",
            _terminals("REGEX_TEXT REGEX_LPAR", _CONDITION - {"LPAR"}),
            skip="blanks",
            one_word="conditional",
        ),
        Context("regex_group", _terminals("REGEX_GROUP_TEXT REGEX_LPAR REGEX_RPAR", _INSIDE)),
        Context(
            "extglob",
            _terminals(
                "EXTGLOB_TEXT EXTGLOB EXTGLOB_LPAR EXTGLOB_OR EXTGLOB_END PROCESS", _INSIDE
            ),
        ),
    )
}
COMMAND_CONTEXTS = frozenset(name for name, c in CONTEXTS.items() if c.terminals is None)

OPENS = {
    "COMMAND": "command",
    "PROCESS": "command",
    "DQUOTE": "dquote",
    "PARAMETER": "parameter",
    "ARITHMETIC": "arithmetic",
    "DPAREN": "arithmetic",
    "ARITHMETIC_LPAR": "arithmetic_nested",
    "ARITHMETIC_OLD": "subscript",
    "SUBSCRIPT": "subscript",
    "SUBSCRIPT_NESTED": "subscript",
    "ASSIGN_ELEMENT": "subscript",
    "ARRAY_KEY": "subscript",
    "ASSIGN_ARRAY": "array",
    "ASSIGN_SIGN_ARRAY": "array",
    "CONDITIONAL": "conditional",
    "EXTGLOB": "extglob",
    "EXTGLOB_LPAR": "extglob",
    "REGEX_LPAR": "regex_group",
    "CASE": "case_head",
}
"""Terminal → the context that begins after it, in whatever context it stands."""

CLOSES = frozenset(
    "DQUOTE_END PARAMETER_END DPAREN_END ARITHMETIC_RPAR SUBSCRIPT_END CONDITIONAL_END"
    " EXTGLOB_END REGEX_RPAR ESAC".split()
)
"""Terminals after which the context ends, in whatever context they stand."""

CHANGES = {
    ("command", "LPAR"): "+command",  # a subshell
    ("case_head", "LPAR"): "+command",
    ("case_body", "LPAR"): "+command",
    ("command", "RPAR"): "-",
    ("array", "RPAR"): "-",
    ("case_head", "IN"): "case_pattern",
    ("case_pattern", "RPAR"): "case_body",
    ("case_body", "CLAUSE_END"): "case_pattern",
    ("conditional", "MATCH_TEST"): "conditional_pattern",
    ("conditional", "REGEX_TEST"): "conditional_regex",
}
"""(context, terminal) → ``+name`` opens, ``-`` ends, ``name`` changes the context."""

INSIDE_WORD = frozenset(
    "LITERAL PATTERN_TEXT REGEX_TEXT ESCAPED SINGLE_QUOTED ANSI_QUOTED BACKQUOTED COMMAND_TEXT"
    " VARIABLE ASSIGN ASSIGN_SIGN".split()
)
"""After these terminals, and after what WORD_OPENERS open has closed, a word may go on."""

WORD_OPENERS = frozenset(
    "COMMAND PROCESS DQUOTE PARAMETER ARITHMETIC ARITHMETIC_OLD EXTGLOB REGEX_LPAR"
    " ASSIGN_ELEMENT ARRAY_KEY".split()
)

RESERVED_WORDS = frozenset(
    "IF THEN ELIF ELSE FI WHILE UNTIL DO DONE FOR SELECT CASE IN ESAC FUNCTION COPROC"
    " LBRACE RBRACE BANG CONDITIONAL".split()
)
"""Where a command begins, one of these that does not fit is an error, not a word."""
