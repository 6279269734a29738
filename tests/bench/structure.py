"""Compare Ringfence's tree with bash's own, given as s-expressions.

Both are flattened to what matters, in order: words, assignments, redirections, the operators of
conditional expressions, names of functions. Bash prints command substitutions reformatted, so
they are compared by their own flattened contents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from ringfence.grammar import nodes as n
from ringfence.grammar import parse

Item = tuple[str, str]

_SEXP = re.compile(
    r'\((arith|init|test|step)\s*\(word "((?:[^"\\]|\\.)*)"\)'
    r'|\(word "((?:[^"\\]|\\.)*)"\)'
    r'|\(redirect "([^"]*)" "(.*?)"\)(?=[ )]|$)'
    r'|\(redirect "([^"]*)" (-?\d+)\)'
    r'|\(cond-term "(.*?)"\)(?=[ )]|$)'
    r'|\(cond-(?:unary|binary) "([^"]*)"'
    r'|\(function "((?:[^"\\]|\\.)*)"',
    re.DOTALL,
)


def compare_structure(
    rows: dict[str, dict[str, Any]], trees: Iterable[dict[str, Any]]
) -> tuple[int, list[tuple[str, str, str]]]:
    """How many trees agree, and for each other one its id and where the two part."""
    same = 0
    different = []
    for row in trees:
        # Bash was given a line: without its newline a trailing backslash means something else.
        text = rows[row["id"]]["text"].removesuffix("\n") + "\n"
        extglob = rows[row["id"]].get("needs_extglob", False)
        script = parse(text, extglob=extglob)
        ours = list(flatten(script, text)) if script.problem is None else None
        verdict = "bash_n_extglob" if extglob and "bash_n_extglob" in rows[row["id"]] else "bash_n"
        theirs = list(flatten_sexp(row["sexp"])) if rows[row["id"]][verdict] else None
        if ours == theirs or _squeezed(ours) == _squeezed(theirs):
            same += 1
            continue
        if ours is None or theirs is None:
            different.append((row["id"], "refused" if ours is None else "accepted", "the other"))
            continue
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
        if at is None:
            at = min(len(ours), len(theirs))
        different.append((row["id"], repr(ours[at : at + 2]), repr(theirs[at : at + 2])))
    return same, different


def _squeezed(items: list[Item] | None) -> list[Item]:
    """Without blanks and semicolons inside ``${ …}``, which bash reformats like a command."""
    return [
        (kind, re.sub(r"[\s;]", "", text) if "${" in text else text) for kind, text in items or ()
    ]


def flatten_sexp(sexp: str) -> Iterator[Item]:
    """The items of an s-expression."""
    for match in _SEXP.finditer(sexp):
        role, part, word, operator, target, dup, fd, term, test, function = match.groups()
        if role == "arith":
            source = f"(({_unescape(part)}))"
            command = parse(source).body.items[0].command
            assert isinstance(command, n.ArithmeticCommand)
            yield from _arithmetic(command, source, "word")
        elif part is not None:
            yield ("word", _tidy(_unescape(part)))
        elif word is not None:
            yield from _word_text(_unescape(word), "word")
        elif operator is not None:
            if operator in ("<<", "<<-"):
                yield ("here-document", target)
            elif operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", target):
                yield ("redirect", "&")
            else:
                yield ("redirect", operator)
                yield from _word_text(target, "target")
        elif dup is not None:
            yield ("redirect", "&" if fd else "")
        elif term is not None:
            yield from _word_text(term, "term")
        elif test is not None:
            yield ("test", test)
        else:
            yield ("function", function)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text, flags=re.DOTALL)


def _word_text(text: str, kind: str) -> Iterator[Item]:
    """A word that bash printed: read again, so that substitutions can be compared."""
    if not any(mark in text for mark in ("$(", "<(", ">(", "`")):
        yield (kind, _tidy(text))
        return
    for prefix in ("x ", ""):  # an argument, else an assignment
        source = prefix + text
        script = parse(source, extglob=True)
        command = script.body.items[0].command if script.body.items else None
        if script.problem is None and isinstance(command, n.SimpleCommand):
            nodes = (*command.assignments, *command.arguments)
            if nodes[-1].span == (len(prefix), len(source)):
                yield from _item(nodes[-1], source, kind)
                return
    yield (kind, _tidy(text))


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\\n", "")).strip()


def _item(node: n.Word | n.Assignment, text: str, kind: str) -> Iterator[Item]:
    """A word with its substitutions cut out, then what is in them.

    Bash prints ``$'…'`` decoded, ``$"…"`` without its dollar and an array on one line.
    """
    inner = list(_substitutions(node))
    cuts = [(part.span, "\N{BULLET}") for part in inner]
    for quoted in _parts(node, n.DoubleQuoted):
        if quoted.localized and not any(_within(quoted, p) for p in _bad(node)):
            cuts.append(((quoted.span[0], quoted.span[0] + 1), ""))
        cuts += [  # in a ${…} bash leaves the quotes out
            (part.span, part.text)
            for part in _parts(quoted, n.AnsiCQuoted)
            if not any(p.parameter and _within(part, p) for p in _bad(node))
        ]
    cuts += [(part.span, _quoted(part.text)) for part in _parts(node, n.AnsiCQuoted)]
    value = getattr(node, "value", None)
    if isinstance(value, n.ArrayLiteral):
        ends = [value.span[0] + 1, *(e for part in value.elements for e in part.span)]
        ends.append(value.span[1] - 1)
        gaps = list(zip(ends[::2], ends[1::2], strict=True))
        for number, gap in enumerate(gaps):
            cuts.append((gap, " " if 0 < number < len(gaps) - 1 else ""))
    elif isinstance(node, n.Assignment) and isinstance(value, n.Word):
        # Around the elements of `a=(b)c`, the literals are as bash puts them together.
        literals = [part for part in value.parts if isinstance(part, n.Literal)]
        cuts += [(part.span, part.text) for part in literals if set("() ") & set(part.text)]
    out = []
    place = node.span[0]
    for (start, end), instead in sorted(cuts, key=lambda cut: cut[0]):
        if start < place:
            continue  # inside something that was cut out
        out.append(text[place:start] + instead)
        place = end
    out.append(text[place : node.span[1]])
    yield (kind, _tidy("".join(out)))
    for substitution in inner:
        yield from flatten(substitution.body, text)


def _bad(node: Any) -> list[n.ParameterExpansion]:
    return [part for part in _parts(node, n.ParameterExpansion) if part.bad]


def _within(inner: n.Node, outer: n.Node) -> bool:
    return outer.span[0] < inner.span[0] and inner.span[1] < outer.span[1]


def _quoted(text: str) -> str:
    return "\\'" if text == "'" else "'" + text.replace("'", "'\\''") + "'"


def _parts(node: Any, kind: type[Any]) -> Iterator[Any]:
    """The parts of a word of one class, those inside substitutions left out."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        for child in node:
            yield from _parts(child, kind)
    elif isinstance(node, n.Node) and not isinstance(node, n.Script):
        for field in attrs.fields(type(node)):
            yield from _parts(getattr(node, field.name), kind)


def _substitutions(node: Any) -> Iterator[n.CommandSubstitution | n.ProcessSubstitution]:
    if isinstance(node, n.CommandSubstitution | n.ProcessSubstitution):
        if node.body is not None and not getattr(node, "backquoted", False):
            yield node
        return
    if isinstance(node, tuple):
        for child in node:
            yield from _substitutions(child)
    elif isinstance(node, n.Node):
        for field in attrs.fields(type(node)):
            yield from _substitutions(getattr(node, field.name))


def flatten(node: Any, text: str) -> Iterator[Item]:
    """The items of a tree."""
    if isinstance(node, n.Script):
        yield from flatten(node.body, text)
    elif isinstance(node, n.SimpleCommand):
        parts = sorted((*node.assignments, *node.arguments), key=lambda part: part.span)
        joined: list[Item] = []
        end = -1
        for part in parts:
            items = list(_item(part, text, "word"))
            if part.span[0] == end:  # `a=(b)c`, one word to bash
                joined[-1] = ("word", joined[-1][1] + items.pop(0)[1])
            joined += items
            end = part.span[1]
        yield from joined
        yield from _redirections(node.redirections, text)
    elif isinstance(node, n.Pipeline):
        for number, command in enumerate(node.commands):
            yield from flatten(command, text)
            if number < len(node.operators) and node.operators[number] == "|&":
                yield ("redirect", "&")
    elif isinstance(node, n.For | n.Select):
        yield from _word_text(node.name, "word")
        words = node.words
        for word in words if words is not None else ():
            yield from _item(word, text, "word")
        if words is None:
            yield ("word", '"$@"')
        yield from flatten(node.body, text)
    elif isinstance(node, n.ArithmeticFor):
        for part in (node.initial, node.condition, node.step):
            yield ("word", _tidy(text[slice(*part.span)]) or "1")
        yield from flatten(node.body, text)
    elif isinstance(node, n.ArithmeticCommand):
        yield from _arithmetic(node, text, "word")
    elif isinstance(node, n.ConditionalTest):
        if node.operator is None:
            yield ("test", "-n")
        else:
            yield ("test", node.operator)
        for word in node.operands:
            yield from _item(word, text, "term")
    elif isinstance(node, n.Case):
        yield from _item(node.word, text, "word")
        for clause in node.clauses:
            for pattern in clause.patterns:
                yield from _item(pattern, text, "word")
            yield from flatten(clause.body, text)
    elif isinstance(node, n.FunctionDefinition):
        yield ("function", text[slice(*node.name.span)])
        yield from flatten(node.body, text)
    elif isinstance(node, n.Coprocess):
        yield from flatten(node.command, text)
    elif isinstance(node, tuple):
        for child in node:
            yield from flatten(child, text)
    elif isinstance(node, n.Node):
        for field in attrs.fields(type(node)):
            if field.name != "redirections":
                yield from flatten(getattr(node, field.name), text)
    if isinstance(node, n.CompoundCommand):
        yield from _redirections(node.redirections, text)


def _arithmetic(node: n.ArithmeticCommand, text: str, kind: str) -> Iterator[Item]:
    span = (node.span[0] + 2, _before(node.redirections, node.span[1]) - 2)
    yield from _item(n.Word(span, node.expression.parts), text, kind)


def _before(redirections: tuple[n.Redirection, ...], end: int) -> int:
    return redirections[0].span[0] if redirections else end


def _redirections(redirections: tuple[n.Redirection, ...], text: str) -> Iterator[Item]:
    for redirection in redirections:
        target = text[slice(*redirection.target.span)]
        if redirection.document is not None:
            body = "".join(
                part.text if isinstance(part, n.Literal) else text[slice(*part.span)]
                for part in redirection.document.body.parts
            )
            yield ("here-document", body)
        elif redirection.operator in (">&", "<&") and re.fullmatch(r"\d+-?|-", target):
            yield ("redirect", "&")
        else:
            yield ("redirect", redirection.operator)
            yield from _item(redirection.target, text, "target")
