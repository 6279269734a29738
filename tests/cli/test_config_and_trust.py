"""``ringfence config`` and ``ringfence trust``: what holds, what is wrong, what may loosen."""

from __future__ import annotations

import json
import os
import pty
import sys

import pytest

from ringfence.engine.cli import main

CONFIG = """\
[bash]
"rm *" = { state = "deny", reason = "use trash" }
[special.external_directory]
"*" = "ask"
"/tmp/**" = { read = "allow" }
[paths]
"**/.env" = { read = "ask", write = "deny" }
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a config, in which the user has none."""
    folder = tmp_path / "project"
    (folder / ".ringfence").mkdir(parents=True)
    (folder / ".ringfence/config.toml").write_text(CONFIG)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def run(capsys, *arguments):
    """The exit status and what was printed, the folder of the test left out."""
    status = main(arguments)
    out, err = capsys.readouterr()
    here = os.path.realpath(os.curdir).removesuffix("/project")
    return status, (out + err).replace(here, "")


@pytest.mark.usefixtures("project")
def test_show(capsys, snapshot):
    """Each rule with its layer, file and line, the strongest last."""
    assert run(capsys, "config", "show") == snapshot


@pytest.mark.usefixtures("project")
def test_show_json(capsys):
    """The same as data."""
    status, out = run(capsys, "config", "show", "--json")
    rows = json.loads(out)
    assert status == 0
    assert rows[-1] == {
        "layer": "project",
        "project": "/project",
        "rule": 'paths "**/.env" delete/write',
        "state": "deny",
        "reason": None,
        "source": "/project/.ringfence/config.toml:7",
        "held": True,
    }


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[bash]\nx = "maybe"\n', ":2: bash.x: must be"),
        ('[bash]\nx = { reason = "y" }\n', ":2: bash.x: has a reason, but no state"),
        ('[bash]\nx = { state = "deny", reason = 1 }\n', ":2: bash.x.reason: must be a text"),
        ('[special.external_directory]\n"x" = "ask"\n', "is no pattern of absolute paths"),
        ('[paths]\nx = { reed = "ask" }\n', ":2: paths.x.reed: unknown key"),
    ],
)
def test_check(project, capsys, content, problem):
    """An error names the file, the line and the key, and nothing is decided without it."""
    (project / ".ringfence/config.toml").write_text(content)
    status, text = run(capsys, "config", "check")
    assert (status, problem in text) == (2, True), text
    assert run(capsys, "check", "--no-log", "ls")[0] == 2


def test_show_what_a_file_leaves_out(project, capsys):
    """In the origin's form a surface without a default is ask, unless another file gives one."""
    (project / ".ringfence/config.toml").unlink()
    (project / ".ringfence/config.json").write_text('{"defaultPolicy": {"bash": "allow"}}')
    (project.parent / "home/.config/ringfence").mkdir(parents=True)
    (project.parent / "home/.config/ringfence/config.json").write_text("{}")
    _, text = run(capsys, "config", "show")
    asked = "defaultPolicy.bash = ask  (/home/.config/ringfence/config.json, which leaves it out)"
    assert asked in text
    assert "defaultPolicy.bash = allow  (/project/.ringfence/config.json:1)" in text
    assert "defaultPolicy.mcp = ask  (/project/.ringfence/config.json, which leaves it" in text
    run(capsys, "trust")
    _, text = run(capsys, "config", "show")
    assert asked not in text


def test_show_tells_of_agents(project, capsys):
    """Whoever looks for the rules of one agent learns how to see them."""
    (project / ".ringfence/config.toml").write_text('[agents.reviewer.tools]\nedit = "deny"\n')
    assert run(capsys, "config", "show")[1].endswith(
        "\nNot shown: what holds for reviewer. `--agent NAME` adds it.\n"
    )
    _, text = run(capsys, "config", "show", "--agent", "reviewer")
    assert "tools.edit = deny" in text
    assert "Not shown" not in text


@pytest.mark.parametrize(
    ("tool", "close"),
    [("webfetsh", "webfetch"), ("Wrte", "write"), ("todowrit", "todowrite")],
)
def test_check_tells_of_likely_slips(project, capsys, tool, close):
    """A rule for a tool that nobody knows never holds, and may be a slip."""
    (project / ".ringfence/config.toml").write_text(f'[tools]\n{tool} = "deny"\n')
    status, text = run(capsys, "config", "check")
    assert status == 0
    assert (
        f'config.toml:2: tools.{tool}: is no tool that is known here; did you mean "{close}"?'
        in text
    )


@pytest.mark.parametrize(
    ("rules", "overruled"),
    [
        ('"git status" = "allow"\n"git *" = "ask"', '"git *" in line 3'),
        ('"rm *" = "deny"\n"ls" = "allow"\n"*" = "ask"', '"*" in line 4'),
        ('"git *" = "ask"\n"git status" = "allow"', None),
        ('"git status" = "ask"\n"git *" = "ask"', None),
        ('"git push*" = "deny"\n"git p" = "ask"', None),
    ],
)
def test_check_tells_of_rules_without_effect(project, capsys, rules, overruled):
    """The last match wins, which is easily forgotten."""
    (project / ".ringfence/config.toml").write_text(f"[bash]\n{rules}\n")
    status, text = run(capsys, "config", "check")
    assert status == 0
    if overruled is None:
        assert text.endswith("\nNo errors.\n")
        assert len(text.splitlines()) == 2
    else:
        assert "has no effect: the last match wins" in text
        assert overruled in text


@pytest.mark.parametrize("tool", ["deploy_site", "mcp__github__writ", "writ*", "WebFetch"])
def test_check_leaves_other_names_alone(project, capsys, tool):
    """Hosts have tools of their own."""
    (project / ".ringfence/config.toml").write_text(f'[tools]\n"{tool}" = "deny"\n')
    read = "Read: /project/.ringfence/config.toml (only tightens: `ringfence trust` lets it loosen)"
    assert run(capsys, "config", "check") == (0, f"{read}\nNo errors.\n")
    run(capsys, "trust")
    read = "Read: /project/.ringfence/config.toml"
    assert run(capsys, "config", "check") == (0, f"{read}\nNo errors.\n")


def test_check_names_files_that_nobody_reads(project, capsys):
    """A misnamed file would be ignored in silence."""
    (project / ".ringfence/policy.toml").touch()
    status, text = run(capsys, "config", "check")
    assert status == 0
    assert "policy.toml is read by nobody" in text


def test_check_says_what_it_read(project, capsys):
    """No errors in no file are no good news."""
    (project.parent / "home/.config/ringfence/agents").mkdir(parents=True)
    (project.parent / "home/.config/ringfence/config.json").write_text("{}")
    (project.parent / "home/.config/ringfence/agents/x.md").write_text("no front matter\n")
    _, text = run(capsys, "config", "check")
    assert text.splitlines()[:2] == [
        "Read: /home/.config/ringfence/config.json",
        "Read: /home/.config/ringfence/agents/x.md",
    ]
    (project / "mine.toml").write_text("")
    assert run(capsys, "config", "check", "mine.toml")[1] == "Read: mine.toml\nNo errors.\n"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("home/.config/ringfence.toml", "/home/.config/ringfence/config.toml"),
        ("project/ringfence.toml", "/project/.ringfence/config.toml"),
        ("project/.ringfence.json", "/project/.ringfence/config.json"),
        ("home/.config/ringfence/ringfence.toml", "agents, config.json, config.jsonc, config.toml"),
    ],
)
def test_check_where_there_is_no_config(project, capsys, name, place):
    """It says so, and names a file that was meant to be one."""
    (project / ".ringfence/config.toml").unlink()
    file = project.parent / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    status, text = run(capsys, "config", "check")
    assert status == 0
    assert f"{name} is read by nobody; what counts" in text
    assert place in text
    assert (
        "There is no config file in /home/.config/ringfence/config.toml or in"
        " .ringfence/config.toml: the built-in defaults hold.\nNo errors.\n" in text
    )


@pytest.mark.parametrize(
    ("answer", "arguments", "trusted"),
    [
        ("y\n", (), True),
        ("n\n", (), False),
        ("\n", (), False),
        ("\x04", (), False),
        ("", ("--yes",), True),
    ],
)
def test_trust_is_asked_for_at_a_terminal(project, answer, arguments, trusted):
    """The files are shown, and nothing is trusted before the answer, which is no by default."""
    child, terminal = pty.fork()
    if child == 0:
        words = ["-m", "ringfence.engine.cli", "trust", *arguments]
        os.execv(sys.executable, [sys.executable, *words])
    shown = b""
    store = project.parent / "home/.local/state/ringfence/trust.json"
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
        if shown.endswith(b"[y/N] "):
            assert b"use trash" in shown
            assert not store.exists()
            os.write(terminal, answer.encode())
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert (status, store.exists()) == ((0, True) if trusted else (1, False))
    assert (b"Not trusted: nothing was changed." in shown) is not trusted


def test_schema_accepts_what_the_loader_accepts(capsys):
    """It is made from the loader's own names."""
    _, out = run(capsys, "config", "schema")
    schema = json.loads(out)
    assert set(schema["properties"]) == {
        *("defaultPolicy", "tools", "bash", "mcp", "skills", "special", "paths", "agents"),
        *("headless", "$schema"),
    }


def test_trust(project, capsys):
    """Trusted files may loosen until one of them changes."""
    command = ("check", "--no-log", "cat /tmp/x")
    assert run(capsys, *command)[0] == 3
    status, text = run(capsys, "trust")
    assert status == 0
    assert CONFIG.rstrip() in text
    assert text.endswith("Trusted until one of these files changes: /project\n")
    assert run(capsys, *command)[0] == 0
    assert run(capsys, "trust", "--list") == (0, "/project\n")
    with (project / ".ringfence/config.toml").open("a") as file:
        file.write("# changed\n")
    assert run(capsys, *command)[0] == 3
    assert run(capsys, "trust", "--list") == (0, "/project (changed since: not trusted)\n")
    run(capsys, "trust")
    assert run(capsys, "trust", "--remove")[0] == 0
    assert run(capsys, *command)[0] == 3
    assert run(capsys, "trust", "--remove")[0] == 2


def test_nothing_to_trust(tmp_path, monkeypatch, capsys):
    """A folder without config files, and files with errors, are not trusted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert run(capsys, "trust")[0] == 2
    (tmp_path / ".ringfence").mkdir()
    (tmp_path / ".ringfence/config.toml").write_text("[bahs]\n")
    assert run(capsys, "trust")[0] == 2


@pytest.mark.usefixtures("project")
def test_a_rule_that_names_a_path(capsys, snapshot):
    """The words that touch it are marked, not those that only reach outside."""
    assert run(capsys, "check", "--no-log", "echo x > .env; cat /etc/hosts") == snapshot


# --- a .ringfence in the folder above, too -------------------------------------------------------


@pytest.fixture
def part(project, monkeypatch):
    """A folder of the project that has a .ringfence of its own."""
    folder = project / "part"
    (folder / ".ringfence").mkdir(parents=True)
    (folder / ".ringfence/config.toml").write_text('[bash]\n"rm *" = "allow"\n')
    monkeypatch.chdir(folder)
    return folder


def test_show_and_trust_all_folders(part, capsys, snapshot):
    """Which file says what, and which of them is trusted, for each folder by itself."""
    here = str(part.parents[1])

    def said(*arguments):
        status = main(arguments)
        return status, "".join(capsys.readouterr()).replace(here, "")

    shown = said("config", "show")
    trusted = said("trust")
    assert (shown, trusted, said("config", "show")[1].splitlines()[-2:]) == snapshot
    # What the inner one allows is the project's to refuse.
    assert said("check", "--no-log", "rm x")[0] == 1


def test_check_and_doctor_look_into_all_folders(part, capsys):
    """An error above is an error here: nothing is decided without it."""
    assert f"ringfence trust {part.parent}`" in run(capsys, "doctor")[1]
    (part.parent / ".ringfence/policy.toml").write_text("")
    (part.parent / ".ringfence/tests").mkdir()
    assert run(capsys, "config", "check")[1].count("is read by nobody") == 1
    (part.parent / ".ringfence/config.toml").write_text("[bash\n")
    status, text = run(capsys, "config", "check")
    assert (status, "/.ringfence/config.toml:1" in text) == (2, True)
    assert run(capsys, "trust")[0] == 2
