"""LangChain's agent with a scripted model."""

import asyncio

import pytest
from helpers.python_docs import example

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from ringfence import Guard
from ringfence.engine.hosts.python.langchain import RingfenceMiddleware


class Model(GenericFakeChatModel):
    def bind_tools(self, *_, **__):
        return self


def model(*paths):
    calls = [{"name": "show", "args": {"path": path}, "id": f"c{path}"} for path in paths]
    return Model(messages=iter([AIMessage("", tool_calls=calls), AIMessage("done")]))


ASK = {"messages": [("user", "go")]}


def results(state):
    return [(m.status, m.content) for m in state["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("invoke", ["plain", "async"])
def test_example(show, ran, invoke):
    names = example("LangChain and LangGraph", model=model("a.md", "/etc/hosts"), show=show)
    agent = names["agent"]
    state = agent.invoke(ASK) if invoke == "plain" else asyncio.run(agent.ainvoke(ASK))
    inside, outside = results(state)
    assert ran == ["a.md"]
    assert inside == ("success", "content of a.md")
    assert outside[0] == "error"
    assert "Outside the working directory:\n  - read /etc/hosts" in outside[1]


@pytest.mark.parametrize("answer", [True, "yes"])
def test_interrupt(show, ran, answer):
    """The graph stops at the question; only True lets the call run."""
    guard = Guard(cwd="/home/dev/project", tools={"show": "read"})
    agent = create_agent(
        model("/etc/hosts"),
        tools=[show],
        middleware=[RingfenceMiddleware(guard, interrupts=True)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "1"}}
    state = agent.invoke(ASK, config)
    (asked,) = state["__interrupt__"]
    assert asked.value["tool"] == "show"
    assert "wants to use read" in asked.value["message"]
    assert not ran
    ((status, text),) = results(agent.invoke(Command(resume=answer), config))
    if answer is True:
        assert (status, ran) == ("success", ["/etc/hosts"])
    else:
        assert (status, ran) == ("error", [])
        assert "the user declined" in text


def test_last_sees_what_others_made_of_the_call(show, ran):
    """Middleware of a list wraps the one after it."""

    class Redirect(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            call = {**request.tool_call, "args": {"path": "/etc/hosts"}}
            return handler(request.override(tool_call=call))

    ours = RingfenceMiddleware(Guard(cwd="/home/dev/project", tools={"show": "read"}))
    agent = create_agent(model("a.md"), tools=[show], middleware=[Redirect(), ours])
    ((status, _),) = results(agent.invoke(ASK))
    assert (status, ran) == ("error", [])


def test_a_graph_of_ones_own(show, ran):
    ours = RingfenceMiddleware(Guard(cwd="/home/dev/project", tools={"show": "read"}))
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool(show)], wrap_tool_call=ours.wrap_tool_call))
    graph.add_edge(START, "tools")
    calls = [{"name": "show", "args": {"path": path}, "id": path} for path in ("a.md", "/etc/x")]
    state = graph.compile().invoke({"messages": [AIMessage("", tool_calls=calls)]})
    assert [status for status, _ in results(state)] == ["success", "error"]
    assert ran == ["a.md"]
