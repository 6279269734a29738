"""The form of a config file: which keys there are, and what each may hold.

The loader takes its keys from here, and the JSON Schema for editors is made of it, so neither
can know a key that the other does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from ringfence.grammar.records import frozen
from ringfence.rules.model import State


@frozen
class Key:
    """What is said of a key beside its type; without it, the key must be there."""

    doc: str  # what an editor shows
    name: str = ""  # in the file, if it is not the attribute's
    bounds: tuple[int, int] | None = None


def _key(doc: str, **more: Any) -> Any:
    return Key(doc, **more)


class Explained:
    """An answer with words for whoever reads it, and examples that ``ringfence test`` tries."""

    state: State
    reason: str = _key("Shown to whoever is asked or refused.")
    match: list[str] = _key("Examples that this rule decides on.")
    not_match: list[str] = _key("Examples that it does not decide on.")


class OfServer(Explained):
    """An answer for an MCP server or a tool of it, and where it works."""

    local: bool = _key("False if it works elsewhere: then its inputs hold no path of here.")


class Loop:
    """The answer to the same call several times in a row."""

    state: State
    reason: str = _key("Shown to whoever is asked or refused.")
    repeats: int = _key("How many in a row.", bounds=(2, 1000))


Answer: TypeAlias = State | Explained


class ByOperation:
    """Answers for what may happen to a path.

    ``read`` is also for enter and test, one that asks or denies for execute, too, ``write`` for
    delete, unless they are there themselves.
    """

    read: Answer = _key("Reading a file, or a folder's names.")
    write: Answer = _key("Writing, or making.")
    delete: Answer = _key("Deleting.")
    execute: Answer = _key("Running it as a program.")
    enter: Answer = _key("Making it the working directory.")
    test: Answer = _key("Looking whether it is there.")


Answers: TypeAlias = Mapping[str, Answer]
Servers: TypeAlias = Mapping[str, State | OfServer]
Paths: TypeAlias = Mapping[str, State | Explained | ByOperation]


class Defaults:
    """What holds where no rule of a table matches."""

    tools: State = _key("Of tools that no rule names.")
    bash: State = _key("Of commands that no rule matches.")
    mcp: State = _key("Of MCP tools that no rule matches.")
    skills: State = _key("Of skills that no rule matches.")
    special: State = _key("Of the special checks that are not set.")


class Special:
    """Checks that are about no single command or tool."""

    external_directory: State | Explained | ByOperation | Paths = _key(
        "Paths outside the working directory: an answer, or patterns of absolute paths."
    )
    doom_loop: State | Loop = _key("The same call several times in a row, in one session.")


class AgentForm:
    """The tables for one agent."""

    defaultPolicy: Defaults = _key("What holds where no rule of a table matches.")  # noqa: N815
    tools: Answers = _key("Tools by their names.")
    bash: Answers = _key("Commands by patterns; the last that matches decides.")
    mcp: Servers = _key("MCP servers and tools: server, server:tool or server_tool.")
    skills: Answers = _key("Skills by patterns.")
    special: Special = _key("Checks that are about no single command or tool.")
    paths: Paths = _key("Single paths, inside and outside, by patterns.")
    headless: Literal["allow", "deny"] = _key(
        "What a question becomes where nobody can be asked (deny)."
    )


class ConfigForm(AgentForm):
    """A whole file."""

    agents: Mapping[str, AgentForm] = _key("The same tables for single agents.")
    schema_: str = _key("For editors.", name="$schema")


def keys(form: type) -> tuple[str, ...]:
    """The keys of a table in their order."""
    return tuple(key for key, _, _ in described(form))


def described(form: type) -> Iterator[tuple[str, str, Key | None]]:
    """Each key, the attribute of the form that stands for it, and what is said of it."""
    for cls in reversed(form.__mro__[:-1]):
        for attribute in cls.__annotations__:
            said: Key | None = cls.__dict__.get(attribute)
            yield (said and said.name) or attribute, attribute, said
