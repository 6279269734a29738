"""Google's ADK with a scripted model."""

import asyncio

import pytest
from helpers.python_docs import example

pytest.importorskip("google.adk", reason="google-adk is not installed")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from ringfence import Guard
from ringfence.engine.hosts.python.google_adk import RingfencePlugin, before_tool


class Scripted(BaseLlm):
    """Asks for these paths, then is done."""

    paths: tuple[str, ...] = ()

    async def generate_content_async(self, llm_request, stream=False):  # noqa: ARG002
        told = [p for c in llm_request.contents for p in c.parts or [] if p.function_response]
        calls = [types.FunctionCall(name="show", args={"path": path}) for path in self.paths]
        parts = [types.Part(function_call=call) for call in calls]
        parts = [types.Part(text="done")] if told else parts
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def told(runner):
    """The responses of the tools."""

    async def main():
        session = await runner.session_service.create_session(
            app_name=runner.app_name, user_id="user"
        )
        message = types.Content(role="user", parts=[types.Part(text="go")])
        found = []
        async for event in runner.run_async(
            user_id="user", session_id=session.id, new_message=message
        ):
            found += [response.response for response in event.get_function_responses()]
        return found

    return asyncio.run(main())


def check(runner, ran):
    inside, outside = told(runner)
    assert ran == ["a.md"]
    assert inside == {"result": "content of a.md"}
    assert "Outside the working directory:\n  - read /etc/hosts" in outside["error"]


MODEL = Scripted(model="scripted", paths=("a.md", "/etc/hosts"))


def test_example(show, ran):
    agent = example("Google ADK", model=MODEL, show=show)["agent"]
    check(InMemoryRunner(agent=agent, app_name="app"), ran)


def test_plugin(show, ran):
    guard = Guard(cwd="/home/dev/project", tools={"show": "read"})
    agent = LlmAgent(name="helper", model=MODEL, tools=[show])
    app = App(name="app", root_agent=agent, plugins=[RingfencePlugin(guard)])
    check(InMemoryRunner(app=app), ran)


# --- confirmations ------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", [True, False])
@pytest.mark.parametrize("yes", [True, False])
def test_confirmation(show, ran, yes, plugin):
    """A question is ADK's own request for a confirmation; the call inside runs meanwhile."""
    guard = Guard(cwd="/home/dev/project", tools={"show": "read"})
    before = None if plugin else before_tool(guard, confirms=True)
    agent = LlmAgent(name="helper", model=MODEL, tools=[show], before_tool_callback=before)
    plugins = [RingfencePlugin(guard, confirms=True)] if plugin else []
    runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=plugins))
    asked, responses = asyncio.run(confirmed(runner, yes=yes))
    assert ran == ["a.md", "/etc/hosts"][: 2 if yes else 1]
    assert "Outside the working directory:\n  - read /etc/hosts" in asked["hint"]
    (response,) = responses
    if yes:
        assert response == {"result": "content of /etc/hosts"}
    else:
        assert "declined" in response["error"]


async def confirmed(runner, *, yes):
    """What was asked, and the responses of the tools after the answer."""
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="user")

    async def run(part):
        message = types.Content(role="user", parts=[part])
        return [
            event
            async for event in runner.run_async(
                user_id="user", session_id=session.id, new_message=message
            )
        ]

    events = await run(types.Part(text="go"))
    (asked,) = [
        call
        for event in events
        for call in event.get_function_calls()
        if call.name == "adk_request_confirmation"
    ]
    answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": yes})
    events = await run(types.Part(function_response=answer))
    responses = [r.response for event in events for r in event.get_function_responses()]
    return asked.args["toolConfirmation"], responses


def test_no_confirmation_helps_what_a_rule_denies(show, ran, home):
    config = home / "rules.toml"
    config.write_text('[special.external_directory]\n"/etc/**" = "deny"')
    guard = Guard.load("/home/dev/project", config=str(config), tools={"show": "read"})
    agent = LlmAgent(
        name="helper",
        model=MODEL,
        tools=[show],
        before_tool_callback=before_tool(guard, confirms=True),
    )
    check(InMemoryRunner(agent=agent, app_name="app"), ran)
