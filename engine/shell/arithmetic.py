"""Bash's arithmetic on numbers that are known.

    evaluate("x = 3 + y * 2", {"y": "4"}.get)  ->  Result(11, {"x": "11"})

Numbers are 64 bits wide and wrap around. What cannot be known, or what bash would refuse, has
the value None; assignments that it may have made on the way are kept, with None for values that
are not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled

MAX_LENGTH = 10_000
"""The longest expression that is looked at."""

MAX_DEPTH = 60
"""How deep parentheses, operators and variables that name variables may go."""


@frozen
class Result:
    """The value of an expression, and the variables that it sets, in order.

    Array elements are named with their subscript, as written: ``a[1]``.
    """

    value: int | None
    assignments: Mapping[str, str | None]


Lookup = Callable[[str], str | None]
"""The value of a variable by name (``x`` or ``a[1]``): "" if unset, None if not known."""


def evaluate(expression: str, lookup: Lookup) -> Result:
    """The value of ``expression``, after parameter expansion, as in ``$((expression))``.

    The empty expression is 0. A value of ``lookup`` that holds anything but an arithmetic
    expression makes the result None.
    """
    assigned: dict[str, str | None] = {}
    try:
        value = _Evaluator(expression, lookup, assigned).value()
    except _Unknowable:
        value = None
        # Whatever comes after the place where knowledge ended may run as well.
        for before, after in _TARGETS.findall(expression):
            assigned[before or after] = None
    return Result(value, assigned)


class _Unknowable(Exception):  # noqa: N818 - it is an answer
    """The value cannot be known: an unknown operand, or an error in the expression."""


# --- tokens ------------------------------------------------------------------------------------

_TOKEN = compiled(
    r"""\s*(?:
      (?P<number>[0-9][0-9a-zA-Z@_\#]*)
    | (?P<name>[a-zA-Z_][a-zA-Z0-9_]*(?:\[[^][]*\])?)
    | (?P<operator><<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>=!~&|^?:,()])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)
_NAME = r"([a-zA-Z_]\w*(?:\[[^][]*\])?)"
_TARGETS = compiled(rf"(?:\+\+|--)\s*{_NAME}|{_NAME}\s*(?:\+\+|--|(?:<<|>>|[-+*/%&|^])?=(?!=))")
"""Whatever an expression may assign to."""


def _tokens(text: str) -> list[tuple[str, str]]:
    """(kind, text) of each token; the last has the kind ``end``."""
    if len(text) > MAX_LENGTH:
        raise _Unknowable
    found: list[tuple[str, str]] = []
    position = 0
    while not found or found[-1][0] != "end":
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise _Unknowable
        found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found


def _number(text: str) -> int:
    """The value of ``12``, ``0x1f``, ``017`` or ``base#digits``."""
    base_text, separator, digits = text.partition("#")
    if separator:
        base = int(base_text) if base_text.isdecimal() and base_text[0] != "0" else 0
    elif text[:2] in {"0x", "0X"}:
        base, digits = 16, text[2:]
    else:
        base, digits = (8, text[1:]) if text[0] == "0" else (10, text)
    if not 2 <= base <= 64 or (separator and not digits):
        raise _Unknowable
    value = 0
    for digit in digits:
        place = _DIGITS.find(digit.lower() if base <= 36 else digit)
        if not 0 <= place < base:
            raise _Unknowable
        value = value * base + place
    return _wrapped(value)


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"


def _wrapped(value: int) -> int:
    """``value`` as a signed number of 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


# --- operators ---------------------------------------------------------------------------------


def _divided(left: int, right: int) -> int:
    """C's division, which rounds towards zero."""
    if right == 0:
        raise _Unknowable
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _power(left: int, right: int) -> int:
    if right < 0:
        raise _Unknowable
    return pow(left, right, 2**64)


_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (3, lambda a, b: int(bool(a or b))),
    "&&": (4, lambda a, b: int(bool(a and b))),
    "|": (5, lambda a, b: a | b),
    "^": (6, lambda a, b: a ^ b),
    "&": (7, lambda a, b: a & b),
    "==": (8, lambda a, b: int(a == b)),
    "!=": (8, lambda a, b: int(a != b)),
    "<": (9, lambda a, b: int(a < b)),
    ">": (9, lambda a, b: int(a > b)),
    "<=": (9, lambda a, b: int(a <= b)),
    ">=": (9, lambda a, b: int(a >= b)),
    "<<": (10, lambda a, b: a << (b & 63)),
    ">>": (10, lambda a, b: a >> (b & 63)),
    "+": (11, lambda a, b: a + b),
    "-": (11, lambda a, b: a - b),
    "*": (12, lambda a, b: a * b),
    "/": (12, _divided),
    "%": (12, lambda a, b: a - _divided(a, b) * b),
    "**": (13, _power),
}
"""How tightly each binary operator binds, and what it does."""

_COMMA, _ASSIGNMENT, _CONDITIONAL, _POWER, _UNARY = 0, 1, 2, 13, 14

_PREFIX: dict[str, Callable[[int], int]] = {
    "+": lambda a: a,
    "-": lambda a: -a,
    "!": lambda a: int(not a),
    "~": lambda a: ~a,
}


# --- evaluation --------------------------------------------------------------------------------


@define
class _Evaluator:
    """Parses by precedence and computes on the way.

    In a part that bash skips (after ``0 &&``), ``_skipping`` is above 0: nothing is looked up or
    assigned there, and a division by zero is no error.
    """

    text: str
    lookup: Lookup
    assigned: dict[str, str | None]
    depth: int = 0
    _tokens: list[tuple[str, str]] = field(init=False)
    _at: int = field(init=False, default=0)
    _skipping: int = field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        self._tokens = _tokens(self.text)

    def value(self) -> int:
        """The value of the whole text."""
        if self._kind == "end":
            return 0
        value = self._expression(_COMMA)
        if self._kind != "end":
            raise _Unknowable
        return value

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    def _peek(self) -> str:
        """The operator that comes next, or an empty text."""
        kind, text = self._tokens[self._at]
        return text if kind == "operator" else ""

    def _take(self, operator: str) -> bool:
        """Whether ``operator`` came next; then it is consumed."""
        found = self._peek() == operator
        self._at += found
        return found

    def _need(self, operator: str) -> None:
        if not self._take(operator):
            raise _Unknowable

    def _expression(self, lowest: int) -> int:
        """An expression of operators that bind at least as tightly as ``lowest``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Unknowable
        value = self._operand(lowest)
        while True:
            operator = self._peek()
            if operator == "," and lowest <= _COMMA:
                self._at += 1
                value = self._expression(_ASSIGNMENT)
            elif operator == "?" and lowest <= _CONDITIONAL:
                value = self._conditional(value)
            elif operator in _BINARY and _BINARY[operator][0] >= lowest:
                value = self._binary(operator, value)
            else:
                self.depth -= 1
                return value

    def _binary(self, operator: str, left: int) -> int:
        self._at += 1
        binding, compute = _BINARY[operator]
        decided = (operator == "&&" and not left) or (operator == "||" and bool(left))
        self._skipping += decided
        right = self._expression(binding if binding == _POWER else binding + 1)
        self._skipping -= decided
        if self._skipping and operator in ("/", "%"):
            # Bash computes there all the same, and refuses a negative exponent.
            right = right or 1
        return _wrapped(compute(left, right))

    def _conditional(self, condition: int) -> int:
        self._at += 1
        chosen = bool(condition)
        self._skipping += not chosen
        first = self._expression(_COMMA)
        self._skipping -= not chosen
        self._need(":")
        self._skipping += chosen
        second = self._expression(_CONDITIONAL)
        self._skipping -= chosen
        return first if chosen else second

    def _operand(self, lowest: int) -> int:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return _number(text)
        if kind == "name":
            return self._variable(text, lowest)
        if text == "(":
            value = self._expression(_COMMA)
            self._need(")")
            return value
        if text in ("++", "--") and self._kind == "name":
            name = self._tokens[self._at][1]
            self._at += 1
            return self._assign(name, self._value_of(name) + (1 if text == "++" else -1))
        if text in ("++", "--"):  # `--3` is two signs
            return self._expression(_UNARY)
        if text in _PREFIX:
            return _wrapped(_PREFIX[text](self._expression(_UNARY)))
        raise _Unknowable

    def _variable(self, name: str, lowest: int) -> int:
        """A variable, or an assignment to it."""
        operator = self._peek()
        if operator in ("++", "--"):
            self._at += 1
            value = self._value_of(name)
            self._assign(name, value + (1 if operator == "++" else -1))
            return value
        if operator == "=" or (operator.endswith("=") and operator[:-1] in _BINARY):
            if operator in ("<=", ">=", "==", "!="):
                return self._value_of(name)
            if lowest > _ASSIGNMENT:
                raise _Unknowable  # bash: attempted assignment to non-variable
            self._at += 1
            left = 0 if operator == "=" else self._value_of(name)
            right = self._expression(_ASSIGNMENT)
            if self._skipping:
                return 0
            return self._assign(
                name, right if operator == "=" else _BINARY[operator[:-1]][1](left, right)
            )
        return self._value_of(name)

    def _assign(self, name: str, value: int) -> int:
        value = _wrapped(value)
        if not self._skipping:
            self.assigned[name] = str(value)
        return value

    def _value_of(self, name: str) -> int:
        """The number that a variable holds; its value may be an expression of its own."""
        if self._skipping:
            return 0
        text = self.assigned[name] if name in self.assigned else self.lookup(name)
        if text is None:
            raise _Unknowable
        return _Evaluator(text, self.lookup, self.assigned, self.depth + 1).value()
