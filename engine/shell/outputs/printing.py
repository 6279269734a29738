r"""``echo`` and ``printf``: what they print for arguments that may hold unknowns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ringfence.engine.shell.outputs.call import Invocation
from ringfence.grammar.regex import compiled
from ringfence.rules.model import NAME, UNKNOWN, is_known

MAX_OUTPUT = 100_000
"""The longest output that is made."""


def echo(call: Invocation) -> str | None:
    """``echo [-neE] word…``."""
    words = list(call.words)
    newline, escapes = "\n", False
    while words and re.fullmatch("-[neE]+", words[0]):
        for letter in words.pop(0)[1:]:
            if letter == "n":
                newline = ""
            else:
                escapes = letter == "e"
    text = " ".join(words)
    if not escapes:
        return text + newline
    text, stopped = decode_escapes(text, octal=r"0[0-7]{0,3}")
    return text if stopped else text + newline


def printf(call: Invocation) -> str | None:
    """``printf format argument…``; with ``-v`` nothing is printed."""
    words = call.words
    if words[:1] == ("--",):
        words = words[1:]
    if not words:
        return None
    if words[0] == "-v":
        return ""
    return formatted(words[0], words[1:])


# --- escapes -----------------------------------------------------------------------------------

_SIMPLE = {"a": "\a", "b": "\b", "e": "\033", "E": "\033", "f": "\f", "n": "\n", "r": "\r"}
_SIMPLE |= {"t": "\t", "v": "\v", "\\": "\\"}


def decode_escapes(text: str, octal: str) -> tuple[str, bool]:
    r"""``text`` with its backslash escapes decoded, and whether ``\c`` ended it.

    ``octal`` is a regular expression for what follows the backslash of an octal number.
    """
    pattern = re.compile(
        rf"\\(?:(?P<octal>{octal})|x(?P<hex>[0-9a-fA-F]{{1,2}})|u(?P<u>[0-9a-fA-F]{{1,4}})"
        rf"|U(?P<U>[0-9a-fA-F]{{1,8}})|(?P<c>c)|(?P<simple>[abeEfnrtv\\]))"
    )
    result = bytearray()
    position = 0
    for match in pattern.finditer(text):
        result += text[position : match.start()].encode("utf-8", "surrogatepass")
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "c":
            return _decoded(result), True
        if kind == "simple":
            result += _SIMPLE[match[kind]].encode()
        elif kind == "octal":
            result.append(int(match[kind], 8) & 255)
        elif kind == "hex":
            result.append(int(match[kind], 16))
        else:
            code = int(match[kind], 16)
            result += (chr(code) if code < 0x110000 else "?").encode("utf-8", "surrogatepass")
    result += text[position:].encode("utf-8", "surrogatepass")
    return _decoded(result), False


def _decoded(data: bytearray) -> str:
    # A NUL stays, for `xargs -0`; in a word, from which bash drops it, it counts as unknown.
    return data.decode("utf-8", "surrogateescape")


# --- printf ------------------------------------------------------------------------------------

_DIRECTIVE = compiled(
    r"%(?P<flags>[-+ 0#']*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|-?\d*))?"
    r"(?:[hlLjzt]*)(?P<kind>[diouxXeEfFgGaAcsbqQ%]|\([^)]*\)T)"
)


def formatted(template: str, arguments: tuple[str, ...]) -> str | None:
    """What ``printf template arguments…`` prints, or None if that cannot be told.

    The template is used again while arguments are left.
    """
    if not is_known(template):
        return None
    # Escapes are decoded before directives are looked for: `\x25s` prints `%s`, which is rare
    # enough to be answered with "not known".
    if re.search(r"\\(x25|0?45)", template):
        return None
    template, stopped = decode_escapes(template, octal="[0-7]{1,3}")
    template = template.replace('\\"', '"')
    rest = list(arguments)
    result = ""
    while True:
        before = len(rest)
        for text in _pass(template, rest):
            if text is None:
                return result
            result += text
            if len(result) > MAX_OUTPUT:
                return None
        if stopped or not rest or len(rest) == before:
            return result


def _pass(template: str, rest: list[str]) -> Iterator[str | None]:
    r"""The pieces of one use of the template; takes its arguments from ``rest``.

    None at the end means that a ``\c`` ended all output.
    """
    position = 0
    for match in _DIRECTIVE.finditer(template):
        yield template[position : match.start()]
        position = match.end()
        if match["kind"] == "%":
            yield "%"
            continue
        sizes = []
        for name in ("width", "precision"):
            size = match[name]
            sizes.append((rest.pop(0) if rest else "") if size == "*" else size)
        argument = rest.pop(0) if rest else None
        text, stopped = _directive(match["kind"], match["flags"], sizes, argument)
        yield text
        if stopped:
            yield None
            return
    yield template[position:]


def _directive(
    kind: str, flags: str, sizes: list[str | None], argument: str | None
) -> tuple[str, bool]:
    """The text of one directive, and whether it ends the output."""
    stopped = False
    text = argument or ""
    if kind in "sbqQc" and kind != "":
        if kind == "b":
            text, stopped = decode_escapes(text, octal=r"0?[0-7]{1,3}")
        elif kind in "qQ":
            text = quoted(text) if is_known(text) else UNKNOWN
        elif kind == "c":
            text = text[:1]
    else:
        number = _number(kind, flags, text)
        text, flags = (NAME, flags) if number is None else (number, flags)
    return _padded(text, flags, sizes, cut=kind in "sb"), stopped


def _number(kind: str, flags: str, text: str) -> str | None:
    """A number as printed, or None for any number or date."""
    if kind not in "diuoxX" or "#" in flags or not is_known(text):
        return None
    match = re.fullmatch(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*|)", text)
    if match is None:
        code = re.fullmatch(r"[\"'](.)", text, re.DOTALL)
        return str(ord(code[1])) if code and kind in "diu" else None
    digits = match[2] or "0"
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" and len(digits) > 1 else 10
    value = int(digits, base) * (-1 if match[1] == "-" else 1)
    if not -(2**63) <= value < 2**63 or (value < 0 and kind not in "di"):
        return None
    sign = "+" if "+" in flags and value >= 0 and kind in "di" else ""
    return sign + format(value, {"i": "d", "u": "d"}.get(kind, kind))


def _padded(text: str, flags: str, sizes: list[str | None], *, cut: bool) -> str:
    width, precision = sizes
    if not width and precision is None:
        return text
    if not is_known(text) or not all(re.fullmatch(r"-?\d{0,4}", size or "") for size in sizes):
        return NAME if text == NAME else UNKNOWN
    if precision is not None and cut:
        text = text[: int(precision or 0)]
    elif precision is not None:
        text = text.zfill(int(precision or 0))
    columns = int(width or 0)
    if "-" in flags or columns < 0:
        return text.ljust(abs(columns))
    return text.zfill(columns) if "0" in flags and not cut else text.rjust(columns)


def quoted(text: str) -> str:
    """``text`` as ``printf %q`` prints it: a word that gives the text back."""
    if not text:
        return "''"
    if not text.isprintable():
        escaped = "".join(
            c if c.isprintable() and c not in "'\\" else _ANSI.get(c, f"\\{ord(c):03o}")
            for c in text
        )
        return f"$'{escaped}'"
    special = re.sub(r"([ !\"$&'()*;<>?\[\\\]^`{|}])", r"\\\1", text)
    return "\\" + special if special[0] in "~#" else special


_ANSI = {code: "\\" + letter for letter, code in _SIMPLE.items() if letter != "e"} | {"'": "\\'"}
