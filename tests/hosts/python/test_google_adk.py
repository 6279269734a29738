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
from ringfence.engine.hosts.python.google_adk import RingfencePlugin


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
