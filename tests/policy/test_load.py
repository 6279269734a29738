"""From files to rules: layers, defaults, sources, and what is refused."""

import os
import re
from pathlib import Path
from typing import ClassVar

import pytest

from ringfence import Engine, ToolCall
from ringfence.engine.filesystem import NoFileSystem
from ringfence.engine.policy import ConfigError, LayeredPolicy, load_policy
from ringfence.engine.policy.load import contents_of, problems, project_of
from ringfence.engine.policy.trust import TrustStore
from ringfence.rules.model import NAME, UNKNOWN, Operation, State

HOME_CONFIG = "home/.config/ringfence/config.toml"
PROJECT_CONFIG = "project/.ringfence/config.toml"


def policy(tmp_path, files, *, trusted=True):
    """The policy of a home and a project that hold ``files``; the project is trusted."""
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    env = {"HOME": str(tmp_path / "home")}
    if trusted:
        project = tmp_path / "project"
        TrustStore.of_user(env).trust(project_of(project), contents_of(project / ".ringfence"))
    return load_policy(str(tmp_path / "project"), env=env)


def states(policy, *subjects, surface="bash"):
    """What the policy says of each subject."""
    return [str(policy.rule(surface, subject).state) for subject in subjects]


class TestDefaults:
    """What holds where no rule matches."""

    @pytest.mark.parametrize(
        ("surface", "subject", "state", "name"),
        [
            ("special", "external_directory", "ask", "special.external_directory"),
            ("special", "doom_loop", "ask", "special.doom_loop"),
            ("bash", "ls", "allow", "defaultPolicy.bash"),
            ("tools", "read", "allow", "defaultPolicy.tools"),
            ("mcp", "server", "allow", "defaultPolicy.mcp"),
            ("skills", "pdf", "allow", "defaultPolicy.skills"),
        ],
    )
    def test_built_in(self, surface, subject, state, name):
        """Without any file special is ask, everything else allow, and marked as defaults."""
        rule = LayeredPolicy().rule(surface, subject)
        assert (rule.state, rule.rule, rule.source) == (state, name, "built-in default")
        assert rule.default

    def test_toml_inherits(self, tmp_path):
        """A TOML file that leaves defaultPolicy out changes no default."""
        loaded = policy(tmp_path, {HOME_CONFIG: '[bash]\n"rm *" = "deny"\n'})
        assert states(loaded, "rm x", "ls") == ["deny", "allow"]

    @pytest.mark.parametrize("suffix", ["json", "jsonc"])
    def test_json_asks(self, tmp_path, suffix):
        """In the origin's form what defaultPolicy leaves out is ask."""
        name = f"home/.config/ringfence/config.{suffix}"
        loaded = policy(tmp_path, {name: '{"defaultPolicy": {"mcp": "deny"}}'})
        rule = loaded.rule("bash", "ls")
        assert (rule.state, rule.default) == (State.ASK, True)
        assert rule.source == f"{tmp_path / name}, which leaves it out"
        assert states(loaded, "x", surface="mcp") == ["deny"]

    def test_json_asks_only_where_no_file_speaks(self, tmp_path):
        """The origin merged defaultPolicy over all files before it filled the gaps."""
        files = {
            HOME_CONFIG: '[defaultPolicy]\nbash = "allow"\n',
            "project/.ringfence/config.json": '{"bash": {"rm *": "deny"}}',
        }
        loaded = policy(tmp_path, files)
        assert states(loaded, "ls", "rm x") == ["allow", "deny"]
        assert states(loaded, "read", surface="tools") == ["ask"]

    def test_a_default_from_a_file_is_still_a_default(self, tmp_path):
        """It has a place, but no rule of anyone's matched."""
        loaded = policy(tmp_path, {HOME_CONFIG: '[defaultPolicy]\nbash = "deny"\n'})
        rule = loaded.rule("bash", "ls")
        assert (rule.state, rule.default) == (State.DENY, True)
        assert rule.source == f"{tmp_path / HOME_CONFIG}:2"


class TestLayers:
    """Which rule wins."""

    def test_last_match_wins(self, tmp_path):
        """Within a table, order decides, not narrowness."""
        table = '[bash]\n"*" = "ask"\n"git *" = "allow"\n"git push *" = "deny"\n'
        loaded = policy(tmp_path, {HOME_CONFIG: table})
        assert states(loaded, "ls", "git log", "git push -f") == ["ask", "allow", "deny"]

    def test_project_over_global_and_agents_over_both(self, tmp_path):
        """Global, project, the agent's global, the agent's project: the later one wins."""
        files = {
            HOME_CONFIG: '[bash]\na = "ask"\nb = "ask"\nc = "ask"\nd = "ask"\n'
            '[agents.x.bash]\nc = "deny"\nd = "deny"\n',
            PROJECT_CONFIG: '[bash]\nb = "allow"\nc = "allow"\n[agents.x.bash]\nd = "allow"\n',
        }
        loaded = policy(tmp_path, files)
        assert states(loaded.for_agent(None), *"abcd") == ["ask", "allow", "allow", "ask"]
        assert states(loaded.for_agent("y"), *"abcd") == ["ask", "allow", "allow", "ask"]
        assert states(loaded.for_agent("x"), *"abcd") == ["ask", "allow", "deny", "allow"]

    def test_source_is_file_and_line(self, tmp_path):
        """A person finds the rule without a search."""
        loaded = policy(tmp_path, {PROJECT_CONFIG: '# x\n[tools]\nread = "deny"\n'})
        rule = loaded.rule("tools", "read")
        assert (rule.rule, rule.source) == ("tools.read", f"{tmp_path / PROJECT_CONFIG}:3")
        assert not rule.default

    def test_xdg_config_home(self, tmp_path):
        """The user's file moves with XDG_CONFIG_HOME, unless that is relative."""
        path = tmp_path / "ringfence" / "config.toml"
        path.parent.mkdir()
        path.write_text('[bash]\na = "deny"\n')
        env = {"HOME": "/nowhere", "XDG_CONFIG_HOME": str(tmp_path)}
        assert states(load_policy(None, env=env), "a") == ["deny"]
        assert states(load_policy(None, env=env | {"XDG_CONFIG_HOME": "x"}), "a") == ["allow"]

    def test_one_config_instead(self, tmp_path):
        """An explicit file replaces the user's and the project's."""
        files = {HOME_CONFIG: '[bash]\na = "deny"\n', "other.toml": '[bash]\nb = "deny"\n'}
        policy(tmp_path, files)
        loaded = load_policy(None, config=str(tmp_path / "other.toml"))
        assert states(loaded, "a", "b") == ["allow", "deny"]


class TestUnknownParts:
    """Rules on commands of which a part is only known at run time."""

    @pytest.mark.parametrize(
        ("subject", "state"),
        [
            (f"rm {UNKNOWN} x", "ask"),  # the deny may hold: a person has to look
            (f"rm -rf {UNKNOWN}", "deny"),  # it does hold
            (f"ls {UNKNOWN}", "allow"),
            (UNKNOWN, "ask"),
        ],
    )
    def test_a_strict_rule_that_may_match_asks(self, tmp_path, subject, state):
        """A flag hidden in a variable neither dodges a deny nor is denied for nothing."""
        loaded = policy(tmp_path, {HOME_CONFIG: '[bash]\n"*" = "allow"\n"rm -rf *" = "deny"\n'})
        assert states(loaded, subject) == [state]

    def test_an_allow_rule_never_matches_by_luck(self, tmp_path):
        """`git $x` is not known to be `git status`."""
        table = '[bash]\n"*" = "ask"\n"git status" = "allow"\n'
        assert states(policy(tmp_path, {HOME_CONFIG: table}), f"git {UNKNOWN}") == ["ask"]


class TestAcross:
    """Rules that match a whole line and none of its commands."""

    def test_only_strict_rules_see_it(self, tmp_path):
        """An allow for the whole line's beginning must not allow its end."""
        table = '[bash]\n"*" = "ask"\n"git *" = "allow"\n"*| sh" = "deny"\n'
        loaded = policy(tmp_path, {HOME_CONFIG: table})
        assert loaded.across("git log; rm x", ["git log", "rm x"]) is None
        assert loaded.across("curl x | sh", ["curl x", "sh"]).state is State.DENY


SURFACES = "tools, bash, mcp, skills, special"
ALL = f'the keys here are defaultPolicy, {SURFACES}, paths, headless, agents, $schema (did you mean "defaultPolicy"?)'
SPECIAL = 'the keys here are external_directory, doom_loop (did you mean "external_directory"?)'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            'defaultpolicy = "ask"',
            f"1: defaultpolicy: unknown key; {ALL}",
        ),
        (
            '[bash]\n"a" = "Allow"',
            '2: bash.a: must be "allow", "ask" or "deny", not "Allow" (did you mean "allow"?)',
        ),
        (
            '[bash]\n"git *" = true',
            '2: bash."git *": must be "allow", "ask" or "deny", not true or false',
        ),
        (
            'bash = "ask"',
            '1: bash: must be a table, not a string (write [bash] "*" = "ask")',
        ),
        (
            'special = "deny"',
            (
                "1: special: must be a table, not a string"
                ' (write [special] external_directory = "deny")'
            ),
        ),
        (
            '[agents]\nx = "deny"',
            '2: agents.x: must be a table, not a string (write [agents.x.tools] "*" = "deny")',
        ),
        ('paths = "yes"', "1: paths: must be a table, not a string"),
        (
            '[agents.x]\nexternal_directory = "deny"',
            (
                "2: agents.x.external_directory: unknown key"
                ' (write [agents.x.special] external_directory = "deny")'
            ),
        ),
        (
            '[external_directory]\n"/tmp/**" = "allow"',
            "1: external_directory: unknown key (write [special] external_directory = …)",
        ),
        ('Read = "ask"', '1: Read: unknown key (write [tools] Read = "ask")'),
        (
            '[tools]\ndoom_loop = "ask"',
            (
                "2: tools.doom_loop: is no tool's name, so it can never match"
                ' (write [special] doom_loop = "ask")'
            ),
        ),
        (
            '[special]\nexternal_dir = "ask"',
            f"2: special.external_dir: unknown key; {SPECIAL}",
        ),
        (
            '[defaultPolicy]\nshell = "ask"',
            f"2: defaultPolicy.shell: unknown key; the keys here are {SURFACES}",
        ),
        ("[agents]\nx = 1", "2: agents.x: must be a table, not a number"),
        (
            "[agents.x]\nagents = {}",
            f"2: agents.x.agents: unknown key; the keys here are defaultPolicy, {SURFACES}, paths, headless",
        ),
        (
            '[tools]\n"read:/x/*" = "deny"',
            (
                '2: tools."read:/x/*": is no tool\'s name, so it can never match'
                " (rules for paths stand in the table paths)"
            ),
        ),
        ('[bash]\n"" = "ask"', '2: bash."": is no pattern: it is empty or holds a NUL'),
        (
            '[bash]\n"a\\u0000" = "allow"',
            '2: bash."a\\u0000": is no pattern: it is empty or holds a NUL',
        ),
    ],
)
def test_bad_content(tmp_path, content, message):
    """Names file, line and key, and what was probably meant."""
    with pytest.raises(ConfigError) as caught:
        policy(tmp_path, {HOME_CONFIG: content})
    assert str(caught.value) == f"{tmp_path / HOME_CONFIG}:{message}"


def test_bad_content_of_json(tmp_path):
    """The form that was meant is that of the file."""
    with pytest.raises(ConfigError, match=r'\(write "bash": \{"\*": "ask"\}\)'):
        policy(tmp_path, {"home/.config/ringfence/config.json": '{"bash": "ask"}'})


def test_two_files_side_by_side(tmp_path):
    """One of them would be ignored, so neither is used."""
    files = {HOME_CONFIG: "", "home/.config/ringfence/config.json": "{}"}
    with pytest.raises(ConfigError, match=r"stands beside config\.toml"):
        policy(tmp_path, files)


def test_missing_explicit_config(tmp_path):
    """A file that was asked for must be there."""
    with pytest.raises(ConfigError, match="there is no such file"):
        load_policy(None, config=str(tmp_path / "none.toml"))


OUTSIDE = """
[special.external_directory]
"*" = "ask"
"/tmp/**" = "allow"
"/tmp/secret/**" = "deny"
"~/.cache/**" = { read = "allow", write = "ask" }
"~/.ssh/**" = { state = "deny", reason = "keys stay here" }
"$XDG_DATA_HOME/x" = "allow"
"/srv/*/pub/?.txt" = "allow"
"""


class TestOutside:
    """Rules for single paths outside."""

    @pytest.mark.parametrize(
        ("path", "operation", "state"),
        [
            ("/etc/hosts", "read", "ask"),
            ("/tmp", "read", "allow"),
            ("/tmp/a/b", "delete", "allow"),
            ("/tmpfile", "read", "ask"),
            ("/tmp/secret/key", "read", "deny"),
            # In whatever case a disk may take the name.
            ("/tmp/SECRET/key", "read", "deny"),
            ("/home/me/.cache/x", "read", "allow"),
            ("/home/me/.cache/x", "test", "allow"),
            ("/home/me/.cache/x", "write", "ask"),
            ("/home/me/.cache/x", "delete", "ask"),
            ("/home/me/.cache/x", "execute", "ask"),
            ("/home/me/.cache/x", "unknown", "ask"),
            ("/home/me/.ssh", "test", "deny"),
            ("/data/x", "read", "allow"),
            ("/srv/a/pub/1.txt", "read", "allow"),
            ("/srv/a/b/pub/1.txt", "read", "ask"),
            # What is not known may be anything: an allow must cover all of it.
            (f"/tmp/{NAME}", "read", "ask"),
            (f"/tmp/a/{NAME}/b", "read", "allow"),
            (f"/tmp/{UNKNOWN}", "read", "ask"),
            (UNKNOWN, "unknown", "ask"),
        ],
    )
    def test_patterns(self, tmp_path, path, operation, state):
        """The last pattern that matches decides; an operation that none names is left to others."""
        env = {"HOME": "/home/me", "XDG_DATA_HOME": "/data"}
        loaded = policy(tmp_path, {HOME_CONFIG: OUTSIDE}).for_agent(None, env)
        assert str(loaded.outside(path, path, Operation(operation)).state) == state

    def test_both_ends_of_a_link(self, tmp_path):
        """An allow must hold for the path as named and as it leads, a deny for either."""
        loaded = policy(tmp_path, {HOME_CONFIG: OUTSIDE}).for_agent(None, {"HOME": "/home/me"})
        states = [
            str(loaded.outside(path, real, Operation.READ).state)
            for path, real in [
                ("/tmp/x", "/etc/x"),
                ("/etc/x", "/tmp/x"),
                ("/tmp/x", "/tmp/secret/y"),
            ]
        ]
        assert states == ["ask", "ask", "deny"]

    def test_reason_and_source(self, tmp_path):
        """The user's words go with the rule."""
        loaded = policy(tmp_path, {HOME_CONFIG: OUTSIDE}).for_agent(None, {"HOME": "/home/me"})
        rule = loaded.outside("/home/me/.ssh/id", "/home/me/.ssh/id", Operation.READ)
        assert (rule.reason, rule.rule) == (
            "keys stay here",
            'special.external_directory "~/.ssh/**"',
        )
        assert rule.source == f"{tmp_path / HOME_CONFIG}:7"


class TestPaths:
    """Rules for paths inside and outside."""

    @pytest.mark.parametrize(
        ("pattern", "path", "found"),
        [
            (".env", "/p/.env", True),
            (".env", "/p/a/b/.env", True),
            (".env", "/q/.env", True),  # a name that is refused is so everywhere
            ("**/.env", "/q/a/.env", True),
            ("src/.env", "/q/src/.env", False),
            ("*.key", "/p/a/x.key", True),
            ("./README.md", "/p/README.md", True),
            ("./README.md", "/p/docs/README.md", False),
            ("src/**", "/p/src/a/b", True),
            ("**/.env*", "/p/a/.env.local", True),
            ("/etc/shadow", "/etc/shadow", True),
            ("*", "/anything", True),
            # A slash at the end is for the folder and all in it.
            ("build/", "/p/build/a", True),
            ("build/", "/p/x/build", True),
            ("./build/", "/p/build/a/b", True),
            ("./build/", "/p/x/build/a", False),
            ("/etc/", "/etc/hosts", True),
            ("/etc/", "/etc", True),
            ("src/**/", "/p/src/a/b", True),
            ("/", "/etc", False),
            # Patterns are read as paths are.
            ("packages/../src/**", "/p/src/a", True),
            ("../q/**", "/q/a", True),
            ("../../../q/**", "/q/a", True),
            ("//etc/**", "/etc/hosts", True),
            ("/etc//hosts", "/etc/hosts", True),
            ("/tmp/../etc/**", "/etc/hosts", True),
            ("src/./a.py", "/p/src/a.py", True),
            ("~/../x", "/home/x", True),
            ("$HOME/../**", "/home/other/x", True),
            ("app/{id}/x", "/p/app/{id}/x", True),
        ],
    )
    def test_patterns(self, tmp_path, pattern, path, found):
        """Those without a slash hold at any depth of the working directory."""
        loaded = policy(tmp_path, {HOME_CONFIG: f'[paths]\n"{pattern}" = "deny"\n'})
        loaded = loaded.for_agent(None, {"HOME": "/home/me"})
        rule = loaded.path(path, path, Operation.READ, "/p")
        assert (rule is not None and rule.state is State.DENY) is found

    @pytest.mark.parametrize(
        ("pattern", "hint"),
        [
            (" rm *", 'write "rm *"'),
            ("rm * ", 'write "rm *"'),
            ("rm:*", 'write "rm *"'),
            ("Bash(rm *)", 'write "rm *"'),
            ("Bash(git push:*)", 'write "git push *"'),
        ],
    )
    def test_what_no_command_matches(self, tmp_path, pattern, hint):
        """Is an error, too, with the form that is meant."""
        with pytest.raises(ConfigError, match=re.escape(hint)):
            policy(tmp_path, {HOME_CONFIG: f'[bash]\n"{pattern}" = "deny"\n'})

    @pytest.mark.parametrize("pattern", ["npm run test:*", "rm *", "*", "a:b", "Bash *"])
    def test_what_a_command_matches(self, tmp_path, pattern):
        """A colon may stand in a command."""
        assert policy(tmp_path, {HOME_CONFIG: f'[bash]\n"{pattern}" = "deny"\n'})

    def test_an_allow_for_a_name_is_for_the_project(self, tmp_path):
        """What is allowed at any depth is so below the working directory alone."""
        loaded = policy(tmp_path, {HOME_CONFIG: '[paths]\n"*" = "ask"\n".env" = "allow"\n'})
        assert loaded.path("/p/a/.env", "/p/a/.env", Operation.READ, "/p").state is State.ALLOW
        assert loaded.path("/q/.env", "/q/.env", Operation.READ, "/p").state is State.ASK

    @pytest.mark.parametrize(
        ("pattern", "problem"),
        [
            (" src", "blank"),
            ("src ", "blank"),
            ("!src/a.py", "begins with !"),
            ("src/{a,b}.py", "braces"),
            ("**/../x", "a .. behind a wildcard"),
            ("/etc/*/../x", "a .. behind a wildcard"),
            ("/etc/[[:alpha:]].pem", "class"),
            ("~root/**", "home of another user"),
        ],
    )
    @pytest.mark.parametrize("table", ["paths", "special.external_directory"])
    def test_what_can_never_match(self, tmp_path, pattern, problem, table):
        """Is an error: whoever wrote it believes that it holds."""
        if table != "paths":
            pattern = pattern if pattern.startswith(("/", "~")) else f"/etc/{pattern}"
        if problem in ("begins with !", "blank") and table != "paths" and pattern[-1] != " ":
            return
        with pytest.raises(ConfigError, match=problem):
            policy(tmp_path, {HOME_CONFIG: f'[{table}]\n"{pattern}" = "deny"\n'})


class TestTrust:
    """A project's files only tighten until they are trusted."""

    FILES: ClassVar = {
        HOME_CONFIG: '[bash]\n"rm *" = "deny"\n"ls *" = "allow"\n',
        PROJECT_CONFIG: '[bash]\n"*" = "allow"\n"ls *" = "ask"\n'
        '[special]\nexternal_directory = "allow"\n[paths]\n".env" = "deny"\n',
    }

    def answers(self, loaded):
        calls = [ToolCall.bash(command, "/p", env={}) for command in ("rm x", "ls x", "cat")]
        calls += [ToolCall("read", {"path": path}, "/p", env={}) for path in ("/x", "/p/.env")]
        engine = Engine(loaded, NoFileSystem())
        states = [str(engine.decide(call).state) for call in calls]
        return states[:3], *states[3:]

    def test_untrusted(self, tmp_path):
        """The stricter of both is the answer, for rules as for paths."""
        loaded = policy(tmp_path, self.FILES, trusted=False)
        assert self.answers(loaded) == (["deny", "ask", "allow"], "ask", "deny")

    def test_trusted(self, tmp_path):
        """What the user trusts may loosen."""
        loaded = policy(tmp_path, self.FILES)
        assert self.answers(loaded) == (["allow", "ask", "allow"], "allow", "deny")

    def test_changed_since(self, tmp_path):
        """A changed file is no longer trusted."""
        policy(tmp_path, self.FILES)
        changed = {PROJECT_CONFIG: self.FILES[PROJECT_CONFIG] + "# changed\n"}
        loaded = policy(tmp_path, changed, trusted=False)
        assert self.answers(loaded) == (["deny", "ask", "allow"], "ask", "deny")

    @pytest.mark.parametrize("kept", ["", "[]", "{", '{"x": 1}', "\0"])
    def test_a_damaged_store_trusts_nobody(self, tmp_path, kept):
        """It is as if there were none."""
        policy(tmp_path, self.FILES)
        (tmp_path / "home/.local/state/ringfence/trust.json").write_text(kept)
        loaded = policy(tmp_path, {}, trusted=False)
        assert self.answers(loaded) == (["deny", "ask", "allow"], "ask", "deny")

    def test_a_store_that_others_may_write_trusts_nobody(self, tmp_path):
        """Whoever can write it could trust anything."""
        policy(tmp_path, self.FILES)
        (tmp_path / "home/.local/state/ringfence/trust.json").chmod(0o666)
        loaded = policy(tmp_path, {}, trusted=False)
        assert self.answers(loaded)[1] == "ask"

    def test_new_agent_file(self, tmp_path):
        """An agent's file belongs to what is trusted."""
        policy(tmp_path, self.FILES)
        agent = "---\npermission:\n  bash:\n    'rm *': allow\n---\n"
        loaded = policy(tmp_path, {"project/.ringfence/agents/x.md": agent}, trusted=False)
        assert states(loaded.for_agent("x"), "rm x") == ["deny"]


class TestAgentFiles:
    """Agents in Markdown, their permissions in the front matter."""

    def test_rules_and_lines(self, tmp_path):
        """They hold for that agent alone, over the config's, with file and line."""
        text = "---\nname: x\npermission:\n  bash:\n    'rm *': deny\n---\nYou are x.\n"
        files = {
            HOME_CONFIG: '[bash]\n"rm *" = "allow"\n',
            "home/.config/ringfence/agents/x.md": text,
        }
        loaded = policy(tmp_path, files)
        assert states(loaded.for_agent("x"), "rm a") == ["deny"]
        assert states(loaded.for_agent("y"), "rm a") == ["allow"]
        rule = loaded.for_agent("x").rule("bash", "rm a")
        assert rule.source == f"{tmp_path / 'home/.config/ringfence/agents/x.md'}:5"

    @pytest.mark.parametrize(
        ("file", "opener", "agent"),
        [
            ("x.md", "---", "x"),
            ("x.md", "--- # an agent", "x"),
            ("x.md", "\N{NO-BREAK SPACE}---", "x"),
            ("x.MD", "---", "x"),
            ("x.markdown", "---", "x"),
            ("X.md", "---", "x"),  # hosts differ in the case of a name
            ("x.md", "---", "X"),
            ("file.md", "---\nname: x", "x"),  # by the name that it gives itself
            ("file.md", "---\nname: x", "file"),
        ],
    )
    def test_whose_they_are(self, tmp_path, file, opener, agent):
        """No spelling of a name leaves an agent without its rules."""
        text = f"{opener}\npermission:\n  bash: deny\n---\n"
        loaded = policy(tmp_path, {f"home/.config/ringfence/agents/{file}": text})
        assert states(loaded.for_agent(agent), "ls") == ["deny"]
        assert states(loaded.for_agent("y"), "ls") == ["allow"]

    @pytest.mark.parametrize("opener", ["---yaml", "----", "# x\n---"])
    def test_permissions_that_are_in_no_front_matter(self, tmp_path, opener):
        """Are an error: whoever wrote them believes that they hold."""
        text = f"{opener}\npermission:\n  bash: deny\n---\n"
        with pytest.raises(ConfigError, match="permission: stands in no front matter"):
            policy(tmp_path, {"home/.config/ringfence/agents/x.md": text})

    def test_short_form(self, tmp_path):
        """The tools that all agents have may stand outside the table of tools, as in the origin."""
        text = "---\npermission:\n  read: deny\n  bash: ask\n  tools:\n    mcp: allow\n---\n"
        loaded = policy(tmp_path, {"home/.config/ringfence/agents/x.md": text})
        of_x = loaded.for_agent("x")
        assert states(of_x, "read", "mcp", "bash", surface="tools") == ["deny", "allow", "ask"]
        assert of_x.rule("tools", "read").source.endswith("agents/x.md:3")
        call = ToolCall("bash", {"command": "ls"}, "/p", "x", env={})
        assert Engine(loaded, NoFileSystem()).decide(call).state is State.ASK

    def test_no_bash(self, tmp_path):
        """An agent that is given no bash runs nothing, whatever is allowed to the others."""
        files = {
            HOME_CONFIG: '[bash]\n"git *" = "allow"\n',
            "home/.config/ringfence/agents/x.md": "---\npermission:\n  bash: deny\n---\n",
        }
        decide = Engine(policy(tmp_path, files), NoFileSystem()).decide
        decision = decide(ToolCall("bash", {"command": "git log"}, "/p", "x", env={}))
        assert decision.state is State.DENY
        assert any(v.rule.source.endswith("agents/x.md:3") for v in decision.verdicts)

    @pytest.mark.parametrize("text", ["", "# no matter\n", "---\nname: x\n---\n", "---\n---\n"])
    def test_without(self, tmp_path, text):
        """A file without permissions says nothing."""
        loaded = policy(tmp_path, {"home/.config/ringfence/agents/x.md": text})
        assert states(loaded.for_agent("x"), "rm a") == ["allow"]

    @pytest.mark.parametrize(
        ("matter", "line", "problem"),
        [
            ("permission: [", 2, "not valid YAML"),
            ("permission:\n  bash:\n    x: maybe", 4, 'must be "allow", "ask" or "deny"'),
            ("permission:\n  bahs: {}", 3, "unknown key"),
            ("permission: deny", 2, "must be a table"),
            ("permission:\n  write: maybe", 3, 'must be "allow", "ask" or "deny"'),
            (
                "permission:\n  read: ask\n  tools:\n    read: deny",
                3,
                "stands in the table tools, too",
            ),
            ("permission:\n  read: ask\n  tools: 1", 4, "must be a table"),
            ("permission:\n  task: ask", 3, "unknown key"),
            ("name: x\npermissions:\n  bash: deny", 3, 'did you mean "permission"?'),
            ("Permission:\n  bash: deny", 2, 'did you mean "permission"?'),
            ("premission:\n  bash: deny", 2, 'did you mean "permission"?'),
            ("permission:allow", 2, "is no table of keys"),
            ("permission:\n  bash:\n    ls: deny\n    ls: allow", 5, "a second time"),
            ("permission:\n  bash: deny\npermission:\n  bash: ask", 4, "a second time"),
            ("permission:\n  bash:\n    1: deny", 4, "for a value of the type int"),
            ("permission:\n  bash:\n    on: deny", 4, "for a value of the type bool"),
            ("permission:\n  bash:\n    ~: deny", 4, "for a value of the type null"),
            ("permission:\n  bash:\n    2020-01-01: deny", 4, "for a value of the type timestamp"),
            ("x: &a\n  2: deny\npermission:\n  bash: *a", 3, "the type int"),
            ("x: &a\n  2: deny\npermission:\n  bash:\n    <<: *a", 3, "the type int"),
            ("permission:\n  2: deny", 3, "for a value of the type int"),
            ("permission:\n  bash:\n    ? [a]\n    : deny", 4, "not valid YAML"),
        ],
    )
    def test_errors(self, tmp_path, matter, line, problem):
        """They name the file, the line and the key."""
        name = "home/.config/ringfence/agents/x.md"
        with pytest.raises(ConfigError) as raised:
            policy(tmp_path, {name: f"---\n{matter}\n---\n"})
        assert (raised.value.file, raised.value.line) == (str(tmp_path / name), line)
        assert problem in str(raised.value)

    @pytest.mark.parametrize(
        "text",
        [
            "--- \npermission:\n  bash:\n    'rm *': deny\n---\t\n",
            "\r\n---\r\npermission:\r\n  bash:\r\n    'rm *': deny\r\n---\r\nText.\r\n",
            "\n \n---\npermission:\n  bash:\n    'rm *': deny\n---\n",
            "\ufeff---\rpermission:\r  bash:\r    'rm *': deny\r---",
            "---\npermission:\n  bash:\n    'rm *': deny\n    'x ---': ask\n---",
        ],
    )
    def test_spellings(self, tmp_path, text):
        """Blanks and line ends that editors leave do not make a file say nothing."""
        path = tmp_path / "home/.config/ringfence/agents/x.md"
        path.parent.mkdir(parents=True)
        path.write_text(text, newline="")
        rule = policy(tmp_path, {}).for_agent("x").rule("bash", "rm a")
        assert rule.state is State.DENY
        line = text[: text.index("'rm")].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
        assert rule.source == f"{path}:{line}"

    @pytest.mark.parametrize("text", ["---\nunended\n", "---\npermission:\n  bash: deny\n"])
    def test_unclosed(self, tmp_path, text):
        """A front matter without an end is an error: what it says would be ignored."""
        with pytest.raises(ConfigError, match=r"x.md:1: the front matter is not closed"):
            policy(tmp_path, {"home/.config/ringfence/agents/x.md": text})


def _link(target):
    return lambda path: path.symlink_to(target)


class TestWhatIsNoFile:
    """What stands where a config belongs is never taken for none."""

    @pytest.mark.parametrize("base", ["home/.config", "project"])
    @pytest.mark.parametrize(
        ("name", "make", "problem"),
        [
            ("config.toml", _link("nowhere"), "is a link that leads nowhere"),
            ("config.toml", _link("config.toml"), "cannot be read: Too many levels"),
            ("config.json", Path.mkdir, "is no regular file"),
            ("config.toml", os.mkfifo, "is no regular file"),
            ("config.toml", _link("/dev/zero"), "is no regular file"),
            ("agents", _link("nowhere"), "is a link that leads nowhere"),
            ("agents", _link("agents"), "cannot be read: Too many levels"),
            ("agents", Path.touch, "is no folder"),
            ("agents/x.md", os.mkfifo, "is no regular file"),
            ("agents/x.md", _link("nowhere"), "is a link that leads nowhere"),
            ("agents/x.md", Path.mkdir, "is no regular file"),
            ("", _link("nowhere"), "is a link that leads nowhere"),
            ("", lambda path: path.symlink_to(path), "cannot be read: Too many levels"),
            ("", Path.touch, "is no folder"),
        ],
    )
    def test_it_is_an_error(self, tmp_path, monkeypatch, base, name, make, problem):
        """That names it, and `config check` tells it too."""
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        folder = tmp_path / base / ("ringfence" if base.endswith("config") else ".ringfence")
        path = folder / name if name else folder
        path.parent.mkdir(parents=True)
        make(path)
        with pytest.raises(ConfigError) as raised:
            load_policy(str(tmp_path / "project"))
        assert str(raised.value).startswith(f"{path}: {problem}")
        assert str(raised.value) in map(str, problems(str(tmp_path / "project")))

    def test_a_link_above(self, tmp_path):
        """A link to a disk that is not mounted does not make a policy vanish."""
        (tmp_path / "home").mkdir()
        (tmp_path / "home/.config").symlink_to("/not/mounted")
        with pytest.raises(ConfigError, match=r"\.config: is a link that leads nowhere"):
            policy(tmp_path, {})

    def test_a_home_that_is_none(self):
        """Users of services have none, and so no config."""
        assert not load_policy(None, env={"HOME": "/dev/null"}).layers


def test_all_problems(tmp_path, monkeypatch):
    """Every error of every file is told at once, each with its place."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    files = {
        HOME_CONFIG: '[bash]\n"a" = "Allow"\n"b" = 1\n"c" = "ask"\nx = { reason = "r" }\n[tool]\n',
        "project/.ringfence/config.json": '{"bash": {"a": "no"}, "paths": []}',
        "project/.ringfence/agents/x.md": "---\npermission:\n  bash:\n    ls: maybe\n---\n",
        "project/.ringfence/agents/y.md": "---\npermission: [\n---\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    found = [
        f"{Path(error.file).name}:{error.line}: {error.key}"
        for error in problems(str(tmp_path / "project"))
    ]
    assert sorted(found) == [
        *("config.json:1: bash.a", "config.json:1: paths"),
        *("config.toml:2: bash.a", "config.toml:3: bash.b", "config.toml:5: bash.x"),
        "config.toml:6: tool",
        *("x.md:4: permission.bash.ls", "y.md:2: "),
    ]


@pytest.mark.parametrize("value", ["deny", "null", "", "[]", "2026-01-01", "3"])
def test_all_problems_of_a_permission_that_is_no_table(tmp_path, monkeypatch, value):
    """What cannot be taken out of a file, because the file is about nothing else, ends the search."""
    (tmp_path / "project/.ringfence/agents").mkdir(parents=True)
    path = tmp_path / "project/.ringfence/agents/x.md"
    path.write_text(f"---\npermission: {value}\n---\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (error,) = problems(str(tmp_path / "project"))
    assert str(error).startswith(f"{path}:2: permission: must be a table, not ")
    if value == "deny":
        assert str(error).endswith('a string (write "tools": {"*": "deny"})')


def test_no_problems(tmp_path):
    """Nothing is said of a good file."""
    (tmp_path / "c.toml").write_text('[bash]\n"a" = "ask"\n')
    assert problems(None, config=str(tmp_path / "c.toml")) == []


def test_what_is_trusted_is_what_is_used(tmp_path, monkeypatch):
    """A file that changes after it was compared is not the one that counts."""
    files = {PROJECT_CONFIG: '[bash]\n"rm *" = "allow"\n'}
    policy(tmp_path, files)
    path = tmp_path / PROJECT_CONFIG
    looked = TrustStore.trusts

    def changing(store, folder, contents):
        answer = looked(store, folder, contents)
        path.write_text('[special]\nexternal_directory = "allow"\n')
        return answer

    monkeypatch.setattr(TrustStore, "trusts", changing)
    loaded = policy(tmp_path, {}, trusted=False)
    assert loaded.outside("/x", "/x", Operation.READ).state is State.ASK
    monkeypatch.undo()
    loaded = policy(tmp_path, {}, trusted=False)
    assert loaded.outside("/x", "/x", Operation.READ).state is State.ASK  # not trusted any more
    assert [layer.held for layer in loaded.layers] == [True]
