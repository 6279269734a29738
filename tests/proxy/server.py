"""A real MCP server, of the official SDK, that says what reached it."""

import sys
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
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
