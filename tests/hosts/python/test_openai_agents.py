"""The OpenAI Agents SDK with a scripted model."""

import pytest
from helpers.python_docs import example

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import (
    Runner,
    ShellTool,
    ToolInputGuardrail,
    WebSearchTool,
    function_tool,
    set_tracing_disabled,
)
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from ringfence import Guard
from ringfence.engine.hosts.python.openai_agents import guarded


class Scripted(Model):
    """Asks for these calls, then is done; keeps what it was told of them."""

    def __init__(self, *arguments):
        self.arguments = arguments
        self.told = []

    async def get_response(self, **given):
        messages = given["input"] if isinstance(given["input"], list) else []
        self.told = [m["output"] for m in messages if m.get("type") == "function_call_output"]
        if self.told:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            message = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        calls = [
            ResponseFunctionToolCall(
                type="function_call", name="show", call_id=f"c{number}", arguments=text
            )
            for number, text in enumerate(self.arguments)
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


def test_a_tool_that_cannot_be_judged():
    """One that runs here, without a guardrail, is refused; one of the provider's stays."""
    search = WebSearchTool()
    assert guarded([search], Guard()) == [search]
    with pytest.raises(TypeError, match="ShellTool has no guardrails"):
        guarded([ShellTool(executor=print)], Guard())
