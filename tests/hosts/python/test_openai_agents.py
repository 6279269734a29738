"""The OpenAI Agents SDK with a scripted model."""

import asyncio
import json

import pytest
from helpers.python_docs import example

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import (
    Agent,
    ApplyPatchTool,
    ComputerTool,
    CustomTool,
    LocalShellTool,
    Runner,
    RunState,
    ShellTool,
    ToolInputGuardrail,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
)
from agents.editor import ApplyPatchOperation
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseApplyPatchToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_output_item import LocalShellCall

from ringfence import Guard
from ringfence.engine.hosts.model import HostTool
from ringfence.engine.hosts.python.openai_agents import guarded


def function_call(key, arguments):
    return ResponseFunctionToolCall(
        type="function_call", name="show", call_id=key, arguments=arguments
    )


def shell_call(*commands):
    return lambda key: ResponseFunctionShellToolCall(
        type="shell_call", id=key, call_id=key, status="completed",
        action={"commands": list(commands)},
    )  # fmt: skip


def patch_call(**operation):
    return lambda key: ResponseApplyPatchToolCall(
        type="apply_patch_call", id=key, call_id=key, status="completed", operation=operation
    )


def local_call(*command, **others):
    action = {"type": "exec", "command": list(command), "env": {}, **others}
    return lambda key: LocalShellCall(
        type="local_shell_call", id=key, call_id=key, status="completed", action=action
    )


def custom_call(text):
    return lambda key: ResponseCustomToolCall(
        type="custom_tool_call", id=key, call_id=key, name="run", input=text
    )


class Scripted(Model):
    """Asks for these calls, then is done; keeps what it was told of them."""

    def __init__(self, *calls):
        self.calls = calls
        self.told = []

    async def get_response(self, **given):
        messages = given["input"] if isinstance(given["input"], list) else []
        told = [m["output"] for m in messages if str(m.get("type")).endswith("_output")]
        self.told = [one if isinstance(one, str) else one[0]["stdout"] for one in told]
        if self.told:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            message = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        calls = [
            call(f"c{number}") if callable(call) else function_call(f"c{number}", call)
            for number, call in enumerate(self.calls)
        ]
        return ModelResponse(output=calls, usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


@pytest.fixture(autouse=True)
def no_traces():
    set_tracing_disabled(True)


def test_example(show, ran):
    model = Scripted('{"path": "a.md"}', '{"path": "/etc/hosts"}')
    names = example("OpenAI Agents SDK", model=model, show=function_tool(show))
    assert Runner.run_sync(names["agent"], "go").final_output == "done"
    inside, outside = model.told
    assert ran == ["a.md"]
    assert inside == "content of a.md"
    assert "Outside the working directory:\n  - read /etc/hosts" in outside


def test_arguments_that_are_none(show, ran):
    """The model wrote a key twice: whichever the tool would take, it does not run."""
    model = Scripted('{"path": "a.md", "path": "/etc/hosts"}')
    agent = example("OpenAI Agents SDK", model=model, show=function_tool(show))["agent"]
    Runner.run_sync(agent, "go")
    assert not ran
    assert "could not judge this call" in model.told[0]


def test_other_guardrails_come_after(show):
    other = ToolInputGuardrail(guardrail_function=lambda _: None, name="other")
    tool = function_tool(show, tool_input_guardrails=[other])
    (found,) = guarded([tool], Guard())
    assert [g.name for g in found.tool_input_guardrails] == ["ringfence", "other"]
    assert tool.tool_input_guardrails == [other]


# --- the SDK's own tools ------------------------------------------------------------------------

CWD = "/home/dev/project"
REFUSED = "Outside the working directory:\n  - "


def run(tool, *calls, approvals=False, **guard):
    """What the model was told of its calls, and the result."""
    guard = Guard(cwd=CWD, **guard)
    model = Scripted(*calls)
    agent = Agent("helper", model=model, tools=guarded([tool], guard, approvals=approvals))
    return model, Runner.run_sync(agent, "go"), agent


class Editor:
    """Notes what it was to do."""

    def __init__(self):
        self.done = []

    def create_file(self, operation):
        self.done.append((operation.type, operation.path))
        return "created"

    async def update_file(self, operation):
        self.done.append((operation.type, operation.path))
        return "updated"

    delete_file = create_file


@pytest.fixture
def shell(ran):
    """A ShellTool that notes its commands."""

    def execute(request):
        ran.append(request.data.action.commands)
        return "ran"

    return ShellTool(executor=execute)


def test_shell(shell, ran):
    model, _, _ = run(shell, shell_call("cat a.md"), shell_call("cat /etc/hosts"))
    assert ran == [["cat a.md"]]
    assert model.told[0] == "ran"
    assert f"{REFUSED}read /etc/hosts" in model.told[1]


@pytest.mark.parametrize(
    "commands",
    [
        ("cd sub", "cat ../a.md"),  # the executor may run each on its own: this is ../a.md then
        ("cd /srv", "cat a.md"),  # or all in one shell
    ],
)
def test_commands_of_one_call(shell, ran, commands):
    """Nobody can tell how the executor runs several, so both ways must be inside."""
    model, _, _ = run(shell, shell_call(*commands))
    assert not ran
    assert "reaches outside the working directory" in model.told[0]


def test_a_shell_at_the_provider():
    """Its container is not this machine."""
    tool = ShellTool(environment={"type": "container_auto"})
    assert guarded([tool], Guard()) == [tool]


def test_patch():
    editor = Editor()
    model, _, _ = run(
        ApplyPatchTool(editor=editor),
        patch_call(type="create_file", path="a.md", diff="+x"),
        patch_call(type="update_file", path="b.md", diff="+x"),
        patch_call(type="update_file", path="../c.md", diff="+x"),
        patch_call(type="delete_file", path="/etc/hosts"),
    )
    assert editor.done == [("create_file", "a.md"), ("update_file", "b.md")]
    assert model.told[:2] == ["created", "updated"]
    assert f"{REFUSED}write /home/dev/c.md" in model.told[2]
    assert f"{REFUSED}delete /etc/hosts" in model.told[3]


def test_a_patch_that_moves():
    """The file's new place is judged, too."""
    editor = Editor()
    (tool,) = guarded([ApplyPatchTool(editor=editor)], Guard(cwd=CWD))
    moved = ApplyPatchOperation("update_file", "a.md", "+x", move_to="/srv/a.md")
    with pytest.raises(PermissionError, match=r"write /srv/a\.md"):
        asyncio.run(tool.editor.update_file(moved))
    assert not editor.done


def test_local_shell(ran):
    tool = LocalShellTool(executor=lambda request: ran.append(request.data.action.command) or "ran")
    model, _, _ = run(
        tool,
        local_call("cat", "a b.md"),
        local_call("cat", "hosts", working_directory="/etc"),
        local_call("git", "log", env={"GIT_DIR": "/srv/x.git"}),
    )
    assert ran == [["cat", "a b.md"]]
    assert "/etc" in model.told[1]
    assert "/srv/x.git" in model.told[2]


def test_custom(ran):
    tool = CustomTool("run", "Run it.", lambda _, text: ran.append(text) or "ran")
    tools = {"run": HostTool("bash", {"input": "command"})}
    calls = custom_call("cat a.md"), custom_call("cat /etc/hosts")
    model, _, _ = run(tool, *calls, tools=tools)
    assert ran == ["cat a.md"]
    assert f"{REFUSED}read /etc/hosts" in model.told[1]


def test_a_tool_that_cannot_be_judged():
    """One that runs here, without anything to look at, is refused; one of the provider's stays."""
    search = WebSearchTool()
    assert guarded([search], Guard()) == [search]
    with pytest.raises(TypeError, match="ComputerTool has nothing by which it could be judged"):
        guarded([ComputerTool(computer=object())], Guard())


# --- approvals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("yes", [True, False])
def test_approval_of_a_function(show, ran, yes):
    """Only the question interrupts; what was approved runs."""
    tools = {"show": "read"}
    calls = '{"path": "a.md"}', '{"path": "/etc/hosts"}'
    model, result, agent = run(function_tool(show), *calls, tools=tools, approvals=True)
    assert ran == ["a.md"]
    check(model, result, agent, yes=yes)
    assert ran == ["a.md", "/etc/hosts"][: 2 if yes else 1]


@pytest.mark.parametrize("yes", [True, False])
def test_approval_of_a_command(shell, ran, yes):
    calls = shell_call("cat a.md"), shell_call("cat /etc/hosts")
    model, result, agent = run(shell, *calls, approvals=True)
    assert ran == [["cat a.md"]]
    check(model, result, agent, yes=yes)
    assert ran == [["cat a.md"], ["cat /etc/hosts"]][: 2 if yes else 1]


@pytest.mark.parametrize("yes", [True, False])
def test_approval_of_a_patch(yes):
    editor = Editor()
    calls = [patch_call(type="create_file", path=path, diff="+x") for path in ("a", "/srv/a")]
    model, result, agent = run(ApplyPatchTool(editor=editor), *calls, approvals=True)
    check(model, result, agent, yes=yes)
    assert [path for _, path in editor.done] == ["a", "/srv/a"][: 2 if yes else 1]


@pytest.mark.parametrize("yes", [True, False])
def test_approval_of_a_custom_call(ran, yes):
    tool = CustomTool("run", "Run it.", lambda _, text: ran.append(text) or "ran")
    tools = {"run": HostTool("bash", {"input": "command"})}
    calls = custom_call("cat a.md"), custom_call("cat /etc/hosts")
    model, result, agent = run(tool, *calls, tools=tools, approvals=True)
    check(model, result, agent, yes=yes)
    assert ran == ["cat a.md", "cat /etc/hosts"][: 2 if yes else 1]


def check(model, result, agent, *, yes):
    """One interruption, which a person answers, and the run goes on to its end.

    The state goes through JSON in between: the person may take days.
    """
    assert len(result.interruptions) == 1
    text = json.dumps(result.to_state().to_json())
    state = asyncio.run(RunState.from_json(agent, json.loads(text)))
    (asked,) = state.get_interruptions()
    if yes:
        state.approve(asked)
    else:
        state.reject(asked)
    assert Runner.run_sync(agent, state).final_output == "done"
    assert len(model.told) == 2


def test_a_rule_that_denies_is_no_question(shell, ran, home):
    """And no approval helps, not even one for all calls."""
    config = home / "rules.toml"
    config.write_text('[bash]\n"cat *" = "deny"')
    guard = Guard.load(CWD, config=str(config))
    model = Scripted(shell_call("cat a.md"))
    agent = Agent("helper", model=model, tools=guarded([shell], guard, approvals=True))
    result = Runner.run_sync(agent, "go")
    assert not result.interruptions
    assert not ran
    assert "cat *" in model.told[0]


def test_the_tools_own_need(shell, ran):
    """A tool that wants approval for more than Ringfence does, gets it."""
    shell.needs_approval = True
    _, result, _ = run(shell, shell_call("cat a.md"), approvals=True)
    assert len(result.interruptions) == 1
    assert not ran
