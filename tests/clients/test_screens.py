"""The same agents on a terminal, where there is a person to ask: their own prompts, answered.

A question of Ringfence's is a prompt of the agent's; Claude Code, Codex and Qwen Code also ask
Ringfence when they are about to prompt by themselves (PermissionRequest).
"""

from __future__ import annotations

import json

import pytest
from helpers.clients import CLIENTS, SECRET
from helpers.program import patient
from helpers.session import LOG, Job, held

ASKING = ["claude", "gemini", "pi", "qwen"]
"""Whose hook, plugin or extension can make them ask."""

PERMISSION = ["claude", "codex", "qwen"]
"""Who ask before they prompt."""


@pytest.fixture
def sit(place, program_of):
    """Sits down at a client: a command in, what happened out."""
    ringfence = patient(place / "bin")

    def run(client, command, *, yes, event=None, rules=""):
        config = place / "home/.config/ringfence/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(rules)
        home, work = str(place / "home"), str(place / "work")
        return held(Job(client, program_of(client), home, work, command, ringfence, event, yes))

    return run


def logged(place):
    """The states and the hosts of what was decided and is to be reviewed."""
    log = place / "home" / LOG
    return [(e["by"], e["decision"]) for e in map(json.loads, log.read_text().splitlines())]


@pytest.mark.parametrize("client", ASKING)
def test_a_question_and_no(sit, place, client):
    """The prompt says what Ringfence says; the model never gets the file."""
    out = sit(client, f"cat {place}/outside.txt", yes=False)
    assert "reaches outside the working directory" in out.question
    assert f"read {place}/outside.txt" in out.question.replace("\n", " ")
    assert SECRET not in out.told
    assert SECRET not in out.printed


@pytest.mark.parametrize("client", ASKING)
def test_a_question_and_yes(sit, place, client):
    """The call runs, and nobody is asked again."""
    out = sit(client, f"cat {place}/outside.txt", yes=True)
    assert "reaches outside the working directory" in out.question
    assert SECRET in out.told


@pytest.mark.parametrize("client", PERMISSION)
def test_permission_denied(sit, place, client):
    """Registered for PermissionRequest alone: no prompt, and the model gets the reason."""
    rules = '[bash]\n"touch *" = {state = "deny", reason = "no touching"}'
    out = sit(client, "touch new", yes=True, event="PermissionRequest", rules=rules)
    assert out.question is None
    assert "no touching" in out.told
    assert not (place / "work/new").exists()
    assert logged(place) == [(f"hook {CLIENTS[client].host}", "deny")]


@pytest.mark.parametrize("client", PERMISSION)
def test_permission_allowed(sit, place, client):
    """The call runs without a prompt."""
    rules = '[bash]\n"touch *" = "allow"'
    out = sit(client, "touch new", yes=False, event="PermissionRequest", rules=rules)
    assert out.question is None
    assert (place / "work/new").exists()
    assert logged(place) == [(f"hook {CLIENTS[client].host}", "allow")]


@pytest.mark.parametrize("yes", [True, False])
@pytest.mark.parametrize("client", PERMISSION)
def test_permission_left_to_the_person(sit, place, client, yes):
    """What Ringfence would ask about, the agent's own prompt asks."""
    out = sit(client, f"touch {place}/new", yes=yes, event="PermissionRequest")
    assert out.question is not None
    assert (place / "new").exists() is yes
    assert logged(place) == [(f"hook {CLIENTS[client].host}", "ask")]


def test_codex_asks_by_itself(sit, place):
    """As installed, with both events: a rule that allows spares the prompt."""
    out = sit("codex", "touch new", yes=False, rules='[bash]\n"touch *" = "allow"')
    assert out.question is None
    assert (place / "work/new").exists()
