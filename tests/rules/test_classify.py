"""The classifiers: each one's own examples, and their order."""

from __future__ import annotations

import pytest

from ringfence.rules.classify import CLASSIFIERS, classify, file_url_path, leads_out
from ringfence.rules.model import BELOW, NAME, UNKNOWN


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.name)
def test_examples_match(classifier):
    """Every example of a classifier matches it, and none of its counterexamples does."""
    assert all(classifier.matches(text, "") for text in classifier.examples)
    if classifier.name != "none":
        assert not any(classifier.matches(text, "") for text in classifier.counterexamples)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.name)
def test_examples_win(classifier):
    """No classifier before it takes an example away."""
    assert {classify(text).name for text in classifier.examples} == {classifier.name}


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.name)
def test_is_described(classifier):
    """A classifier has one sentence, examples and counterexamples."""
    assert classifier.doc.endswith(".")
    assert classifier.examples
    assert classifier.counterexamples


def test_names_are_unique():
    """A name stands for one classifier: explanations refer to it."""
    assert len({classifier.name for classifier in CLASSIFIERS}) == len(CLASSIFIERS)


@pytest.mark.parametrize(
    ("text", "written", "name"),
    [
        ("/home/dev/x", "~/x", "home-relative"),
        ("/home/dev", "~", "home-relative"),
        ("/root/x", "~root/x", "home-relative"),
        ("/etc/hosts", "$F", "absolute"),
        ("/a/../b", "/a/../b", "dot-dot"),
        ("a..b", "a..b", "none"),
        ("CC=/usr/bin/cc", "CC=/usr/bin/cc", "assignment"),
        ("file:///etc/hosts", "file:///etc/hosts", "relative"),
        (f"/etc/{UNKNOWN}", "/etc/$x", "absolute"),
        (f"{NAME}.py", "$i.py", "none"),
    ],
)
def test_classify(text, written, name):
    """The text after expansion decides; a tilde shows in the source."""
    assert classify(text, written).name == name


@pytest.mark.parametrize(
    "text", ["/", "..", "../x", "a/../../b", "~", "~/x", UNKNOWN, UNKNOWN + "/x"]
)
def test_leads_out(text):
    """Words that may name something elsewhere."""
    assert leads_out(text)


@pytest.mark.parametrize("text", ["", "a", "a/b", "./a", "a..b", "-x", BELOW, NAME, f"a{UNKNOWN}"])
def test_stays_below(text):
    """Words that are plainly below the working directory, or no path."""
    assert not leads_out(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("file:///etc/x", "/etc/x"),
        ("FILE://localhost/etc/x", "/etc/x"),
        ("file:/etc/x", "/etc/x"),
        ("file:///a%2Fb%20c", "/a/b c"),
        ("file://x.json", "x.json"),
        ("https://x/y", None),
        ("profile:///x", None),
    ],
)
def test_file_url_path(text, path):
    """A file address names a path, its escapes decoded."""
    assert file_url_path(text) == path
