"""Trees on one line, so that a case fits in a table.

A word is its parts: plain text bare, `'…'` single-quoted, `"…"` double-quoted, `\\x` escaped,
`$'…'` decoded, `${name op …}`, `$(…)`. A command is its words in brackets.
"""

from __future__ import annotations

from typing import Any

from ringfence.grammar import nodes as n
from ringfence.grammar import parse


def sketch(text: str, **options: bool) -> str:
    """The tree of a script; a problem is shown as `!message`."""
    script = parse(text, **options)
    body = _list(script.body)
    return body if script.problem is None else f"{body} !{script.problem.message}".strip()


def _list(body: n.List) -> str:
    return " ".join(
        _command(item.command) + (item.terminator or "").replace("\n", "⏎") for item in body.items
    )


def _command(node: n.Command) -> str:
    match node:
        case n.SimpleCommand():
            shown = _simple(node)
        case n.Pipeline():
            marks = ("time " if node.timed else "") + ("! " if node.negated else "")
            shown = marks + _joined(node.commands, node.operators)
        case n.AndOr():
            shown = f"<{_joined(node.commands, node.operators)}>"
        case n.Subshell():
            shown = f"({_list(node.body)})"
        case n.Group():
            shown = f"{{{_list(node.body)}}}"
        case n.If():
            clauses = " elif ".join(
                f"{_list(c.condition)} then {_list(c.body)}" for c in node.clauses
            )
            otherwise = f" else {_list(node.otherwise)}" if node.otherwise else ""
            shown = f"if {clauses}{otherwise} fi"
        case n.While():
            keyword = "until" if node.until else "while"
            shown = f"{keyword} {_list(node.condition)} do {_list(node.body)} done"
        case n.For() | n.Select():
            keyword = "for" if isinstance(node, n.For) else "select"
            words = "" if node.words is None else f" in {_words(node.words)}".rstrip()
            shown = f"{keyword} {node.name}{words} do {_list(node.body)} done"
        case n.ArithmeticFor():
            parts = "; ".join(map(_word, (node.initial, node.condition, node.step)))
            shown = f"for (({parts})) do {_list(node.body)} done"
        case n.Case():
            clauses = " ".join(
                f"{'|'.join(map(_word, c.patterns))}) {_list(c.body)} {c.terminator or ''}".rstrip()
                for c in node.clauses
            )
            shown = f"case {_word(node.word)} in {clauses} esac"
        case n.ArithmeticCommand():
            shown = f"(({_word(node.expression)}))"
        case n.Conditional():
            shown = f"[[ {_condition(node.expression)} ]]"
        case n.FunctionDefinition():
            shown = f"{_word(node.name)}() {_command(node.body)}"
        case n.Coprocess():
            name = f"{_word(node.name)} " if node.name else ""
            shown = f"coproc {name}{_command(node.command)}"
        case n.Extension():
            shown = f"<{_joined(node.commands, (node.operator,) * (len(node.commands) - 1))}>"
    redirections = getattr(node, "redirections", ())
    if redirections and not isinstance(node, n.SimpleCommand):
        shown += " " + " ".join(map(_redirection, redirections))
    return shown


def _joined(commands: tuple[n.Command, ...], operators: tuple[str, ...]) -> str:
    out = [_command(commands[0])] if commands else []
    for operator, command in zip(operators, commands[1:], strict=True):
        out += [operator, _command(command)]
    return " ".join(out)


def _simple(node: n.SimpleCommand) -> str:
    parts = [_assignment(a) for a in node.assignments]
    parts += (
        _word(argument) if isinstance(argument, n.Word) else _assignment(argument) + "⁼"
        for argument in node.arguments
    )
    parts += map(_redirection, node.redirections)
    return f"[{' '.join(parts)}]"


def _assignment(node: n.Assignment) -> str:
    subscript = f"[{_word(node.subscript)}]" if node.subscript else ""
    sign = "+=" if node.append else "="
    if node.value is None:
        value = ""
    elif isinstance(node.value, n.Word):
        value = _word(node.value)
    else:
        value = f"({' '.join(map(_element, node.value.elements))})"
    return f"{node.name}{subscript}{sign}{value}"


def _element(node: n.ArrayElement) -> str:
    value = _word(node.value) if node.value else ""
    if node.subscript is None:
        return value
    return f"[{_word(node.subscript)}]{'+=' if node.append else '='}{value}"


def _redirection(node: n.Redirection) -> str:
    shown = f"{node.fd or ''}{node.operator}{_word(node.target)}"
    if node.document is not None:
        body = _word(node.document.body).replace("\n", "⏎")
        marks = ("'" if node.document.quoted else "") + ("" if node.document.terminated else "…")
        shown += f"«{body}»{marks}"
    return shown


def _condition(node: n.ConditionalExpression) -> str:
    match node:
        case n.ConditionalNot():
            return f"! {_condition(node.operand)}"
        case n.ConditionalAndOr():
            return f"<{_condition(node.left)} {node.operator} {_condition(node.right)}>"
        case n.ConditionalTest(operator=None):
            return _words(node.operands)
        case n.ConditionalTest(operands=(operand,)):
            return f"{node.operator} {_word(operand)}"
    return f"{_word(node.operands[0])} {node.operator} {_word(node.operands[1])}"


def _words(words: tuple[n.Word, ...]) -> str:
    return " ".join(map(_word, words))


def _word(word: n.Word) -> str:
    return "·".join(map(_part, word.parts))


def _part(part: Any) -> str:
    match part:
        case n.Literal():
            return str(part.text)
        case n.Escaped():
            return "\\" + part.text
        case n.SingleQuoted():
            return f"'{part.text}'"
        case n.AnsiCQuoted():
            return f"$'{part.text}'"
        case n.DoubleQuoted():
            return f'{"$" if part.localized else ""}"{"·".join(map(_part, part.parts))}"'
        case n.ParameterExpansion():
            return _parameter(part)
        case n.CommandSubstitution():
            inside = _list(part.body.body) if part.body else f"!{part.error}"
            return f"`{inside}`" if part.backquoted else f"$({inside})"
        case n.ArithmeticExpansion():
            return f"$(({_word(part.expression)}))"
        case n.ProcessSubstitution():
            return f"{part.direction}({_list(part.body.body)})"
        case n.ExtendedGlob():
            return f"{part.operator}({'|'.join(map(_word, part.patterns))})"
    raise AssertionError(part)


def _parameter(part: n.ParameterExpansion) -> str:
    if not part.braced:
        return f"${part.parameter}"
    prefix = ("!" if part.indirect else "") + ("#" if part.length else "")
    subscript = f"[{_word(part.subscript)}]" if part.subscript else ""
    operation = f" {part.operator}" if part.operator else ""
    if part.argument is not None:
        operation += f" {_word(part.argument)}".rstrip()
    if part.argument2 is not None:
        operation += f" then {_word(part.argument2)}".rstrip()
    bad = " BAD" if part.bad else ""
    return f"${{{prefix}{part.parameter}{subscript}{operation}{bad}}}"
