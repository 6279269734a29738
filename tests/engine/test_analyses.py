"""What was found of a call is used again only where it would be found again."""

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.analyses import MOST
from ringfence.rules.model import State


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    return folder


def decided(engine, project, command, **env):
    call = ToolCall.bash(command, cwd=str(project), env={"HOME": "/home/dev", **env})
    return engine.decide(call)


def test_the_same_call_has_the_same_answer(project):
    engine = Engine()
    first = decided(engine, project, "cat /etc/hosts a")
    again = decided(engine, project, "cat /etc/hosts a")
    assert again.findings == first.findings
    assert again.message == first.message
    assert again.state is State.ASK


def test_a_link_that_was_put_there_between_two_calls_is_seen(project):
    engine = Engine()
    (project / "a").write_text("")
    assert decided(engine, project, "cat a").state is State.ALLOW
    assert decided(engine, project, "cat a").state is State.ALLOW
    (project / "a").unlink()
    (project / "a").symlink_to("/etc/hosts")
    assert decided(engine, project, "cat a").state is State.ASK


def test_a_link_that_leads_elsewhere_now_is_seen(project):
    engine = Engine()
    (project / "a").symlink_to("b")
    assert decided(engine, project, "cat a").state is State.ALLOW
    (project / "a").unlink()
    (project / "a").symlink_to("/etc/hosts")
    assert decided(engine, project, "cat a").state is State.ASK


def test_a_script_that_was_changed_between_two_calls_is_read_again(project):
    engine = Engine()
    script = project / "run.sh"
    script.write_text("echo a\n")
    assert decided(engine, project, "bash run.sh").state is State.ALLOW
    script.write_text("cat /etc/hosts\n")
    assert decided(engine, project, "bash run.sh").state is State.ASK


def test_a_name_that_a_pattern_finds_now_is_seen(project):
    engine = Engine()
    assert decided(engine, project, "cat *.txt").state is State.ALLOW
    (project / "a.txt").symlink_to("/etc/hosts")
    assert decided(engine, project, "cat *.txt").state is State.ASK


def test_another_environment_is_another_call(project):
    engine = Engine()
    assert decided(engine, project, 'cat "$D"x', D="").state is State.ALLOW
    assert decided(engine, project, 'cat "$D"x', D="/etc/").state is State.ASK


def test_inputs_that_the_caller_changes_later_do_not_count(project):
    engine = Engine()
    given = {"command": "cat a"}
    engine.decide(ToolCall("bash", given, str(project)))
    given["command"] = "cat /etc/hosts"
    assert engine.decide(ToolCall("bash", given, str(project))).state is State.ASK
    given["command"] = "cat a"
    assert engine.decide(ToolCall("bash", given, str(project))).state is State.ALLOW


def test_it_stays_bounded(project):
    engine = Engine()
    for number in range(600):
        decided(engine, project, f"echo {number}")
    assert len(engine._analyses._kept) <= MOST
