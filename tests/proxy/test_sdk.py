"""The proxy between the official SDK's client and server, by both ways to ask."""

import sys
from pathlib import Path

import pytest

mcp = pytest.importorskip("mcp", reason="the package mcp is not installed")
anyio = pytest.importorskip("anyio")

from helpers.program import patient  # noqa: E402
from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.types import ElicitResult  # noqa: E402

SERVER = Path(__file__).with_name("server.py")
ONCE = "Once (nothing is kept)"
MODES = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home/.config/ringfence").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "home"


class Session:
    """A client whose person gives these answers, in order, to the proxy's questions."""

    def __init__(self, home, mode, answers=None):
        self.answers = answers
        self.asked = []
        self.mode = mode
        self.errors = home / "errors"
        words = ["mcp-proxy", "--name", "notes"]
        words += ["--cwd", str(home.parent / "project"), "--", sys.executable, str(SERVER)]
        self.server = StdioServerParameters(
            command=patient(home), args=words, env={"HOME": str(home)}
        )

    async def elicit(self, _, params):
        self.asked.append(params)
        if "colour" in params.requested_schema["properties"]:
            return ElicitResult(action="accept", content={"colour": "red"})
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return ElicitResult(action="accept", content={"answer": answer})
        return ElicitResult(action="decline")

    def run(self, work):
        async def main():
            with self.errors.open("w") as errors:
                callback = self.elicit if self.answers is not None else None
                transport = stdio_client(self.server, errlog=errors)
                client = Client(transport, mode=self.mode, elicitation_callback=callback)
                async with client as session:
                    return await work(session)

        return anyio.run(main)

    def call(self, *calls):
        """(is_error, text) of each call."""

        async def work(session):
            found = []
            for tool, arguments in calls:
                result = await session.call_tool(tool, arguments)
                found.append((bool(result.is_error), result.content[0].text))
            return found

        return self.run(work)


@MODES
def test_what_passes_and_what_does_not(home, mode):
    """Nobody can be asked: what would be is refused, with the way to allow it."""
    session = Session(home, mode)
    inside, outside = session.call(
        ("read_note", {"path": "a.md"}), ("read_note", {"path": "/etc/hosts"})
    )
    assert inside == (False, "note at a.md")
    assert outside[0]
    assert "Outside the working directory:\n  - use /etc/hosts" in outside[1]
    assert "Nobody can be asked here" in outside[1]
    assert session.errors.read_text().startswith("ringfence: calls are judged as notes:TOOL, in ")
    assert "the server is up" in session.errors.read_text()


@MODES
def test_everything_else_passes(home, mode):
    async def work(session):
        tools = [tool.name for tool in (await session.list_tools()).tools]
        resource = await session.read_resource("note://one")
        return tools, resource.contents[0].text

    assert Session(home, mode).run(work) == (
        ["read_note", "paint", "colour", "where"],
        "one",
    )


@MODES
def test_a_rule(home, mode):
    (home / ".config/ringfence/config.toml").write_text('[mcp]\n"notes:where" = "deny"\n')
    ((refused, text),) = Session(home, mode).call(("where", {}))
    assert refused
    assert 'mcp "notes:where" = deny' in text


@MODES
def test_the_server_works_where_it_is_judged(home, mode):
    assert Session(home, mode).call(("where", {})) == [(False, str(home.parent / "project"))]


@MODES
def test_questions(home, mode):
    """Once is once; a no is a no; an answer that is kept is not asked again."""
    always = "Always, everywhere: use /opt/notes/a"
    session = Session(home, mode, [ONCE, None, always, "Do not run it", "nonsense"])
    path = "/opt/notes/a"
    results = session.call(
        ("read_note", {"path": path}),
        ("read_note", {"path": path}),
        ("read_note", {"path": path}),
        ("read_note", {"path": path}),
        ("read_note", {"path": "/opt/b"}),
        ("read_note", {"path": "/opt/b"}),
    )
    assert results[0] == results[2] == results[3] == (False, f"note at {path}")
    for refused, text in (results[1], *results[4:]):
        assert refused
        assert "the user declined" in text
    first = session.asked[0]
    assert "wants to use mcp__notes__read_note" in first.message
    answers = first.requested_schema["properties"]["answer"]["enum"]
    assert answers[0] == ONCE
    assert answers[-1] == "Do not run it"
    assert always in answers


@MODES
def test_calls_at_the_same_time(home, mode):
    """One that waits for a person does not hold up the others."""
    asked = anyio.Event()

    async def work(session):
        results = {}

        async def call(path):
            result = await session.call_tool("read_note", {"path": path})
            results[path] = bool(result.is_error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, "/etc/hosts")
            for number in range(5):
                tasks.start_soon(call, f"{number}.md")
            while len(results) < 5:
                await anyio.sleep(0.01)
            asked.set()
        return results

    class Slow(Session):
        async def elicit(self, _, params):
            await asked.wait()
            return await super().elicit(_, params)

    results = Slow(home, mode, [ONCE]).run(work)
    assert results == dict.fromkeys([*(f"{n}.md" for n in range(5)), "/etc/hosts"], False)


def test_the_server_may_ask_too(home):
    """Its questions are not ours, and pass."""
    session = Session(home, "legacy", [ONCE])
    assert session.call(("paint", {"path": "/etc/hosts"})) == [(False, "/etc/hosts is red")]
    assert len(session.asked) == 2


@pytest.mark.parametrize(
    ("answers", "questions"),
    [([ONCE, ONCE], 3), (["Always, everywhere: use /opt/wall"], 2)],
)
def test_the_server_may_want_input_too(home, answers, questions):
    """Its client repeats the call: once is for one of them, an answer that is kept for all."""
    session = Session(home, "2026-07-28", answers)
    assert session.call(("colour", {"path": "/opt/wall"})) == [(False, "/opt/wall is red")]
    assert len(session.asked) == questions


@MODES
def test_a_config_that_breaks_meanwhile(home, mode):
    """Calls are refused with the place of the error, and run again when it is mended."""
    config = home / ".config/ringfence/config.toml"

    async def work(session):
        found = []
        for text in ("", "[tools\n", ""):
            config.write_text(text)
            result = await session.call_tool("read_note", {"path": "a"})
            found.append((bool(result.is_error), result.content[0].text))
        return found

    before, broken, after = Session(home, mode).run(work)
    assert before == after == (False, "note at a")
    assert broken[0]
    assert str(config) in broken[1]
