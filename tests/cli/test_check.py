"""``ringfence check``: one call, and many."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-m", "ringfence.engine.cli"]


@pytest.fixture
def world(tmp_path):
    """A home, a project in it, and something beside the project."""
    (tmp_path / "home" / "project" / "src").mkdir(parents=True)
    (tmp_path / "home" / "other").mkdir()
    (tmp_path / "home" / "other" / "a.txt").touch()
    (tmp_path / "home" / "project" / "link").symlink_to("../other")
    return tmp_path


def run(world, *arguments, stdin=b"", cwd=None, **env):
    """Run the program in the project: the finished process, its output as text."""
    home = world / "home"
    result = subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd or home / "project",
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONUTF8": "1", **env},
        check=False,
    )
    result.stdout, result.stderr = result.stdout.decode(), result.stderr.decode()
    return result


def config(world, text):
    """Write the user's config."""
    path = world / "home" / ".config" / "ringfence" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def log(world):
    """What the review log holds."""
    path = world / "home" / ".local" / "state" / "ringfence" / "review.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class TestExitStatus:
    """0 allow, 1 deny, 3 ask, 2 everything that is no decision."""

    @pytest.mark.parametrize(
        ("arguments", "status"),
        [
            (["ls src"], 0),
            (["cat /etc/hosts"], 3),
            (["git push origin"], 1),
            (["cat link/a.txt"], 3),
            (["--tool", "read", "--input", '{"path": "src/a"}'], 0),
            (["--tool", "read", "--input", '{"path": "../other"}'], 3),
            (["--tool", "write", "--input", '{"path": "src/a"}'], 1),
            (["--cwd", "../other", "cat a.txt"], 0),
            ([], 2),
            (["--tool", "read", "ls"], 2),
            (["--tool", "read", "--input", "{"], 2),
            (["--input", "[]"], 2),
            (["--no-such-option"], 2),
            (["--config", "missing.toml", "ls"], 2),
            (["--root", "/", "--no-filesystem", "ls"], 2),
        ],
    )
    def test_status(self, world, arguments, status):
        """Scripts can rely on it."""
        config(world, '[bash]\n"git push *" = "deny"\n[tools]\nwrite = "deny"\n')
        result = run(world, "check", *arguments)
        assert result.returncode == status, result.stdout + result.stderr
        assert bool(result.stderr) is (status == 2)
        assert "Traceback" not in result.stderr

    def test_bad_config(self, world):
        """The error names file, line and key, and nothing is decided."""
        path = config(world, '[special]\nexternal_directory = "alow"\n')
        result = run(world, "check", "ls")
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == (
            f'ringfence: {path}:2: special.external_directory: must be "allow", "ask" or "deny", '
            'not "alow" (did you mean "allow"?)\n'
        )


class TestHuman:
    """Output for a person."""

    def test_marks(self, world):
        """The offending words are marked under the command."""
        result = run(world, "check", "cat src/a /etc/hosts > ../out", "--cwd", "/home/dev/project")
        lines = result.stdout.split("\n")
        assert lines[0] == "ask"
        assert lines[2:4] == [
            "    cat src/a /etc/hosts > ../out",
            "              ^^^^^^^^^^   ^^^^^^",
        ]
        assert "  - read /etc/hosts, named by `/etc/hosts`" in lines
        assert "  - write /home/dev/out, named by `../out`" in lines

    def test_allow(self, world):
        """One line."""
        assert run(world, "check", "ls").stdout == "allow: nothing objects\n"
        path = config(world, '[bash]\nls = "allow"\n')
        assert run(world, "check", "ls").stdout == f'allow: bash "ls" ({path}:2)\n'

    def test_nothing_raw_reaches_the_terminal(self, world):
        """Escape sequences in a command are shown, never sent."""
        result = run(world, "check", "cat /etc/hosts # \x1b[2J\u202e")
        assert "\\x1b[2J\\u202e" in result.stdout
        assert not {"\x1b", "\u202e"} & set(result.stdout)

    def test_an_output_that_is_not_utf8(self, world):
        """What the terminal cannot show is escaped."""
        result = run(
            world, "check", "cat '/etc/ä'", PYTHONUTF8="0", LC_ALL="C", PYTHONIOENCODING="ascii"
        )
        assert result.returncode == 3
        assert "/etc/\\xe4" in result.stdout


class TestJson:
    """Output for programs."""

    def test_the_batch_contract(self, world):
        """All fields, spans in code points."""
        result = run(world, "check", "--json", "cat 'ä' ../other/a.txt")
        home = world / "home"
        assert json.loads(result.stdout) == {
            "decision": "ask",
            "default": True,
            "external": [
                {
                    "path": f"{home}/other/a.txt",
                    "real": f"{home}/other/a.txt",
                    "operation": "read",
                    "certainty": "certain",
                    "span": [8, 22],
                    "text": "../other/a.txt",
                }
            ],
            "opaque": [],
            "gates": [
                {
                    "gate": "external_directory",
                    "verdict": "ask",
                    "rule": "special.external_directory",
                    "source": "built-in default",
                },
                {
                    "gate": "bash",
                    "verdict": "allow",
                    "rule": "defaultPolicy.bash",
                    "source": "built-in default",
                },
            ],
            "message": json.loads(result.stdout)["message"],
        }

    def test_unknown_parts_are_stars(self, world):
        """A path of which only the beginning is known."""
        result = run(world, "check", "--json", 'cat "/etc/$(date)x"')
        assert [entry["path"] for entry in json.loads(result.stdout)["external"]] == ["/etc/*x"]


class TestWorlds:
    """Which files are looked at."""

    def test_root(self, world):
        """Links are looked up below the root, as if it were /."""
        result = run(world, "check", "--json", "--root", str(world), "--cwd", "/home/project",
                     "cat link/a.txt")  # fmt: skip
        [entry] = json.loads(result.stdout)["external"]
        assert (entry["path"], entry["real"]) == ("/home/project/link/a.txt", "/home/other/a.txt")

    def test_no_filesystem(self, world):
        """Nothing is looked up."""
        assert run(world, "check", "--no-filesystem", "cat link/a.txt").returncode == 0

    def test_project_config(self, world):
        """The project's file counts in its own folder, and in no rooted world."""
        path = world / "home" / "project" / ".ringfence" / "config.toml"
        path.parent.mkdir()
        path.write_text('[bash]\nls = "deny"\n')
        assert run(world, "check", "ls").returncode == 1
        assert run(world, "check", "--cwd", "/", "ls").returncode == 0
        assert run(world, "check", "--root", "/", "ls").returncode == 0

    def test_agent(self, world):
        """Rules for one agent hold for it alone."""
        config(world, '[agents.reviewer.bash]\nls = "deny"\n')
        assert run(world, "check", "ls").returncode == 0
        assert run(world, "check", "--agent", "reviewer", "ls").returncode == 1


class TestLog:
    """Decisions are written down, trials are not."""

    def test_logged(self, world):
        """One line for what is to be reviewed."""
        run(world, "check", "ls")
        run(world, "check", "cat /etc/hosts")
        assert [entry["command"] for entry in log(world)] == ["cat /etc/hosts"]

    def test_not_logged(self, world):
        """Neither with --no-log nor in an explanation."""
        run(world, "check", "--no-log", "cat /etc/hosts")
        run(world, "explain", "cat /etc/hosts")
        assert log(world) == []

    def test_unwritable(self, world):
        """The decision stands."""
        result = run(world, "check", "cat /etc/hosts", XDG_STATE_HOME="/proc/none")
        assert (result.returncode, result.stdout[:4]) == (3, "ask\n")
        assert "cannot write the review log /proc/none/ringfence/review.jsonl" in result.stderr


def batch(world, *lines, arguments=()):
    """The answers to lines of bytes or objects."""
    text = b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines) + b"\n"
    result = run(world, "check", "--jsonl", "--no-log", *arguments, stdin=text)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def row(**fields):
    """A line of the batch."""
    return {"id": 1, "command": "ls", "cwd": "/home/dev/project", **fields}


class TestBatch:
    """One line in, one out."""

    def test_order_and_ids(self, world):
        """Answers come in order, with whatever id was given."""
        ids = [1, "x", None, [2], {"a": 3}]
        answers = batch(world, *(row(id=value) for value in ids))
        assert [answer["id"] for answer in answers] == ids
        assert {answer["decision"] for answer in answers} == {"allow"}

    def test_fields(self, world):
        """Directory, tool, input, agent and variables all count."""
        answers = batch(
            world,
            row(command="cat ~/x", env={"HOME": "/home/dev/project"}),
            row(command="cat ~/x", env={"HOME": "/h"}),
            row(command="cat ~/x"),  # HOME of this process
            row(command=None, tool="read", input={"path": "/etc/hosts"}),
            row(command=None, input={"command": "cat /etc/hosts"}),
            row(cwd="/etc", command="cat hosts"),
            row(agent="reviewer", command="cat /etc/hosts"),
        )
        found = [[entry["path"] for entry in answer["external"]] for answer in answers]
        home = f"{world}/home/x"
        assert found == [[], ["/h/x"], [home], ["/etc/hosts"], ["/etc/hosts"], [], ["/etc/hosts"]]
        assert answers[-1]["message"].startswith("Agent reviewer wants")

    @pytest.mark.parametrize(
        ("line", "identity", "error"),
        [
            (b"x", None, "the line is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
            (b"[1]", None, "the line is not a JSON object"),
            (b'{"id": "\xff"}', None, "the line is not UTF-8 text"),
            (b'{"id": 1, "x": ' + b"[" * 100_000, None, "the line is nested too deeply"),
            (row(cwd=None), 1, "cwd is missing: give one in the line, or --cwd"),
            (row(cwd="x"), 1, "cwd must be an absolute path"),
            (row(cwd=3), 1, "cwd must be a string"),
            (row(command=None, input={"command": None}), 1, "command must be a string"),
            (row(command=None), 1, "command is missing"),
            (row(command=None, comand="ls"), 1, 'unknown key "comand" (did you mean "command"?)'),
            # Left out of account, each of these would be decided under another policy.
            (row(agnet="reviewer"), 1, 'unknown key "agnet" (did you mean "agent"?)'),
            (row(ENV={}), 1, 'unknown key "ENV" (did you mean "env"?)'),
            (
                row(root="/"),
                1,
                'unknown key "root" (the keys here are id, command, tool, input, cwd, agent, env)',
            ),
            (row(command=["ls"]), 1, "command must be a string"),
            (row(tool=3), 1, "tool must be a string"),
            (row(tool="Read"), 1, "a command goes with bash alone; give read an input"),
            (row(input=[1]), 1, "input must be an object"),
            (row(env={"A": 1}), 1, "env must be an object of strings"),
        ],
    )
    def test_bad_lines(self, world, line, identity, error):
        """A bad line is answered by an error, and the next one is decided."""
        bad, good = batch(world, line, row(id=2))
        assert bad == {"id": identity, "error": error}
        assert (good["id"], good["decision"]) == (2, "allow")

    def test_a_huge_line(self, world):
        """Neither a command of a megabyte nor a line past the limit ends the stream."""
        huge = b'{"id": "' + b"x" * (17 << 20) + b'"}'
        answers = batch(world, row(command="echo " + "a" * (1 << 20)), huge, row(id=3))
        assert answers[0]["decision"] in ("allow", "ask")
        assert answers[1]["error"].startswith("the line is longer than")
        assert answers[2]["decision"] == "allow"

    def test_blank_lines_are_skipped(self, world):
        """They are no requests."""
        assert len(batch(world, b"", row(), b"  ", row())) == 2

    def test_lone_surrogates(self, world):
        """The output is valid UTF-8 whatever came in."""
        [answer] = batch(world, b'{"id": "\\ud800", "command": "cat /\\udcff", "cwd": "/x"}')
        assert answer["id"] == "\ud800"
        assert answer["external"][0]["path"] == "/\udcff"

    def test_default_directory(self, world):
        """--cwd is for lines that have none."""
        [answer] = batch(
            world, row(cwd=None, command="cat /etc/hosts"), arguments=["--cwd", "/etc"]
        )
        assert answer["decision"] == "allow"

    def test_bad_config(self, world):
        """Nothing is decided under a config that cannot be used."""
        config(world, "x = 1\n")
        result = run(world, "check", "--jsonl", stdin=json.dumps(row()).encode())
        assert (result.returncode, result.stdout) == (2, "")

    def test_a_projects_bad_config(self, world):
        """Only the lines of that project fail."""
        folder = world / "home" / "project" / ".ringfence"
        folder.mkdir()
        (folder / "config.toml").write_text("x = 1\n")
        bad, good = batch(world, row(cwd=str(folder.parent)), row())
        assert "config.toml:1: x: unknown key" in bad["error"]
        assert good["decision"] == "allow"

    def test_streaming(self, world):
        """Each answer is out before the next line is read."""
        process = subprocess.Popen(
            [*PROGRAM, "check", "--jsonl", "--no-log"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"HOME": str(world), "PATH": os.environ["PATH"]},
        )
        for number in range(3):
            process.stdin.write(json.dumps(row(id=number)).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.communicate()


def test_a_reader_that_leaves(world):
    """A closed pipe ends the program without a word."""
    lines = (json.dumps(row()) + "\n") * 3000
    command = f"{sys.executable} -m ringfence.engine.cli check --jsonl --no-log | head -1"
    result = subprocess.run(
        command, shell=True, input=lines.encode(), capture_output=True, check=False,
        env={"HOME": str(world), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert result.stdout.count(b"\n") == 1
    assert result.stderr == b""


def test_version(world):
    """The version of the installed package."""
    result = run(world, "--version")
    assert (result.returncode, result.stdout[:10]) == (0, "ringfence ")


def test_jobs_answer_in_order(world):
    lines = [row(id=number, command=f"cat /etc/{number}") for number in range(300)]
    lines[70] = {"id": 70}
    text = "\n".join(map(json.dumps, lines)).encode()
    arguments = ("check", "--jsonl", "--no-log", "--no-filesystem")
    one = run(world, *arguments, stdin=text)
    several = run(world, *arguments, "--jobs", "3", stdin=text)
    assert several.stdout == one.stdout
    assert [json.loads(line)["id"] for line in several.stdout.splitlines()] == list(range(300))


@pytest.mark.parametrize("jobs", ["0", "-1", "x"])
def test_jobs_is_a_number(world, jobs):
    assert run(world, "check", "--jsonl", "--jobs", jobs, stdin=b"").returncode == 2


def test_jobs_needs_lines(world):
    assert run(world, "check", "ls", "--jobs", "2").returncode == 2
