"""Compound commands, functions, coprocesses and conditional expressions."""

from __future__ import annotations

from typing import Any

from ringfence.grammar.builder.base import join, literal_word, plain_text
from ringfence.grammar.builder.words import Words, split
from ringfence.grammar.errors import Unexpected
from ringfence.grammar.machine import Token
from ringfence.grammar.nodes import (
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    CaseClause,
    Command,
    CompoundCommand,
    Conditional,
    ConditionalAndOr,
    ConditionalExpression,
    ConditionalNot,
    ConditionalTest,
    Coprocess,
    For,
    FunctionDefinition,
    Group,
    If,
    IfClause,
    List,
    Literal,
    Redirection,
    Select,
    SimpleCommand,
    Subshell,
    While,
    Word,
)
from ringfence.grammar.records import evolve

_RESERVED = frozenset((
    "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "for", "select", "case",
    "esac", "function", "coproc", "{", "[[",
))  # fmt: skip
"""What bash reads as reserved behind the name of a coprocess."""


class CompoundCommands(Words):
    """Compound commands."""

    # --- compound commands ---

    def compound_redirection(
        self, command: CompoundCommand, redirection: Redirection
    ) -> CompoundCommand:
        return evolve(
            command,
            span=(command.span[0], redirection.span[1]),
            redirections=(*command.redirections, redirection),
        )

    def subshell(self, opener: Token, body: List, closer: Token) -> Subshell:
        return Subshell(join(opener, closer), body)

    def group(self, opener: Token, body: List, closer: Token) -> Group:
        return Group(join(opener, closer), body)

    def if_command(
        self,
        opener: Token,
        condition: List,
        _then: Token,
        body: List,
        rest: tuple[list[IfClause], List | None],
        closer: Token,
    ) -> If:
        clauses, otherwise = rest
        first = IfClause((opener.span[0], body.span[1]), condition, body)
        return If(join(opener, closer), (first, *reversed(clauses)), otherwise)

    def if_rest_none(self) -> tuple[list[IfClause], None]:
        return [], None

    def if_rest_else(self, _else: Token, body: List) -> tuple[list[IfClause], List]:
        return [], body

    def if_rest_elif(
        self,
        opener: Token,
        condition: List,
        _then: Token,
        body: List,
        rest: tuple[list[IfClause], List | None],
    ) -> tuple[list[IfClause], List | None]:
        # The last clause comes first: appending keeps a long chain linear.
        rest[0].append(IfClause((opener.span[0], body.span[1]), condition, body))
        return rest

    def while_command(self, opener: Token, condition: List, group: tuple[List, int]) -> While:
        return While((opener.span[0], group[1]), condition, group[0])

    def until_command(self, opener: Token, condition: List, group: tuple[List, int]) -> While:
        return While((opener.span[0], group[1]), condition, group[0], until=True)

    def do_group(self, _do: Token, body: List, done: Token) -> tuple[List, int]:
        return body, done.span[1]

    def for_group_braces(self, group: Group) -> tuple[List, int]:
        return group.body, group.span[1]

    def for_parameters(
        self, opener: Token, name: Word, _gap: None, group: tuple[List, int]
    ) -> For | Select:
        return self._for(opener, name, None, group)

    def for_words(
        self,
        opener: Token,
        name: Word,
        _gap: None,
        _in: Token,
        words: list[Word],
        _end: None,
        group: tuple[List, int],
    ) -> For | Select:
        return self._for(opener, name, tuple(words), group)

    def _for(
        self, opener: Token, name: Word, words: tuple[Word, ...] | None, group: tuple[List, int]
    ) -> For | Select:
        kind = For if opener.text == "for" else Select
        return kind((opener.span[0], group[1]), self._name(name), words, group[0])

    def _name(self, word: Word) -> str:
        return self.machine.written(word.span) or plain_text(word)

    def for_arithmetic(
        self, opener: Token, text: Token, _gap: None, group: tuple[List, int]
    ) -> ArithmeticFor:
        expressions = split(self._arithmetic(text, 2, 2), ";")
        if len(expressions) != 3:
            message = "expected three arithmetic expressions, separated by `;`"
            raise Unexpected(message, text.span)
        initial, condition, step = expressions
        span = (opener.span[0], group[1])
        return ArithmeticFor(span, initial, condition, step, group[0])

    def words_none(self) -> list[Word]:
        return []

    def words_first(self, word: Word) -> list[Word]:
        return [word]

    def words_more(self, words: list[Word], _separator: Token, word: Word) -> list[Word]:
        words.append(word)
        return words

    def case_command(
        self,
        opener: Token,
        word: Word,
        _gap: None,
        _in: Token,
        _newlines: None,
        clauses: list[CaseClause],
        closer: Token,
    ) -> Case:
        return Case(join(opener, closer), word, tuple(clauses))

    def case_last_clause(
        self,
        opener: Token,
        word: Word,
        _gap: None,
        _in: Token,
        _newlines: None,
        clauses: list[CaseClause],
        clause: CaseClause,
        closer: Token,
    ) -> Case:
        return Case(join(opener, closer), word, (*clauses, clause))

    def clauses_none(self) -> list[CaseClause]:
        return []

    def clauses_more(
        self, clauses: list[CaseClause], clause: CaseClause, end: Token, _newlines: None
    ) -> list[CaseClause]:
        span = (clause.span[0], end.span[1])
        clauses.append(CaseClause(span, clause.patterns, clause.body, end.text))
        return clauses

    def clause(self, patterns: list[Word], closer: Token, body: List) -> CaseClause:
        end = body.span[1] if body.items else closer.span[1]
        return CaseClause((patterns[0].span[0], end), tuple(patterns), body, None)

    def clause_parenthesis(
        self, opener: Token, patterns: list[Word], closer: Token, body: List
    ) -> CaseClause:
        clause = self.clause(patterns, closer, body)
        return evolve(clause, span=(opener.span[0], clause.span[1]))

    def arithmetic_command(self, token: Token) -> ArithmeticCommand:
        return ArithmeticCommand(token.span, self._arithmetic(token, 2, 2))

    def function_definition(
        self, name: Word, _parens: Token, _newlines: None, body: Command
    ) -> FunctionDefinition:
        return FunctionDefinition((name.span[0], body.span[1]), name, body)

    def function_keyword(
        self, keyword: Token, name: Word, *rest: Token | Command | None
    ) -> FunctionDefinition:
        body: Any = rest[-1]
        return FunctionDefinition((keyword.span[0], body.span[1]), name, body)

    def coprocess(self, keyword: Token, command: Command) -> Coprocess:
        if isinstance(command, SimpleCommand) and len(command.arguments) > 1:
            # `coproc ${x} {`: a name that only expands, which bash refuses when it runs.
            first, second = command.arguments[:2]
            between = command.span[0] < first.span[0] or any(
                first.span < r.span < second.span for r in command.redirections
            )
            match second:
                case Word(parts=(Literal(text=text),)) if text in _RESERVED and not between:
                    raise Unexpected(f"found `{text}` behind a coprocess's name", second.span)
        return Coprocess((keyword.span[0], command.span[1]), command)

    def coprocess_named(self, keyword: Token, name: Token, command: Command) -> Coprocess:
        span = (keyword.span[0], command.span[1])
        return Coprocess(span, command, literal_word(name))

    # --- conditional expressions ---

    def conditional(
        self, opener: Token, expression: ConditionalExpression, closer: Token
    ) -> Conditional:
        return Conditional(join(opener, closer), expression)

    def condition_binary(
        self, left: ConditionalExpression, operator: Token, right: ConditionalExpression
    ) -> ConditionalAndOr:
        _present(left, operator)
        return ConditionalAndOr((left.span[0], right.span[1]), operator.text, left, right)

    def condition_regex_missing(
        self,
        _newlines: None,
        left: Word,
        _blank: Token,
        operator: Token,
        also: Token,
        right: ConditionalExpression,
    ) -> ConditionalAndOr:
        place = (operator.span[1], operator.span[1])
        test = ConditionalTest((left.span[0], place[1]), operator.text, (left, Word(place, ())))
        return self.condition_binary(test, also, right)

    def condition_term(
        self, _newlines: None, condition: ConditionalExpression
    ) -> ConditionalExpression:
        return condition

    def condition_not(self, bang: Token, operand: ConditionalExpression) -> ConditionalNot:
        return ConditionalNot((bang.span[0], operand.span[1]), operand)

    def condition_parenthesis(
        self, opener: Token, condition: ConditionalExpression, closer: Token, _newlines: None
    ) -> ConditionalExpression:
        _present(condition, closer)
        return evolve(condition, span=join(opener, closer))

    def condition_word(self, word: Word, _blank: Token | None = None) -> ConditionalTest:
        return ConditionalTest(word.span, None, (word,))

    def condition_unary(self, operator: Token, word: Word) -> ConditionalTest:
        return ConditionalTest((operator.span[0], word.span[1]), operator.text, (word,))

    def condition_test(
        self, left: Word, _blank: Token, operator: Token, right: Word
    ) -> ConditionalTest:
        return ConditionalTest((left.span[0], right.span[1]), operator.text, (left, right))

    def condition_order(self, left: Word, operator: Token, right: Word) -> ConditionalTest:
        return ConditionalTest((left.span[0], right.span[1]), operator.text, (left, right))

    def condition_operand(self, word: Word, _end: Token | None) -> Word:
        return word

    def condition_missing(self, _newlines: Token | None) -> ConditionalTest:
        return ConditionalTest(self.machine.after_last(), None, ())


def _present(condition: ConditionalExpression, after: Token) -> None:
    """Only before ``]]`` may an expression, or the last operand of one, be missing."""
    last: Any = condition
    while isinstance(last, ConditionalAndOr | ConditionalNot):
        last = last.right if isinstance(last, ConditionalAndOr) else last.operand
    if not last.operands:
        raise Unexpected(f"found `{after.text}`, expected a condition", after.span)
