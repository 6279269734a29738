"""Arithmetic gives what bash's ``$((…))`` gives, or None."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.engine.shell.arithmetic import evaluate
from ringfence.rules.model import NAME, UNKNOWN

VARIABLES = {"x": "5", "y": "2", "e": "x+1", "neg": "-3", "empty": "", "hex": "0x1F", "a[1]": "7"}
ASSIGN = "x=5 y=2 e=x+1 neg=-3 empty= hex=0x1F; a[1]=7;"


def value(expression: str) -> int | None:
    return evaluate(expression, lambda name: VARIABLES.get(name, "")).value


def in_bash(expressions: list[str]) -> list[int | None]:
    """The values that bash gives; None for an error."""
    script = ASSIGN + 'for given; do (echo "$(( $given ))") 2>/dev/null || echo; done'
    done = subprocess.run(
        ["bash", "-c", script, "_", *expressions], capture_output=True, text=True, check=True
    )
    return [int(line) if line else None for line in done.stdout.split("\n")[:-1]]


VALUES = [
    ("", 0),
    ("1+2*3", 7),
    ("(1+2)*3", 9),
    ("2**3**2", 512),
    ("-2**2", 4),
    ("7/2", 3),
    ("-7/2", -3),
    ("-7%3", -1),
    ("7%-3", 1),
    ("1<<3|1", 9),
    ("5&3^6", 7),
    ("~0", -1),
    ("!5", 0),
    ("!!5", 1),
    ("1<2", 1),
    ("2>=3", 0),
    ("1==1&&2", 1),
    ("0||0", 0),
    ("1?2:3", 2),
    ("0?2:0?4:5", 5),
    ("1,2,3", 3),
    ("x", 5),
    ("x*y", 10),
    ("e*2", 12),
    ("neg-1", -4),
    ("empty+1", 1),
    ("unset+1", 1),
    ("hex", 31),
    ("a[1]+1", 8),
    ("010", 8),
    ("0xff", 255),
    ("16#fF", 255),
    ("2#101", 5),
    ("64#_", 63),
    ("36#z", 35),
    ("x++ + x", 11),
    ("++x + x", 12),
    ("x-- - 1", 4),
    ("- -3", 3),
    ("x+=3,x", 8),
    ("x=y=4,x+y", 8),
    ("x<<=2", 20),
    ("0 && (1/0)", 0),
    ("1 || (1/0)", 1),
    ("0 && x/y/0", 0),
    ("1 ? 2 : (1/0)", 2),
    ("9223372036854775807+1", -9223372036854775808),
    ("2**64", 0),
    ("1<<65", 2),
    (" 1 +\n2 ", 3),
    ("x==5", 1),
    ("x<=5", 1),
]

ERRORS = [
    "1/0",
    "1%0",
    "2**-1",
    "0 && 2**-1",
    "1+",
    "(1",
    "1)",
    "08",
    "2#2",
    "1 2",
    "1=2",
    "3x",
    "$",
    "1?2",
    "65#1",
]


@pytest.mark.parametrize(("expression", "expected"), VALUES)
def test_value(expression, expected):
    """The value is C's, with bash's operators, bases and variables."""
    assert value(expression) == expected


@pytest.mark.parametrize("expression", ERRORS)
def test_error(expression):
    """What bash refuses has no value."""
    assert value(expression) is None


def test_tables_are_what_bash_says():
    """Bash itself gives the answers of both tables."""
    expected = [expected for _, expected in VALUES] + [None] * len(ERRORS)
    assert in_bash([expression for expression, _ in VALUES] + ERRORS) == expected


OPERATORS = st.sampled_from(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "**",
        "<<",
        ">>",
        "<",
        ">",
        "<=",
        ">=",
        "==",
        "!=",
        "&",
        "|",
        "^",
        ",",
    ]
)
EXPRESSIONS = st.recursive(
    st.sampled_from(
        ["0", "1", "2", "3", "63", "x", "y", "e", "neg", "0x10", "9223372036854775807"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, OPERATORS, inner).map(" ".join),
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(" ".join),
        st.tuples(st.sampled_from(["-", "!", "~", "+"]), inner).map(" ".join),
        st.tuples(inner, inner, inner).map(lambda t: f"{t[0]} ? {t[1]} : {t[2]}"),
        inner.map(lambda t: f"({t})"),
    ),
    max_leaves=8,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(EXPRESSIONS, min_size=30, max_size=40))
def test_random_expressions_are_bash_s(expressions):
    """On random expressions the value, or the lack of one, is bash's."""
    assert [value(expression) for expression in expressions] == in_bash(expressions)


@pytest.mark.parametrize(
    ("expression", "assignments"),
    [
        ("n=3", {"n": "3"}),
        ("n+=3", {"n": "3"}),
        ("x++", {"x": "6"}),
        ("a[2]=x", {"a[2]": "5"}),
        ("n=1,m=n+1", {"n": "1", "m": "2"}),
        ("0 && (n=1)", {}),
        ("0 ? (n=1) : (m=2)", {"m": "2"}),
        ("n = what", {"n": None}),
        ("a[3] = what", {"a[3]": None}),
        ("what, n += 1, ++m", {"n": None, "m": None}),
        ("x == what", {}),
    ],
)
def test_assignments(expression, assignments):
    """Variables are set to their new values, or to None where these are not known."""
    lookup = {"x": "5", "what": None}
    assert evaluate(expression, lambda name: lookup.get(name, "")).assignments == assignments


@pytest.mark.parametrize("unknown", [None, UNKNOWN, NAME, "1" + NAME, "a b", "1.5"])
def test_unknown_operand(unknown):
    """An operand that is not known, or is no number, leaves the value unknown."""
    assert evaluate("1 + x", lambda _: unknown).value is None


@pytest.mark.parametrize(
    "expression", ["x", "(" * 5000, "-" * 5000 + "1", "1" * 20000, "1?" * 3000, "a[" * 3000]
)
def test_no_expression_is_too_deep(expression):
    """A variable that names itself, and nesting without end, only have no value."""
    assert evaluate(expression, lambda _: "x").value is None


@given(st.text("01x+-*/%&|^<>=!~?:,()[]# a", max_size=30))
def test_any_text_is_answered(expression):
    """No text makes `evaluate` raise."""
    evaluate(expression, lambda _: "1")
