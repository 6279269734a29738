"""Words of ``env -S 'text'``, which has rules of its own for quotes and backslashes."""

from __future__ import annotations

from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN

_BLANK = " \t\n\v\f\r"
_VARIABLE = compiled(r"\$\{[A-Za-z_]\w*\}")
_ESCAPES = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def split_string(text: str) -> list[str]:
    """The words; what stands for a variable is UNKNOWN."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    place = 0
    while place < len(text):
        character = text[place]
        place += 1
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
            word = word or ""
        elif not quote and character in _BLANK:
            if word is not None:
                words.append(word)
            word = None
        elif not quote and character == "#" and word is None:
            break
        elif character == "\\" and place < len(text) and (quote != "'" or text[place] in "\\'"):
            escaped = text[place]
            place += 1
            if escaped == "c" and not quote:
                break
            if escaped == "_" and not quote:
                if word is not None:
                    words.append(word)
                word = None
            else:
                word = (word or "") + (" " if escaped == "_" else _ESCAPES.get(escaped, escaped))
        elif character == "$" and quote != "'" and (found := _VARIABLE.match(text, place - 1)):
            word = (word or "") + UNKNOWN
            place = found.end()
        else:
            word = (word or "") + character
    return words if word is None else [*words, word]
