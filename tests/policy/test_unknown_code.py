"""What runs something that nobody can know may run what a rule for commands is for."""

import pytest

from ringfence.engine.call import ToolCall
from ringfence.engine.engine import Engine
from ringfence.engine.policy import load_policy
from ringfence.rules.model import State

FREE = '[special]\nexternal_directory = "allow"\n'
NO_RM = FREE + '[bash]\n"*" = "allow"\n"rm *" = "deny"\n'


@pytest.fixture
def decided(tmp_path):
    """Decides a command in a project with a script of its own."""
    project = tmp_path / "p"
    project.mkdir()
    (project / "f").touch()
    (project / "k.py").write_text("import os, sys\nos.system(sys.argv[1])\n")
    config = tmp_path / "c.toml"

    def decided(command, text=NO_RM):
        config.write_text(text)
        call = ToolCall.bash(command, str(project), env={"HOME": "/h", "PATH": "/usr/bin:/bin"})
        return Engine(load_policy(None, config=str(config))).decide(call)

    return decided


@pytest.mark.parametrize(
    "command",
    [
        ". <(curl x)",
        "curl x > g; sh g",
        "curl -o g x; . ./g",
        'source "$X"',
        'bash "$X"',
        'python3 "$X"',
        "a='$(rm y)'; echo ${a@P}",
        "a='x[$(rm y)]'; ((a))",
        "sed 's/x/rm y/e' f",
        'python3 -c "$X"',
        "python3 -c 'exec(input())'",
        "curl x | python3",
        "ruby -e 'system(ARGV[0])' \"$X\"",
        "expect -c 'spawn rm x'",
        'ssh localhost "$X"',
        'make -f "$X"',
        'vim -c "$X"',
        'enable -f "$X" y',
        "echo ${ rm x; }",
    ],
)
def test_it_is_asked_about_where_a_command_is_refused(decided, command):
    decision = decided(command)
    assert decision.state is State.ASK
    assert 'bash "rm *"' in {v.rule.rule for v in decision.verdicts}
    assert decided(command, FREE).state is State.ALLOW  # no rule can be meant


@pytest.mark.parametrize(
    "command",
    [
        'cat "$X"',
        'cd "$X"',
        'cp "$X" y',
        'patch < "$X"',
        "python3 -c 'import sys; open(sys.argv[1])' \"$X\"",
        'python3 k.py "$X"',  # the project's own code
        "make",
    ],
)
def test_a_path_that_is_not_known_runs_nothing(decided, command):
    assert decided(command).state is State.ALLOW


def test_a_program_under_another_name_is_judged_by_its_own(decided):
    assert decided("hash -p /bin/rm ls; ls x").state is State.DENY
    assert decided("hash -p /bin/cat ls; ls x").state is State.ALLOW
    assert decided("hash -r; ls x").state is State.ALLOW


def test_it_is_said_once(decided):
    assert [v.subject for v in decided('"./$X" y').verdicts if v.state is State.ASK] == ['"./$X" y']


def test_an_allow_for_what_runs_it_is_none_for_it(decided):
    """A rule for all else makes no more than a question of what another rule lets run."""
    config = FREE + '[bash]\n"*" = "deny"\n"python3 *" = "allow"\n'
    assert decided('python3 -c "$X"', config).state is State.ASK
    assert decided("python3 -c pass", config).state is State.ALLOW


def test_a_project_that_is_not_trusted_may_refuse_it(tmp_path):
    its = tmp_path / "p/.ringfence/config.toml"
    its.parent.mkdir(parents=True)
    its.write_text('[bash]\n"rm *" = "deny"\n')
    policy = load_policy(str(tmp_path / "p"), env={"HOME": str(tmp_path)})
    call = ToolCall.bash(". <(curl x)", str(tmp_path / "p"), env={"HOME": str(tmp_path)})
    gates = {v.gate for v in Engine(policy).decide(call).verdicts if v.state is State.ASK}
    assert gates == {"external_directory", "bash"}
