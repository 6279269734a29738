"""The same call several times in a row: `special.doom_loop`."""

from __future__ import annotations

import stat

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.loops import MAX_SESSIONS, LoopStore
from ringfence.engine.policy import load_policy
from ringfence.engine.policy.model import LayeredPolicy
from ringfence.rules.model import State

CWD = "/home/dev/project"


def call(command="ls", session="s1", **kwargs):
    """A call of bash in a session."""
    return ToolCall("bash", {"command": command}, CWD, session=session, **kwargs)


@pytest.fixture
def store(tmp_path):
    return LoopStore(tmp_path / "state/loops.json")


def engine(store, tmp_path, text):
    """An engine whose config is ``text``."""
    config = tmp_path / "config.toml"
    config.write_text(text)
    return Engine(load_policy(None, config=str(config)), NoFileSystem(), loops=store)


def states(engine, *calls):
    return [str(engine.decide(one).state) for one in calls]


def test_asks_from_the_third_on(store, tmp_path):
    """Three in a row are a loop; another call between them begins it anew."""
    watching = engine(store, tmp_path, '[special]\ndoom_loop = "ask"\n')
    assert states(watching, *[call()] * 4) == ["allow", "allow", "ask", "ask"]
    assert states(watching, call("pwd"), call(), call(), call()) == ["allow"] * 3 + ["ask"]


def test_denies(store, tmp_path):
    """With the user's own words, and as often as they say."""
    text = '[special]\ndoom_loop = { state = "deny", reason = "think again", repeats = 2 }\n'
    watching = engine(store, tmp_path, text)
    assert states(watching, call(), call()) == ["allow", "deny"]
    decision = watching.decide(call())
    assert "think again" in decision.message
    assert "the same call 3 times in a row" in decision.message


def test_other_sessions_inputs_and_agents_do_not_count(store, tmp_path):
    """It is one agent that goes in circles."""
    watching = engine(store, tmp_path, '[special]\ndoom_loop = "ask"\n')
    mixed = [call(), call(session="s2"), call(agent="x"), call(), call(session=None)]
    assert states(watching, *mixed, *mixed) == ["allow"] * 10


def test_off_until_a_file_says_something(store):
    """Nobody is asked, and nothing is written."""
    assert (
        states(Engine(LayeredPolicy(), NoFileSystem(), loops=store), *[call()] * 5) == ["allow"] * 5
    )
    assert not store.path.exists()


def test_the_origins_form_asks(store, tmp_path):
    """In JSON, what no file sets is asked about, as in the origin."""
    config = tmp_path / "config.json"
    config.write_text('{"bash": {"*": "allow"}}')
    watching = Engine(load_policy(None, config=str(config)), NoFileSystem(), loops=store)
    assert states(watching, *[call()] * 3)[-1] == "ask"


def test_an_untrusted_project_may_tighten(store, tmp_path):
    """Its rule counts besides the user's."""
    from attrs import evolve

    user = engine(store, tmp_path, '[special]\ndoom_loop = "allow"\n').policy.layers
    project = engine(store, tmp_path, '[special]\ndoom_loop = "deny"\n').policy.layers
    held = tuple(evolve(layer, held=True) for layer in project)
    watching = Engine(LayeredPolicy((*user, *held)), NoFileSystem(), loops=store)
    assert states(watching, *[call()] * 3)[-1] == "deny"


def test_store(store):
    """Private, bounded, and without the call itself."""
    for number in range(MAX_SESSIONS + 5):
        assert store.count(call("secret", session=f"s{number}")) == 1
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    text = store.path.read_text()
    assert "secret" not in text
    assert text.count("[") == MAX_SESSIONS
    assert store.count(call(session=None)) == 0


@pytest.mark.parametrize("content", ["", "{", "[]", '{"x": 1}', '{"x": ["a", "b", "c"]}'])
def test_a_damaged_store_counts_anew(store, content):
    """No harm is done by it."""
    store.path.parent.mkdir()
    store.path.write_text(content)
    assert store.count(call()) == 1


def test_a_store_that_cannot_be_used(store, tmp_path, capsys):
    """The call is judged without it, and the reason is told."""
    (tmp_path / "state").write_text("a file")
    watching = engine(store, tmp_path, '[special]\ndoom_loop = "deny"\n')
    assert watching.decide(call()).state is State.ALLOW
    assert "whether this call is repeated is not known" in capsys.readouterr().err


@pytest.mark.parametrize("value", ["1", "0", '"3"', "true", "2.5", "1001"])
def test_bad_numbers(store, tmp_path, value):
    """An error of the config, with its place."""
    with pytest.raises(
        ValueError, match=r"config.toml:2: special.doom_loop.repeats: must be a whole"
    ):
        engine(store, tmp_path, f'[special]\ndoom_loop = {{ state = "ask", repeats = {value} }}\n')
