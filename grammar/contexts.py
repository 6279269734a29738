"""The contexts in which bash reads text, and which terminals open, close and change them.

An LALR state does not always know whether it stands in a command, in double quotes or in
``${…}``: after the closer of an expansion, the look-aheads of all of them have been merged.
So the lexer keeps a stack of contexts, and in each lets only its own terminals through.

A terminal that no context below claims belongs to the command contexts, so a new operator
needs no entry here.
"""

from __future__ import annotations

from ringfence.grammar.records import frozen


def _set(*names: str) -> frozenset[str]:
    return frozenset(" ".join(names).split())


_EXPANSIONS = "VARIABLE PARAMETER COMMAND COMMAND_TEXT BACKQUOTED ARITHMETIC ARITHMETIC_OLD"
_QUOTES = "SINGLE_QUOTED ANSI_QUOTED DQUOTE ESCAPED"
_INSIDE = f"{_QUOTES} {_EXPANSIONS}"
_CONDITION = f"{_INSIDE} PROCESS PROCESS_TEXT BLANK NEWLINE AND_IF OR_IF RPAR"
_PARAMETER = (
    "PARAMETER_NAME PARAMETER_INDIRECT PARAMETER_LENGTH PARAMETER_OPERATOR PARAMETER_BAD"
    " PARAMETER_TEXT PARAMETER_END SUBSCRIPT"
)


@frozen
class Context:
    """``own`` terminals are let through here and in other contexts that own them too.

    ``shared`` are those of the command contexts that are let through here as well; None means
    all of them: every terminal that no context owns.
    ``skip`` says what is skipped between tokens: ``blanks`` (and comments), ``newlines`` as well,
    or nothing. ``quoted`` if ``'`` does not quote in a ``${…}`` that stands here.
    ``one_word`` names the context that follows where this one's single word ends.
    """

    name: str
    own: frozenset[str]
    shared: frozenset[str] | None
    skip: str = ""
    quoted: bool = False
    one_word: str = ""


CONTEXTS = {
    context.name: context
    for context in (
        Context("command", _set(), None, skip="blanks"),
        Context("case_head", _set(), None, skip="blanks"),  # case word in
        Context(  # pattern | pattern)
            "case_pattern",
            _set(),
            _set("LITERAL BLANK NEWLINE LPAR RPAR PIPE ESAC PROCESS PROCESS_TEXT", _INSIDE),
            skip="blanks",
        ),
        Context("case_body", _set(), None, skip="blanks"),  # commands ;;
        Context(
            "dquote",
            _set("DQUOTE_TEXT DQUOTE_ESCAPED DQUOTE_END"),
            _set(_EXPANSIONS),
            quoted=True,
        ),
        Context("here", _set("HERE_TEXT HERE_ESCAPED"), _set(_EXPANSIONS), quoted=True),
        Context("parameter", _set(_PARAMETER), _set(_INSIDE, "PROCESS PROCESS_TEXT")),
        Context(
            "parameter_quoted",
            _set("PARAMETER_ESCAPED PARAMETER_QUOTED", _PARAMETER),
            _set(_EXPANSIONS, "ANSI_QUOTED DQUOTE PROCESS PROCESS_TEXT"),
            quoted=True,
        ),
        Context(
            "arithmetic",
            _set("ARITHMETIC_TEXT"),
            _set(_EXPANSIONS, "SINGLE_QUOTED DQUOTE ESCAPED"),
            quoted=True,
        ),
        Context(
            "subscript",
            _set("SUBSCRIPT_TEXT SUBSCRIPT_NESTED SUBSCRIPT_END"),
            _set(_INSIDE, "PROCESS PROCESS_TEXT"),
        ),
        Context(
            "array",
            _set("ARRAY_BLANK ARRAY_KEY"),
            _set("LITERAL PROCESS PROCESS_TEXT ASSIGN_SIGN RPAR", _INSIDE),
            skip="newlines",
        ),
        Context(
            "conditional",
            _set(
                "CONDITION_NOT UNARY_TEST BINARY_TEST MATCH_TEST REGEX_TEST ORDER_TEST"
                " CONDITIONAL_END"
            ),
            _set("LITERAL LPAR", _CONDITION),
            skip="blanks",
        ),
        Context(
            "conditional_pattern",
            _set("PATTERN_TEXT EXTGLOB CONDITIONAL_END"),
            _set(_CONDITION),
            skip="blanks",
            one_word="conditional",
        ),
        Context(
            "conditional_regex",
            _set("REGEX_TEXT REGEX_LPAR CONDITIONAL_END"),
            _set(_CONDITION),
            skip="blanks",
            one_word="conditional",
        ),
        Context(
            "regex_group",
            _set("REGEX_GROUP_TEXT GROUP_DOLLAR REGEX_LPAR REGEX_RPAR"),
            _set("PROCESS PROCESS_TEXT", _INSIDE),
        ),
        Context(
            "extglob",
            _set("EXTGLOB_TEXT GROUP_DOLLAR EXTGLOB EXTGLOB_LPAR EXTGLOB_OR EXTGLOB_END"),
            _set("PROCESS PROCESS_TEXT", _INSIDE),
        ),
    )
}
_OWNED = frozenset[str]().union(*(context.own for context in CONTEXTS.values()))


def lets_through(context: Context, terminal: str) -> bool:
    """Whether a terminal may appear in a context."""
    if terminal in context.own:
        return True
    if context.shared is None:
        return terminal not in _OWNED
    return terminal in context.shared


OPENS = {
    "COMMAND": "command",
    "PROCESS": "command",
    "DQUOTE": "dquote",
    "PARAMETER": "parameter",
    "SUBSCRIPT": "subscript",
    "SUBSCRIPT_NESTED": "subscript",
    "ASSIGN_ELEMENT": "subscript",
    "DECLARED_ELEMENT": "subscript",
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

CLOSES = _set(
    "DQUOTE_END PARAMETER_END SUBSCRIPT_END CONDITIONAL_END EXTGLOB_END REGEX_RPAR",
    "ESAC",
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

INSIDE_WORD = _set(
    "LITERAL PATTERN_TEXT REGEX_TEXT ESCAPED SINGLE_QUOTED ANSI_QUOTED BACKQUOTED",
    "COMMAND_TEXT PROCESS_TEXT ARITHMETIC ARITHMETIC_OLD VARIABLE ASSIGN ASSIGN_SIGN",
)
"""After these terminals, and after what WORD_OPENERS open has closed, a word may go on."""

WORD_OPENERS = _set(
    "COMMAND PROCESS DQUOTE PARAMETER EXTGLOB REGEX_LPAR ASSIGN_ELEMENT",
    "DECLARED_ELEMENT ARRAY_KEY",
    "ASSIGN_ARRAY ASSIGN_SIGN_ARRAY",
)

RESERVED_WORDS = _set(
    "IF THEN ELIF ELSE FI WHILE UNTIL DO DONE FOR SELECT CASE IN ESAC FUNCTION COPROC",
    "LBRACE RBRACE BANG CONDITIONAL CONDITIONAL_END",
)
"""Where a command begins, one of these that does not fit is an error, not a word."""

WORD_PARTS = INSIDE_WORD | WORD_OPENERS
"""What a word is made of; after a word and a skipped blank none of these can follow."""
