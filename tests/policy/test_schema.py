"""The schema for editors and the loader agree on what a config may hold."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ringfence.engine.policy import ConfigError
from ringfence.engine.policy.document import Document
from ringfence.engine.policy.schema import schema
from ringfence.engine.policy.tables import agent_layers, layer

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "engine/policy/config.schema.json"
VALIDATOR = Draft202012Validator(schema())


def loads(data):
    """Whether the loader takes the data."""
    document = Document("f", data, {})
    try:
        layer("t", document, (), data)
        agent_layers("t", document)
    except ConfigError:
        return False
    return True


def test_it_is_a_schema():
    """Of the draft that it names."""
    Draft202012Validator.check_schema(schema())


def test_shipped(request):
    """The file beside the loader is what `config schema` prints."""
    text = json.dumps(schema(), indent=2) + "\n"
    if request.config.option.update_snapshots:
        SHIPPED.write_text(text)
    assert SHIPPED.read_text() == text


@pytest.mark.parametrize("page", ["README.md", "docs/policy.md"])
def test_the_examples_of_the_docs(page):
    """Are valid, for both."""
    text = (ROOT / page).read_text("utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        data = tomllib.loads(example)
        assert not list(VALIDATOR.iter_errors(data))
        assert loads(data)


STATES = st.sampled_from(["allow", "ask", "deny", "Allow", "", 1, None, True])
ANSWERS = st.one_of(
    STATES,
    st.fixed_dictionaries(
        {},
        optional={
            "state": STATES,
            "reason": st.sampled_from(["because", 1, None]),
            "match": st.sampled_from([[], ["a"], "a", [1]]),
            "read": STATES,
            "unheard": STATES,
            "repeats": st.sampled_from([2, 1, "3", 1000, 1001]),
        },
    ),
)
TABLES = st.dictionaries(st.sampled_from(["ls", "/tmp/**", "*", "~", "a\0"]), ANSWERS, max_size=2)
VALUES = st.one_of(TABLES, STATES, st.just([]))
SPECIALS = st.dictionaries(
    st.sampled_from(["external_directory", "doom_loop", "other"]), ANSWERS | TABLES, max_size=2
)
AGENTS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("tools", "bash", "mcp", "skills", "paths"), VALUES),
        "defaultPolicy": st.dictionaries(
            st.sampled_from(["bash", "tools", "x"]), STATES, max_size=2
        ),
        "special": SPECIALS | STATES,
        "headless": STATES,
        "other": STATES,
    },
)
CONFIGS = st.one_of(
    AGENTS, st.dictionaries(st.just("agents"), st.dictionaries(st.just("x"), AGENTS), max_size=1)
)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(CONFIGS)
def test_what_the_loader_takes_the_schema_takes(data):
    """An editor marks nothing that works."""
    if loads(data):
        assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@settings(max_examples=600, deadline=None, derandomize=True)
@given(CONFIGS)
def test_what_the_schema_takes_the_loader_takes(data):
    """And it marks what does not, but for what only the loader can know."""
    outside = data.get("special")
    outside = outside.get("external_directory") if isinstance(outside, dict) else None
    if isinstance(outside, dict) and not {"ls", "state", "read"}.isdisjoint(outside):
        return  # whether a pattern is one of absolute paths
    if not list(VALIDATOR.iter_errors(data)):
        assert loads(data)
