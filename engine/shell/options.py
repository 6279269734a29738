"""The builtins for options and parameters: ``set``, ``shopt``, ``shift``, ``getopts``."""

from __future__ import annotations

from collections.abc import Sequence

from ringfence.engine.shell import external, variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.startup import OPTION_LETTERS
from ringfence.rules.model import NAME, UNKNOWN, Field


def set_(call: Call) -> Outcome:
    """``set [-+options] [--] [argument…]``."""
    words = list(call.arguments)
    state = call.state
    if not words:
        return external.execute(call)
    options = set(state.options)
    while words and words[0].text[:1] in ("-", "+") and len(words[0].text) > 1:
        word = words.pop(0).text
        if word == "--":
            state.parameters = (tuple(words),)
            words = []
            break
        if word[1:].endswith("o"):
            name = words.pop(0).text if words else ""
            (options.add if word[0] == "-" else options.discard)(name)
        for letter in word[1:]:
            if letter in OPTION_LETTERS:
                change = options.add if word[0] == "-" else options.discard
                change(OPTION_LETTERS[letter])
    state.options = frozenset(options)
    if words:
        state.parameters = (tuple(words[1:] if words[0].text == "-" else words),)
    return call.succeeds()


def shopt(call: Call) -> Outcome:
    """``shopt -s option…`` and ``-u``."""
    letters = "".join(a.text[1:] for a in call.arguments if a.text.startswith("-"))
    names = {a.text for a in call.arguments if not a.text.startswith("-")}
    if "s" in letters:
        call.state.options |= names
    elif "u" in letters:
        call.state.options -= names
    return call.succeeds()


def shift(call: Call) -> Outcome:
    """``shift [n]``."""
    word = call.arguments[0].text if call.arguments else "1"
    parameters = call.world.parameters()
    if not word.isdecimal() or any(p.several for p in parameters[: int(word)]):
        at = call.arguments[0] if call.arguments else call.argv[0]
        call.state.parameters = ((Field(UNKNOWN, at.span, several=True),),)
        return call.either()
    if int(word) > len(parameters):
        return call.fails()
    call.state.parameters = (parameters[int(word) :],)
    return call.succeeds()


def getopts(call: Call) -> Outcome:
    """``getopts options name``: takes the options one by one where they are known."""
    operands = call.arguments
    if len(operands) < 2:
        return call.fails()
    words = tuple(operands[2:]) or call.world.parameters()
    position = variables.scalar(call.world, "OPTIND") or "1"
    if not position.isdecimal():
        position = "1"
    index = int(position) - 1
    if any(not w.known for w in words) or index >= len(words):
        if index >= len(words):
            variables.assign(call.world, operands[1].text, "?", at=call.span)
            return call.fails()
        variables.assign(call.world, operands[1].text, NAME, at=call.span)
        variables.assign(call.world, "OPTARG", UNKNOWN)
        variables.assign(call.world, "OPTIND", str(index + 2))
        return call.either()
    word = words[index].text
    if not word.startswith("-") or word in ("-", "--"):
        if word == "--":
            variables.assign(call.world, "OPTIND", str(index + 2))
        return call.fails()
    return _option(call, words, index)


def _option(call: Call, words: Sequence[Field], index: int) -> Outcome:
    """One option for ``getopts``; of a cluster, the one after those already taken."""
    spec, name = call.arguments[0].text, call.arguments[1].text
    word = words[index]
    taken = call.state.descriptors.pop("getopts", "")
    letter, rest = word.text[1 + len(taken)], word.text[2 + len(taken) :]
    following = index + 2
    variables.assign(
        call.world, name, letter if letter in spec.replace(":", "") else "?", at=call.span
    )
    if letter + ":" in spec:
        value = Field(rest, word.span, steps=word.steps)
        if not rest:
            value = words[index + 1] if index + 1 < len(words) else value
            following += 1
        variables.assign(call.world, "OPTARG", value.text, steps=value.steps)
    elif rest:
        call.state.descriptors["getopts"] = taken + letter
        following = index + 1
    variables.assign(call.world, "OPTIND", str(following))
    return call.succeeds()
