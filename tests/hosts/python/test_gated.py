"""``@gated`` and the guard behind it: what runs, what does not, and what the caller gets."""

import asyncio
import dataclasses
import inspect
import json
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from helpers.python_docs import example
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence import Engine, GrantStore, Guard, NobodyToAskError, ToolRefusedError, gated
from ringfence.engine.hosts.python.values import plain
from ringfence.engine.policy.errors import ConfigError

CONFIG = """
[special.external_directory]
"/srv/shared/**" = "allow"
"~/.ssh/**" = "deny"
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A project with a user of its own, as this process's working directory."""
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".config/ringfence").mkdir(parents=True)
    (home / ".config/ringfence/config.toml").write_text(CONFIG)
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def guard(work):
    return Guard.load(work)


def never(path):
    """A tool, or an approver, that must not be called."""
    raise AssertionError(f"called with {path}")


class Clicks:
    """An approver that answers by its function and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def approve(self, decision, offers):
        self.asked.append((decision, offers))
        return self.answer(offers)


class AsyncClicks(Clicks):
    async def approve(self, decision, offers):
        await asyncio.sleep(0)
        return super().approve(decision, offers)


# --- the decorator ------------------------------------------------------------------------------


def test_mapped_to_a_command(guard):
    """The parameter is the command, and what it reaches outside is refused."""
    ran = []

    @gated("bash", arguments={"line": "command"}, guard=guard)
    def shell(line: str, timeout: int = 5) -> str:
        ran.append((line, timeout))
        return "done"

    assert shell("ls src") == "done"
    with pytest.raises(ToolRefusedError, match="read /etc/hosts, named by `/etc/hosts`") as caught:
        shell(line="cat /etc/hosts")
    assert caught.value.decision.call.command == "cat /etc/hosts"
    assert ran == [("ls src", 5)]


def test_message(guard, snapshot):
    """What the model is told in the place of a result: why, and how a person allows it."""
    answer = gated("read", guard=evolve_cwd(guard), on_deny="return")(never)
    assert answer("/etc/hosts") == snapshot


def evolve_cwd(guard):
    """The guard in a directory whose name is the same everywhere."""
    return attrs.evolve(guard, cwd="/home/dev/project")


def test_async(guard):
    @gated("write", guard=guard, on_deny="return")
    async def save(path: str, text: str) -> str:
        await asyncio.sleep(0)
        return f"{path}: {text}"

    assert inspect.iscoroutinefunction(save)
    assert asyncio.run(save("a.txt", "x")) == "a.txt: x"
    assert "write /etc/motd" in asyncio.run(save("/etc/motd", "x"))


def test_defaults_and_names_count(guard):
    """What the function would use is judged, however it is passed."""

    @gated("read", guard=guard)
    def show(path="/etc/hosts", *rest, **options):
        return path, rest, options

    assert show("README.md") == ("README.md", (), {})
    for call in (
        show,
        lambda: show("a", file_path="/etc/hosts"),
        lambda: show("a", file=["b", "/etc/hosts"]),
    ):
        with pytest.raises(ToolRefusedError):
            call()
    with pytest.raises(TypeError):
        gated("read", guard=guard)(lambda path: path)()


def test_methods(guard):
    class Tools:
        @gated("read", guard=guard)
        def show(self, path):
            return path

        def __str__(self):
            return "/etc/hosts"

    assert Tools().show("README.md") == "README.md"
    with pytest.raises(ToolRefusedError):
        Tools().show("../x")


def test_a_tool_that_is_not_known(guard):
    """It may do anything: a rule, or its author, says that its arguments are all there is to it."""

    def weather(city, folder="out"):
        return f"{city} {folder}"

    with pytest.raises(ToolRefusedError, match="a tool that Ringfence does not know"):
        gated(guard=guard)(weather)("Rome")
    known = gated(known=True, guard=guard)(weather)
    assert known("Rome") == "Rome out"
    for arguments in (("/etc/hosts",), ("Rome", "../up"), (Path("/etc/hosts"),)):
        with pytest.raises(ToolRefusedError):
            known(*arguments)
    assert gated(known=True, guard=guard, ignore=["city"])(weather)("/opt") == "/opt out"


@pytest.mark.usefixtures("work")
def test_a_rule_of_the_user_is_over_known():
    config = Path.home() / ".config/ringfence/config.toml"
    config.write_text('[tools]\nweather = "deny"\n')

    @gated(known=True)
    def weather(path):
        never(path)

    with pytest.raises(ToolRefusedError, match=r"tools\.weather = deny"):
        weather("a")


def test_the_signature_stays(guard):
    """Frameworks make the tool's schema of it."""

    @gated("bash", guard=guard)
    def shell(command: str) -> str:
        """Run it."""
        return command

    assert str(inspect.signature(shell)) == "(command: str) -> str"
    assert shell.__doc__ == "Run it."


@pytest.mark.usefixtures("work")
def test_the_policy_of_the_user_holds_by_default():
    @gated
    def read(path: str) -> str:
        return path

    assert read("/srv/shared/a") == "/srv/shared/a"
    with pytest.raises(ToolRefusedError, match="= deny"):
        read(str(Path.home() / ".ssh/id"))


@pytest.mark.usefixtures("work")
def test_a_broken_config_runs_nothing():
    (Path.home() / ".config/ringfence/config.toml").write_text("[tools\n")
    with pytest.raises(ConfigError):
        gated("read")(never)("a")


def test_on_deny_is_one_of_two():
    with pytest.raises(ValueError, match="on_deny"):
        gated("read", on_deny="ignore")


def test_examples():
    """Those of the documentation that need no framework."""
    shell = example("Any function")["shell"]
    assert shell("echo hi") == "hi\n"
    with pytest.raises(ToolRefusedError):
        shell("cat /etc/hosts")
    guard = example("The guard")["guard"]
    assert guard.objection("show", {"path": "a"}) is None
    assert "the user declined" in guard.objection("show", {"path": "/etc/hosts"})


# --- questions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
def test_a_function_answers(guard, answer):
    asked = []

    def ask(decision):
        asked.append(decision.message)
        return answer

    async def ask_async(decision):
        return ask(decision)

    def show(path):
        return path

    async def show_async(path):
        return path

    sync = gated("read", guard=guard, approver=ask, on_deny="return")(show)("/etc/hosts")
    results = [sync]
    for approver in (ask, ask_async):
        tool = gated("read", guard=guard, approver=approver, on_deny="return")(show_async)
        results.append(asyncio.run(tool("/etc/hosts")))
    assert len(asked) == 3
    assert all("wants to use read" in text for text in asked)
    if answer:
        assert results == ["/etc/hosts"] * 3
    else:
        assert all("the user declined" in text for text in results)


def test_a_denial_is_no_question(guard):
    tool = gated("read", guard=guard, approver=never, on_deny="return")(never)
    assert "Refused by" in tool(str(Path.home() / ".ssh/id"))


def test_an_answer_that_is_kept(guard):
    """An approver chooses one of the offers, and the next call is not asked about."""
    clicks = Clicks(lambda offers: offers[-1])
    read = gated("read", guard=guard, approver=clicks)(lambda path: path)
    assert read("/opt/thing/a") == read("/opt/thing/a") == "/opt/thing/a"
    assert len(clicks.asked) == 1
    assert GrantStore.of_user().read()


def test_async_approver(guard):
    async def show(path):
        return path

    clicks = AsyncClicks(lambda offers: offers[0])
    tool = gated("read", guard=guard, approver=clicks)(show)
    assert asyncio.run(tool("/etc/hosts")) == "/etc/hosts"


def test_a_person_does_not_hold_up_the_loop(guard):
    """A function that waits is asked in a thread: other tasks go on meanwhile."""
    import threading

    said = threading.Event()

    def ask(_):
        return said.wait(10)

    async def show(path):
        return path

    async def both():
        call = asyncio.create_task(gated("read", guard=guard, approver=ask)(show)("/etc/hosts"))
        await asyncio.sleep(0)
        said.set()
        return await call

    assert asyncio.run(both()) == "/etc/hosts"


@pytest.mark.parametrize("answer", ["no", 1, "yes", [], object()])
def test_only_true_is_yes(guard, answer):
    """In Python nearly everything is true."""
    tool = gated("read", guard=guard, approver=lambda _: answer, on_deny="return")(never)
    assert "neither a bool nor one offered" in tool("/etc/hosts")


def test_an_approver_that_fails(guard):
    def ask(_):
        raise RuntimeError("secret")

    text = gated("read", guard=guard, approver=ask, on_deny="return")(never)("/etc/hosts")
    assert "the approver failed with RuntimeError" in text
    assert "secret" not in text


def test_an_approver_that_finds_nobody(guard):
    def ask(_):
        raise NobodyToAskError

    text = gated("read", guard=guard, approver=ask, on_deny="return")(never)("/etc/hosts")
    assert "Nobody can be asked here" in text


def test_an_async_approver_cannot_answer_a_plain_function(guard):
    async def ask(_):
        return True

    text = gated("read", guard=guard, approver=ask, on_deny="return")(never)("/etc/hosts")
    assert "the approver is asynchronous, the tool is not" in text


def test_cancelled_while_asked(guard):
    """A cancelled call stays cancelled: it is neither a yes nor a refusal."""

    async def ask(_):
        await asyncio.sleep(3600)

    async def show(path):
        never(path)

    async def cancel():
        tool = gated("read", guard=guard, approver=ask)(show)
        call = asyncio.create_task(tool("/etc/hosts"))
        await asyncio.sleep(0.01)
        call.cancel()
        await call

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


# --- the guard ----------------------------------------------------------------------------------


class Broken(Engine):
    """An engine that fails."""

    def approve(self, *_):
        raise RuntimeError("boom")

    async def approve_async(self, *_):
        raise RuntimeError("boom")

    def decide(self, *_):
        raise RuntimeError("boom")


def test_an_engine_that_fails_refuses():
    guard = Guard(Broken(), "/home/dev/project")
    call = guard.call("read", {"path": "a"})
    for decision in (guard.decide(call), guard.judge(call), asyncio.run(guard.judge_async(call))):
        assert decision.state == "deny"
        assert "internal error RuntimeError" in decision.message


def test_arguments_that_contain_themselves(guard):
    loop = []
    loop.append(loop)
    assert "internal error RecursionError" in guard.objection("read", {"path": loop})


@pytest.mark.parametrize("text", ["", "{", "[]", '{"path": "a", "path": "b"}', "\ud800"])
def test_arguments_that_are_no_object(guard, text):
    """A model wrote them."""
    assert "could not judge this call" in guard.objection("read", text)
    assert guard.objection("read", '{"path": "a"}') is None


def test_tools_by_table(guard):
    guard = attrs.evolve(guard, tools={"run_shell": "bash"})
    assert guard.objection("run_shell", {"command": "ls"}) is None
    assert "/etc/hosts" in guard.objection("run_shell", {"command": "cat /etc/hosts"})


@dataclasses.dataclass
class Place:
    folder: str


@attrs.frozen
class Other:
    path: Path


class Text:
    def __str__(self):
        return "/etc/hosts"


@pytest.mark.parametrize(
    "value",
    [
        "/etc/hosts",
        b"/etc/hosts",
        Path("/etc/hosts"),
        {"x": {"y": "/etc/hosts"}},
        ["a", ("/etc/hosts",)],
        {"/etc/hosts"},
        Place("/etc/hosts"),
        Other(Path("/etc/hosts")),
        Text(),
    ],
)
def test_a_path_in_any_value_is_seen(guard, value):
    guard = guard.knowing("tool")
    assert "/etc/hosts" in guard.objection("tool", {"where": value})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(), VALUES))
def test_any_arguments_are_answered(arguments):
    """A decision for everything; and what goes into it is plain."""
    guard = Guard(cwd="/home/dev/project")
    decision = guard.judge(guard.call("tool", arguments))
    assert decision.state in ("allow", "deny")
    assert isinstance(plain(arguments), dict)


def test_import_is_light():
    """Neither asyncio nor a framework comes with the hook's imports."""
    code = "import ringfence.engine.cli, sys; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- a framework that asks ----------------------------------------------------------------------


def test_a_question_counts_once(work):
    """Asking and running are one call, not two of a loop, and what is asked is in the log once."""
    config = work.parent / "rules.toml"
    config.write_text('[special]\ndoom_loop = "ask"')
    guard = Guard.load(work, config=str(config), session="s")
    call = guard.call("read", {"path": "/etc/hosts"})
    assert guard.question(call).state.value == "ask"
    assert guard.answered(yes=True).judge(call).state.value == "allow"
    assert guard.engine.loops.count(call) == 2
    entries = Path(guard.engine.log.path).read_text().splitlines()
    assert [json.loads(entry)["decision"] for entry in entries] == ["ask", "allow"]


def test_no_question(guard):
    """What is allowed, or denied, needs none, and is not written down by asking."""
    assert guard.question(guard.call("read", {"path": "a.md"})) is None
    assert guard.question(guard.call("read", {"path": "~/.ssh/id"})) is None
    assert not Path(guard.engine.log.path).exists()


def test_a_command_that_nobody_named():
    """Told when the function is made, not at each call."""
    with pytest.raises(ValueError, match=r'arguments=\{"line": "command"\}'):

        @gated("bash")
        def run(line: str) -> str:
            return line
