"""Ringfence's own config, trust and grants: what may change them is asked about."""

import pytest

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.parser import COMMANDS, parser
from ringfence.engine.engine import Engine
from ringfence.rules.model import State

LAUNCHER = "#!/usr/bin/python3\nfrom ringfence.engine.cli import main\nmain()\n"
"""What stands in ``.venv/bin/ringfence``."""


@pytest.fixture
def decided(tmp_path):
    """Decides a call in a project that has rules of its own."""
    project = tmp_path / "p"
    for name, text in {
        ".venv/bin/ringfence": LAUNCHER,
        ".ringfence/config.toml": "",
        "app.py": "from ringfence import Engine\n",
        "secrets/key": "",
    }.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}

    def decided(tool, data, policy=None):
        engine = Engine() if policy is None else Engine(policy)
        return engine.decide(ToolCall(tool, data, str(project), env=env))

    return decided


def is_about_own_files(decision):
    """Whether it is asked because of Ringfence's own files."""
    return "own_files" in {v.gate for v in decision.verdicts if v.state is State.ASK}


@pytest.mark.parametrize(
    "command",
    [
        "ringfence trust",
        "ringfence trust --list --remove",
        "ringfence grants add --scope always x",
        "ringfence install claude-code",
        "ringfence import claude-code evil.json --write",
        "ringfence import claude-code evil.json --wri",
        "ringfence import claude-code $X",
        "ringfence $X",
        "ringfence -- trust",
        "RINGFENCE trust",
        "ringfence {trust,}",
        "python3 <<< 'from ringfence.engine.cli import main; main([\"trust\"])'",
        "python3 - <<< 'from ringfence.engine.cli import main'",
        "echo 'from ringfence.engine.cli import main' | python3",
        "echo 'import ringfence.engine.cli' > x.py; python3 x.py",
        'python3 -c \'import runpy; runpy.run_module("ringf" + "ence.engine.cli")\'',
        'python3 -c \'__import__("ringf" "ence").engine\'',
        "python3 -Imringfence.engine.cli trust",
        "python3 .venv/bin/ringfence trust",
        "pipx run --spec ringfence ringfence trust",
        "uvx --from ringfence ringfence trust",
        "env -S 'A=b ringfence trust'",
        "env -a x ringfence trust",
        "a-runner --of things ringfence trust",
        "ln -s .venv/bin/ringfence rf; ./rf trust",
        "cp .venv/bin/ringfence rf && ./rf trust",
        "mv .venv/bin/ringfence rf; ./rf trust",
        "screen -X stuff 'ringfence trust'",
        "tmux send-keys 'ringfence trust' Enter",
        "pip uninstall -y ringfence",
        "python3 -m pip uninstall ringfence",
        "uv tool uninstall ringfence",
    ],
)
def test_a_command_that_may_change_them(decided, command):
    assert is_about_own_files(decided("bash", {"command": command}))


@pytest.mark.parametrize(
    "command",
    [
        "ringfence --version",
        "ringfence check 'rm x'",
        "ringfence log -n 5",
        "ringfence config show",
        "ringfence trust --list",
        "ringfence grants list --json",
        "ringfence install --help",
        "ringfence import claude-code settings.json",
        "uv run ringfence check x",
        ".venv/bin/ringfence check x",
        "python3 app.py",  # the project's own code
        "git commit -m 'docs: ringfence trust'",
        "git log --grep ringfence trust",
        "grep -rn ringfence install",
        "echo 'run ringfence trust'",
        "pip install ringfence",
        "pytest -k ringfence",
        "ls .venv/bin/ringfence",
    ],
)
def test_a_command_that_does_not(decided, command):
    assert decided("bash", {"command": command}).state is State.ALLOW


def test_what_a_command_runs_is_said_once(decided):
    decision = decided("bash", {"command": "timeout 5 ringfence trust"})
    subjects = [v.subject for v in decision.verdicts if v.gate == "own_files"]
    assert subjects == ["ringfence trust"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_goes_by_its_beginning(command):
    """What looks at a command line need not know how far a word may be cut."""
    made = parser([command])
    commands = made._subparsers._group_actions[0].choices[command]
    inner = [a for a in commands._actions if hasattr(a.choices, "values")]
    for one in (made, commands, *(p for a in inner for p in a.choices.values())):
        assert not one.allow_abbrev
