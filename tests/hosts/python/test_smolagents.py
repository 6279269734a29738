"""smolagents with a scripted model."""

import copy

import pytest
from helpers.python_docs import example

pytest.importorskip("smolagents", reason="smolagents is not installed")

from smolagents import CodeAgent, Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from ringfence import Guard
from ringfence.engine.hosts.python.smolagents import guard_agent


class Scripted(Model):
    """Calls a tool with each of these paths in turn, then gives the final answer."""

    def __init__(self, *paths, code=False):
        super().__init__(model_id="scripted")
        self.steps = [("show", {"path": path}) for path in paths]
        self.steps.append(("final_answer", {"answer": "done"}))
        self.code = code
        self.told = ""

    def generate(self, messages, **_):
        self.told = str([message.content for message in messages])
        name, arguments = self.steps.pop(0)
        if self.code:
            words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            text = f"Thought: go\n<code>\nprint({name}({words}))\n</code>"
            return ChatMessage(role=MessageRole.ASSISTANT, content=text)
        call = ChatMessageToolCall(
            id=f"c{len(self.steps)}",
            type="function",
            function=ChatMessageToolCallFunction(name=name, arguments=arguments),
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def check(agent, ran):
    assert agent.run("go") == "done"
    assert ran == ["a.md"]
    assert "content of a.md" in agent.model.told
    assert "read /etc/hosts" in agent.model.told


def test_example(show, ran):
    model = Scripted("a.md", "/etc/hosts")
    check(example("smolagents", model=model, show=tool(show))["agent"], ran)


def test_code(show, ran):
    """What the code of an agent calls is judged in the same way."""
    agent = CodeAgent(model=Scripted("a.md", "/etc/hosts", code=True), tools=[tool(show)])
    guard_agent(agent, Guard(cwd="/home/dev/project", tools={"show": "read"}))
    check(agent, ran)


def test_managed_agents(show, ran):
    inner = ToolCallingAgent(
        model=Scripted("/etc/hosts"), tools=[tool(show)], name="inner", description="x"
    )
    outer = ToolCallingAgent(model=Scripted(), tools=[], managed_agents=[inner])
    guard_agent(outer, Guard(cwd="/home/dev/project", tools={"show": "read"}))
    assert inner.run("go") == "done"
    assert not ran


# --- the code of a CodeAgent --------------------------------------------------------------------


class Code(Model):
    """Writes these programs in turn, then gives the final answer."""

    def __init__(self, *programs):
        super().__init__(model_id="scripted")
        self.steps = [*programs, "final_answer('done')"]
        self.told = ""

    def generate(self, messages, **_):
        self.told = str([message.content for message in messages])
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=f"Thought: go\n<code>\n{self.steps.pop(0)}\n</code>",
        )


def run(code, guard=None, **given):
    agent = CodeAgent(model=Code(code), tools=[], **given)
    guard_agent(agent, guard or Guard(cwd="/home/dev/project"))
    assert agent.run("go") == "done"
    return agent.model.told


def test_code_that_reads_a_file_by_itself(home):
    """smolagents' interpreter would run it, if its user allows it to: it confines nothing then."""
    (home / "x").write_text("what-is-outside")
    code = f"import pathlib\nprint(pathlib.Path('{home}/x').read_text())"
    told = run(code, additional_authorized_imports=["pathlib"])
    assert f"read {home}/x" in told
    assert "what-is-outside" not in told


def test_code_that_touches_nothing():
    assert "[0, 1, 4]" in run("print([n * n for n in range(3)])")


def test_a_rule_for_all_code(home):
    """Code is the program of `python3 -c`, whatever it does."""
    config = home / "rules.toml"
    config.write_text('[bash]\n"python3 -c *" = "ask"')
    guard = Guard.load("/home/dev/project", config=str(config), approver=lambda _: False)
    agent = CodeAgent(model=Code("print(6 * 7)"), tools=[])
    guard_agent(agent, guard)
    agent.run("go", max_steps=1)
    assert "42" not in str(agent.memory.steps[1].observations)


def test_a_copy_of_the_interpreter():
    """It is still guarded."""
    agent = CodeAgent(model=Code(), tools=[])
    guard_agent(agent, Guard(cwd="/home/dev/project"))
    again = copy.deepcopy(agent.python_executor)
    with pytest.raises(PermissionError, match="read /etc/hosts"):
        again("open('/etc/hosts')")
