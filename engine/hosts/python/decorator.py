"""``@gated``: any Python function as a tool that is judged before it runs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, wraps
from typing import Any, Literal, ParamSpec, TypeVar, cast, overload

from ringfence.engine.call import Decision
from ringfence.engine.hosts.model import HostTool
from ringfence.engine.hosts.python.guard import Asked, Guard, message
from ringfence.engine.hosts.python.values import arguments_of
from ringfence.grammar.records import evolve
from ringfence.rules.tool_names import canonical_tool

P = ParamSpec("P")
R = TypeVar("R")


class ToolRefusedError(PermissionError):
    """A call that was not run. Its text is the one for the model; ``decision`` has the rest."""

    def __init__(self, text: str, decision: Decision) -> None:
        super().__init__(text)
        self.decision = decision


@overload
def gated(function: Callable[P, R], /) -> Callable[P, R]: ...


@overload
def gated(
    tool: str | None = None,
    /,
    *,
    arguments: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    known: bool = False,
    guard: Guard | None = None,
    approver: Asked | None = None,
    on_deny: Literal["raise", "return"] = "raise",
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def gated(
    tool: Callable[..., Any] | str | None = None,
    /,
    *,
    arguments: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    known: bool = False,
    guard: Guard | None = None,
    approver: Asked | None = None,
    on_deny: Literal["raise", "return"] = "raise",
) -> Any:
    """Judge every call of a function, plain or async, before it runs.

    ``tool`` is the canonical tool (``bash``, ``read``, ``write``…) that the function is; without
    it, the function's own name is the tool's, which is asked about until a rule names it, or if
    ``known``, judged by its arguments alone. ``arguments`` gives the function's parameters their
    canonical names (``{"filename": "path"}``); those of ``ignore`` are not looked at. ``guard``
    has the policy (default: the user's and the project's), ``approver`` answers questions.

    Raises ValueError for a function that is ``bash`` and has no parameter for the command. A call
    that may not run raises ToolRefusedError, or with ``on_deny="return"`` returns the text
    for the model in the place of the function's result.
    """
    if callable(tool):
        return gated()(tool)
    if on_deny not in ("raise", "return"):
        raise ValueError('on_deny is "raise" or "return"')

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = getattr(function, "__name__", type(function).__name__)
        named = arguments_of(function)
        mapped = HostTool(tool or name, dict(arguments or {}))
        _check_command(mapped, function)

        def ready() -> Guard:
            found = guard if guard is not None else _of_user(os.getcwd())
            if approver is not None:
                found = evolve(found, approver=approver)
            if known and tool is None:
                found = found.knowing(name)
            return evolve(found, tools={**found.tools, name: mapped})

        def values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
            return {k: v for k, v in named(args, kwargs).items() if k not in ignore}

        def refused(decision: Decision) -> str | None:
            text = message(decision)
            if text is not None and on_deny == "raise":
                raise ToolRefusedError(text, decision)
            return text

        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def judged_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                given = values(args, kwargs)
                judge = ready()
                text = refused(await judge.judge_async(judge.call(name, given)))
                return await function(*args, **kwargs) if text is None else text

            return cast("Callable[P, R]", judged_async)

        @wraps(function)
        def judged(*args: P.args, **kwargs: P.kwargs) -> Any:
            given = values(args, kwargs)
            judge = ready()
            text = refused(judge.judge(judge.call(name, given)))
            return function(*args, **kwargs) if text is None else text

        return judged

    return decorate


def _check_command(tool: HostTool, function: Callable[..., Any]) -> None:
    """A function that runs commands says which parameter is the command. Raises ValueError."""
    if canonical_tool(tool.name) != "bash":
        return
    parameters = inspect.signature(function).parameters
    names = {tool.inputs.get(name, name) for name in parameters}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "command" not in names and not takes_any:
        hint = next(iter(parameters), "line")
        raise ValueError(
            f'which parameter is the command? arguments={{"{hint}": "command"}} says that it is'
            f" {hint}"
        )


@lru_cache(maxsize=8)
def _of_user(cwd: str) -> Guard:
    """The guard of the user's and the project's files. Raises ConfigError, each time."""
    return Guard.load(cwd)
