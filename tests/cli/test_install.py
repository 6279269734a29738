"""``ringfence install`` and ``doctor``: a user's settings survive, and the hook really stands."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ringfence.engine.cli import doctor, install, main
from ringfence.engine.hosts import HOSTS
from ringfence.engine.hosts.registration import REGISTRATIONS, file_of, registered

PROGRAM = "/opt/ring fence/bin/ringfence"
JSON_HOSTS = sorted(name for name, one in REGISTRATIONS.items() if not one.plugin)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home directory, and a project below it."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(install, "program", lambda: PROGRAM)
    monkeypatch.setattr(doctor, "program", lambda: PROGRAM)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def texts(path: Path) -> dict[str, str]:
    """Every file below a folder."""
    return {str(p.relative_to(path)): p.read_text() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("host", sorted(REGISTRATIONS))
def test_the_whole_file(host, home, snapshot):
    """What a user finds in a settings file that was not there."""
    assert main(["install", host]) == 0
    assert texts(home) == snapshot


@pytest.mark.parametrize("host", sorted(REGISTRATIONS))
def test_twice_is_once(host, home, capsys):
    """And --remove leaves nothing."""
    assert main(["install", host]) == 0
    first = texts(home)
    assert main(["install", host]) == 0
    assert texts(home) == first
    assert "as it should be" in capsys.readouterr().out
    assert main(["install", host, "--remove"]) == 0
    assert texts(home) == {}
    assert main(["install", host, "--remove"]) == 2


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_what_a_user_has_is_kept(host, home):
    """Other keys, other events, other hooks of the same event, in their order, and the old file."""
    path = file_of(host, home, project=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    event = next(iter(REGISTRATIONS[host].hooks(PROGRAM)))
    mine = {
        "model": "große",
        "hooks": {event: [{"command": "mine"}], "Other": [{"command": "other"}]},
        "last": 1,
    }
    before = json.dumps(mine, indent="\t", ensure_ascii=False) + "\n"
    path.write_text(before)
    path.chmod(0o640)
    assert main(["install", host]) == 0
    after = json.loads(path.read_text())
    assert after["hooks"][event][0] == {"command": "mine"}
    assert after["hooks"]["Other"] == [{"command": "other"}]
    assert list(after)[:3] == ["model", "hooks", "last"]
    assert "große" in path.read_text()
    assert "\n\t" in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.with_name(f"{path.name}.before-ringfence").read_text() == before
    assert main(["install", host, "--remove"]) == 0
    left = json.loads(path.read_text())
    for key in REGISTRATIONS[host].fixed:
        left.pop(key)
    assert left == mine


def test_an_older_installation_is_replaced(home, monkeypatch):
    """One hook, which names the program that is there."""
    assert main(["install", "claude-code"]) == 0
    monkeypatch.setattr(install, "program", lambda: "/new/ringfence")
    assert main(["install", "claude-code"]) == 0
    text = (home / ".claude/settings.json").read_text()
    assert text.count("PreToolUse") == 1
    assert PROGRAM not in text
    assert "/new/ringfence" in text


@pytest.mark.parametrize(
    "content",
    ['{\n  // mine\n  "model": "x"\n}\n', "[]", '{"hooks": 1}', '{"hooks": {"PreToolUse": {}}}'],
)
def test_a_file_that_is_not_understood_is_left_alone(content, home, capsys):
    """Comments would be lost: the text to add is printed instead."""
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(content)
    assert main(["install", "claude-code"]) == 2
    assert texts(home) == {".claude/settings.json": content}
    said = capsys.readouterr().err
    assert "is left alone" in said
    assert PROGRAM in said


def test_a_dry_run_writes_nothing(home, capsys):
    """It prints the file as it would be."""
    assert main(["install", "gemini-cli", "--dry-run"]) == 0
    assert texts(home) == {}
    assert "BeforeTool" in capsys.readouterr().out


def test_in_a_project(home):
    """For a team: the file of the project."""
    assert main(["install", "cursor", "--project"]) == 0
    assert list(texts(home)) == ["project/.cursor/hooks.json"]


def test_a_link_stays_a_link(home):
    """Dotfile managers keep the file elsewhere."""
    (home / "dotfiles").mkdir()
    (home / "dotfiles/settings.json").write_text("{}")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(home / "dotfiles/settings.json")
    assert main(["install", "claude-code"]) == 0
    assert (home / ".claude/settings.json").is_symlink()
    assert registered("claude-code", (home / "dotfiles/settings.json").read_text())


def test_every_registration_is_a_host():
    """And a host's hook command names it."""
    assert REGISTRATIONS.keys() <= HOSTS.keys()


@pytest.mark.parametrize("host", JSON_HOSTS)
def test_a_missing_program_blocks(host):
    """Every host runs the call when a hook fails otherwise than with 2, or its own "block"."""
    for entries in REGISTRATIONS[host].hooks("/missing/ringfence").values():
        for entry in entries:
            for handler in entry.get("hooks", [entry]):
                if "args" in handler:
                    assert handler["onFailure"] == "block"
                    continue
                command = handler.get("bash") or handler["command"]
                done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
                assert done.returncode == 2


def test_clines_script(home):
    """It is run as a program, and cancels where Ringfence is gone or says nothing."""
    main(["install", "cline"])
    script = home / ".cline/hooks/PreToolUse"
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["cancel"] is True


# --- doctor ------------------------------------------------------------------------------------


@pytest.fixture
def real(monkeypatch):
    """The program that is installed beside this Python."""
    program = str(Path(sys.executable).parent / "ringfence")
    monkeypatch.setattr(install, "program", lambda: program)
    monkeypatch.setattr(doctor, "program", lambda: program)
    return program


def _said(capsys, *, program, home):
    out = capsys.readouterr().out
    return [
        line
        for line in out.replace(program, "PROGRAM").replace(os.fspath(home), "HOME").splitlines()
        if "answers in" not in line
    ]


def test_doctor_without_a_host(real, home, capsys):
    """The program answers, but nobody asks it."""
    assert main(["doctor"]) == 1
    assert _said(capsys, program=real, home=home) == [
        "ok    policy: the built-in defaults",
        "WRONG no agent is registered; run `ringfence install HOST`",
    ]


def test_doctor_when_all_is_well(real, home, capsys):
    """The file that registers it is named."""
    main(["install", "claude-code"])
    capsys.readouterr()
    assert main(["doctor"]) == 0
    assert _said(capsys, program=real, home=home) == [
        "ok    policy: the built-in defaults",
        "ok    claude-code: registered in HOME/.claude/settings.json",
    ]


def test_doctor_finds_what_is_wrong(real, home, capsys):
    """A config that does not load, two registrations, another program, a settings file as rubble."""
    main(["install", "claude-code"])
    main(["install", "claude-code", "--project"])
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{")
    cursor = home / ".cursor/hooks.json"
    main(["install", "cursor"])
    cursor.write_text(cursor.read_text().replace(real, "/gone/ringfence"))
    (home / "project/.ringfence").mkdir()
    (home / "project/.ringfence/config.toml").write_text('bash = "maybe"\n')
    capsys.readouterr()
    assert main(["doctor"]) == 1
    wrong = [line for line in _said(capsys, program=real, home=home) if line.startswith("WRONG")]
    assert len(wrong) == 4
    assert "every call is refused" in wrong[0]
    assert "registered twice" in wrong[1]
    assert "names another program" in wrong[2]
    assert "gemini-cli: HOME/.gemini/settings.json cannot be read" in wrong[3]


@pytest.mark.usefixtures("real")
def test_doctor_knows_what_codex_trusts(home, capsys):
    """Codex skips a hook that nobody trusted, without a word."""
    main(["install", "codex"])
    capsys.readouterr()
    assert main(["doctor", "codex"]) == 1
    assert "is not trusted, and skipped" in capsys.readouterr().out
    (home / ".codex/config.toml").write_text(
        f'[hooks.state."{home}/.codex/hooks.json:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n'
    )
    assert main(["doctor", "codex"]) == 0


def test_doctor_of_one_host(home, capsys):
    """A program that does not start, a host that is not registered."""
    assert main(["doctor", "pi"]) == 1
    said = _said(capsys, program=PROGRAM, home=home)
    assert said[0].startswith("WRONG PROGRAM does not run")
    assert said[-1] == "WRONG pi: not registered; run `ringfence install pi`"
