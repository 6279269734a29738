"""However a program or a tool is spelled, the same rules and paths hold."""

import json

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.escape import json_text
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules.model import State

CWD = "/home/dev/project"


def state(call, surface="bash", **rules):
    """The decision on a call under the rules of one surface."""
    table = tuple(Entry(surface, name, State(value), "f:1") for name, value in rules.items())
    policy = LayeredPolicy((Layer("t", "f", {surface: table}),))
    return Engine(policy, NoFileSystem()).decide(call).state


@pytest.mark.parametrize(
    ("command", "rule", "expected"),
    [
        ("./bin/rm x", {"rm *": "deny"}, "deny"),
        ("./bin/rm x", {"rm *": "deny", "./bin/rm *": "allow"}, "allow"),  # the last one wins
        ("./bin/rm x", {"*": "ask", "rm *": "allow"}, "ask"),  # another program may be meant
    ],
)
def test_the_path_of_a_program(command, rule, expected):
    """A rule that asks or denies holds for the program wherever it lies; an allow does not."""
    assert state(ToolCall.bash(command, CWD), **rule) == expected


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("Bash", {"command": "cat /etc/x"}),
        ("MultiEdit", {"file_path": "/etc/x"}),
        ("glob", {"pattern": "/etc/*"}),
        ("Glob", {"pattern": "{..,src}/*"}),
        ("Monitor", {"command": "cat /etc/x"}),
        ("mcp__sh__run", {"steps": [{"command": ["cat", "/etc/x"]}]}),
        ("mcp__x__y", {"logFile": "../x"}),
        ("mcp__x__y", {"anything": "/etc/x"}),
    ],
)
def test_no_spelling_hides_a_path(tool, data):
    """What leads outside is asked about, whatever the tool and its inputs are named."""
    assert state(ToolCall(tool, data, CWD)) == "ask"


@pytest.mark.parametrize("data", [{"q": "see /etc"}, {"url": "https://e.org/etc"}, {"to": "/x"}])
def test_texts_are_no_paths(data):
    """Prose, addresses and slash commands in an unknown tool's input ask nobody."""
    assert state(ToolCall("mcp__x__y", data, CWD)) == "allow"


def test_json_is_plain_to_see():
    """What a terminal would act on stands in JSON as escapes, and reads back as it was."""
    text = "\x9b\x7f\u202e\U000e0041\ud800\u00e9"
    assert json_text(text) == r'"\u009b\u007f\u202e\udb40\udc41\ud800é"'
    assert json.loads(json_text(text)) == text


def test_a_command_that_is_no_text_is_asked_about():
    """What cannot be judged is never let through."""
    call = ToolCall("monitor", {"command": 5}, "/home/dev/project", env={})
    assert Engine().decide(call).state == "ask"


@pytest.mark.parametrize(
    ("tool", "data"),
    [
        ("SlashCommand", {"command": "/review ../other"}),
        ("AskUserQuestion", {"questions": [{"question": "May I write to /etc/hosts?"}]}),
        ("WebSearch", {"query": "/etc/hosts"}),
        ("web_search", {"query": "~/.ssh/config"}),
        ("Task", {"prompt": "/etc/hosts", "description": "~/x", "command": "rm -rf /"}),
        ("TodoWrite", {"todos": [{"content": "/etc/hosts", "path": "/etc/hosts"}]}),
        ("update_plan", {"plan": [{"step": "/etc/hosts"}]}),
        ("BashOutput", {"bash_id": "1", "filter": "/var/log/x"}),
        ("Skill", {"command": "review", "args": "/etc/hosts"}),
        ("Skill", {"skill": "review", "args": "../x"}),
    ],
)
def test_what_a_tool_that_touches_nothing_is_told_is_no_path(tool, data):
    decision = Engine().decide(ToolCall(tool, data, "/home/dev/p"))
    assert (decision.state, decision.effects) == (State.ALLOW, ())


def test_nor_is_it_a_command():
    call = ToolCall("SlashCommand", {"command": "/review"}, CWD)
    assert state(call, **{"*": "deny"}) is State.ALLOW
