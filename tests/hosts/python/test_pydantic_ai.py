"""Pydantic AI's agent with its own function model."""

import pytest
from helpers.python_docs import example

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models.function import FunctionModel

from ringfence import Guard
from ringfence.engine.hosts.python.pydantic_ai import Ringfence


def returned(messages):
    return [p.content for m in messages for p in m.parts if p.part_kind == "tool-return"]


def model(*paths):
    def answer(messages, _):
        if returned(messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("show", {"path": path}) for path in paths])

    return FunctionModel(answer)


def test_example(show, ran):
    agent = example("Pydantic AI", model=model("a.md", "/etc/hosts"), show=show)["agent"]
    inside, outside = returned(agent.run_sync("go").all_messages())
    assert ran == ["a.md"]
    assert inside == "content of a.md"
    assert "Outside the working directory:\n  - read /etc/hosts" in outside


@pytest.mark.parametrize("answer", [True, False])
def test_deferred(show, ran, answer):
    guard = Guard(cwd="/home/dev/project", tools={"show": "read"})
    agent = Agent(
        model("/etc/hosts"),
        tools=[show],
        capabilities=[Ringfence(guard, defers=True)],
        output_type=[str, DeferredToolRequests],
    )
    asked = agent.run_sync("go")
    (call,) = asked.output.approvals
    (metadata,) = asked.output.metadata.values()
    assert "wants to use read" in metadata["message"]
    assert not ran
    results = DeferredToolResults(approvals={call.tool_call_id: answer})
    agent.run_sync(message_history=asked.all_messages(), deferred_tool_results=results)
    assert ran == (["/etc/hosts"] if answer else [])


def test_the_output_is_no_call(show):
    """A structured result comes as the call of a tool, which goes nowhere."""

    class Result(BaseModel):
        path: str

    def answer(_, info):
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"path": "/etc"})])

    capabilities = [Ringfence(Guard(cwd="/home/dev/project"))]
    agent = Agent(
        FunctionModel(answer), tools=[show], capabilities=capabilities, output_type=Result
    )
    assert agent.run_sync("go").output == Result(path="/etc")


def test_last_sees_what_others_made_of_the_call(show, ran):
    """Capabilities change the arguments one after the other."""

    class Redirect(AbstractCapability):
        async def before_tool_execute(self, *_, **__):
            return {"path": "/etc/hosts"}

    guard = Guard(cwd="/home/dev/project", tools={"show": "read"})
    agent = Agent(model("a.md"), tools=[show], capabilities=[Redirect(), Ringfence(guard)])
    (text,) = returned(agent.run_sync("go").all_messages())
    assert "read /etc/hosts" in text
    assert not ran
