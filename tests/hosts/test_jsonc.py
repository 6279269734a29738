"""Editing JSON with comments: what is not edited stays, byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.hosts import jsonc

BLANK = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n\t\t"])
COMMENT = st.sampled_from(['// a, "b": [\n', "/* }, ] // */", "/**/", "// x\r\n"])
GAP = st.lists(BLANK | COMMENT, max_size=3).map("".join)
KEYS = st.sampled_from(["a", "größe", "on\\u0061", 'q\\"{', "\\ud83d\\ude00"])
ATOMS = st.sampled_from(["1", "-0.5e+7", "true", "null", '"x"', '"// no [comment"', '"\\\\"'])


@st.composite
def containers(draw, inner, *, least=0):
    """A list or an object, with gaps wherever there may be one, and perhaps a trailing comma."""
    kind = draw(st.sampled_from("[{"))
    parts = draw(st.lists(inner, min_size=least, max_size=3))
    keys = draw(st.lists(KEYS, min_size=len(parts), max_size=len(parts), unique=True))
    return written(draw, kind, dict(zip(keys, parts, strict=True)))


def written(draw, kind, parts):
    """The text of a container."""
    text = []
    for key, part in parts.items():
        head = f'"{key}"{draw(GAP)}:{draw(GAP)}' if kind == "{" else ""
        text.append(f"{draw(GAP)}{head}{part}{draw(GAP)}")
    close = "}" if kind == "{" else "]"
    if not text:
        return kind + close
    trailing = draw(st.sampled_from(["", ","]))
    end = draw(GAP) if trailing else ""
    return f"{kind}{','.join(text)}{trailing}{end}{close}"


VALUES = st.recursive(ATOMS, containers, max_leaves=6)


@st.composite
def settings(draw):
    """A settings file: an object that may have hooks, and among them the event."""
    items = {key: draw(VALUES) for key in draw(st.lists(KEYS, max_size=2, unique=True))}
    if draw(st.booleans()):
        events = {"Other": draw(VALUES)}
        if draw(st.booleans()):
            entries = {str(n): draw(VALUES) for n in range(draw(st.integers(1, 3)))}
            events["Event"] = written(draw, "[", entries)
        items["hooks"] = written(draw, "{", events)
    order = draw(st.permutations(list(items)))
    text = written(draw, "{", {key: items[key] for key in order})
    return f"{draw(st.sampled_from(['', chr(0xFEFF)]))}{draw(GAP)}{text}{draw(GAP)}"


ENTRY = {"matcher": "*", "hooks": [{"command": "x // y", "on": True}]}
PATH = ("hooks", "Event")


@given(settings(), st.booleans())
def test_what_is_added_can_be_taken_out(text, first):
    """And in between the value is what it was, with the entry in its place."""
    before = jsonc.parse(text).value
    after = jsonc.with_item(text, PATH, ENTRY, first=first)
    expected = json.loads(json.dumps(before))
    entries = expected.setdefault("hooks", {}).setdefault("Event", [])
    entries.insert(0 if first else len(entries), ENTRY)
    assert jsonc.parse(after).value == expected
    assert list(jsonc.parse(after).value) == list(expected)
    at = 0 if first else len(entries) - 1
    assert jsonc.without(after, (*PATH, at)) == text


@given(settings())
def test_nothing_else_is_touched(text):
    """Every character of the old text is in the new one, in its order."""
    rest = iter(jsonc.with_item(text, PATH, ENTRY))
    assert all(character in rest for character in text)


@given(settings(), st.data())
def test_any_part_can_be_taken_out(text, data):
    """Whatever is left is JSON, and what it says lacks that part alone."""
    root = jsonc.parse(text)
    paths = [()]
    for path in paths:
        node = root.at(path)
        paths += [(*path, part.key) for part in node.parts]
    if len(paths) == 1:
        return
    path = data.draw(st.sampled_from(paths[1:]))
    expected = json.loads(json.dumps(root.value))
    _take(expected, path)
    left = jsonc.parse(jsonc.without(text, path)).value
    # A container that the edit left empty goes, unless a comment stands in it.
    depth = len(path) - 1
    while left != expected and depth:
        _take(expected, path[:depth])
        depth -= 1
    assert left == expected


def _take(value, path):
    for key in path[:-1]:
        value = value[key]
    del value[path[-1]]


@given(settings())
def test_a_value_can_be_replaced(text):
    """In its place."""
    root = jsonc.parse(text)
    if not root.parts:
        return
    key = root.parts[0].key
    after = jsonc.replaced(text, (key,), ENTRY)
    assert jsonc.parse(after).value == {**root.value, key: ENTRY}
    assert after.startswith(text[: root.parts[0].node.start])
    assert after.endswith(text[root.parts[0].node.end :])


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
))  # fmt: skip
def test_plain_json_is_read_as_json_reads_it(value):
    """However it is laid out."""
    for indent in (None, 2, "\t"):
        assert jsonc.parse(json.dumps(value, indent=indent)).value == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "{]", "[,]", "{,}", "[1,,]", "{'a': 1}", "{a: 1}", "[01]", "[1] 2", '["\n"]', "[NaN]",
     '["\\x"]', "/* ", "# x\n{}", "\ufeff\ufeff{}"],
)  # fmt: skip
def test_what_is_no_json(text):
    """Nothing is guessed."""
    with pytest.raises(jsonc.JsoncError, match="is not JSON"):
        jsonc.parse(text)


def test_depth():
    """A file that is nested deeply is read like any other."""
    assert jsonc.parse("[" * 5000 + "]" * 5000).parts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "it is not an object"),
        ('{"hooks": []}', "its key hooks is not an object"),
        ('{"hooks": {"Event": {}}}', "its key hooks.Event is not a list"),
        ('{"hooks": {}, "hooks": {}}', "its key hooks stands twice in one object"),
    ],
)
def test_another_form(text, why):
    """An edit does not bend what is there."""
    with pytest.raises(jsonc.JsoncError, match=f"^{why}$"):
        jsonc.with_item(text, PATH, ENTRY)
