"""The shell evaluator: what a bash command would touch, found without running it."""

from __future__ import annotations

from functools import lru_cache

from ringfence.engine.paths import normalise, real_path
from ringfence.engine.shell.core import Run, Shell
from ringfence.engine.shell.limits import LimitExceededError
from ringfence.engine.shell.overlay import Overlay
from ringfence.engine.shell.recorder import Recorder
from ringfence.engine.shell.startup import inherited_options
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
    run.logical, run.doubtful = _logical(shell)
    if run.logical not in ("/", shell.cwd):
        overlay.names = (run.logical, shell.cwd)
    run.walker = walker = TreeWalker(run)
    state = State((shell.cwd,), dict(inherited), output=())
    state.options = inherited_options(state)
    everything = (0, len(command))
    try:
        extglob = "extglob" in state.options
        script = run.grammar.parse(command, extglob=extglob, follow_shopt=True)
        walker.shell(lambda inner: walker.execute_script(script, inner), state)
    except (LimitExceededError, TooComplex) as error:
        recorder.limit(str(error), everything)
    except RecursionError:
        recorder.limit("the command is nested too deeply to be evaluated", everything)
    return Evaluation(recorder.effects, recorder.opaque, recorder.commands)


@lru_cache(maxsize=1024)
def _inherited(name: str, value: str) -> Variable:
    return Variable((value,), exported=True, steps=(f"`${name}` is `{value}`",))


def _logical(shell: Shell) -> tuple[str, bool]:
    """The working directory as bash shows it in ``$PWD``, and whether that is in doubt.

    It takes what it inherits if that names the directory, else where its links lead. Who gives
    no ``$PWD`` may have left it out.
    """
    cwd, inherited = shell.cwd, shell.env.get("PWD")
    if inherited == cwd:
        return cwd, False
    real = real_path(cwd, shell.filesystem)
    if inherited is None:
        return cwd, real != cwd
    same = inherited.startswith("/") and (
        real_path(inherited, shell.filesystem) == real or shell.filesystem.same(inherited, cwd)
    )
    return (normalise(inherited) if same else real), False
