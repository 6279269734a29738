"""Policies test themselves: examples of rules, and files of cases."""

from __future__ import annotations

import pytest

from ringfence.engine.cli import main

CONFIG = """\
[bash]
"*" = "ask"
"git *" = { state = "allow", match = ["git log", "cd sub && git log"], not_match = ["rm x", "git push"] }
"git push *" = { state = "deny", match = ["git push", "git -C sub push -f"], reason = "ask first" }

[special.external_directory]
"/tmp/**" = { state = "allow", match = ["/tmp/a", "/tmp"], not_match = ["/etc/x", "/tmp/../etc"] }

[paths]
"**/.env" = { write = { state = "deny", match = ["a/.env", "~/.env"], not_match = [".envrc"] } }

[tools]
webfetch = { state = "ask", match = ["WebFetch"], not_match = ["read"] }

[mcp]
"github:*" = { state = "ask", match = ["github:create_issue"], not_match = ["jira:create_issue"] }

[skills]
pdf = { state = "deny", match = ["pdf"] }
"""


@pytest.fixture
def ringfence_test(tmp_path, monkeypatch, capsys):
    """Run `ringfence test` in a project with this config: (status, stdout, complaints)."""
    monkeypatch.setenv("HOME", "/home/dev")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(config, *arguments, **files):
        (tmp_path / "c.toml").write_text(config)
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        status = main(["test", "--config", "c.toml", *arguments])
        out, err = capsys.readouterr()
        return status, out, err.replace("ringfence: ", "")

    return run


def test_all_surfaces(ringfence_test):
    """Each example is decided by its rule, or not."""
    assert ringfence_test(CONFIG) == (
        0,
        "Examples of rules: 18. Cases: 0. Wrong: 0.\n",
        "",
    )


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (  # a later rule takes the example away
            '[bash]\n"git *" = { state = "allow", match = ["git push"] }\n"git push *" = "ask"\n',
            (
                'c.toml:2: bash "git *": does not decide on its example `git push`:'
                ' bash "git push *" = ask (c.toml:3)\n'
            ),
        ),
        (
            '[bash]\n"git *" = { state = "allow", not_match = ["git status"] }\n',
            'c.toml:2: bash "git *": decides on `git status`, which is an example of what it does not\n',
        ),
        (
            '[special.external_directory]\n"/tmp/*" = { state = "allow", match = ["/tmp/a/b"] }\n',
            (
                'c.toml:2: special.external_directory "/tmp/*": does not decide on its example'
                " `/tmp/a/b`: special.external_directory = ask (built-in default)\n"
            ),
        ),
        (
            '[paths]\n".env" = { state = "deny", match = ["x"] }\n',
            'c.toml:2: paths ".env": does not decide on its example `x`: no rule does\n',
        ),
    ],
)
def test_a_wrong_example(ringfence_test, config, complaint):
    """An error that names the line, and what decides instead."""
    assert ringfence_test(config) == (
        1,
        "Examples of rules: 1. Cases: 0. Wrong: 1.\n",
        complaint,
    )


@pytest.mark.parametrize(
    ("said", "example", "decides"),
    [
        ('"git log *" = { state = "allow"', "git log > x", False),  # the rule is none for the file
        ('"git log *" = { state = "allow"', "git log && npm x", False),  # a default allows the rest
        ('"git log *" = { state = "allow"', "git log && rm x", False),  # and this is refused
        ('"git log *" = { state = "allow"', "cd sub && git log", True),
        ('"git log *" = { state = "ask"', "git log && rm x", False),
        ('"git log *" = { state = "ask"', "git log > x", True),
        ('"git log *" = { state = "deny"', "git log && rm x", True),
    ],
)
def test_an_example_is_decided_as_the_call_would_be(ringfence_test, said, example, decides):
    """The runner and the decision agree on whose word it is."""
    for key, wrong in (("match", not decides), ("not_match", decides)):
        config = f'[bash]\n"rm *" = "deny"\n{said}, {key} = ["{example}"] }}\n'
        assert ringfence_test(config)[0] == wrong


def test_cases_for_all_machines(ringfence_test):
    """Paths from the project or from home on are the same wherever the file is."""
    status, _, err = ringfence_test(
        "",
        "a.toml",
        a_DOT_toml='[case.home]\ncommand = "cat ~/x ../y *"\nexpect = "ask"\n'
        'external = ["~/x", "../y"]\ncwd = "~/app"\n\n'
        '[case.here]\ncommand = "cat ../x"\nexpect = "allow"\nexternal = []\ncwd = "sub/.."\n\n'
        '[case.bad]\ncommand = "ls"\nexpect = "allow"\nexternal = "x"\n',
    )
    assert status == 1
    assert err.splitlines() == [
        "a.toml:7: here: ask instead of allow, by special.external_directory (built-in default)",
        "a.toml:13: bad: external must be a list of paths",
    ]


def test_cases(ringfence_test):
    """Files of calls with the decision that is expected."""
    status, out, err = ringfence_test(
        CONFIG,
        "cases",
        cases__a_DOT_jsonl='{"command": "git push", "expect": "deny"}\n'
        '{"command": "cat /etc/hosts", "expect": "ask", "external": ["/etc/hosts"]}\n'
        '{"tool": "write", "input": {"path": ".env"}, "expect": "ask"}\n'
        '{"command": "git log", "expect": "maybe"}\nx\n{"expect": "ask"}\n'
        '{"command": "ls", "expect": "ask", "cwd": 1}\n',
        cases__b_DOT_toml='[case."reads outside are asked about"]\ncommand = "git log /x; cat /etc/x"\n'
        'expect = "ask"\n\n[case.wrong]\ncommand = "git log"\nexpect = "ask"\n',
    )
    assert (status, out) == (1, "Examples of rules: 18. Cases: 9. Wrong: 6.\n")
    assert err.splitlines() == [
        'cases/a.jsonl:3: deny instead of ask, by paths "**/.env" delete/write (c.toml:10)',
        'cases/a.jsonl:4: expect must be "allow", "ask" or "deny"',
        "cases/a.jsonl:5: is no object",
        "cases/a.jsonl:6: has neither a command nor a tool",
        "cases/a.jsonl:7: cwd must be a path",
        'cases/b.toml:5: wrong: allow instead of ask, by bash "git *" (c.toml:3)',
    ]


def test_the_projects_own_folder(ringfence_test):
    """What lies in .ringfence/tests is tried without being named."""
    status, out, _ = ringfence_test(
        "", _DOT_ringfence__tests__a_DOT_jsonl='{"command": "ls", "expect": "allow"}'
    )
    assert (status, out) == (0, "Examples of rules: 0. Cases: 1. Wrong: 0.\n")


@pytest.mark.parametrize("content", ["x = 1", "[case]\na = 1", "case = 1", "["])
def test_bad_files(ringfence_test, content):
    """Said with their place."""
    status, _, err = ringfence_test("", "a.toml", a_DOT_toml=content)
    assert status in (1, 2)
    assert "a.toml" in err


def test_the_examples_are_held_to_be_texts(ringfence_test):
    """Anything else is an error of the config."""
    status, _, err = ringfence_test('[bash]\n"a" = { state = "ask", match = "a" }\n')
    assert (status, err) == (2, "c.toml:2: bash.a.match: must be a list of texts, not a string\n")
