"""Finding the closer of a parenthesis or bracket the way bash's own lexer does.

Bash decides whether ``((`` and ``$((`` are arithmetic, and whether ``name[`` begins an array
element, by looking for the matching closer first: quotes and backslashes hide characters, and
a ``$(…)`` on the way is parsed as commands. ``$$`` is the process's number, whatever follows.
"""

from __future__ import annotations

from collections.abc import Callable

from ringfence.grammar.regex import compiled

_PAREN = compiled(r"\$\$|\$\((?!\()|\$'|[()'\"`\\]")
_BRACKET = compiled(r"\$\$|\$\{|\$\[|\$\(|\$'|[\[\]'\"`\\]")
_BRACKET_IN_BRACES = compiled(r"\$\$|\$\{|\$\(|\$'|[\[\]{}'\"`\\]")
_BRACKET_PLAIN = compiled(r"\$\$|\$\(|\$\{|\$'|[\[\]'\"`\\ \t\n;&|<>()]")
_DOUBLE = compiled(r"\$\$|[\"\\`]|\$[(\[{]")
_BRACES = compiled(r"\$\$|\$\{|\$\(|\$'|[}'\"`\\]")
_ANSI = compiled(r"[^'\\]*(?:\\[\s\S][^'\\]*)*'")
_BACKQUOTE = compiled(r"[`\\]")


_MARKS = {"`": _BACKQUOTE, '"': _DOUBLE, "${": _BRACES}
_OPENERS = frozenset(("'", '"', "`", "$(", "$'"))


class Pairs:
    """The closers of one text.

    Looking for the closer of one parenthesis finds those of all inside it; they are kept, so
    that ``((((…`` takes linear time.
    """

    def __init__(self, text: str, substitution_end: Callable[[int], int]) -> None:
        self.text = text
        self._substitution_end = substitution_end
        self._parentheses: dict[int, int] = {}
        self._last: dict[tuple[int, str], int] = {}

    def parenthesis(self, position: int) -> int:
        """The index of the ``)`` that closes a ``(`` before ``position``, or -1."""
        known = self._parentheses
        if position in known:
            return known[position]
        start = position
        opened = [position]
        text = self.text
        while (match := _PAREN.search(text, position)) is not None:
            mark = match.group()
            position = match.end()
            if mark == "(":
                opened.append(position)
            elif mark == ")":
                known[opened.pop()] = position - 1
                if not opened:
                    return position - 1
            elif mark == "\\":
                position += 1
            elif mark != "$$":
                position = self._after(position, mark)
                if position < 0:
                    break
        known.update(dict.fromkeys(opened, -1))
        return known[start]

    def last_inside(self, position: int, character: str) -> int:
        """Where ``character`` last stands in the parentheses opened before ``position``, or -1."""
        key = (position, character)
        if key not in self._last:
            close = self.parenthesis(position)
            self._last[key] = self.text.rfind(character, position, max(close, position))
        return self._last[key]

    def bracket(
        self,
        position: int,
        *,
        in_braces: bool = False,
        plain: bool = False,
        arithmetic: bool = False,
    ) -> int:
        """The index of the ``]`` that closes a ``[`` before ``position``, or -1.

        ``in_braces``: the bracket stands in a ``${…}`` whose ``}`` ends it all the same.
        ``plain``: a blank or an operator ends the search. ``arithmetic``: it is that of ``$[``, in
        which ``${`` hides nothing.
        """
        marks = _BRACKET_IN_BRACES if in_braces else _BRACKET_PLAIN if plain else _BRACKET
        depth = 1
        braces = 0
        while (match := marks.search(self.text, position)) is not None:
            mark = match.group()
            position = match.end()
            if mark == "[" or (mark == "$[" and arithmetic):
                depth += 1
            elif mark == "$[":
                position = self._after(position, mark)
            elif mark == "]":
                depth -= 1
                if depth == 0:
                    return position - 1
            elif mark == "\\":
                position += 1
            elif mark in _OPENERS:
                position = self._after(position, mark)
            elif plain and mark == "${":
                position = self.text.find("}", position) + 1 or -1
            elif mark == "$$" or (mark == "${" and arithmetic):
                pass
            elif mark == "${" and not in_braces:
                position = self._after(position, mark)
            elif mark == "${":
                braces += 1
            elif mark == "}":
                braces -= 1
            elif plain:
                return -1
            if position < 0 or braces < 0:
                return -1
        return -1

    def _after(self, position: int, opener: str) -> int:
        """The position after what ``opener``, a quote or ``$(``, opened before it, or -1."""
        text = self.text
        if opener == "$(":
            if text.startswith("(", position):
                return self.parenthesis(position) + 1 or -1
            return self._substitution_end(position)
        if opener == "$[":
            return self.bracket(position, arithmetic=True) + 1 or -1
        if opener == "$'":
            match = _ANSI.match(text, position)
            return match.end() if match else -1
        if opener == "'":
            return text.find("'", position) + 1 or -1
        marks = _MARKS[opener]
        closer = "}" if opener == "${" else opener
        while (match := marks.search(text, position)) is not None:
            mark = match.group()
            position = match.end()
            if mark == closer:
                return position
            if mark != "$$":
                position = position + 1 if mark == "\\" else self._after(position, mark)
            if position < 0:
                return -1
        return -1
