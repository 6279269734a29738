"""The shell evaluator: what a bash command would touch, found without running it."""

from __future__ import annotations

from functools import lru_cache

from ringfence.engine.shell.core import Run, Shell
from ringfence.engine.shell.limits import LimitExceededError
from ringfence.engine.shell.overlay import Overlay
from ringfence.engine.shell.recorder import Recorder
from ringfence.engine.shell.state import State, Variable
from ringfence.engine.shell.walk import TreeWalker
from ringfence.grammar import Grammar, TooComplex, bash
from ringfence.grammar.records import frozen
from ringfence.rules.model import CommandLine, Effect, Opaque

__all__ = ["Evaluation", "Shell", "evaluate"]


@frozen
class Evaluation:
    """What a command would do: the paths it touches, what cannot be known, what it runs."""

    effects: tuple[Effect, ...]
    opaque: tuple[Opaque, ...]
    commands: tuple[CommandLine, ...]


def evaluate(command: str, shell: Shell, grammar: Grammar | None = None) -> Evaluation:
    """Evaluate ``command`` as ``bash -c`` in ``shell`` would run it, touching nothing.

    ``grammar`` is one that extends bash's. Never raises for any text: what is past a limit
    (``limits``) is opaque.
    """
    overlay = Overlay(shell.filesystem)
    recorder = Recorder(command, shell.cwd, overlay)
    inherited = {n: _inherited(n, value) for n, value in shell.env.items() if n != "PWD"}
    run = Run(shell, recorder, overlay, grammar or bash(), inherited)
    run.walker = walker = TreeWalker(run)
    state = State((shell.cwd,), dict(inherited), output=())
    everything = (0, len(command))
    try:
        script = run.grammar.parse(command, follow_shopt=True)
        walker.shell(lambda inner: walker.execute_script(script, inner), state)
    except (LimitExceededError, TooComplex) as error:
        recorder.limit(str(error), everything)
    except RecursionError:
        recorder.limit("the command is nested too deeply to be evaluated", everything)
    return Evaluation(recorder.effects, recorder.opaque, recorder.commands)


@lru_cache(maxsize=1024)
def _inherited(name: str, value: str) -> Variable:
    return Variable((value,), exported=True, steps=(f"`${name}` is `{value}`",))
