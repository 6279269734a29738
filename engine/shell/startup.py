"""What a new bash starts with: options, of its command line and environment, and functions."""

from __future__ import annotations

from collections.abc import Sequence

from ringfence.engine.shell.core import Run
from ringfence.engine.shell.state import State
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Field

OPTION_LETTERS = {
    "e": "errexit",
    "f": "noglob",
    "u": "nounset",
    "x": "xtrace",
    "a": "allexport",
    "B": "braceexpand",
    "E": "errtrace",
    "T": "functrace",
    "n": "noexec",
    "P": "physical",
    "v": "verbose",
}
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"))
_WITH_FILES = ("--init-file", "--rcfile")
_FUNCTION = compiled(r"BASH_FUNC_(?P<name>[^%()]+)(?:%%|\(\))\Z")


def given_options(argv: Sequence[Field]) -> frozenset[str]:
    """The options that ``bash -eO extglob -c …`` gives; none if another program is started."""
    words = [field.text for field in argv]
    if not words or words[0].rpartition("/")[2] not in _SHELLS:
        return frozenset()
    options: set[str] = set()
    left = words[:0:-1]
    while left and left[-1][:1] in ("-", "+") and left[-1] not in ("-", "--"):
        word = left.pop()
        if word.startswith("--"):
            if word in _WITH_FILES and left:
                left.pop()
            continue
        change = options.add if word[0] == "-" else options.discard
        for letter in word[1:]:
            if letter in "oO":
                change(left.pop() if left else "")
            elif letter in OPTION_LETTERS:
                change(OPTION_LETTERS[letter])
    return frozenset(options)


def inherited_options(state: State) -> frozenset[str]:
    """Those in ``BASHOPTS`` and ``SHELLOPTS``, which nobody but the environment sets."""
    found: set[str] = set()
    for name in ("BASHOPTS", "SHELLOPTS"):
        variable = state.variables.get(name)
        for value in variable.values if variable is not None else ():
            if isinstance(value, str):
                found.update(value.split(":"))
    return frozenset(found)


def take_functions(run: Run, state: State, at: Field) -> State:
    """Define the functions that variables hold which the command itself has set."""
    for name, variable in list(state.variables.items()):
        found = _FUNCTION.match(name)
        if found is None or variable is run.inherited.get(name):
            continue
        for value in variable.values:
            if isinstance(value, str) and value.startswith("() {") and UNKNOWN not in value:
                after = run.walker.script(f"function {found['name']} {value}", at, state).joined()
                state = after or state
    return state
