"""What holds for every script: spans, tokens, and no way to make the parser fail."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.grammar import TooComplex, bash, parse
from ringfence.grammar import nodes as n

VALID = [
    row["text"]
    for row in map(json.loads, Path(__file__).with_name("snippets.jsonl").open(encoding="utf-8"))
    if row["ok"]
]
PIECES = [
    "a", "b=c", "$x", "${x}", "${x:-", "}", "$(", ")", "`", '"', "'", "\\", "\n", " ", ";", "&", "|",
    "<", ">", "(", "{", "if ", "then ", "fi", "do ", "done", "case ", " in ", "esac", ";;", "[[ ",
    " ]]", "((", "))", "$((", "<<E\n", "\nE\n", "<<-'E'", "#", "!", "=~", "a[", "]=", "a=(", "*",
    "for ", "time ", "coproc ", "function ", "declare ", "$'", "é", "\ud800", "\r", "\t", "\x00",
    "\N{RIGHT-TO-LEFT OVERRIDE}", "\\\n",
]  # fmt: skip


def nodes(node: Any, parent: n.Node | None = None) -> Iterator[tuple[n.Node, n.Node | None]]:
    """All nodes below ``node``, each with its parent."""
    if isinstance(node, tuple):
        for child in node:
            yield from nodes(child, parent)
    elif isinstance(node, n.Node):
        yield node, parent
        for field in attrs.fields(type(node)):
            yield from nodes(getattr(node, field.name), node)


def check_spans(text: str, script: n.Script) -> None:
    for node, parent in nodes(script):
        start, end = node.span
        assert 0 <= start <= end <= len(text), node
        # A here-document's text stands after the line of its redirection.
        if parent is not None and not isinstance(node, n.HereDocument):
            inside = parent.span[0] <= start and end <= parent.span[1]
            assert inside or isinstance(parent, n.List) or not start, (parent, node)
        written = text[start:end].replace("\\\n", "")
        if isinstance(node, n.Literal) and node.text != written:
            # Where backquotes or <<- took characters out, or a list was put together.
            together = node.text == " ".join(written.split()).replace("( ", "(")
            assert "\\" in written or "\t" in written or "`" in text or together, node
        if isinstance(node, n.SingleQuoted):
            assert "`" in text or text[start:end] == f"'{node.text}'", node


@pytest.mark.parametrize("text", VALID)
def test_spans_slice_to_their_own_text(text: str) -> None:
    """Every node's span lies in its parent's and is the text it was read from."""
    check_spans(text, parse(text))


@pytest.mark.parametrize("text", VALID)
def test_tokens_join_to_the_source(text: str) -> None:
    """Between the tokens lie only blanks, comments, continuations and here-documents."""
    script = parse(text)
    here = {
        position
        for node, _ in nodes(script)
        if isinstance(node, n.HereDocument)
        for position in range(*node.span)
    }
    delimiters = {node.delimiter for node, _ in nodes(script) if isinstance(node, n.HereDocument)}
    place = 0
    for token in bash().tokens(text):
        start, end = token.span
        assert start >= place
        between = "".join(c for i, c in enumerate(text[place:start], place) if i not in here)
        for delimiter in delimiters:
            between = between.replace(delimiter, "")
        assert re.fullmatch(r"(?:[ \t\n]|\\\n|\#[^\n]*|\\.)*", between), (between, token.text)
        assert token.text == text[start:end].replace("\\\n", "") or "\\\n" in text[start:end]
        place = end


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """No text makes the parser fail: it gives a tree, or says what is wrong and where."""
    try:
        script = parse(text)
    except TooComplex:
        return
    check_spans(text, script)
    if script.problem is not None:
        assert script.problem.message
        assert "\n" not in script.problem.message
        assert script.problem.span[0] <= len(text)


@given(st.text(max_size=40))
def test_any_unicode_is_parsed_or_refused(text: str) -> None:
    """Nor does any sequence of code points."""
    parse(text)


@given(st.sampled_from(VALID), st.integers(1, 50))
def test_offsets_shift_every_span(text: str, shift: int) -> None:
    """A nested text's spans refer to the outer source."""
    plain = [node.span for node, _ in nodes(parse(text))]
    shifted = [node.span for node, _ in nodes(parse(text, shift))]
    listed = [node.span for node, _ in nodes(parse(text, range(shift, shift + len(text) + 1)))]
    assert shifted == [(start + shift, end + shift) for start, end in plain]
    assert listed == shifted


@given(st.sampled_from(VALID), st.sampled_from(VALID))
def test_lines_are_parsed_one_after_the_other(first: str, second: str) -> None:
    """What a first script's complete lines mean does not depend on what follows."""
    if not first.endswith("\n") or "<<" in first or "\\" in first:
        return
    alone = parse(first)
    both = parse(first + second)
    count = len(alone.body.items)
    assert both.body.items[:count] == alone.body.items
