"""What hosts really send, in the forms that were captured or documented, and what they hear."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ringfence import Engine
from ringfence.engine import terminal
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.hosts import HOSTS, host
from ringfence.engine.hosts.payload import PayloadError

CWD = "/home/ann/till"
LINES = (Path(__file__).parent / "payloads.jsonl").read_text().splitlines()
PAYLOADS = [json.loads(line) for line in LINES]


@pytest.fixture(autouse=True)
def world(monkeypatch):
    """No terminal, and the hook's own directory where the host says nothing of one."""
    monkeypatch.setattr(terminal, "known", False)
    monkeypatch.setattr(os, "getcwd", lambda: CWD)
    monkeypatch.setenv("HOME", "/home/ann")


def heard(one, content, environment):
    """How a payload is read, judged and answered, in a few lines."""
    try:
        request = one.read(content, environment)
    except PayloadError as error:
        answer = one.refuse(str(error))
        return f"{error}\n  -> {answer.status} {answer.stdout or answer.stderr}"
    call = request.call
    where = call.cwd + "".join(f" + {root}" for root in call.roots)
    who = f", agent {call.agent}" if call.agent else ""
    decision = Engine(filesystem=NoFileSystem()).decide(call)
    found = ", ".join(f"{f.effect.operation.value} {f.path}" for f in decision.findings)
    answer = one.answer(decision, request)
    said = answer.stdout or answer.stderr.partition("\n")[0]
    return (
        f"{request.event or 'call'}: {call.tool} {json.dumps(dict(call.input))}\n"
        f"  in {where}, session {call.session}{who}\n"
        f"  {decision.state.value}{' by default' if decision.default else ''}: {found or 'nothing'}\n"
        f"  -> {answer.status} {said[:120]}"
    )


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_each_payload(name, snapshot):
    """Tools, inputs and directories become canonical, and the answer is in the host's words."""
    one = host(name)
    mine = [payload for payload in PAYLOADS if payload["host"] == name]
    assert mine, f"payloads.jsonl has no line of {name}: add one for each question it asks"
    said = [
        heard(one, json.dumps(payload["payload"]).encode(), payload.get("environment", {}))
        for payload in mine
    ]
    assert "\n".join(said) == snapshot


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("apply_patch <<'E'\n*** Begin Patch\n*** Delete File: /x\n*** End Patch\nE", "patch"),
        ("apply_patch <<E\n*** Delete File: /x\nE\n", "patch"),  # nothing in it is expanded
        ("apply_patch <<E\n*** Delete File: $HOME/x\nE\n", "bash"),
        ("apply_patch <<'E'\n*** Delete File: /x\nE\nrm /y", "bash"),
        ("apply_patch <<'E' && rm /y\n*** Delete File: /x\nE", "bash"),
        ("apply_patch <<'E' > /y\n*** Delete File: /x\nE", "bash"),
        ("apply_patch <<'E' &\n*** Delete File: /x\nE", "bash"),
        ("apply_patch 3<<'E'\n*** Delete File: /x\nE", "bash"),
        ("apply_patch <<'E'\n*** Delete File: /x\n", "bash"),  # the end is missing
        ("apply_patch_2 <<'E'\n*** Delete File: /x\nE", "bash"),
        ("apply_patch \"$(cat)\" <<'E'\n*** Delete File: /x\nE", "bash"),
        ("apply_patch <<'E'\n*** Delete File: /x\nE\n)", "bash"),
        ("apply_patch < patch", "bash"),
    ],
)
def test_a_patch_that_comes_as_a_command(command, tool):
    """On Codex it is the patch that it is, if it is nothing else; the path counts either way."""
    payload = {**host("codex").sample(command, CWD)}
    call = host("codex").read(json.dumps(payload).encode(), {}).call
    assert call.tool == tool
    found = {finding.path for finding in Engine(filesystem=NoFileSystem()).decide(call).findings}
    assert tool == "bash" or found == {"/x"}


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_no_objection_is_no_allow(name):
    """It says nothing that would skip the host's own prompt; where the host takes allow, it may."""
    said = host(name).no_objection()
    assert said.status == 0
    assert "permissionDecision" not in said.stdout
    assert "behavior" not in said.stdout
