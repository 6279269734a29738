"""Ringfence's own config, trust and grants: what may change them is asked about."""

import pytest

from ringfence.engine.call import ToolCall
from ringfence.engine.cli.parser import COMMANDS, parser
from ringfence.engine.engine import Engine
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
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


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("delete", {"path": "."}),
        ("write", {"path": ".RingFence/config.toml"}),  # the same file on some disks
        ("bash", {"command": "echo > .RINGFENCE/config.toml"}),
        ("bash", {"command": "git rm -r ."}),
        ("bash", {"command": "git rm -rf ."}),
        ("bash", {"command": "git mv .ringfence old"}),
        ("mcp__files__delete_directory", {"path": "."}),
        ("mcp__files__moveFile", {"source": ".", "destination": "x"}),
        ("mcp__files__write", {"name": ".ringfence/config.toml", "text": ""}),
        ("a_writer", {"target": "./.ringfence/config.toml"}),
        ("a_writer", {"edits": [{"where": ".Ringfence/config.toml"}]}),
    ],
)
def test_what_touches_them(decided, tool, data):
    assert is_about_own_files(decided(tool, data))


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("delete", {"path": "secrets"}),
        ("bash", {"command": "git rm -r secrets"}),
        ("bash", {"command": "git rm -r --cached ."}),
        ("bash", {"command": "git mv -n . x"}),
        ("mcp__files__list_directory", {"path": "."}),
        ("mcp__files__remove", {"path": "secrets"}),
        ("mcp__files__write", {"path": "x", "text": "see .ringfence/config.toml"}),
        ("write", {"path": "x", "content": ".ringfence/config.toml"}),
        ("read", {"path": ".ringfence/config.toml"}),
    ],
)
def test_what_does_not(decided, tool, data):
    assert not is_about_own_files(decided(tool, data))


@pytest.mark.parametrize(
    ("pattern", "asked"),
    [
        ("*.toml", True),
        ("**", True),
        ("./**", True),
        ("**/config.*", True),
        ("**/.ringfence/**", False),
        (".ringfence/config.toml", False),
        ("**/.RingFence/*", True),  # an allow means the case that it has
    ],
)
def test_a_rule_that_names_them(decided, pattern, asked):
    """An allow for much else was not written with the policy itself in mind."""
    entry = Entry("paths", pattern, State.ALLOW, "f:1")
    policy = LayeredPolicy((Layer("t", "f", {"paths": (entry,)}),))
    decision = decided("write", {"path": ".ringfence/config.toml"}, policy)
    assert is_about_own_files(decision) is asked


def test_a_file_of_theirs_by_another_name(tmp_path):
    """A config that is a link leads to a file that a rule without stars may name."""
    (tmp_path / ".ringfence").mkdir()
    (tmp_path / ".ringfence/config.toml").symlink_to(tmp_path / "rules.toml")
    (tmp_path / "rules.toml").touch()
    call = ToolCall("write", {"path": "rules.toml"}, str(tmp_path), env={"HOME": "/nowhere"})
    for pattern, asked in (("./rules.toml", False), ("*.toml", True)):
        entry = Entry("paths", pattern, State.ALLOW, "f:1")
        policy = LayeredPolicy((Layer("t", "f", {"paths": (entry,)}),))
        assert is_about_own_files(Engine(policy).decide(call)) is asked


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("delete", {"path": "secrets"}),
        ("mcp__files__move", {"source": "secrets", "destination": "x"}),
        ("bash", {"command": "git rm -r secrets"}),
        ("bash", {"command": "git mv secrets x"}),
    ],
)
def test_what_takes_a_folder_takes_what_a_rule_names_in_it(decided, tool, data):
    entry = Entry("paths", "secrets/key", State.DENY, "f:1")
    policy = LayeredPolicy((Layer("t", "f", {"paths": (entry,)}),))
    decision = decided(tool, data, policy)
    assert "paths" in {v.gate for v in decision.verdicts if v.state is State.ASK}
