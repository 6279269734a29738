"""A real MCP server, of the official SDK, that says what reached it."""

import sys
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("notes")


class Colour(BaseModel):
    """What the server itself asks."""

    colour: str


@server.tool()
def read_note(path: str) -> str:
    """Say the path."""
    return f"note at {path}"


@server.tool()
async def paint(path: str, ctx: Context) -> str:
    """Ask the client's user for something, as the server."""
    answer = await ctx.elicit("Which colour?", Colour)
    return f"{path} is {answer.data.colour}"


async def wanted(path: str) -> Elicit[Colour]:
    """What is asked about a path, by the way of the client's revision."""
    return Elicit(f"Which colour for {path}?", Colour)


@server.tool()
async def colour(path: str, answer: Annotated[Colour, Resolve(wanted)]) -> str:
    """Want input of the client's user."""
    return f"{path} is {answer.colour}"


@server.tool()
def where() -> str:
    """Say where it runs."""
    return str(Path.cwd())


@server.resource("note://one")
def one() -> str:
    """Something that is no tool."""
    return "one"


if __name__ == "__main__":
    print("the server is up", file=sys.stderr)
    server.run()
