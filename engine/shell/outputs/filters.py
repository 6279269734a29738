"""Filters: what ``cat``, ``head``, ``tr``, ``cut``, ``sed s///``… print of a known input.

A line that holds an unknown stands for any number of lines. A filter that only chooses or orders
lines keeps all of these; one that changes them gives None.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ringfence.engine.shell.outputs.call import (
    Invocation,
    Options,
    all_known,
    lines,
    split_lines,
)
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, Field, is_known

MAX_INPUT = 20_000
"""The longest input that is filtered."""


def _input(call: Invocation, options: Options | None) -> str | None:
    """What a filter reads: standard input, or its operands as far as their text is known."""
    if options is None:
        return None
    texts = [
        call.stdin if name == "-" else call.context.read(name) for name in options.texts or ("-",)
    ]
    text = None if None in texts else "".join(text for text in texts if text is not None)
    return None if text is None or len(text) > MAX_INPUT else text


def cat(call: Invocation) -> str | None:
    """``cat [-u] [file…]``."""
    return _input(call, call.options("u"))


def tee(call: Invocation) -> str | None:
    """``tee`` prints what it reads."""
    return call.stdin


def head(call: Invocation) -> str | None:
    """``head [-n count]``."""
    return _end(call, lambda text, count: text[:count])


def tail(call: Invocation) -> str | None:
    """``tail [-n count]``."""
    return _end(call, lambda text, count: text[-count:] if count else [])


def _end(call: Invocation, cut: Callable[[list[str], int], list[str]]) -> str | None:
    # The old form `head -3`.
    fields = call.fields
    count = "10"
    if fields and re.fullmatch(r"-\d+", fields[0].text):
        count, fields = fields[0].text[1:], fields[1:]
    options = Invocation(fields, call.stdin, call.context).options("q", "n")
    text = _input(call, options)
    if options is None or text is None or len(options.operands) > 1:
        return None
    count = options.value("n", count)
    if not is_known(text):
        return text
    if not re.fullmatch(r"\d{1,6}", count):
        return None
    return "".join(cut(re.findall("[^\n]*\n|[^\n]+", text), int(count)))


def sort(call: Invocation) -> str | None:
    """``sort [-ru]`` in the order of code points; the order of another key is not known."""
    options = call.options("rubfnVdgh", "kt")
    text = _input(call, options)
    if options is None or text is None:
        return None
    found = split_lines(text)
    if "u" in options:
        found = list(dict.fromkeys(found))
    if len(found) > 1 and all_known(*found):
        if not set(options.given) <= {"r", "u"}:
            return None
        found.sort(reverse="r" in options)
    return lines(*found)


def uniq(call: Invocation) -> str | None:
    """``uniq``."""
    text = _input(call, call.options())
    if text is None:
        return None
    found = split_lines(text)
    return lines(*(line for i, line in enumerate(found) if i == 0 or line != found[i - 1]))


def tac(call: Invocation) -> str | None:
    """``tac``."""
    text = _input(call, call.options())
    return None if text is None else "".join(reversed(re.findall("[^\n]*\n|[^\n]+", text)))


def rev(call: Invocation) -> str | None:
    """``rev``."""
    text = _input(call, call.options())
    if text is None or not is_known(text):
        return None
    return "".join(line[::-1] + "\n" for line in split_lines(text))


def wc(call: Invocation) -> str | None:
    """``wc``: a number, or several, and the names of the operands."""
    options = call.options("clmwL")
    if options is None or options.operands:
        return None
    return lines(NAME) if len(options.given) == 1 else lines(f"{NAME} {NAME} {NAME}")


def grep(call: Invocation) -> str | None:
    """``grep [-FiEv] pattern``: of what is known, lines with a text without special characters."""
    options = call.options("FiEvwqc", "e")
    if options is None:
        return None
    if "q" in options:
        return ""
    if "c" in options:
        return lines(NAME) if len(options.operands) < 3 else None
    operands = options.operands
    if "e" not in options:
        if not operands:
            return None
        pattern, operands = operands[0].text, operands[1:]
    else:
        pattern = options.value("e")
    text = _input(call, Options(options.given, operands)) if len(operands) < 2 else None
    plain = "F" in options or re.fullmatch(r"[\w/ ,:@%=-]*", pattern)
    simple = bool(plain) and "w" not in options and is_known(pattern)
    if text is None or (not simple and any(map(is_known, split_lines(text)))):
        return None
    fold = str.lower if "i" in options else str
    wanted = fold(pattern)
    return lines(
        *(
            line
            for line in split_lines(text)
            if not is_known(line) or (wanted in fold(line)) != ("v" in options)
        )
    )


# --- changing characters -----------------------------------------------------------------------

_SETS = {
    "[:upper:]": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "[:lower:]": "abcdefghijklmnopqrstuvwxyz",
    "[:digit:]": "0123456789",
    "[:space:]": " \t\n\v\f\r",
    "[:blank:]": " \t",
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "0": "\0", "/": "/"}


def _set(text: str) -> list[str] | None:
    """The characters of one of tr's sets."""
    for name, members in _SETS.items():
        text = text.replace(name, members)
    if "[:" in text or "[=" in text or re.search(r"\[.\*", text):
        return None
    text = re.sub(r"\\([0-7]{1,3})", lambda match: chr(int(match[1], 8) & 0xFF), text)
    text = re.sub(
        r"\\(.)", lambda match: _ESCAPES.get(match[1], UNKNOWN + match[1]), text, flags=re.DOTALL
    )
    text = re.sub("(.)-(.)", _range, text, flags=re.DOTALL)
    return list(text)


def _range(match: re.Match[str]) -> str:
    return "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1)))


def tr(call: Invocation) -> str | None:
    """``tr set1 set2``, ``tr -d set``, ``tr -s set``."""
    options = call.options("ds")
    text = call.stdin
    if options is None or text is None or not all_known(*options.texts) or len(text) > MAX_INPUT:
        return None
    sets = [_set(operand) for operand in options.texts]
    first = sets[0] if sets else None
    if first is None or UNKNOWN in first:
        return None
    if options.given == {"d": ""} and len(sets) == 1:
        # Taking out what only separates words makes no path of something that is none.
        if not is_known(text) and not set(first) <= {"\n", "\r", " ", "\t", '"'}:
            return None
        return "".join(c for c in text if c not in first)
    if options.given == {"s": ""} and len(sets) == 1 and is_known(text):
        return re.sub("([" + re.escape("".join(first)) + r"])\1+", r"\1", text)
    second = sets[1] if len(sets) == 2 else None
    if options.given or not second:
        return None
    second += second[-1:] * (len(first) - len(second))
    table = dict(zip(first, second, strict=False))
    if not is_known(text) and not {"/", "."}.isdisjoint(table.values()):
        return None
    return "".join(table.get(c, c) for c in text)


def cut(call: Invocation) -> str | None:
    """``cut -d character -f number`` and ``cut -c from-to`` on known lines."""
    options = call.options("s", "dfc")
    text = _input(call, options)
    if options is None or text is None or not is_known(text):
        return None
    chosen = re.fullmatch(r"(\d{1,5})?(-)?(\d{1,5})?", options.value("c") or options.value("f"))
    if chosen is None or not any(chosen.groups()) or ("c" in options) == ("f" in options):
        return None
    first = int(chosen[1] or 1) - 1
    last = None if chosen[2] and not chosen[3] else int(chosen[3] or first + 1)
    separator = options.value("d", "\t")
    result = []
    for line in split_lines(text):
        if "c" in options:
            result.append(line[first:last])
        elif separator in line:
            result.append(separator.join(line.split(separator)[first:last]))
        elif "s" not in options:
            result.append(line)
    return lines(*result)


def base64_filter(call: Invocation) -> str | None:
    """``base64 [-d]``."""
    import base64  # noqa: PLC0415 - few commands need it

    letters = {"--decode": "-d", "-D": "-d"}
    options = [letters.get(word, word) for word in call.words]
    text = call.stdin
    if text is None or not is_known(text) or len(text) > MAX_INPUT:
        return None
    try:
        if options == ["-d"]:
            return base64.b64decode(text, validate=False).decode("utf-8", "surrogateescape")
        data = text.encode("utf-8", "surrogateescape")
    except ValueError:
        return None
    whole = base64.b64encode(data).decode()
    if options in (["-w0"], ["-w", "0"]):
        return whole
    return None if options else "".join(lines(whole[i : i + 76]) for i in range(0, len(whole), 76))


def xxd(call: Invocation) -> str | None:
    """``xxd -r -p``."""
    if sorted(call.words) not in (["-p", "-r"], ["-pr"], ["-rp"], ["-ps", "-r"]):
        return None
    try:
        return bytes.fromhex(call.stdin or UNKNOWN).decode("utf-8", "surrogateescape")
    except ValueError:
        return None


# --- sed s/// ----------------------------------------------------------------------------------

_SUBSTITUTION = compiled(
    r"\s*s(?P<mark>[^\w\s\\])(?P<old>(?:(?!(?P=mark))[^\\\n]|\\.)*)(?P=mark)"
    r"(?P<new>(?:(?!(?P=mark))[^\\\n]|\\.)*)(?P=mark)(?P<g>g?)\s*(?:[;\n]+|\Z)"
)
"""One ``s`` command of a script, with what separates it from the next."""
_PLAIN_BRE = compiled(
    r"\^?(?:[\w /:,@%=~\"'<>!#&;-]|\\[./\[\]*^$]|\.\*?|\[\^?[\w./ :-]+\]\*?|(?<=\w)\*)*\$?"
)


def sed(call: Invocation) -> str | None:
    """``sed s/pattern/text/[g]`` with patterns of the plainest kind; one or several."""
    fields: list[Field] = []
    scripts: list[str] = []
    rest = list(call.fields)
    while rest:
        field = rest.pop(0)
        if field.text in ("-e", "--expression") and rest:
            scripts.append(rest.pop(0).text)
        else:
            fields.append(field)
    options = Invocation(tuple(fields), call.stdin, call.context).options("rE")
    if options is None:
        return None
    operands = options.operands
    if not scripts and operands:
        scripts, operands = [operands[0].text], operands[1:]
    text = _input(call, Options(options.given, operands))
    script = "\n".join(scripts)
    if text is None or not is_known(text + script):
        return None
    position = 0
    while position < len(script) or not position:
        match = _SUBSTITUTION.match(script, position)
        changed = match and _substituted(match, text)
        if match is None or changed is None:
            return None
        text, position = changed, match.end()
    return text


def _substituted(match: re.Match[str], text: str) -> str | None:
    """The lines of ``text`` after one ``s`` command, or None if it is not of the plain kind."""
    mark, old, new = match["mark"], match["old"], match["new"]
    if "\\" + mark in old + new or old.count("*") > 3 or not _PLAIN_BRE.fullmatch(old):
        return None
    if not old or re.search(r"\\[^/&.]", new):
        return None
    pattern = re.compile(old, re.ASCII)
    count = 0 if match["g"] else 1
    replacement = re.split(r"(\\.|&)", new)

    def substitute(found: re.Match[str]) -> str:
        return "".join(
            found[0] if piece == "&" else piece.removeprefix("\\") for piece in replacement
        )

    return lines(*(pattern.sub(substitute, line, count=count) for line in split_lines(text)))
