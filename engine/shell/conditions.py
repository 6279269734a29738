"""Tests: ``[ … ]`` and ``[[ … ]]``, the files they look at and, where it is known, the answer."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from ringfence.engine.shell import expansion, files, patterns, variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.core import Run, World, in_worlds
from ringfence.engine.shell.outcome import Outcome, by_answer
from ringfence.engine.shell.state import State
from ringfence.grammar.nodes import (
    Conditional,
    ConditionalAndOr,
    ConditionalExpression,
    ConditionalNot,
    ConditionalTest,
)
from ringfence.rules.model import NAME, Field, Operation, is_known

_FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
_FILE_COMPARISONS = frozenset(("-nt", "-ot", "-ef"))
_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_BINARY = frozenset(("=", "==", "!=", "<", ">", "=~", *_FILE_COMPARISONS, *_NUMBERS))


# --- test and [ --------------------------------------------------------------------------------


def test(call: Call) -> Outcome:
    """``test expression`` and ``[ expression ]``."""
    words = list(call.arguments)
    if call.name == "[" and words and words[-1].text == "]":
        words.pop()
    if any(word.several for word in words):
        for word in words[1:]:
            if word.text.startswith("/"):
                call.touch(word, Operation.TEST)
        return call.either()
    return by_answer(call.state, _or(call, words))


def _or(call: Call, words: list[Field]) -> bool | None:
    parts = _parted(words, "-o")
    answers = [_and(call, part) for part in parts]
    if any(answers):
        return True
    return None if None in answers else False


def _and(call: Call, words: list[Field]) -> bool | None:
    answers = [_primary(call, part) for part in _parted(words, "-a")]
    if False in answers:
        return False
    return None if None in answers else True


def _parted(words: list[Field], connective: str) -> list[list[Field]]:
    """The words between the connectives, where there are more than one test can have."""
    parts: list[list[Field]] = [[]]
    for index, word in enumerate(words):
        inner = 0 < index < len(words) - 1
        if inner and len(words) > 3 and word.text == connective and parts[-1]:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _primary(call: Call, words: list[Field]) -> bool | None:
    while len(words) > 2 and words[0].text == "(" and words[-1].text == ")":
        return _or(call, words[1:-1])
    if len(words) == 3 and words[1].text in _BINARY:
        return _binary(call.world, call.name, words[0], words[1].text, words[2])
    if len(words) > 1 and words[0].text == "!":
        answer = _primary(call, words[1:])
        return None if answer is None else not answer
    if len(words) == 2:
        return _unary(call.world, call.name, words[0].text, words[1])
    if len(words) == 1:
        return bool(words[0].text) if words[0].known else None
    return None if words else False


def _unary(world: World, by: str, letter: str, operand: Field) -> bool | None:
    text = operand.text
    if letter in _FILE_TESTS:
        if not files.is_open(world.state, text):
            follow = letter not in ("-h", "-L")
            world.run.recorder.effect(
                text, Operation.TEST, operand, by, world.directory, follow=follow
            )
        return None
    known = is_known(text)
    if letter in ("-n", "-z") and (known or NAME in text):
        return (text != "") == (letter == "-n")
    if letter == "-v" and known:
        found = variables.lookup(world, text)
        return None if found is variables.ABSENT else found is not None
    return None


def _binary(world: World, by: str, left: Field, operation: str, right: Field) -> bool | None:
    if operation in _FILE_COMPARISONS:
        for operand in (left, right):
            recorder = world.run.recorder
            recorder.effect(operand.text, Operation.TEST, operand, by, world.directory)
        return None
    if not (left.known and right.known):
        return None
    if operation in _NUMBERS:
        return _compared(operation, left.text, right.text)
    if operation in ("=", "=="):
        return left.text == right.text
    if operation == "!=":
        return left.text != right.text
    return None


def _compared(operation: str, left: str, right: str) -> bool | None:
    try:
        return _NUMBERS[operation](int(left), int(right))
    except ValueError:
        return None


# --- [[ ]] -------------------------------------------------------------------------------------


def conditional(run: Run, command: Conditional, state: State) -> Outcome:
    """Evaluate ``[[ expression ]]``, which uses ``state`` up."""

    def body(world: World) -> Outcome:
        return by_answer(world.state, _expression(world, command.expression))

    return in_worlds(run, state, body)


def _expression(world: World, expression: ConditionalExpression) -> bool | None:
    if isinstance(expression, ConditionalNot):
        answer = _expression(world, expression.operand)
        return None if answer is None else not answer
    if isinstance(expression, ConditionalAndOr):
        decisive = expression.operator == "||"
        left = _expression(world, expression.left)
        if left is decisive:
            return decisive
        with world.run.recorder.possibly(left is None):
            right = _expression(world, expression.right)
        if right is decisive or left is not None:
            return right
        return None
    return _test(world, expression)


def _test(world: World, test: ConditionalTest) -> bool | None:
    if not test.operands:
        return False  # `[[ ]]`, where bash stops reading
    first = expansion.text(world, test.operands[0])
    if test.operator is None:
        return bool(first.text) if is_known(first.text) else None
    if len(test.operands) == 1:
        return _unary(world, "[[", test.operator, first)
    if test.operator in ("=", "==", "!="):
        glob = expansion.pattern(world, test.operands[1])
        if not (is_known(first.text) and is_known(glob)):
            return None
        answer = _matches(glob, first.text)
        if "nocasematch" in world.state.options:
            other = _matches(glob.lower(), first.text.lower())
            answer = answer if answer == other else other if answer is False else None
        return answer if answer is None or test.operator != "!=" else not answer
    if test.operator == "=~":
        expansion.text(world, test.operands[1])
        return None
    second = expansion.text(world, test.operands[1])
    if test.operator in _NUMBERS:
        left = expansion.arithmetic_value(world, first.text)
        right = expansion.arithmetic_value(world, second.text)
        return None if left is None or right is None else _NUMBERS[test.operator](left, right)
    return _binary(world, "[[", first, test.operator, second)


def _matches(glob: str, text: str) -> bool | None:
    try:
        return patterns.matches(glob, text)
    except patterns.PatternTooComplex:
        return None
