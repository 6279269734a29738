"""The builtins that read standard input: ``read``, ``mapfile``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ringfence.engine.shell import variables
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.state import Array
from ringfence.grammar.records import evolve
from ringfence.rules.model import UNKNOWN, Field, is_known

_READ_VALUES = "adinNptu"
_MAPFILE_VALUES = "dnOsuCc"


def _arguments(call: Call, with_values: str) -> tuple[dict[str, str], list[Field]]:
    """The options with their values, and the operands."""
    options: dict[str, str] = {}
    words = list(call.arguments)
    while words and words[0].text.startswith("-") and len(words[0].text) > 1:
        word = words.pop(0).text
        if word == "--":
            break
        for index, letter in enumerate(word[1:], 2):
            options[letter] = ""
            if letter in with_values:
                options[letter] = word[index:] or (words.pop(0).text if words else "")
                break
    return options, words


def _source(call: Call, options: dict[str, str]) -> str:
    descriptor = options.get("u", "0")
    if descriptor == "0":
        return call.state.input
    return call.state.descriptors.get(descriptor, UNKNOWN)


def _left(call: Call, options: dict[str, str], text: str) -> None:
    descriptor = options.get("u", "0")
    if descriptor == "0":
        call.state.input = text
    else:
        call.state.descriptors[descriptor] = text


def read(call: Call) -> Outcome:
    """``read [-r] [-a array] [name…]``: one line of what is known of the input."""
    options, operands = _arguments(call, _READ_VALUES)
    text = _source(call, options)
    where = call.run.recorder.column(call.span)
    size = options.get("N", options.get("n"))
    if size is not None and not (size.isdecimal() and is_known(text)):
        line, ended = UNKNOWN, None
        _left(call, options, UNKNOWN)
    elif size is not None:
        line = text[: int(size)]
        if "N" not in options:
            line = line.partition(options.get("d", "\n")[:1] or "\n")[0]
        ended = len(line) == int(size) or text[len(line) :] != ""
        _left(call, options, text[len(line) + (len(line) < int(size)) :])
    elif UNKNOWN in text.partition("\n")[0]:
        line, ended = text.partition("\n")[0], None
        rest = text if text == UNKNOWN else text.partition("\n")[2]
        _left(call, options, rest or UNKNOWN)
    else:
        end = options.get("d", "\n")[:1] or "\n"
        line, found, rest = text.partition(end)
        ended = bool(found)
        _left(call, options, rest)
    if "r" not in options:
        line = re.sub(r"\\(.)", r"\1", line)
    names = [word.text for word in operands]
    step = f"`read` took it {where}"
    if "a" in options:
        pieces = _split(call, line, limit=0)
        variables.assign(
            call.world, options["a"], Array().append(pieces), steps=(step,), at=call.span
        )
    elif not names:
        variables.assign(call.world, "REPLY", line, steps=(step,), at=call.span)
    else:
        pieces = _split(call, line, limit=len(names))
        for name, value in zip(names, [*pieces, *[""] * len(names)], strict=False):
            variables.assign(call.world, name, value, steps=(step,), at=call.span)
    if ended is None:
        return call.either()
    return call.succeeds() if ended else call.fails()


def _split(call: Call, line: str, *, limit: int) -> list[str]:
    """The words of a line; the last of ``limit`` takes what is left, blanks at its ends gone."""
    ifs = variables.separators(call.world)
    blanks = "".join(c for c in ifs if c in " \t\n")
    others = "".join(c for c in ifs if c not in " \t\n")
    line = line.strip(blanks) if blanks else line
    if not ifs or limit == 1:
        return [line]
    blank = f"[{re.escape(blanks)}]" if blanks else "(?!)"
    other = f"[{re.escape(others)}]" if others else "(?!)"
    delimiter = f"{blank}*{other}{blank}*|{blank}+"
    return re.split(delimiter, line, maxsplit=max(limit - 1, 0)) if line else []


def mapfile(call: Call) -> Outcome:
    """``mapfile [-t] [array]``: every line of what is known of the input."""
    options, operands = _arguments(call, _MAPFILE_VALUES)
    text = _source(call, options)
    end = options["d"][:1] if options.get("d") else "\n"
    lines: Sequence[str] = text.split(end)
    if lines and lines[-1] == "":
        lines = lines[:-1]
    skipped, count = options.get("s", "0"), options.get("n", "0")
    if not (skipped + count).isdecimal():
        lines = [UNKNOWN]
    elif is_known(text):
        lines = lines[int(skipped) :][: int(count) or None]
    if "t" not in options:
        lines = [line + end for line in lines]
    name = operands[0].text if operands else "MAPFILE"
    where = call.run.recorder.column(call.span)
    step = f"`{call.name}` took it {where}"
    if options.get("C"):
        _call_back(call, options["C"])
    array = Array().append(lines)
    if "O" in options:  # from an index on, what is there stays
        array = evolve(array, loose=True)
    variables.assign(call.world, name, array, steps=(step,), at=call.span)
    _left(call, options, "" if count == "0" else UNKNOWN)
    return call.succeeds()


def _call_back(call: Call, script: str) -> None:
    """``mapfile -C script``: bash evaluates it, a line's number and text added, now and then."""
    at = next(word for word in call.arguments if script in word.text)
    with call.run.nested(), call.run.recorder.possibly():
        call.run.walker.script(f"{script} 0 line", at, call.state.copy())
