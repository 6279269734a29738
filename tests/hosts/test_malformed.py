"""Broken payloads, and an engine that breaks: for every host, the call does not run."""

from __future__ import annotations

import argparse
import copy
import io
import json
import os
import re
import signal
import sys
import time

import pytest
from helpers.hosts import runs
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.engine.cli import hook
from ringfence.engine.engine import Engine
from ringfence.engine.hosts import HOSTS, MAX_BYTES, host
from ringfence.engine.hosts.model import Answer

CWD = "/home/ann/till"
QUESTION = "cat /etc/hosts"
EVERY = pytest.mark.parametrize("name", sorted(HOSTS))


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory):
    """No config and no log of this user's; Amp's and Windsurf's hooks run in the folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_PROJECT_DIR"):
            patch.delenv(variable, raising=False)
        patch.setenv("AGENT_TOOL_NAME", "Bash")
        patch.setattr(os, "getcwd", lambda: CWD)
        yield


def sample(name):
    """The host's question about a command that reads outside."""
    return copy.deepcopy(dict(host(name).sample(QUESTION, CWD)))


def told(name, content):
    """What the host hears."""
    return hook.respond(host(name), content, None)


def places(value, path=()):
    """The path of every value inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))


def changed(value, path, new):
    """The payload with another value at a path; without it for ``...``."""
    value = copy.deepcopy(value)
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if new is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return value


@EVERY
def test_the_question_itself(name):
    """The control: it is understood, and objected to; a harmless one is not."""
    answer = told(name, json.dumps(sample(name)).encode())
    assert not runs(name, answer)
    assert "could not judge" not in answer.stdout + answer.stderr
    harmless = json.dumps(host(name).sample("ls", CWD)).encode()
    assert runs(name, told(name, harmless))


@EVERY
@given(st.data())
@settings(max_examples=40)
def test_cut_short(name, data):
    """Wherever the pipe broke."""
    content = json.dumps(sample(name)).encode()
    length = data.draw(st.integers(0, len(content) - 1))
    assert not runs(name, told(name, content[:length]))
    assert not runs(name, told(name, content + content[: length + 1]))


@EVERY
def test_a_value_of_another_type(name):
    """Each value in turn, or none at all: nothing is taken for what it is not."""
    payload = sample(name)
    for path in places(payload):
        for new in (..., None, True, 7, 1.5, [], {}, [[]], {"a": 1}, [None], ""):
            content = json.dumps(changed(payload, path, new)).encode()
            answer = told(name, content)
            if new is ... or new in (None, "", [], {}, [None]):
                # What is left may be a question about nothing: an empty command, no session.
                allowed = runs(name, answer) and b"cat /etc/hosts" in content
            else:
                allowed = runs(name, answer)
            assert not allowed, (path, new, answer)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@EVERY
@given(st.data())
@settings(max_examples=40)
def test_more_than_it_should_be(name, data):
    """What is added beside the question changes nothing."""
    extra = data.draw(st.dictionaries(st.text(min_size=9, max_size=12), JSON, max_size=3))
    assert not runs(name, told(name, json.dumps({**extra, **sample(name)}).encode()))


@EVERY
@given(st.one_of(st.binary(max_size=60), JSON.map(lambda value: json.dumps(value).encode())))
@settings(max_examples=40)
def test_something_else_altogether(name, content):
    """Any bytes, any JSON. Amp sends the arguments alone, so that any object is a question."""
    answer = told(name, content)
    if name != "amp" or not content.strip().startswith(b"{"):
        assert not runs(name, answer)


@EVERY
@given(st.data())
@settings(max_examples=20)
def test_no_utf8(name, data):
    """A byte that is none."""
    content = json.dumps(sample(name)).encode()
    at = data.draw(st.integers(0, len(content)))
    byte = data.draw(st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x80"]))
    assert not runs(name, told(name, content[:at] + byte + content[at:]))


@EVERY
def test_a_byte_order_mark(name):
    """At the beginning, it is no mistake; in another encoding, or twice, it is."""
    content = json.dumps(sample(name))
    plain = told(name, content.encode())
    assert told(name, b"\xef\xbb\xbf" + content.encode()) == plain
    for other in (content.encode("utf-16"), b"\xef\xbb\xbf" * 2 + content.encode()):
        assert "could not judge" in (answer := told(name, other)).stdout + answer.stderr
        assert not runs(name, answer)


@EVERY
def test_a_key_twice(name):
    """Ringfence would read one of them, and the host perhaps the other."""
    payload = sample(name)
    for path in places(payload):
        if not isinstance(path[-1], str):
            continue
        key = json.dumps(path[-1])
        text = json.dumps(payload)
        doubled = text.replace(f"{key}: ", f"{key}: null, {key}: ", 1)
        assert doubled != text
        assert not runs(name, told(name, doubled.encode())), path


@EVERY
@pytest.mark.parametrize("depth", [500, 100_000])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}"), ("[", "")])
def test_depth(name, depth, brackets):
    """Beside the question, in it, and instead of it."""
    opening, closing = brackets
    deep = opening * depth + ("1" if opening != "[" else "") + closing * depth
    payload = sample(name)
    text = json.dumps(payload)
    assert not runs(name, told(name, deep.encode()))
    assert not runs(name, told(name, f'{{"deep": {deep}, {text[1:]}'.encode()))
    for path in places(payload):
        content = json.dumps(changed(payload, path, "DEEP")).replace('"DEEP"', deep)
        if QUESTION in content:
            assert not runs(name, told(name, content.encode())), path


@EVERY
def test_ten_megabytes(name):
    """Beside the question, in the command, and more than is read at all: answered in time."""
    one = host(name)
    text = json.dumps(sample(name))
    filler = "x" * 10_000_000
    for content in (
        f'{{"filler": "{filler}", {text[1:]}',
        text.replace(QUESTION, f"{QUESTION} #{filler}"),
        text.replace(QUESTION, "ls;" * 3_000_000),
        text + " " * MAX_BYTES,
    ):
        data = content.encode()
        said = hook.watched(lambda data=data: hook.respond(one, data, None), name)
        assert not runs(name, Answer(*said))


@EVERY
def test_an_input_as_text(name):
    """Some versions send a tool's input as JSON in a text: it is read, or refused, as any other."""
    payload = sample(name)
    for path in places(payload):
        inner = payload
        for key in path:
            inner = inner[key]
        if isinstance(inner, dict):
            for text in (json.dumps(inner), json.dumps(inner)[:-1], "{}", "[]", "null", ""):
                answer = told(name, json.dumps(changed(payload, path, text)).encode())
                assert not runs(name, answer), (path, text)


# --- an engine that breaks ---------------------------------------------------------------------


def hangs(*_):
    """Waits, and catches everything."""
    while True:
        try:
            time.sleep(30)
        except BaseException:  # noqa: BLE001
            continue


def hangs_in_c(*_):
    """A regular expression holds the interpreter's lock: no signal handler would run."""
    re.match(r"(a*)*b", "a" * 40)


def is_killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(*_):
    os._exit(0)


def fails(*_):
    raise SystemExit(0)


def runs_out_of_memory(*_):
    raise MemoryError


@EVERY
@pytest.mark.parametrize(
    "breaks", [hangs, hangs_in_c, is_killed, leaves, fails, runs_out_of_memory]
)
def test_a_broken_engine(name, breaks, monkeypatch, capsys):
    """Within a second of being loaded, the host hears its own no."""
    monkeypatch.setattr(Engine, "decide", breaks)
    content = json.dumps(host(name).sample("ls", CWD)).encode()  # which would be let pass
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    start = time.monotonic()
    status = hook.run(argparse.Namespace(host=name, config=None, start_resident=False))
    assert time.monotonic() - start < hook.START_LIMIT + 2  # loading comes first
    output = capsys.readouterr()
    answer = Answer(output.out.strip(), output.err.strip(), status)
    assert not runs(name, answer)
    assert "Ringfence could not judge this call, so it did not run" in output.out + output.err
    assert hook.TIME_LIMIT < 1


@EVERY
@pytest.mark.parametrize("half", map(chr, (0xD800, 0xDFFF, 0xDC80)))
def test_half_a_character(name, half):
    """A host opens another file than the one of that name, which nothing can be given."""
    question = json.dumps(host(name).sample(f"cat {half}", CWD)).encode()
    answer = told(name, question)
    assert "half a character" in answer.stdout + answer.stderr
    whole = json.dumps(host(name).sample("cat \U0001f600", CWD)).encode()
    answer = told(name, whole)
    assert "half a character" not in answer.stdout + answer.stderr
