"""From the grammar's rules to nodes: one method for each rule, named as in bash.lark.

The methods are given the values of the rule's symbols, terminals as Tokens. Lists grow in place
(the grammar is left-recursive), so a long list takes linear time. What is not finished yet
(a simple command still being read, a pipeline) is one of the small classes at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field

from ringfence.grammar import ansi
from ringfence.grammar.errors import Unexpected
from ringfence.grammar.machine import (
    MAX_HERE_DOCUMENTS,
    Machine,
    Offsets,
    PendingHere,
    Program,
    Token,
)
from ringfence.grammar.nodes import (
    AndOr,
    AnsiCQuoted,
    ArithmeticCommand,
    ArithmeticExpansion,
    ArithmeticFor,
    ArrayElement,
    ArrayLiteral,
    Assignment,
    Case,
    CaseClause,
    Command,
    CommandSubstitution,
    CompoundCommand,
    Conditional,
    ConditionalAndOr,
    ConditionalExpression,
    ConditionalNot,
    ConditionalTest,
    Coprocess,
    DoubleQuoted,
    Escaped,
    ExtendedGlob,
    For,
    FunctionDefinition,
    Group,
    HereDocument,
    If,
    IfClause,
    List,
    ListItem,
    Literal,
    ParameterExpansion,
    Pipeline,
    ProcessSubstitution,
    Redirection,
    Script,
    Select,
    SimpleCommand,
    SingleQuoted,
    Span,
    Subshell,
    SyntaxProblem,
    While,
    Word,
    WordPart,
)
from ringfence.grammar.tables import RuleTable

SubParse = Callable[[str, str, Offsets], Any]
"""(text, start rule, offsets) → what the rule makes; for texts nested in a token."""


@define
class _Simple:
    """A simple command still being read."""

    start: int
    end: int
    assignments: list[Assignment] = field(factory=list)
    arguments: list[Word | Assignment] = field(factory=list)
    redirections: list[Redirection] = field(factory=list)

    def node(self) -> SimpleCommand:
        return SimpleCommand(
            (self.start, self.end),
            tuple(self.assignments),
            tuple(self.arguments),
            tuple(self.redirections),
        )


@define
class _Chain:
    """Commands joined by ``&&`` and ``||``, still being read."""

    commands: list[Command]
    operators: list[str] = field(factory=list)

    def node(self) -> Command:
        if not self.operators:
            return self.commands[0]
        return AndOr(self._span(), tuple(self.commands), tuple(self.operators))

    def _span(self) -> Span:
        return (self.commands[0].span[0], self.commands[-1].span[1])


@define
class _Piped(_Chain):
    """Commands joined by ``|`` and ``|&``, still being read."""

    def node(self) -> Command:
        if not self.operators:
            return self.commands[0]
        return Pipeline(self._span(), tuple(self.commands), tuple(self.operators))


@define
class _Items:
    """The items of a list, still being read; the last has no terminator yet."""

    items: list[ListItem]


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


class Builder:
    """Makes the nodes of one text."""

    machine: Machine

    def __init__(self, sub_parse: SubParse, *, follow_shopt: bool = False) -> None:
        self._sub_parse = sub_parse
        self._follow_shopt = follow_shopt

    def attach(self, machine: Machine) -> None:
        """Called with the machine before it runs."""
        self.machine = machine

    # --- general ---

    def nothing(self, *_values: Any) -> None:
        return None

    def token(self, token: Token) -> Token:
        return token

    # --- scripts and lists ---

    def script(self, lines: list[ListItem]) -> Script:
        if not lines:
            start = self.machine.whole()[0]
            return Script((start, start), List((start, start), ()))
        body = _list(lines)
        return Script(body.span, body)

    def script_last_line(self, lines: list[ListItem], line: list[ListItem]) -> Script:
        lines.extend(line)
        return self.script(lines)

    def lines_none(self) -> list[ListItem]:
        return []

    def lines_blank(self, lines: list[ListItem], _newline: Token) -> list[ListItem]:
        return lines

    def lines_line(
        self, lines: list[ListItem], line: list[ListItem], newline: Token
    ) -> list[ListItem]:
        if line[-1].terminator is None:
            line[-1] = _terminated(line[-1], newline)
        lines.extend(line)
        if self._follow_shopt and any(_sets_extglob(item.command) for item in line):
            self.machine.extglob = True
        return lines

    def line(self, items: _Items) -> list[ListItem]:
        return items.items

    def line_end(self, items: _Items, end: Token) -> list[ListItem]:
        items.items[-1] = _terminated(items.items[-1], end)
        return items.items

    def compound_list(self, _newlines: None, items: _Items, end: Token | None = None) -> List:
        if end is not None:
            items.items[-1] = _terminated(items.items[-1], end)
        return _list(items.items)

    def body_empty(self, _newlines: None) -> List:
        return List(self.machine.after_last(), ())

    def body_time(self, time: Token) -> List:
        return _list(self.items_first(self.pipeline_timed(time)).items)

    def items_first(self, command: Command | _Chain) -> _Items:
        node = _finished(command)
        return _Items([ListItem(node.span, node)])

    def items_more(self, items: _Items, separator: Token, command: Command | _Chain) -> _Items:
        items.items[-1] = _terminated(items.items[-1], separator)
        node = _finished(command)
        items.items.append(ListItem(node.span, node))
        return items

    def separator(self, terminator: Token, _newlines: Token) -> Token:
        return terminator

    def newlines(self, first: Token, _more: Token | None = None) -> Token:
        return first

    # --- pipelines ---

    def and_or(
        self, left: Command | _Chain, operator: Token, _newlines: None, right: Command
    ) -> _Chain:
        if not isinstance(left, _Chain):
            left = _Chain([left])
        left.operators.append(operator.text)
        left.commands.append(right)
        return left

    def piped_more(
        self, left: Command | _Piped, operator: Token, _newlines: None, command: Command
    ) -> _Piped:
        if not isinstance(left, _Piped):
            left = _Piped([left])
        left.operators.append(operator.text)
        left.commands.append(command)
        return left

    def pipeline(self, left: Command | _Piped) -> Command:
        command: Command = _finished(left)
        return command

    def pipeline_negated(self, bang: Token, command: Command | None = None) -> Pipeline:
        pipeline = _as_pipeline(bang, command)
        return evolve(pipeline, negated=not pipeline.negated)

    def pipeline_timed(self, time: Token, command: Command | None = None) -> Pipeline:
        return evolve(_as_pipeline(time, command), timed=True)

    def time_prefix(self, time: Token, _option: Token | None = None) -> Token:
        return time

    # --- simple commands ---

    def simple_prefix(self, simple: _Simple) -> SimpleCommand:
        return simple.node()

    def simple_called(self, simple: _Simple) -> SimpleCommand:
        return simple.node()

    def prefix_first(self, item: Assignment | Redirection) -> _Simple:
        return _add(_Simple(*item.span), item)

    def prefix_more(self, simple: _Simple, _blank: Token, item: Assignment) -> _Simple:
        first = simple.assignments[0].span if simple.assignments else None
        interrupted = first is not None and any(r.span > first for r in simple.redirections)
        if isinstance(item.value, ArrayLiteral) and interrupted:
            # Between assignments, bash allows no compound one behind a redirection.
            place = item.value.span[0]
            raise Unexpected("found `(`, expected a word", (place, place + 1))
        return _add(simple, item)

    def prefix_redirection(self, simple: _Simple, item: Redirection) -> _Simple:
        return _add(simple, item)

    def called_first(self, word: Word) -> _Simple:
        return _argument(_Simple(*word.span), word)

    def called_after_prefix(self, simple: _Simple, _blank: Token, word: Word) -> _Simple:
        return _argument(simple, word)

    def called_more(self, simple: _Simple, _blank: Token, word: Word | Assignment) -> _Simple:
        return _argument(simple, word)

    def called_redirection(self, simple: _Simple, item: Redirection) -> _Simple:
        return _add(simple, item)

    def called_after_array(self, assignment: Assignment, word: Word) -> _Simple:
        return _argument(self.prefix_first(assignment), word)

    def called_after_prefix_array(
        self, simple: _Simple, _blank: Token, assignment: Assignment, word: Word
    ) -> _Simple:
        return _argument(_add(simple, assignment), word)

    def declared_glued(
        self, simple: _Simple, _blank: Token, assignment: Assignment, word: Word
    ) -> _Simple:
        return _argument(_argument(simple, assignment), word)

    def declared_first(self, name: Token) -> _Simple:
        return self.called_first(_literal_word(name))

    def declared_after_prefix(self, simple: _Simple, _blank: Token, name: Token) -> _Simple:
        return _argument(simple, _literal_word(name))

    def called_after_closing(self, redirection: Redirection, word: Word) -> _Simple:
        return _argument(self.prefix_first(redirection), word)

    def called_closing(self, simple: _Simple, redirection: Redirection, word: Word) -> _Simple:
        return _argument(_add(simple, redirection), word)

    def closing(self, close: Token) -> Redirection:
        target = close.text[2:].lstrip(" \t")
        place = (close.span[1] - len(target), close.span[1])
        word = Word(place, (Literal(place, target),))
        return Redirection(close.span, close.text[:2], word)

    def closing_fd(self, fd: Token, close: Token) -> Redirection:
        return evolve(self.closing(close), span=_join(fd, close), fd=fd.text)

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
        return Subshell(_join(opener, closer), body)

    def group(self, opener: Token, body: List, closer: Token) -> Group:
        return Group(_join(opener, closer), body)

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
        return If(_join(opener, closer), (first, *reversed(clauses)), otherwise)

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
        return self.machine.written(word.span) or _plain_text(word)

    def for_arithmetic(
        self, opener: Token, text: Token, _gap: None, group: tuple[List, int]
    ) -> ArithmeticFor:
        expressions = _split(self._arithmetic(text, 2, 2), ";")
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
        return Case(_join(opener, closer), word, tuple(clauses))

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
        return Case(_join(opener, closer), word, (*clauses, clause))

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
        return Coprocess((keyword.span[0], command.span[1]), command)

    def coprocess_named(self, keyword: Token, name: Token, command: Command) -> Coprocess:
        span = (keyword.span[0], command.span[1])
        return Coprocess(span, command, _literal_word(name))

    # --- conditional expressions ---

    def conditional(
        self, opener: Token, expression: ConditionalExpression, closer: Token
    ) -> Conditional:
        return Conditional(_join(opener, closer), expression)

    def condition_binary(
        self, left: ConditionalExpression, operator: Token, right: ConditionalExpression
    ) -> ConditionalAndOr:
        _present(left, operator)
        return ConditionalAndOr((left.span[0], right.span[1]), operator.text, left, right)

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
        return evolve(condition, span=_join(opener, closer))

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

    # --- words ---

    def element_start(self, name: Token, subscript: Word, closer: Token) -> list[WordPart]:
        opener = Literal(name.span, name.text)
        return [opener, *subscript.parts, Literal(closer.span, closer.text)]

    def element_word(self, start: list[WordPart], parts: list[WordPart]) -> Word:
        return self.word(start + parts)

    def word(self, parts: list[WordPart]) -> Word:
        return Word((parts[0].span[0], parts[-1].span[1]), tuple(parts))

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
        return DoubleQuoted(_join(opener, closer), tuple(parts), opener.text[0] == "$")

    def variable(self, token: Token) -> ParameterExpansion:
        return ParameterExpansion(token.span, token.text[1:])

    def command_substitution(self, opener: Token, body: List, closer: Token) -> CommandSubstitution:
        return CommandSubstitution(_join(opener, closer), Script(body.span, body))

    def process_substitution(self, opener: Token, body: List, closer: Token) -> ProcessSubstitution:
        span = _join(opener, closer)
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
        return ExtendedGlob(_join(opener, closer), opener.text[0], tuple(patterns))

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

    # --- ${…} ---

    def parameter_bad(
        self, opener: Token, _bad: Token, parts: list[WordPart], closer: Token
    ) -> ParameterExpansion:
        argument = self._argument(parts, opener.span[1], quoted_literally=True)
        return ParameterExpansion(
            _join(opener, closer), "", braced=True, argument=argument, bad=True
        )

    def parameter_none(self, opener: Token, closer: Token) -> ParameterExpansion:
        return ParameterExpansion(_join(opener, closer), "", braced=True, bad=True)

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
                halves = _split(argument, operator[0], most=2)
                argument = halves[0]
                argument2 = halves[1] if len(halves) > 1 else None
        return ParameterExpansion(
            _join(opener, closer),
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


_NO_SECOND = frozenset((":-", ":=", ":?", ":+"))


def _join(first: Token, last: Token) -> Span:
    return (first.span[0], last.span[1])


def _present(condition: ConditionalExpression, after: Token) -> None:
    """Only before ``]]`` may an expression, or the last operand of one, be missing."""
    last: Any = condition
    while isinstance(last, ConditionalAndOr | ConditionalNot):
        last = last.right if isinstance(last, ConditionalAndOr) else last.operand
    if not last.operands:
        raise Unexpected(f"found `{after.text}`, expected a condition", after.span)


def _list(items: list[ListItem]) -> List:
    return List((items[0].span[0], items[-1].span[1]), tuple(items))


def _sets_extglob(command: Command) -> bool:
    if isinstance(command, AndOr | Pipeline):
        return any(map(_sets_extglob, command.commands))
    if not isinstance(command, SimpleCommand):
        return False
    words = [_plain_text(word) for word in command.words]
    return words[:2] == ["shopt", "-s"] and "extglob" in words[2:]


def _terminated(item: ListItem, end: Token) -> ListItem:
    return ListItem((item.span[0], end.span[1]), item.command, end.text)


def program(rules: Sequence[RuleTable], extensions: Mapping[str, Callable[..., Any]]) -> Program:
    """What the machine does for each rule: a Builder's method, or an extension's function.

    An extension's functions come first and are given nodes. Raises KeyError for a name without
    a function.
    """

    def function(name: str | None) -> Callable[..., Any] | None:
        if name is None:
            return None
        extension = extensions.get(name)
        if extension is not None:
            return lambda _builder, *values: extension(*map(_finished, values))
        method: Callable[..., Any] = vars(Builder)[name]
        return method

    return tuple((rule.size, rule.origin, function(rule.builder)) for rule in rules)


def _finished(value: Any) -> Any:
    """The node of what was still being read; everything else as it is."""
    return value.node() if isinstance(value, _Chain | _Simple) else value


def _as_pipeline(first: Token, command: Command | None) -> Pipeline:
    if command is None:
        return Pipeline(first.span, ())
    span = (first.span[0], command.span[1])
    if isinstance(command, Pipeline):
        return evolve(command, span=span)
    return Pipeline(span, (command,))


def _add(simple: _Simple, item: Assignment | Redirection) -> _Simple:
    if isinstance(item, Redirection):
        simple.redirections.append(item)
    else:
        simple.assignments.append(item)
    simple.end = item.span[1]
    return simple


def _argument(simple: _Simple, word: Word | Assignment) -> _Simple:
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


def _literal_word(token: Token) -> Word:
    return Word(token.span, (Literal(token.span, token.text),))


def _plain_text(word: Word) -> str:
    return "".join(getattr(part, "text", "?") for part in word.parts)


def _split(word: Word, separator: str, most: int = 0) -> list[Word]:
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
