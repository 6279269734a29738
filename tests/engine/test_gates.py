"""The gates, each judged alone on facts made by hand."""

import pytest

from ringfence.engine import pipeline
from ringfence.engine.call import ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.policy.model import Entry, Layer, LayeredPolicy
from ringfence.rules import gates
from ringfence.rules.gates import GATES, Gate
from ringfence.rules.mcp import targets
from ringfence.rules.model import (
    UNKNOWN,
    CommandLine,
    Effect,
    Facts,
    Finding,
    Opaque,
    OpaqueKind,
    Operation,
    Rule,
    State,
    Verdict,
)

CWD = "/home/dev/project"


def policy(**tables):
    """A policy of one layer: ``policy(bash={"rm *": "deny"})``."""
    return LayeredPolicy((Layer("test", "f", {s: entries(s, t) for s, t in tables.items()}),))


def entries(surface, table):
    """The entries of one table."""
    return tuple(Entry(surface, p, State(state), "f:1") for p, state in table.items())


def finding(path="/etc/hosts", operation=Operation.READ):
    """A finding outside."""
    return Finding(Effect(path, operation, (0, 1), path, "cat"), path, path)


def unread(kind=OpaqueKind.UNKNOWN):
    """An opaque part."""
    return Opaque("reason", (0, 1), "x", kind)


def command(text, *words):
    """A simple command; its words are those of the text if none are given."""
    return CommandLine(text, (0, len(text)), words or tuple(text.split()))


def judge(name, facts, policy):
    """What the gate called ``name`` says: (state, rule, subject) each."""
    gate = next(gate for gate in GATES if gate.name == name)
    return [(str(v.state), v.rule.rule, v.subject) for v in gate.judge(facts, policy)]


def bash(*commands, line=None, opaque=()):
    """Facts about a bash command."""
    line = line or "; ".join(c.text for c in commands)
    return Facts("bash", {"command": line}, line, opaque=opaque, commands=commands)


class TestExternalDirectory:
    """The gate before all others."""

    @pytest.mark.parametrize(
        ("state", "findings", "opaque", "expected"),
        [
            ("ask", 0, 0, []),
            ("ask", 1, 0, ["ask"]),
            ("ask", 0, 1, ["ask"]),
            ("ask", 1, 1, ["ask"]),  # one verdict, so one prompt
            ("deny", 0, 0, []),
            ("deny", 1, 0, ["deny"]),
            ("deny", 0, 1, ["ask"]),  # not known to be outside: a person may look
            ("deny", 1, 1, ["deny", "ask"]),
            ("allow", 1, 1, []),  # it only ever adds a check
        ],
    )
    def test_states(self, state, findings, opaque, expected):
        """Follows the rule for what is found, and at least asks for what is not known."""
        facts = Facts("bash", {}, "x", (finding(),) * findings, (unread(),) * opaque)
        verdicts = judge("external_directory", facts, policy(special={"external_directory": state}))
        assert [verdict[0] for verdict in verdicts] == expected

    def test_asks_by_default(self):
        """Without any config a path outside is asked about."""
        facts = Facts("read", {}, None, (finding(),))
        verdicts = judge("external_directory", facts, LayeredPolicy())
        assert verdicts == [("ask", "special.external_directory", "")]


GIT = {"*": "ask", "git *": "allow", "git push *": "deny"}


class TestBash:
    """Each simple command is judged."""

    @pytest.mark.parametrize(
        ("table", "commands", "expected"),
        [
            (GIT, ["git log"], "allow"),
            (GIT, ["git"], "allow"),
            (GIT, ["git status", "rm -rf x"], "ask"),  # not hidden behind the first
            (GIT, ["ls", "git push origin"], "deny"),
            (GIT, ["git log", "git status"], "allow"),
            ({"rm *": "deny"}, ["ls", "rm x"], "deny"),
            ({}, ["ls"], "allow"),
        ],
    )
    def test_strictest_of_all(self, table, commands, expected):
        """The strictest simple command decides."""
        verdicts = judge("bash", bash(*map(command, commands)), policy(bash=table))
        states = [State(verdict[0]) for verdict in verdicts]
        assert max(states, key=lambda state: state.strictness) == expected

    @pytest.mark.parametrize(
        ("text", "words", "expected"),
        [
            ("\\rm x", ("rm", "x"), "deny"),  # quoting hides nothing
            ("A=1 rm x", ("rm", "x"), "deny"),
            ("$r x", ("rm", "x"), "deny"),
            ("A=1 git log", ("git", "log"), "allow"),
            ("git  log", ("git", "log"), "allow"),
            ("rm $x", ("rm", UNKNOWN), "deny"),
            ("$x y", (UNKNOWN, "y"), "ask"),
        ],
    )
    def test_words_as_the_command_gets_them(self, text, words, expected):
        """A pattern may match the words after expansion or the text as written."""
        table = {"*": "ask", "git *": "allow", "rm *": "deny"}
        [(state, _, _)] = judge("bash", bash(command(text, *words)), policy(bash=table))
        assert state == expected

    def test_strict_rules_see_the_whole_line(self):
        """A pattern over a pipe forbids the pipe."""
        facts = bash(command("curl x"), command("sh"), line="curl x | sh")
        table = {"*": "allow", "curl *| sh": "deny"}
        assert ("deny", 'bash "curl *| sh"', "curl x | sh") in judge(
            "bash", facts, policy(bash=table)
        )

    def test_a_rule_that_matches_a_part_is_heard_there_alone(self):
        """`git *` matches the line because of its first word, where a later rule overrules it."""
        facts = bash(command("git status"), command("ls"), line="git status && ls")
        table = {"git *": "ask", "git status *": "allow"}
        assert {verdict[0] for verdict in judge("bash", facts, policy(bash=table))} == {"allow"}

    @pytest.mark.parametrize(
        ("table", "expected"),
        [
            ({"*": "ask"}, "ask"),  # by `ls`
            ({"*": "ask", "ls": "allow"}, "allow"),  # `echo` beside another command says nothing
            ({"*": "ask", "ls": "allow", "echo *": "ask"}, "ask"),  # but where a rule names it
            ({"*": "ask", "ls": "allow", "* a": "deny"}, "deny"),
            ({"*": "allow", "echo *": "deny", "* a": "deny"}, "deny"),
        ],
    )
    def test_commands_that_do_nothing(self, table, expected):
        """They need no rule beside others, and are judged by any rule that is not for all."""
        verdicts = judge("bash", bash(command("ls"), command("echo a")), policy(bash=table))
        assert max((State(v[0]) for v in verdicts), key=lambda s: s.strictness) == expected

    @pytest.mark.parametrize(
        ("outer", "inner", "expected"),
        [
            ("timeout 5 git log", "git log", "allow"),
            ("env X=1 git log", "git log", "allow"),
            ("xargs git log", f"git log {UNKNOWN}", "allow"),
            ("env LD_PRELOAD=./x git log", "git log", "ask"),  # other code than git's runs
            ("sudo git log", "git log", "ask"),  # with other rights
            ("timeout 5 git log", "git", "ask"),  # not what it runs
        ],
    )
    def test_wrappers(self, outer, inner, expected):
        """A command that only runs another is looked through."""
        table = {"*": "ask", "git *": "allow"}
        verdicts = judge("bash", bash(command(outer), command(inner)), policy(bash=table))
        assert max((State(v[0]) for v in verdicts), key=lambda s: s.strictness) == expected

    @pytest.mark.parametrize(
        ("line", "table", "expected"),
        [
            ("git log > f", {}, ("allow", False)),  # no rule for git means the file
            ("git log > f", {"*": "deny"}, ("deny", False)),
            ("git log > f", {"> *": "ask"}, ("ask", False)),
            ("git log > f", {"git log > *": "ask"}, ("ask", False)),
            ("git log > f", {"> *": "allow"}, ("allow", True)),
            ("git log > /dev/null", {}, ("allow", True)),
            ("for x in a; do git log; done >> f", {"> *": "deny"}, ("deny", False)),
            ("git log 2> err", {"> *": "deny"}, ("deny", False)),
            ("echo x > f", {}, ("ask", False)),  # no command that a rule allows writes it
            ("{ echo x; } > f", {}, ("ask", False)),
            ("PATH=./bin git log", {}, ("ask", False)),  # another git may run
            ("X=1 git log", {}, ("allow", True)),
            ("m=1 && git log", {}, ("allow", True)),
            # However bash comes to set it.
            ("printf -v PATH ./bin; git log", {}, ("ask", False)),
            ("read -r PATH <<< ./bin; git log", {}, ("ask", False)),
            ("read -a PATH <<< ./bin; git log", {}, ("ask", False)),
            ("mapfile -t PATH <<< ./bin; git log", {}, ("ask", False)),
            ("for PATH in ./bin; do git log; done", {}, ("ask", False)),
            ("select PATH in ./bin; do git log; done", {}, ("ask", False)),
            ("for x in ./bin; do git log; done", {}, ("allow", True)),
            ("git log ${LD_PRELOAD:=./x}", {}, ("ask", False)),
            ("git log ${LD_PRELOAD:-./x}", {}, ("allow", True)),
            ("declare -n m=PATH; m=./bin; git log", {"declare *": "allow"}, ("ask", False)),
            ("export 'PATH=./bin'; git log", {"export *": "allow"}, ("ask", False)),
            ("PATH=(./bin); git log", {}, ("ask", False)),
            ("((PATH = 1)); git log", {}, ("ask", False)),
            ("git log $((PATH = 1))", {}, ("ask", False)),
            ("let PATH=1; git log", {"let *": "allow"}, ("ask", False)),
            ("getopts a PATH; git log", {"getopts *": "allow"}, ("ask", False)),
            ("git log {PATH}> /dev/null", {}, ("ask", False)),
            ("git log; LD_PRELOAD=./x", {"LD_PRELOAD=*": "deny"}, ("deny", False)),
        ],
    )
    def test_what_no_rule_for_a_command_means(self, line, table, expected):
        """Files that are written, and variables that say which code runs: (state, by a rule)."""
        rules = policy(bash={"*": "ask", "git *": "allow", **table})
        if table.get("*"):
            rules = policy(bash={**table, "git *": "allow"})
        call = ToolCall.bash(line, CWD, env={"HOME": "/home/dev"})
        decision = pipeline.decide(call, rules, NoFileSystem())
        assert (decision.state, not decision.default and decision.state is State.ALLOW) == (
            State(expected[0]),
            expected[1],
        )

    def test_a_rule_may_pin_the_whole_line(self):
        """A rule without a star that is the line decides it, whatever is in it."""
        facts = bash(command("git status"), command("rm x"), line="git status && rm x")
        table = {"rm *": "deny", "git status && rm x": "allow"}
        expected = [("allow", 'bash "git status && rm x"', "git status && rm x")]
        assert judge("bash", facts, policy(bash=table)) == expected

    def test_a_later_rule_wins_over_a_pin(self):
        """Last match wins for pins too."""
        facts = bash(command("ls"))
        assert judge("bash", facts, policy(bash={"ls": "allow", "*": "ask"}))[0][0] == "ask"

    @pytest.mark.parametrize(
        ("kind", "table", "expected"),
        [
            (OpaqueKind.SYNTAX, {"*": "allow", "rm *": "deny"}, "ask"),
            (OpaqueKind.LIMIT, {"*": "allow", "rm *": "deny"}, "ask"),
            (OpaqueKind.SYNTAX, {"*": "deny", "git *": "allow"}, "deny"),
            (OpaqueKind.SYNTAX, {"*": "allow"}, "ask"),  # no rule can have meant what was not read
        ],
    )
    def test_an_unread_part_may_be_any_command(self, kind, table, expected):
        """What was never read is judged as a command of which nothing is known."""
        facts = bash(line="x ( rm", opaque=(unread(kind),))
        [(state, _, _)] = judge("bash", facts, policy(bash=table))
        assert state == expected

    def test_without_simple_commands_the_line_itself_is_judged(self):
        """`(( x++ ))` runs no command, but the surface's default still speaks."""
        verdicts = judge("bash", bash(line="(( x++ ))"), policy(bash={"*": "ask"}))
        assert verdicts == [("ask", 'bash "*"', "(( x++ ))")]

    def test_repeated_verdicts_are_said_once(self):
        """Twenty allowed commands are one verdict, and one refused twice is one."""
        facts = bash(*[command("ls")] * 20, command("rm x"), command("rm x"), command("rm y"))
        verdicts = judge("bash", facts, policy(bash={"ls": "allow", "rm *": "deny"}))
        assert [verdict[2] for verdict in verdicts] == ["ls", "rm x", "rm y"]


class TestOtherSurfaces:
    """Tools, MCP servers and skills."""

    @pytest.mark.parametrize(
        ("tool", "tables", "expected"),
        [
            ("read", {}, [("allow", "defaultPolicy.tools", "read")]),
            ("TodoWrite", {}, [("allow", "defaultPolicy.tools", "TodoWrite")]),
            ("frob", {}, [("ask", "a tool that Ringfence does not know", "frob")]),
            ("frob", {"tools": {"*": "allow"}}, [("allow", "tools.*", "frob")]),
            ("frob", {"tools": {"frob": "allow"}}, [("allow", "tools.frob", "frob")]),
            ("read", {"tools": {"read": "deny"}}, [("deny", "tools.read", "read")]),
            ("frob", {"tools": {"Frob": "deny"}}, [("deny", "tools.Frob", "frob")]),
            ("bash", {}, []),  # it has a surface of its own
            ("bash", {"tools": {"bash": "deny"}}, []),
            ("mcp__a__b", {}, []),
            ("mcp__a__b", {"tools": {"mcp": "ask"}}, []),
            (
                "mcp__a__b",
                {"tools": {"mcp__a__*": "ask"}},
                [("ask", "tools.mcp__a__*", "mcp__a__b")],
            ),
        ],
    )
    def test_tools(self, tool, tables, expected):
        """Any tool may be named; the default is for those without their own surface."""
        assert judge("tools", Facts(tool, {}, None), policy(**tables)) == expected

    @pytest.mark.parametrize(
        ("table", "expected"),
        [
            ({}, "allow"),
            ({"github": "deny"}, "deny"),
            ({"github:create_issue": "deny", "github": "allow"}, "deny"),  # narrower wins
            ({"github_create_issue": "ask"}, "ask"),
            ({"*": "ask", "github": "allow"}, "allow"),
            ({"*": "ask", "github:*": "allow"}, "allow"),
            ({"github": "allow", "*": "deny"}, "deny"),  # last match wins among patterns
            ({"github:create_*": "deny", "github": "allow"}, "deny"),  # narrower, with a star
            ({"*:create_*": "deny", "github": "allow"}, "deny"),
            ({"github_cr*": "ask", "github": "allow"}, "ask"),
            ({"github": "deny", "github:*": "allow"}, "allow"),
            ({"git*": "deny", "github": "allow"}, "allow"),  # matches the server, as that does
            ({"github:create_*": "deny", "*": "allow"}, "allow"),
            ({"git*": "deny", "mcp_call": "allow"}, "deny"),
            ({"GitHub:Create_*": "deny", "github": "allow"}, "deny"),  # a refusal in any case
            ({"*": "ask", "GitHub": "allow"}, "ask"),
        ],
    )
    def test_mcp(self, table, expected):
        """By server:tool, server_tool, or server; a rule for the tool over one for its server."""
        facts = Facts("mcp__github__create_issue", {}, None)
        [(state, _, subject)] = judge("mcp", facts, policy(mcp=table))
        assert (state, subject) == (expected, "github:create_issue")

    @pytest.mark.parametrize(
        ("tool", "table", "expected"),
        [
            ("mcp__my_server__tool", {"my server:tool": "deny"}, "deny"),
            ("mcp__my-server__tool", {"my.server_tool": "ask"}, "ask"),
            ("mcp__my_server__tool", {"*": "ask", "my server": "allow"}, "ask"),  # not an allow
            ("mcp__plugin_x_hub__rm", {"hub:rm": "deny"}, "deny"),
            ("mcp__plugin_x_y_hub__rm", {"y_hub:rm": "deny"}, "deny"),
            ("mcp__plugin_x_hub__rm", {"hub": "deny"}, "deny"),
            ("mcp__plugin_x_hub__rm", {"*": "ask", "hub": "allow"}, "ask"),
            ("mcp__claude_ai_hub__rm", {"hub:rm": "deny"}, "deny"),
            ("mcp__hub__my_rm", {"*:rm": "deny"}, "allow"),
            ("mcp__hub__rm", {"hub_x:rm": "deny"}, "allow"),
        ],
    )
    def test_mcp_names_as_hosts_write_them(self, tool, table, expected):
        """Rules that ask or deny see through what hosts put before a name, or for its signs."""
        verdicts = judge("mcp", Facts(tool, {}, None), policy(mcp=table))
        assert {state for state, _, _ in verdicts} == {expected}

    @pytest.mark.parametrize(
        ("tool", "data"),
        [
            ("mcp__a__b", {}),
            ("mcp__plugin_x_a__b", {}),
            ("mcp", {"tool": "a:b"}),
            ("mcp", {"server": "a", "tool": "b"}),
            ("mcp", {"tool": "a_b"}),
            ("mcp", {"tool": "mcp__a__b"}),
        ],
    )
    def test_a_whole_name_of_a_tool(self, tool, data):
        """What `tools` refuses of a server's is refused by whatever way it is called."""
        rules = policy(tools={"mcp__a__*": "deny"}, mcp={"*": "allow"})
        states = {state for state, _, _ in judge("tools", Facts(tool, data, None), rules)}
        assert states == {"deny"}

    def test_a_whole_name_of_a_tool_is_of_no_other_call(self):
        """A search, and a tool of another server, are none of its."""
        rules = policy(tools={"mcp__a__*": "deny"}, mcp={"*": "allow"})
        for data in ({"search": "a"}, {"server": "c", "tool": "a_b"}, {"describe": "a_b"}):
            assert judge("tools", Facts("mcp", data, None), rules) == []

    def test_mcp_name_that_can_be_read_in_two_ways(self):
        """A server whose name holds the separator is judged in every reading."""
        facts = Facts("mcp__a__b__c", {}, None)
        names = [target.names for target in targets(facts.tool, {})]
        assert names == [
            ("a:b__c", "a_b__c", "a", "mcp_call"),
            ("a__b:c", "a__b_c", "a__b", "mcp_call"),
        ]
        verdicts = judge("mcp", facts, policy(mcp={"a__b": "deny"}))
        assert [verdict[0] for verdict in verdicts] == ["allow", "deny"]

    @pytest.mark.parametrize(
        ("data", "table", "expected"),
        [
            ({"server": "git", "tool": "log"}, {"git:log": "deny"}, "deny"),
            ({"tool": "git:log"}, {"git": "deny"}, "deny"),
            ({"tool": "git_log"}, {"*": "ask", "git_*": "allow"}, "allow"),
            ({"tool": "my_git_log"}, {"my_git": "deny"}, "deny"),  # the server, it may be
            ({"tool": "my_git_log"}, {"*": "ask", "my_git": "allow"}, "ask"),  # or not
            ({"tool": "git_log"}, {"mcp_call": "deny"}, "deny"),
            ({"tool": "hub_rm_x"}, {"hub:*": "allow", "hub:rm_*": "deny"}, "deny"),
            ({"tool": "my_hub_rm_x"}, {"my_hub:*": "allow", "my_hub:rm_*": "deny"}, "deny"),
            ({"tool": "hub_get_x"}, {"hub:*": "deny", "hub:get_*": "allow"}, "allow"),
            ({"describe": "hub_rm_x"}, {"hub:rm_*": "ask"}, "ask"),
            ({"tool": "hub_rm_x"}, {"*": "ask", "hub_rm_x": "allow"}, "allow"),
            ({"describe": "git_log"}, {"*": "ask", "mcp_describe": "allow"}, "allow"),
            ({"search": "log"}, {"*": "ask", "mcp_search": "allow"}, "allow"),
            ({"connect": "git"}, {"mcp_connect": "ask", "git": "deny"}, "deny"),
            ({"server": "git"}, {"mcp_list": "deny"}, "deny"),
            ({}, {"*": "deny", "mcp_status": "allow"}, "allow"),
            ({"search": "x", "tool": "git:push"}, {"*": "deny", "mcp_search": "allow"}, "deny"),
            # However the tool is spelt; which of them the proxy takes, it alone knows.
            ({"tool": "hub:rm_x "}, {"hub:rm_x": "deny"}, "deny"),
            ({"server": " hub", "tool": "rm_x"}, {"hub:rm_x": "deny"}, "deny"),
            ({"tool": "mcp__hub__rm_x"}, {"hub:rm_x": "deny"}, "deny"),
            ({"tool": "hub__rm_x"}, {"hub:rm_x": "deny"}, "deny"),
            ({"tool": "rm_x"}, {"hub:rm_x": "deny"}, "deny"),  # a tool alone is anyone's
            ({"tool": "rm_x"}, {"hub:rm_*": "deny"}, "deny"),
            ({"tool": "rm_x"}, {"*:rm_x": "deny"}, "deny"),
            ({"tool": "get_x"}, {"hub:*": "deny"}, "allow"),  # of which server, nobody says
            ({"tool": "get_x"}, {"hub:rm_x": "deny"}, "allow"),
            ({"tool": "rm_x"}, {"hub:rm_x": "deny", "rm_x": "allow"}, "allow"),
        ],
    )
    def test_the_proxy_to_all_servers(self, data, table, expected):
        """One tool `mcp` that calls others: by what its input asks for."""
        verdicts = judge("mcp", Facts("mcp", data, None), policy(mcp=table))
        assert max((State(v[0]) for v in verdicts), key=lambda s: s.strictness) == expected

    @pytest.mark.parametrize(
        ("gate", "facts", "tables", "expected"),
        [
            ("bash", bash(command("ls")), {"tools": {"bash": "deny"}}, ("deny", "tools.bash")),
            ("bash", bash(command("ls")), {"tools": {"*": "ask"}}, ("ask", "tools.*")),
            (
                "bash",
                bash(command("ls")),
                {"tools": {"bash": "deny"}, "bash": {"ls": "allow"}},
                ("allow", 'bash "ls"'),
            ),
            ("mcp", Facts("mcp__a__b", {}, None), {"tools": {"mcp": "ask"}}, ("ask", "tools.mcp")),
            (
                "mcp",
                Facts("mcp__a__b", {}, None),
                {"tools": {"mcp": "deny"}, "mcp": {"a": "allow"}},
                ("allow", 'mcp "a"'),
            ),
            (
                "skills",
                Facts("skill", {"name": "x"}, None),
                {"tools": {"skill": "deny"}},
                ("deny", "tools.skill"),
            ),
        ],
    )
    def test_a_tool_with_a_table_of_its_own(self, gate, facts, tables, expected):
        """What `tools` says of it is the default of that table."""
        [(state, rule, _)] = judge(gate, facts, policy(**tables))
        assert (state, rule) == expected

    def test_skills(self):
        """By the skill's name."""
        facts = Facts("skill", {"name": "pdf"}, None)
        assert judge("skills", facts, policy(skills={"pdf": "ask"})) == [
            ("ask", 'skills "pdf"', "pdf")
        ]

    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ({"skill": "/evil"}, ["deny"]),
            ({"skill": " evil"}, ["deny"]),
            ({"skill": "evil\n"}, ["deny"]),
            ({"skill": "EVIL"}, ["deny"]),
            ({"command": "evil"}, ["deny"]),
            ({"skill": "a-plugin:evil"}, ["deny"]),
            ({"skill": "evil", "name": "ok"}, ["allow", "deny"]),  # whichever counts
            ({"skill": "ok"}, ["allow"]),
            ({"skill": "a-plugin:ok"}, ["allow"]),
            ({}, ["allow"]),
        ],
    )
    def test_a_skill_however_it_is_spelt(self, data, expected):
        """Hosts take a name with a slash, blanks or its plugin, in one input or another."""
        verdicts = judge("skills", Facts("skill", data, None), policy(skills={"evil": "deny"}))
        assert [state for state, _, _ in verdicts] == expected

    def test_a_plugin_s_skill_is_not_allowed_by_its_last_name(self):
        """Anyone may call a skill like another."""
        facts = Facts("skill", {"skill": "a-plugin:ok"}, None)
        verdicts = judge("skills", facts, policy(skills={"*": "ask", "ok": "allow"}))
        assert [state for state, _, _ in verdicts] == ["ask"]


def test_order():
    """Paths come before the tool's own surface."""
    names = [gate.name for gate in GATES]
    assert names == [
        *("external_directory", "paths", "own_files", "doom_loop"),
        *("bash", "tools", "mcp", "skills"),
    ]
    assert all(gate.doc.endswith(".") for gate in GATES)


def test_adding_a_gate(monkeypatch):
    """A gate is one function and one entry; nothing else has to know of it."""

    def judge_nights(facts, _policy):
        return (Verdict("nights", Rule(State.DENY, "nights", "f:1")),) if facts.input else ()

    added = (*gates.GATES, Gate("nights", "Whether it is night.", judge_nights))
    monkeypatch.setattr(pipeline, "GATES", added)
    call = ToolCall("read", {"path": "x"}, CWD)
    assert pipeline.decide(call, LayeredPolicy(), NoFileSystem()).state is State.DENY
