"""``ringfence explain`` and ``ringfence parse``."""

import json
import os
import subprocess
import sys

import pytest

from ringfence.engine.cli import main


def run(*arguments, stdin="", home="/nowhere"):
    """Run the program without any config: the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "ringfence.engine.cli", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"},
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["cat /etc/hosts src/a > out"],
        ["--tool", "read", "--input", '{"path": "~/x"}'],
        ["ls"],
    ],
    ids=["bash", "read", "allow"],
)
def test_explain(arguments, snapshot):
    """The whole way: commands, paths, layers, gates, decision."""
    result = run("explain", "--cwd", "/home/dev/project", "--no-filesystem", *arguments)
    assert result.stdout == snapshot
    assert result.stderr == ""


def test_explain_layers(tmp_path):
    """Each layer with its file; the gate that lets something pass says by which rule."""
    config = tmp_path / "c.toml"
    config.write_text('[special]\nexternal_directory = "allow"\n[agents.x.bash]\n"*" = "ask"\n')
    result = run("explain", "--config", str(config), "--agent", "x", "cat /etc/hosts")
    assert (
        f"  config: {config}\n"
        f"    special.external_directory = allow ({config}:2)\n"
        f"  config, agent x: {config}\n"
        f'    bash "*" = ask ({config}:4)\n'
    ) in result.stdout
    assert f"lets it pass: special.external_directory = allow ({config}:2)" in result.stdout
    assert result.returncode == 3


class TestParse:
    """The syntax tree."""

    def test_text(self, snapshot):
        """A node a line, with its span."""
        result = run("parse", "cat 'a b' > x && ls")
        assert result.stdout == snapshot
        assert result.returncode == 0

    def test_json(self):
        """Types and spans."""
        tree = json.loads(run("parse", "--json", "ls").stdout)
        assert tree["ok"] is True
        assert (tree["tree"]["type"], tree["tree"]["span"]) == ("Script", [0, 2])

    def test_problem(self):
        """Says what is wrong and marks the place."""
        result = run("parse", "echo )")
        assert result.returncode == 1
        command, marks, message, *_ = result.stdout.split("\n")
        assert message
        assert command == "    echo )"
        assert marks == "         ^"

    def test_batch(self):
        """One line in, one out; a bad line is no end."""
        lines = [{"id": 1, "text": "ls"}, {"id": 2, "text": "echo )"}, {"id": 3}]
        stdin = "\n".join([*map(json.dumps, lines), "x"])
        answers = [
            json.loads(line) for line in run("parse", "--jsonl", stdin=stdin).stdout.splitlines()
        ]
        assert answers[0] == {"id": 1, "ok": True}
        assert (answers[1]["ok"], answers[1]["error"]["span"][0]) == (False, 5)
        assert answers[2]["error"]["message"] == "text must be a string"
        assert (answers[3]["id"], answers[3]["ok"]) == (None, False)

    def test_batch_with_trees(self):
        """The tree comes with each answer if it is asked for."""
        result = run("parse", "--jsonl", "--tree", stdin='{"id": 1, "text": "ls"}')
        assert json.loads(result.stdout)["tree"]["type"] == "Script"

    def test_usage(self):
        """There must be something to parse."""
        assert run("parse").returncode == 2


def test_explain_says_where_things_come_from(tmp_path):
    """What a script of the project does, with the file and line to look at."""
    (tmp_path / "run.sh").write_text("\ncat /etc/x\n")
    out = run("explain", "--cwd", str(tmp_path), "bash run.sh").stdout
    assert "\n  [cat] [/etc/x]  (run.sh:2)\n" in out
    assert "\n           from run.sh:2\n" in out


@pytest.mark.parametrize(
    ("words", "ways"),
    [
        (["check"], "a command, --input, or --jsonl"),
        (["explain"], "a command or --input"),
        (["grants", "add"], "a command or --input"),
    ],
)
def test_what_is_missing_names_ways_that_there_are(capsys, words, ways):
    """No option is named that the command has not."""
    assert main(words) == 2
    assert capsys.readouterr().err == f"ringfence: give {ways}\n"
