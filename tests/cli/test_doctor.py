"""``ringfence doctor``: what is wrong is found, and said with how to mend it."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest
from helpers.program import patient

from ringfence.engine.cli import doctor, install, main, status
from ringfence.engine.hosts import HOSTS, codex_trust
from ringfence.engine.hosts.registration import REGISTRATIONS
from ringfence.engine.resident import client


@pytest.fixture(scope="module")
def ringfence(tmp_path_factory):
    """The installation that is examined."""
    return patient(tmp_path_factory.mktemp("bin"))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, ringfence):
    """A home directory, and a project below it."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no Codex of this machine
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "SLOW", 60.0)  # a busy machine is no failure
    use(monkeypatch, ringfence)
    return tmp_path


def use(monkeypatch, program):
    """Make ``program`` the installation that is examined."""
    for module in (install, doctor, status):
        monkeypatch.setattr(module, "program", lambda: program)


@pytest.fixture
def said(capsys, home, ringfence):
    """Runs doctor: its lines, without paths and times of this run."""

    def run(*arguments, wrong):
        capsys.readouterr()
        assert main(["doctor", *arguments]) == int(wrong)
        text = capsys.readouterr().out.replace(ringfence, "PROGRAM").replace(str(home), "HOME")
        lines = [line.partition(", within")[0] for line in text.splitlines()]
        return [line for line in lines if line != NO_RESIDENT]

    return run


NO_RESIDENT = "ok    resident engine: none now; the first call of a registered hook starts it"
ANSWERED = "`cat /etc/hosts` and a broken payload are answered as they should be"


def test_no_agent(said):
    """Nobody asks Ringfence."""
    assert said(wrong=True) == [
        "ok    policy: the built-in defaults",
        "WRONG no agent is registered; run `ringfence install HOST`",
    ]
    assert said("pi", wrong=True)[1:] == [
        "WRONG pi: not registered; run `ringfence install pi`",
    ]


@pytest.mark.parametrize("host", sorted(REGISTRATIONS.keys() - {"codex"}))
def test_all_is_well(host, said):
    """What is registered is tried, for each host in its own form."""
    main(["install", host])
    path = REGISTRATIONS[host].files[0].path(Path("HOME"))
    assert said(host, wrong=False) == [
        "ok    policy: the built-in defaults",
        f"ok    {host}: registered in {path}",
        f"ok    {host}: {ANSWERED}",
    ]


def test_which_config_applies(home, said):
    """And whether it may loosen anything; a broken one stops every call."""
    main(["install", "pi"])
    config = home / "project/.ringfence/config.toml"
    config.parent.mkdir()
    config.write_text('[tools]\nfetch = "ask"\n')
    assert said(wrong=False)[:2] == [
        "ok    policy: HOME/project/.ringfence/config.toml",
        "ok    HOME/project/.ringfence/config.toml only tightens; `ringfence trust HOME/project` lets it loosen",
    ]
    config.write_text('bash = "maybe"\n')
    lines = said(wrong=True)
    assert lines[0].startswith("WRONG policy: HOME/project/.ringfence/config.toml:1: bash: must be")
    assert lines[0].endswith("; every call is refused until this is mended")
    assert lines[-1] == f"ok    pi: {ANSWERED}"


def test_registered_twice(said):
    """Each call would be asked about twice."""
    main(["install", "claude-code"])
    main(["install", "claude-code", "--project"])
    assert said(wrong=True)[1] == (
        "WRONG claude-code: registered twice (HOME/.claude/settings.json and"
        " HOME/project/.claude/settings.json); leave one, by `ringfence uninstall claude-code` with"
        " --user or --project, or by hand"
    )


def test_registered_in_a_file_that_install_does_not_write(home, said, ringfence):
    """The host reads them, too."""
    main(["install", "claude-code"])
    beside = home / "project/.claude/settings.local.json"
    beside.parent.mkdir()
    beside.write_text((home / ".claude/settings.json").read_text())
    assert (
        "registered twice (HOME/.claude/settings.json and HOME/project/.claude/settings.local.json)"
        in said("claude-code", wrong=True)[1]
    )
    beside.write_text('{"disableAllHooks": true}')
    assert said("claude-code", wrong=True)[1] == (
        "WRONG claude-code: HOME/project/.claude/settings.local.json turns hooks off by"
        " disableAllHooks; take that out"
    )
    main(["install", "codex"])
    (home / ".codex/config.toml").write_text(
        f'[[hooks.PreToolUse]]\nhooks = [{{command = "{ringfence} hook codex"}}]\n'
    )
    assert "and HOME/.codex/config.toml); leave one" in said("codex", wrong=True)[1]


def test_another_installation(said, monkeypatch, ringfence):
    """The program that is registered may be gone, or old."""
    use(monkeypatch, "/gone/ringfence")
    main(["install", "cursor", "--project"])
    use(monkeypatch, ringfence)
    assert said(wrong=True)[1] == (
        "WRONG cursor: HOME/project/.cursor/hooks.json is not what this installation registers;"
        " run `ringfence install cursor --project` again"
    )


def test_hooks_are_turned_off(home, said):
    """By the host's own switch."""
    main(["install", "gemini-cli"])
    path = home / ".gemini/settings.json"
    path.write_text(
        path.read_text().replace("{", '{"hooksConfig": {"disabled": ["ringfence"]},', 1)
    )
    assert said(wrong=True)[1] == (
        "WRONG gemini-cli: HOME/.gemini/settings.json turns hooks off by hooksConfig.disabled;"
        " take that out"
    )


def test_a_broken_settings_file(home, said):
    """The host does not read it either."""
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{")
    assert said(wrong=True)[1] == (
        "WRONG gemini-cli: HOME/.gemini/settings.json: it is not JSON, with or without comments"
        " (line 1, column 1); mend the file"
    )


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("exit 0", "a question is answered wrongly ()"),
        ("echo nonsense; exit 1", "a question is answered wrongly (Ringfence gave no answer"),
        ("sleep 9", "does not run: "),
    ],
)
def test_a_program_that_does_not_answer(home, said, monkeypatch, does, told):
    """What stands there runs, but says something else, or nothing."""
    program = home / "ringfence"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    use(monkeypatch, str(program))
    monkeypatch.setattr(doctor, "TIMEOUT", 1)
    main(["install", "qwen-code"])
    assert told in said(wrong=True)[-1]


def test_a_slow_program(said, monkeypatch):
    """Hosts would not wait."""
    monkeypatch.setattr(doctor, "SLOW", 0.0)
    main(["install", "pi"])
    assert "hosts give up waiting" in said(wrong=True)[-1]


def test_what_codex_trusts(home, said):
    """It skips a hook that nobody trusted, without a word; without Codex its config is read."""
    main(["install", "codex"])
    assert said("codex", wrong=True)[2] == (
        "WRONG codex: HOME/.codex/hooks.json is not trusted, so Codex skips the hook: run"
        " `ringfence install codex` again, or start codex, open /hooks, and trust it"
    )
    config = home / ".codex/config.toml"
    state = (
        f'[hooks.state."{home}/.codex/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n'
    )
    config.write_text(state)
    assert said("codex", wrong=False)[2] == f"ok    codex: {ANSWERED}"
    config.write_text(f"features.hooks = false\n{state}")
    assert "turns hooks off (features.hooks)" in said("codex", wrong=True)[2]
    config.write_text("[")
    assert "cannot be read" in said("codex", wrong=True)[2]


SERVER = """#!{python}
import json, sys
hooks = {hooks!r}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {{}}
    if message["method"] == "hooks/list":
        result = {{"data": [{{"hooks": hooks}}]}}
    if message["method"] == "config/batchWrite":
        open({written!r}, "w").write(json.dumps(message["params"]))
        for hook in hooks:
            hook["trustStatus"] = "trusted"
    print(json.dumps({{"method": "noise"}}))
    print(json.dumps({{"id": message["id"], "result": result}}), flush=True)
"""


@pytest.fixture
def codex(home, monkeypatch):
    """A Codex that speaks its app server's protocol, with one hook of ours and one of another."""

    def make(status="untrusted", text=SERVER):
        ours = {
            "key": f"{home}/.codex/hooks.json:pre_tool_use:0:0",
            "command": "/bin/ringfence hook codex || exit 2",
            "currentHash": "sha256:ours",
            "trustStatus": status,
        }
        theirs = {**ours, "key": "/repo/.codex/hooks.json:pre_tool_use:0:0", "command": "theirs"}
        written = str(home / "written.json")
        program = home / "bin/codex"
        program.parent.mkdir()
        program.write_text(
            text.format(python=sys.executable, hooks=[theirs, ours], written=written)
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        return Path(written)

    return make


def test_install_tells_codex_to_trust_the_hook(codex, home, capsys, said):
    """Ours alone, whatever other hooks Codex finds."""
    written = codex()
    assert main(["install", "codex"]) == 0
    assert "Codex trusts the hook" in capsys.readouterr().out
    (edit,) = json.loads(written.read_text())["edits"]
    assert edit["keyPath"] == "hooks.state"
    assert edit["value"] == {
        f"{home}/.codex/hooks.json:pre_tool_use:0:0": {"trusted_hash": "sha256:ours"}
    }
    assert "is untrusted, so Codex skips" in said("codex", wrong=True)[2]  # a new process, as made


def test_codex_says_what_it_trusts(codex, said):
    """It knows best."""
    codex("trusted")
    main(["install", "codex"])
    assert said("codex", wrong=False)[2] == f"ok    codex: {ANSWERED}"


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\ncat\n", "#!/bin/sh\nsleep 9\n"]
)
def test_a_codex_that_cannot_be_asked(codex, capsys, monkeypatch, text):
    """The user is told how to do it by hand."""
    monkeypatch.setattr(codex_trust, "PATIENCE", 0.5)
    codex(text=text)
    assert main(["install", "codex"]) == 0
    output = capsys.readouterr()
    assert "could not be told to trust the hook" in output.err
    assert "open /hooks, and trust the hook" in output.out


def test_every_host_can_be_examined():
    """Or is named by its page as one to register by hand."""
    assert HOSTS.keys() - REGISTRATIONS.keys() == {"amp"}


def test_no_resident_engine(capsys):
    """It is no fault; neither is one that is switched off."""
    main(["doctor"])
    assert NO_RESIDENT in capsys.readouterr().out.splitlines()


def test_a_resident_engine_that_is_switched_off(said, monkeypatch):
    """By the environment."""
    monkeypatch.setenv("RINGFENCE_RESIDENT", "off")
    assert "ok    resident engine: RINGFENCE_RESIDENT=off keeps it out" in said(wrong=True)


def test_a_folder_that_others_can_enter(said, home):
    """Then no engine is asked, and each call loads one: slow, and a riddle if nobody says so."""
    (home / "ringfence").mkdir(mode=0o777)
    (home / "ringfence").chmod(0o777)
    wrong = (
        "WRONG resident engine: HOME/ringfence is not yours alone, so no resident engine is used"
    )
    assert f"{wrong}; remove it" in said(wrong=True)


def test_a_resident_engine(said, monkeypatch):
    """Whoever listens there must be the same user."""
    # The path of a socket is short.
    with tempfile.TemporaryDirectory() as run, socket.socket(socket.AF_UNIX) as listening:
        monkeypatch.setenv("XDG_RUNTIME_DIR", run)
        Path(run, "ringfence").mkdir(mode=0o700)
        listening.bind(str(Path(run, "ringfence", os.fsdecode(client.name()))))
        listening.listen()
        assert "ok    resident engine: loaded" in said(wrong=True)
