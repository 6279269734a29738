"""The store: private, whole, shared by many writers, and never believed when damaged."""

from __future__ import annotations

import json
import multiprocessing
import stat

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.grants import Grant, GrantError, GrantStore, Scope
from ringfence.engine.grants.model import Subject
from ringfence.engine.policy.model import LayeredPolicy
from ringfence.rules.model import Operation, State

GRANT = Grant(Subject.PATH, "/etc/hosts", False, Operation.READ, "/etc/hosts", scope=Scope.ALWAYS)


@pytest.fixture
def store(tmp_path):
    return GrantStore(tmp_path / "state/grants.json")


def test_round_trip(store):
    """What is kept is what was given, with an id; the same again is the same grant."""
    [kept] = store.add([GRANT])
    assert store.read() == (kept,)
    assert store.add([GRANT]) == (kept,)
    assert str(kept) == str(GRANT)
    assert store.revoke([kept.id]) == (kept,)
    assert store.read() == ()


def test_rights(store):
    """For its owner alone."""
    store.add([GRANT])
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [
        *("{", "{}x", "[1]", '[{"id": "x"}]', "null", '[{"id": 1, "text": "x"}]', "\0"),
        '[{"id": "a", "text": "/", "subject": "path", "scope": "forever"}]',
        '[{"id": "a", "text": "/", "subject": "path", "scope": "always", "wide": "yes"}]',
    ],
)
def test_damaged(store, content):
    """It grants nothing, says so, and is not overwritten."""
    store.path.parent.mkdir()
    store.path.write_text(content)
    store.path.chmod(0o600)
    with pytest.raises(GrantError, match=r"damaged"):
        store.read()
    with pytest.raises(GrantError):
        store.add([GRANT])
    assert store.path.read_text() == content
    engine = Engine(LayeredPolicy(), NoFileSystem(), grants=store)
    decision = engine.decide(ToolCall.bash("cat /etc/hosts", "/p"))
    assert decision.state is State.ASK
    assert f"No grant counts: {store.path} is damaged" in decision.message


@pytest.mark.parametrize("mode", [0o622, 0o620, 0o606])
def test_others_could_write(store, mode):
    """Then it is not believed."""
    store.add([GRANT])
    store.path.chmod(mode)
    with pytest.raises(GrantError, match="others"):
        store.read()


def test_a_link_is_not_followed(store, tmp_path):
    """It may lead to a file of somebody else's making."""
    store.path.parent.mkdir()
    (tmp_path / "elsewhere").write_text("[]")
    store.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GrantError):
        store.read()


def _add(path, number):
    for n in range(5):
        GrantStore(path).add([Grant(Subject.TOOL, f"t{number}-{n}", scope=Scope.ALWAYS)])


def test_many_writers(store):
    """Nobody's grant is lost."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_add, args=(store.path, n)) for n in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert {grant.text for grant in store.read()} == {
        f"t{n}-{m}" for n in range(6) for m in range(5)
    }


def test_nothing_is_shown_raw(store):
    """A command is hostile text: it reaches neither the file nor a terminal as it is."""
    [kept] = store.add([Grant(Subject.COMMAND, "rm '\x1b[2J\u202e'", scope=Scope.ALWAYS)])
    assert "\x1b" not in str(kept)
    assert "\x1b" not in store.path.read_text()
    assert json.loads(store.path.read_text())[0]["text"] == "rm '\x1b[2J\u202e'"
