"""``ringfence install``, ``uninstall`` and ``status``: a user's settings survive all of them."""

from __future__ import annotations

import json
import stat
import subprocess
from pathlib import Path

import pytest

from ringfence.engine.cli import install, main, status
from ringfence.engine.hosts import HOSTS, jsonc
from ringfence.engine.hosts.registration import REGISTRATIONS, Shared, command
from ringfence.engine.hosts.settings import is_registered

PROGRAM = "/opt/ring fence/bin/ringfence"
SHARED = sorted(name for name, one in REGISTRATIONS.items() if isinstance(one.files[0], Shared))
OWN = sorted(REGISTRATIONS.keys() - SHARED)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home directory, and a project below it."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # no Codex of this machine
    for module in (install, status):
        monkeypatch.setattr(module, "program", lambda: PROGRAM)
    for one in REGISTRATIONS.values():
        for file in one.files:
            monkeypatch.delenv(file.variable or "NONE", raising=False)
    return tmp_path


def settings_of(host: str, home: Path) -> Path:
    """A host's settings file, with its folder."""
    path = REGISTRATIONS[host].files[0].path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def texts(path: Path) -> dict[str, str]:
    """Every file below a folder."""
    return {str(p.relative_to(path)): p.read_text() for p in path.rglob("*") if p.is_file()}


@pytest.mark.parametrize("host", sorted(REGISTRATIONS))
def test_the_whole_file(host, home, snapshot):
    """What a user finds in a settings file that was not there."""
    assert main(["install", host]) == 0
    assert texts(home) == snapshot


@pytest.mark.parametrize("host", sorted(REGISTRATIONS))
@pytest.mark.parametrize("where", [[], ["--user"], ["--project"]])
def test_twice_is_once(host, where, home, capsys):
    """And uninstall leaves nothing, and says so when there is nothing."""
    assert main(["install", host, *where]) == 0
    first = texts(home)
    assert main(["install", host, *where]) == 0
    assert texts(home) == first
    assert "as it should be" in capsys.readouterr().out
    assert all(name.startswith("project/") == ("--project" in where) for name in first)
    assert main(["uninstall", host, *where]) == 0
    assert texts(home) == {}
    assert main(["uninstall", host, *where]) == 2


COMMENTED = """\
// what I want
{
\t"model": "große", // the large one
\t/* hooks
\t   of mine */
\t"hooks": {
\t\t"EVENT": [
\t\t\t{"command": "mine"}, // before all others
\t\t],
\t\t"Other": [ { "command":   "other" } ]
\t},
\t"last": [1,2,
\t 3],
}
"""


@pytest.mark.parametrize("host", SHARED)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_all_that_a_user_wrote_is_kept(host, ends, mark, home):
    """Comments, order, blanks, line ends, other hooks, rights: and it can be taken back."""
    path = settings_of(host, home)
    (file,) = REGISTRATIONS[host].files
    *_, event = next(iter(file.entries(PROGRAM)))
    text = mark + COMMENTED.replace("EVENT", event).replace("\n", ends)
    for key, value in file.fixed.items():
        text = jsonc.with_member(text, key, value)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert main(["install", host]) == 0
    after = path.read_bytes().decode()
    assert is_registered(file, host, after)
    value = jsonc.parse(after).value
    assert value["hooks"][event][0] == {"command": "mine"}
    assert value["hooks"]["Other"] == [{"command": "other"}]
    for line in text.split(ends):
        assert line.rstrip(",") in after
    assert ("\r\n" in after) == (ends == "\r\n")
    assert after.count("\n") == after.count(ends)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    backup = path.with_name(f"{path.name}.before-ringfence")
    assert (backup.read_bytes().decode(), stat.S_IMODE(backup.stat().st_mode)) == (text, 0o640)
    assert main(["uninstall", host]) == 0
    assert path.read_bytes().decode() == text
    assert not backup.exists()


def test_a_commented_file(home, snapshot):
    """What it looks like: in the style of the file."""
    path = settings_of("claude-code", home)
    path.write_text(COMMENTED.replace("EVENT", "PreToolUse"))
    assert main(["install", "claude-code"]) == 0
    assert path.read_text() == snapshot


@pytest.mark.parametrize("text", ["{}", "{}\n", "", "\n"])
def test_an_empty_file_stays_there(text, home):
    """It was there before."""
    path = settings_of("claude-code", home)
    path.write_text(text)
    assert main(["install", "claude-code"]) == 0
    assert main(["uninstall", "claude-code"]) == 0
    assert path.read_text().strip() == "{}"


def test_the_first_backup_stays(home, monkeypatch):
    """What was there before Ringfence, not before its last version."""
    path = settings_of("claude-code", home)
    path.write_text('{"model": "x"}')
    main(["install", "claude-code"])
    monkeypatch.setattr(install, "program", lambda: "/new/ringfence")
    main(["install", "claude-code"])
    assert path.with_name("settings.json.before-ringfence").read_text() == '{"model": "x"}'


def test_a_hook_that_a_user_put_beside_ours(home):
    """In the same entry: theirs stays when ours goes."""
    path = settings_of("claude-code", home)
    main(["install", "claude-code"])
    settings = json.loads(path.read_text())
    mine = {"type": "command", "command": "mine"}
    settings["hooks"]["PreToolUse"][0]["hooks"].insert(0, mine)
    path.write_text(json.dumps(settings))
    main(["install", "claude-code"])
    first, second = json.loads(path.read_text())["hooks"]["PreToolUse"]
    assert first["hooks"] == [mine]
    assert second["hooks"][0]["command"].startswith(f"'{PROGRAM}' hook claude-code || ")
    main(["uninstall", "claude-code"])
    assert json.loads(path.read_text())["hooks"]["PreToolUse"] == [first]


def test_a_hook_that_only_speaks_of_ringfence_is_not_ours(home):
    """The name is in other commands, too."""
    path = settings_of("claude-code", home)
    theirs = '{"hooks": {"PreToolUse": [{"hooks": [{"command": "tail ringfence.log"}]}]}}'
    path.write_text(theirs)
    main(["install", "claude-code"])
    main(["uninstall", "claude-code"])
    assert path.read_text() == theirs


@pytest.mark.parametrize("host", OWN)
def test_a_hook_of_that_name_is_not_overwritten(host, home, capsys):
    """It is somebody else's."""
    path = settings_of(host, home)
    path.write_text("mine")
    assert main(["install", host]) == 2
    assert texts(home) == {str(path.relative_to(home)): "mine"}
    assert "another hook has that name" in capsys.readouterr().err
    assert main(["uninstall", host]) == 2
    assert path.read_text() == "mine"


def test_where_a_variable_moves_the_folder(home, monkeypatch):
    """As the hosts themselves have it."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    main(["install", "claude-code"])
    main(["install", "opencode"])
    assert sorted(texts(home)) == [
        ".config/opencode/plugins/ringfence.ts", "elsewhere/settings.json",
    ]  # fmt: skip


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
    [
        "{",
        "[]",
        '{"hooks": 1}',
        '{"hooks": {"PreToolUse": {}}}',
        '{"hooks": {}, "hooks": {}}',
        "{'a': 1}",
        "{/* }",
    ],
)
def test_a_file_that_is_not_understood_is_left_alone(content, home, capsys):
    """The text to add is printed instead."""
    path = home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text(content)
    assert main(["install", "claude-code"]) == 2
    assert texts(home) == {".claude/settings.json": content}
    said = capsys.readouterr().err
    assert "is left alone" in said
    assert PROGRAM in said


def test_a_dry_run_writes_nothing(home, capsys, monkeypatch):
    """It prints the file as it would be, with the launcher that is not made yet."""
    monkeypatch.setattr(install, "launcher", lambda: Path(PROGRAM))
    assert main(["install", "gemini-cli", "--dry-run"]) == 0
    assert texts(home) == {}
    printed = capsys.readouterr().out
    path = settings_of("gemini-cli", home)
    main(["install", "gemini-cli"])
    assert printed == f"{path}:\n{path.read_text()}\n"
    path.write_text('{"mine": 1}')
    main(["install", "gemini-cli"])
    there = texts(home)
    capsys.readouterr()
    assert main(["uninstall", "gemini-cli", "--dry-run"]) == 0
    assert texts(home) == there
    assert capsys.readouterr().out == f'{path}:\n{{"mine": 1}}\n'


def test_in_a_project(home):
    """For a team: the file of the project."""
    assert main(["install", "cursor", "--project"]) == 0
    assert list(texts(home)) == ["project/.cursor/hooks.json"]


def test_a_link_stays_a_link(home):
    """Dotfile managers keep the file elsewhere: it is written there, and never taken away."""
    (home / "dotfiles").mkdir()
    (home / "dotfiles/settings.json").write_text("{}")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").symlink_to(home / "dotfiles/settings.json")
    assert main(["install", "claude-code"]) == 0
    assert (home / ".claude/settings.json").is_symlink()
    (file,) = REGISTRATIONS["claude-code"].files
    assert is_registered(file, "claude-code", (home / "dotfiles/settings.json").read_text())
    assert main(["uninstall", "claude-code"]) == 0
    assert (home / ".claude/settings.json").is_symlink()
    assert (home / "dotfiles/settings.json").read_text() == "{}"


def test_every_registration_is_a_host():
    """And a host's hook command names it."""
    assert REGISTRATIONS.keys() <= HOSTS.keys()


def handlers(host: str, program: str):
    """The handlers in a host's settings."""
    for entry in REGISTRATIONS[host].files[0].entries(program).values():
        yield from entry.get("hooks", [entry])


@pytest.mark.parametrize("host", SHARED)
def test_a_missing_program_blocks(host):
    """Every host runs the call when a hook fails otherwise than with 2, or its own "block"."""
    for handler in handlers(host, "/missing/ringfence"):
        line = handler.get("bash") or handler["command"]
        done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
        assert done.returncode == 2
        assert b"gave no answer" in done.stderr


@pytest.mark.parametrize(
    ("does", "status", "error"),
    [
        ("exit 0", 0, ""),
        ("echo why >&2; exit 2", 2, "why\n"),
        ("exit 1", 2, "Ringfence gave no answer, so the call did not run.\n"),
        ("kill -9 $$", 2, "Ringfence gave no answer, so the call did not run.\n"),
    ],
)
def test_a_program_that_dies_in_silence(does, status, error, home):
    """A block without a word counts for none in some hosts; our own refusal stays as it is."""
    program = home / "ring fence"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    line = command(str(program), "codex")
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.splitlines()[-1:] == error.splitlines()


def test_clines_script(home):
    """It is run as a program, and cancels where Ringfence is gone or says nothing."""
    main(["install", "cline"])
    script = home / ".cline/hooks/PreToolUse"
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["cancel"] is True


def test_status(home, capsys, monkeypatch):
    """One line a file; what another installation registered is outdated."""
    assert main(["status"]) == 0
    assert "with no agent" in capsys.readouterr().out
    main(["install", "claude-code"])
    main(["install", "goose", "--project"])
    monkeypatch.setattr(install, "program", lambda: "/old/ringfence")
    main(["install", "cursor"])
    settings_of("gemini-cli", home).write_text("{")
    capsys.readouterr()
    assert main(["status"]) == 0
    goose = "HOME/project/.agents/plugins/ringfence"
    broken = "unreadable: it is not JSON, with or without comments (line 1, column 1)"
    assert capsys.readouterr().out.replace(str(home), "HOME").splitlines() == [
        "claude-code    user     HOME/.claude/settings.json  registered",
        "cursor         user     HOME/.cursor/hooks.json  outdated",
        f"gemini-cli     user     HOME/.gemini/settings.json  {broken}",
        f"goose          project  {goose}/plugin.json  registered",
        f"goose          project  {goose}/hooks/hooks.json  registered",
    ]
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["state"] == "outdated"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("amp", "amp is set up by hand, as docs/hosts/amp.md says"),
        ("nosuch", "no such agent; there are claude-code, cline, codex"),
    ],
)
@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_an_agent_without_settings(command, name, said, capsys):
    """The error says where to read on."""
    with pytest.raises(SystemExit):
        main([command, name])
    assert said in capsys.readouterr().err
