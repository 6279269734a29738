"""`ringfence run`, `shell` and `grants`, as programs; with a terminal where a person answers."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from ringfence import Engine, ToolCall
from ringfence.rules.model import State

PROGRAM = [sys.executable, "-m", "ringfence.engine.cli"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project beside a file, and a home of its own."""
    (tmp_path / "home").mkdir()
    (tmp_path / "p").mkdir()
    (tmp_path / "out.txt").write_text("outside\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def run(*arguments, stdin=""):
    """Without a terminal: (status, stdout, stderr)."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # no terminal of the tests' own
    )
    return done.returncode, done.stdout, done.stderr


def at_terminal(answer, *arguments, program=PROGRAM):
    """At a terminal, where ``answer`` is typed when the question stands there: (status, shown)."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(program[0], [*program, *arguments])
    shown = b""
    deadline = time.monotonic() + 60
    asked = False
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        shown += part
        if not asked and b"or n): " in shown:
            asked = True
            os.write(terminal, answer)
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode().replace("\r\n", "\n")


class TestRun:
    """`run -- COMMAND` is bash, where it may run."""

    @pytest.mark.usefixtures("project")
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["echo a; exit 7"], (7, "a\n")),
            (["echo", "a b", "$HOME"], (0, "a b $HOME\n")),  # words stay words
            (["cat"], (0, "in")),
            (["kill -9 $$"], (-9, "")),
        ],
    )
    def test_allowed(self, arguments, expected):
        """The same streams and the same status."""
        assert run("run", "--", *arguments, stdin="in")[:2] == expected

    @pytest.mark.usefixtures("project")
    def test_nobody_to_ask(self):
        """Refused with bash's status for what cannot be executed."""
        status, out, err = run("run", "--", "cat ../out.txt")
        assert (status, out) == (126, "")
        assert "Nobody can be asked here, so the call did not run." in err
        assert "ringfence grants add 'cat ../out.txt'" in err

    def test_headless_allow(self, project):
        """Where the user's config says so, what would be asked about runs."""
        folder = project.parent / "home/.config/ringfence"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text('headless = "allow"\n')
        assert run("run", "--", "cat ../out.txt")[:2] == (0, "outside\n")

    @pytest.mark.parametrize(
        ("answer", "status", "kept"),
        [
            (b"1\n", 0, 0),
            (b"3\n", 0, 1),
            (b"n\n", 126, 0),
            (b"\n", 126, 0),
            (b"9\n", 126, 0),
            (b"\x04", 126, 0),  # end of input
            (b"\x03", 126, 0),  # ^C
        ],
    )
    def test_at_a_terminal(self, project, answer, status, kept):
        """One question; only a number of the list lets it run."""
        answer = answer if answer not in (b"\n", b"9\n") else answer * 3
        found, shown = at_terminal(answer, "run", "--", "cat ../out.txt")
        assert found == status
        assert "    cat ../out.txt\n        ^^^^^^^^^^\n" in shown
        assert f"read {project.parent}/out.txt" in shown
        assert shown.endswith("outside\n") is (status == 0)
        assert len(run("grants")[1].splitlines()) == max(kept, 1)
        assert run("run", "--", "cat ../out.txt")[0] == (0 if kept else 126)

    def test_for_the_session(self, project):
        """It ends with the terminal, and with the name of the session."""
        found, shown = at_terminal(b"2\n", "run", "--", "cat ../out.txt")
        assert found == 0
        assert f"  2  For this session: read {project.parent}/out.txt\n" in shown
        assert "in session terminal " in run("grants")[1]
        assert run("run", "--", "cat ../out.txt")[0] == 126
        assert at_terminal(b"2\n", "run", "--session", "s1", "--", "cat ../out.txt")[0] == 0
        assert run("run", "--session", "s1", "--", "cat ../out.txt")[0] == 0
        assert run("run", "--session", "s2", "--", "cat ../out.txt")[0] == 126

    @pytest.mark.usefixtures("project")
    def test_signals(self):
        """What Python ignores for itself, a command gets as ever."""
        status, out, err = run("run", "--", "yes | head -1; echo ${PIPESTATUS[0]}")
        assert (status, out, err) == (0, "y\n141\n", "")

    @pytest.mark.usefixtures("project")
    def test_in_the_background(self):
        """It is not stopped by a terminal that is not its own, but says that nobody was asked."""
        program = " ".join([*PROGRAM, "run", "--", "cat", "../out.txt"])
        script = f"set -m; {program} & wait %1; echo status $?"
        status, shown = at_terminal(b"", program=["bash", "-c", script])
        assert "Nobody can be asked here" in shown
        assert "status 126" in shown
        assert status == 0

    @pytest.mark.usefixtures("project")
    def test_another_program_has_the_screen(self):
        """Then a question would only disturb it, and its keys are no answers."""
        script = f"stty -icanon; {' '.join(PROGRAM)} run -- cat ../out.txt"
        status, shown = at_terminal(b"", program=["bash", "-c", script])
        assert "Nobody can be asked here" in shown
        assert status == 126

    def test_a_broken_config(self, project):
        """Nothing runs."""
        folder = project.parent / "home/.config/ringfence"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text("[bash\n")
        status, out, err = run("run", "--", "echo a")
        assert (status, out) == (126, "")
        assert "config.toml:1" in err
        assert run("shell", "-c", "echo a")[:2] == (126, "")

    def test_denied(self, project):
        """A refusal is not asked about."""
        folder = project / ".ringfence"
        folder.mkdir()
        (folder / "config.toml").write_text('[special]\nexternal_directory = "deny"\n')
        status, shown = at_terminal(b"1\n", "run", "--", "cat ../out.txt")
        assert status == 126
        assert "may not run this command" in shown


class TestShell:
    """`shell` takes bash's arguments."""

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["-c", "echo a; exit 3"], (3, "a\n")),
            (["-lc", "echo a"], (0, "a\n")),
            (["-c", "echo $0 $1", "x", "y"], (0, "x y\n")),
            (["-o", "errexit", "-c", "false; echo a"], (1, "")),
            (["--norc", "-c", "echo a"], (0, "a\n")),
            (["inside.sh"], (0, "inside\n")),
        ],
    )
    def test_allowed(self, project, arguments, expected):
        """As bash has it."""
        (project / "inside.sh").write_text("echo inside\n")
        assert run("shell", *arguments)[:2] == expected

    @pytest.mark.parametrize(
        "arguments",
        [
            ["-c", "cat ../out.txt"],
            ["-lc", "cat ../out.txt"],
            ["-c", "cat $1", "x", "../out.txt"],
            ["-c"],
            ["outside.sh"],
            ["-s"],
            [],
            ["-i"],
            ["--", "outside.sh"],
            ["-O", "extglob", "-s", "x"],
        ],
    )
    def test_refused(self, project, arguments):
        """What reaches outside, and what nobody can judge."""
        (project / "outside.sh").write_text("cat ../out.txt\n")
        status, out, err = run("shell", *arguments, stdin="cat ../out.txt\n")
        assert status != 0
        assert out == ""
        assert err


class TestGrants:
    """`grants` lists, adds and revokes."""

    def test_add_and_revoke(self, project):
        """What is added is what the list shows, and what is allowed until it is revoked."""
        assert run("grants") == (0, "Nothing was granted.\n", "")
        status, out, _ = run("grants", "add", "--scope", "project", "cat ../out.txt")
        assert status == 0
        name = out.split()[1]
        place = project.parent / "out.txt"
        assert run("grants") == (0, f"{name}  in {project}: read {place}\n", "")
        assert run("check", "--no-log", "cat ../out.txt")[0] == 0
        assert run("grants", "revoke", name) == (
            0,
            f"No longer granted: read {place} (in {project})\n",
            "",
        )
        assert run("check", "--no-log", "cat ../out.txt")[0] == 3
        assert run("grants", "revoke", name)[0] == 2

    @pytest.mark.usefixtures("project")
    def test_revoke_many(self):
        """Of one project, or all."""
        run("grants", "add", "--scope", "project", "cat ../out.txt")
        run("grants", "add", "--scope", "always", "cat /etc/hosts")
        assert run("grants", "revoke", "--project", ".")[1].count("\n") == 1
        assert (
            run("grants", "revoke", "--all")[1] == "No longer granted: read /etc/hosts (always)\n"
        )

    def test_damaged(self, project):
        """Nothing is granted or added, and it is said how to begin anew; that works."""
        add = ("grants", "add", "--scope", "always", "cat ../out.txt")
        run(*add)
        store = project.parent / "home/.local/state/ringfence/grants.json"
        store.write_text("{")
        for command in (("grants",), add, ("grants", "revoke", "--project", ".")):
            status, out, err = run(*command)
            assert (status, out) == (2, "")
            assert "`ringfence grants revoke --all` empties it" in err
        emptied = f"Nothing is granted any more: {store} was emptied.\n"
        assert run("grants", "revoke", "--all") == (0, emptied, "")
        assert run(*add)[0] == 0

    @pytest.mark.usefixtures("project")
    def test_added_twice(self):
        """What is granted already is told, and kept once."""
        add = ("grants", "add", "--scope", "always", "cat ../out.txt")
        run(*add)
        status, out, _ = run(*add)
        assert (status, out.startswith("Granted before, so nothing was kept")) == (0, True)
        assert run("grants")[1].count("\n") == 1

    @pytest.mark.usefixtures("project")
    def test_no_answer(self):
        """Three lines that are no answer are a no, and it is said."""
        status, shown = at_terminal(b"maybe\nyes\n9999\n", "run", "--", "cat ../out.txt")
        assert status == 126
        assert "That was not understood, so it is not run." in shown

    def test_asked(self, project):
        """At the terminal, by the same prompt; the call is not run."""
        status, shown = at_terminal(b"1\n", "grants", "add", "cat ../out.txt")
        assert status == 0
        assert "nothing is kept" not in shown
        assert "outside\n" not in shown
        assert run("grants")[1].endswith(f"  in {project}: read {project.parent}/out.txt\n")

    @pytest.mark.usefixtures("project")
    def test_for_a_session(self):
        """Of an agent whose host cannot ask: the log has its session."""
        add = ("grants", "add", "--scope", "session")
        assert run(*add, "cat ../out.txt")[0] == 2
        assert run(*add, "--session", "s1", "cat ../out.txt")[0] == 0
        assert run("run", "--session", "s1", "--", "cat ../out.txt")[0] == 0
        assert run("run", "--", "cat ../out.txt")[0] == 126

    @pytest.mark.usefixtures("project")
    def test_for_the_session_of_this_shell(self, monkeypatch):
        """`run`, `shell` and `grants add` go by the same variable."""
        monkeypatch.setenv("RINGFENCE_SESSION", "s2")
        assert run("grants", "add", "--scope", "session", "cat ../out.txt")[0] == 0
        assert run("run", "--", "cat ../out.txt")[0] == 0
        monkeypatch.setenv("RINGFENCE_SESSION", "s3")
        assert run("run", "--", "cat ../out.txt")[0] == 126

    @pytest.mark.usefixtures("project")
    def test_explained(self):
        """The grant stands among the layers, and the verdict names it with its place."""
        run("grants", "add", "--scope", "always", "cat ../out.txt")
        name = run("grants")[1].split()[0]
        status, out, _ = run("explain", "cat ../out.txt")
        assert status == 0
        assert f"Grants that hold here; they answer an ask, never a deny\n  {name}  always: " in out
        assert f"  allow: grant {name}: read " in out
        assert "grants.json)" in out

    @pytest.mark.usefixtures("project")
    def test_in_the_log(self):
        """What a grant allowed is written down with the grant, how it ended, and how long it took."""
        run("grants", "add", "--scope", "always", "cat ../out.txt")
        run("run", "--", "cat ../out.txt")
        *_, entry = map(json.loads, run("log", "--json")[1].splitlines())
        assert (entry["decision"], entry["resolution"]) == ("allow", "granted before")
        assert entry["duration"] > 0
        assert entry["gates"][0]["rule"].startswith("grant ")
        assert entry["gates"][0]["source"].endswith("grants.json")

    @pytest.mark.usefixtures("project")
    def test_what_no_grant_can_answer(self):
        """Said before anybody is asked for nothing."""
        status, out, _ = run("grants", "add", "--scope", "always", "ringfence trust")
        assert status == 1
        assert out.startswith("No grant can answer this: it is asked about each time.\n")

    @pytest.mark.usefixtures("project")
    def test_nothing_to_grant(self):
        """Said in words."""
        assert run("grants", "add", "ls")[:2] == (
            0,
            "Nothing to grant: this is allowed already.\n",
        )

    @pytest.mark.usefixtures("project")
    def test_the_agent_cannot_grant_itself(self):
        """The command that would do it is asked about, and so is the file."""
        for command in (
            "ringfence grants add --scope always 'cat /etc/hosts'",
            "ringfence trust",
            "cd sub; sudo ringfence grants revoke --all",
            "echo '[]' > ~/.local/state/ringfence/grants.json",
            "rm -r .ringfence",
            "python3 -m ringfence.engine.cli trust",
            "uvx ringfence install codex",
            "env X=1 ringfence grants add ls",
        ):
            assert run("check", "--no-log", command)[0] == 3, command
        for command in ("ringfence grants", "ringfence grants list", "grep -r ringfence trust"):
            assert run("check", "--no-log", command)[0] == 0, command

    def test_nor_by_the_tree_around_its_files(self, project):
        """What deletes the folder deletes the policy; in the home directory it is inside."""
        (project / ".ringfence").mkdir()
        home = project.parent / "home"
        (home / ".local/state/ringfence").mkdir(parents=True)
        for where, command in (
            (project, "rm -rf ./*/ ."),
            (project, "mv .ringfence old"),
            (home, "echo '[]' > .local/state/ringfence/grants.json"),
            (home, "rm -rf .local"),
            (home, "cp x .config/ringfence/config.toml"),
        ):
            decision = Engine().decide(ToolCall.bash(command, str(where), env={"HOME": str(home)}))
            assert decision.state is State.ASK, command
            assert "own_files" in {verdict.gate for verdict in decision.verdicts}, command
