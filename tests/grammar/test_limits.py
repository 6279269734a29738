"""Length and depth: nothing recurses out, and past a limit the answer is TooComplex."""

import pytest

from ringfence.grammar import TooComplex, bash, parse

NESTS = [
    ("$(", ")"), ("(", " )"), ("{ ", ";}"), ('"$(', ')"'), ("((", "))"), ("$((", "))"),
    ("${a:-", "}"), ("if a; then ", "; fi"), ("while ", "; do a; done"), ("! ", ""), ("<(", ")"),
    ("case a in b) ", ";; esac"), ("f() { ", ";}"), ("a=(<(", "))"), ("[[ a && ( ", " ) ]]"),
    ("$(cat <<E\n", "\nE\n)"), ("a[", "]=b"), ("`", "`"), ('"${a:-', '}"'), ("time ", ""),
]  # fmt: skip


@pytest.mark.parametrize(("opener", "closer"), NESTS)
def test_deep_nesting_is_parsed_or_too_complex(opener: str, closer: str) -> None:
    """10,000 levels neither overflow the stack nor hang: a tree, a problem, or TooComplex."""
    try:
        parse(opener * 10_000 + "a" + closer * 10_000)
        parse(opener * 10_000)
    except TooComplex:
        pass


@pytest.mark.parametrize(("opener", "closer"), NESTS[:4])
def test_hundred_levels_are_no_problem(opener: str, closer: str) -> None:
    """What people and agents could ever write is far from the limits."""
    assert parse(opener * 100 + "a" + closer * 100).problem is None


def test_many_continuations_are_too_complex() -> None:
    """Each removed continuation copies the rest, so their number is limited."""
    assert parse("a \\\n" * 1_000).problem is None
    with pytest.raises(TooComplex):
        parse("a \\\n" * 30_000)


def test_no_conflict_is_resolved_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    """Lark resolves a shift/reduce conflict as a shift and tells only its debug log."""
    import logging

    from lark import logger

    from ringfence.grammar import compiler

    with caplog.at_level(logging.DEBUG, logger=logger.name):
        logger.propagate = True
        compiler.compile_tables(bash().text, debug=True)
    assert [r.message for r in caplog.records if "conflict" in r.message.lower()] == []


def test_every_rule_has_a_function() -> None:
    """Each alternative in bash.lark that makes something names a method of the builder."""
    from ringfence.grammar.builder import Builder

    named = {rule.builder for rule in bash().tables.rules if rule.builder}
    assert [name for name in sorted(named) if not hasattr(Builder, name)] == []
