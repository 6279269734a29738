"""Parameter expansion: ``$x`` and everything that can stand in ``${…}``.

Operators treat an unknown in a value as one ordinary character that only ``*`` and ``?`` match;
where that would lose an UNKNOWN, one is put back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ringfence.engine.shell import expansion, patterns, variables
from ringfence.engine.shell.core import World
from ringfence.engine.shell.limits import MAX_FIELDS, MAX_TEXT
from ringfence.engine.shell.pieces import BREAK, Piece, Pieces
from ringfence.engine.shell.quoting import decode, shell_quoted
from ringfence.engine.shell.state import Array
from ringfence.engine.shell.texts import as_value, bounded
from ringfence.engine.shell.variables import ABSENT, Found
from ringfence.grammar.nodes import Literal, ParameterExpansion, Word
from ringfence.rules.model import BELOW, NAME, UNCERTAIN, UNKNOWN, OpaqueKind, is_known

_DEFAULTS = frozenset(("-", ":-", "=", ":=", "+", ":+", "?", ":?"))


def expand(world: World, node: ParameterExpansion, *, quoted: bool) -> Pieces:
    """The pieces that a parameter expansion gives, in one world."""
    if node.bad or not node.parameter:  # bash refuses the whole command when it gets here
        first = node.argument.parts[0] if node.argument and node.argument.parts else None
        if isinstance(first, Literal) and first.text[0] in " \t\n|":
            world.run.recorder.obscure(
                "newer versions of bash run this as a command", node.span, OpaqueKind.CODE
            )
        return [Piece(UNKNOWN, quoted, split=not quoted)]
    if node.operator in ("*", "@") and node.indirect:
        names = sorted(n for n in world.state.variables if n.startswith(node.parameter))
        return _listed(world, [(n, ()) for n in names], quoted=quoted, star=node.operator == "*")
    subscript = _subscript(world, node)
    if node.indirect and subscript in ("@", "*"):
        value = variables.lookup(world, node.parameter)
        keys = [k for k, _ in value.elements] if isinstance(value, Array) else ["0"]
        return _listed(world, [(k, ()) for k in keys], quoted=quoted, star=subscript == "*")
    parameter = node.parameter
    if node.indirect:
        held = world.state.variables.get(parameter)
        if held is not None and held.reference:  # of a reference, `!` gives the name
            return [Piece(variables.resolve(world, parameter), quoted, split=not quoted)]
        target = variables.scalar(world, parameter)
        if target is None or not is_known(target):
            if node.argument is not None:  # what it substitutes runs, whatever is done with it
                expansion.word_pieces(world, node.argument, quoted=quoted)
            return [Piece(UNKNOWN, quoted, split=not quoted)]
        parameter = target
        if target.endswith(("[@]", "[*]")):
            parameter, subscript = target[:-3], target[-2]
    if parameter in ("@", "*") or subscript in ("@", "*"):
        return _several(world, node, parameter, subscript, quoted=quoted)
    return _single(world, node, parameter, subscript, quoted=quoted)


def _subscript(world: World, node: ParameterExpansion) -> str | None:
    return None if node.subscript is None else expansion.text(world, node.subscript).text


# --- one value ---------------------------------------------------------------------------------


def _found(world: World, parameter: str, subscript: str | None) -> tuple[Found, tuple[str, ...]]:
    """The value of a parameter, and how it came about."""
    if parameter.isdecimal():
        return _positional(world, int(parameter))
    if parameter == "#":
        parameters = world.parameters()
        return (NAME if any(p.several for p in parameters) else str(len(parameters))), ()
    if parameter == "?":
        return (world.state.status if is_known(world.state.status) else NAME), ()
    if parameter in ("$", "!", "-"):
        return NAME, ()
    steps = variables.steps_of(world, parameter)
    if subscript is not None:
        return variables.element(world, parameter, subscript), steps
    return variables.lookup(world, parameter), steps


def _positional(world: World, number: int) -> tuple[Found, tuple[str, ...]]:
    if number == 0:
        return world.state.name, ()
    parameters = world.parameters()
    if any(p.several for p in parameters[:number]):
        return UNKNOWN, ()
    if number > len(parameters):
        return None, ()
    field = parameters[number - 1]
    text = as_value(field)
    return text, (*field.steps, f"`${number}` is `{expansion.shown(text)}`")


def _single(
    world: World,
    node: ParameterExpansion,
    parameter: str,
    subscript: str | None,
    *,
    quoted: bool,
) -> Pieces:
    found, steps = _found(world, parameter, subscript)
    if node.length:
        text = variables.first(found)
        count = NAME if found is ABSENT or not is_known(text or "") else str(len(text or ""))
        return [Piece(count, quoted)]
    if node.operator in _DEFAULTS:
        return _default(world, node, found, steps, quoted=quoted)
    text = UNKNOWN if found is ABSENT else variables.first(found)
    if text is None:
        return [Piece("", quoted)]
    if node.operator is not None:
        text = _operated(world, node, parameter, text)
    return [Piece(bounded(text), quoted, split=not quoted, steps=steps)]


def _default(
    world: World, node: ParameterExpansion, found: Found, steps: tuple[str, ...], *, quoted: bool
) -> Pieces:
    """``${x:-word}`` and its like.

    A variable that is neither in the environment nor assigned counts as unset here: whoever
    writes a default expects that. A value that may be empty leaves both ways open.
    """
    operator = node.operator or ""
    text = variables.first(found)
    filled = text is not None and (text != "" or not operator.startswith(":"))
    if operator.startswith(":") and text == UNKNOWN:
        filled = world.pick((True, False), lambda _: True)
    kind = operator[-1]
    if kind == "+":
        return _argument(world, node, quoted=quoted) if filled else [Piece("", quoted)]
    if filled:
        return [Piece(text or "", quoted, split=not quoted, steps=steps)]
    if kind == "?":
        _argument(world, node, quoted=quoted)  # the message, which bash expands before it gives up
        return [Piece("", quoted)]
    if kind == "=":
        value = expansion.text(world, node.argument)
        variables.assign(world, node.parameter, value.text, steps=value.steps, at=node.span)
        return [Piece(value.text, quoted, split=not quoted, steps=value.steps)]
    return _argument(world, node, quoted=quoted)


def _argument(world: World, node: ParameterExpansion, *, quoted: bool) -> Pieces:
    if node.argument is None:
        return [Piece("", quoted)]
    return expansion.word_pieces(world, node.argument, quoted=quoted)


# --- several values ----------------------------------------------------------------------------


def _several(
    world: World,
    node: ParameterExpansion,
    parameter: str,
    subscript: str | None,
    *,
    quoted: bool,
) -> Pieces:
    """``$@``, ``${a[*]}`` and what operators make of each element."""
    star = "*" in (parameter, subscript)
    items: list[tuple[str, tuple[str, ...]]]
    found: Found = None
    if parameter in ("@", "*"):
        items = [(as_value(p), p.steps) for p in world.parameters()]
        if node.operator == ":" and node.argument is not None:
            items = [(world.state.name, ()), *items]
    else:
        found = variables.lookup(world, parameter)
        steps = variables.steps_of(world, parameter)
        if found is ABSENT:
            items = [(UNKNOWN, ())]
        elif isinstance(found, Array):
            items = [(text, steps) for text in found.texts]
        else:
            items = [(found, steps)] if isinstance(found, str) else []
    if node.length:
        loose = any(UNKNOWN in text for text, _ in items)
        return [Piece(NAME if loose else str(len(items)), quoted)]
    if node.operator in _DEFAULTS:
        values = [text for text, _ in items if (text, found) != (UNKNOWN, ABSENT)]
        filled = bool(values)
        if node.operator[0] == ":" and all(text in ("", UNKNOWN) for text in values):
            filled = UNKNOWN in values and world.pick((True, False), lambda _: True)
        if filled == (node.operator[-1] == "+"):
            return _argument(world, node, quoted=quoted)
    elif node.operator == ":":
        items = _slice(world, node, items, positional=parameter in ("@", "*"))
    elif node.operator is not None:
        items = [(_operated(world, node, parameter, text), steps) for text, steps in items]
    return _listed(world, items, quoted=quoted, star=star)


def _slice(
    world: World,
    node: ParameterExpansion,
    items: list[tuple[str, tuple[str, ...]]],
    *,
    positional: bool,
) -> list[tuple[str, tuple[str, ...]]]:
    start = _number(world, node.argument)
    length = _number(world, node.argument2) if node.argument2 is not None else len(items)
    if start is None or length is None:
        return items[1:] if positional else items
    if start < 0:
        start = max(len(items) + start, 0)
    return items[start : start + max(length, 0)]


def _listed(
    world: World,
    items: Sequence[tuple[str, tuple[str, ...]]],
    *,
    quoted: bool,
    star: bool,
) -> Pieces:
    """The pieces of a list: one field each, or for a quoted ``*`` one joined by ``$IFS``."""
    if star and quoted:
        between = variables.separators(world)[:1]
        steps = tuple(dict.fromkeys(step for _, steps in items for step in steps))
        return [Piece(bounded(between.join(text for text, _ in items)), quoted, steps=steps)]
    result: Pieces = []
    for index, (text, steps) in enumerate(items):
        if index:
            result.append(BREAK if quoted else Piece(" ", split=True))
        result.append(Piece(text, quoted, split=not quoted, steps=steps))
    return result


# --- operators ---------------------------------------------------------------------------------


def _operated(world: World, node: ParameterExpansion, parameter: str, text: str) -> str:
    """What the operator makes of one known or partly known value."""
    operator = node.operator or ""
    if operator == ":":
        return _substring(world, node, text)
    if operator.startswith("@"):
        return _transformed(world, node, parameter, text)
    glob = "" if node.argument is None else expansion.pattern(world, node.argument)
    if not is_known(glob):
        return UNKNOWN
    try:
        result = _matched(world, node, operator, glob, text)
    except patterns.PatternTooComplex:
        return UNKNOWN
    if (operator, glob) == ("##", "*/") and (UNKNOWN in result or BELOW in result):
        return NAME
    return result + UNKNOWN if UNKNOWN in text and UNKNOWN not in result else result


def _matched(world: World, node: ParameterExpansion, operator: str, glob: str, text: str) -> str:
    extglob = "extglob" in world.state.options
    if operator[0] in "#%":
        return patterns.remove(
            text, glob, suffix=operator[0] == "%", longest=len(operator) == 2, extglob=extglob
        )
    if operator[0] == "/":
        anchor = ""
        if operator in ("/#", "/%"):
            anchor = operator[1]
        new: str | Callable[[str], str] = ""
        if node.argument2 is not None:
            new = _replacement(world, node.argument2)
        if isinstance(new, str) and len(text) * len(new) > MAX_TEXT * 16:
            return UNKNOWN
        return patterns.replace(
            text, glob, new, every=operator == "//", anchor=anchor, extglob=extglob
        )
    if operator[0] in "^,~":
        return _cased(operator, glob, text)
    return UNKNOWN


def _replacement(world: World, word: Word) -> str | Callable[[str], str]:
    """The text that is put in; an unquoted ``&`` in it stands for what was matched."""
    made = expansion.word_pieces(world, word, quoted=False)
    pieces = [piece for piece in made if isinstance(piece, Piece)]
    text = "".join(piece.text for piece in pieces)
    if not is_known(text) or not any("&" in p.text and not p.quoted for p in pieces):
        return text
    if len(text) > MAX_FIELDS:
        return UNKNOWN

    def put(matched: str) -> str:
        def part(found: re.Match[str]) -> str:
            return matched if found[0] == "&" else found[0][1:]

        return "".join(p.text if p.quoted else re.sub(r"\\[&\\]|&", part, p.text) for p in pieces)

    return put


_CASES: dict[str, Callable[[str], str]] = {"^": str.upper, ",": str.lower, "~": str.swapcase}


def _cased(operator: str, glob: str, text: str) -> str:
    change = _CASES[operator[0]]
    end = len(text) if len(operator) == 2 else 1
    changed = [change(c) if not glob or patterns.matches(glob, c) else c for c in text[:end]]
    if any(len(c) != 1 for c in changed):  # Unicode's rules for several letters are not bash's
        return UNKNOWN
    return "".join(changed) + text[end:]


def _number(world: World, word: Word | None) -> int | None:
    if word is None:
        return 0
    return expansion.arithmetic_value(world, expansion.text(world, word).text)


def _substring(world: World, node: ParameterExpansion, text: str) -> str:
    start = _number(world, node.argument)
    length = _number(world, node.argument2) if node.argument2 is not None else None
    known = next((i for i, c in enumerate(text) if c in UNCERTAIN), None)
    exact = start is not None and (node.argument2 is None or length is not None)
    if not exact or start is None:
        return UNKNOWN
    if known is None:
        if start < 0:
            start = max(len(text) + start, 0)
        end = len(text) if length is None else start + length if length >= 0 else len(text) + length
        return text[start:end]
    if start < 0 or start > known:
        return UNKNOWN if UNKNOWN in text or "/" in text else NAME
    if length is not None and 0 <= length <= known - start:
        return text[start : start + length]
    rest = text[start:]
    return rest if length is None else rest[: known - start] + UNKNOWN


def _transformed(world: World, node: ParameterExpansion, parameter: str, text: str) -> str:
    """``${x@Q}`` and the other one-letter transformations."""
    written = expansion.text(world, node.argument).text if node.argument is not None else ""
    match (node.operator or "")[1:] + written:
        case "Q":
            return shell_quoted(text)
        case "E":
            return decode(text)
        case "U":
            return text.upper()
        case "L":
            return text.lower()
        case "u":
            return text[:1].upper() + text[1:]
        case "P":
            expansion.forbid_substitution(world, text)
            return text
        case "K" | "k":
            return text
        case "A":
            return f"{parameter}={shell_quoted(text)}"
        case _:
            return NAME  # attributes
