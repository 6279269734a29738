"""The lexer and the LALR machine, one loop.

The lexer must know the parser's state (a reserved word is one only where it fits) and a stack of
contexts (contexts.py), and here-documents and line continuations cut across both, so they share
one loop: read the one terminal that fits, reduce, shift, note what the terminal opens or closes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeAlias

from ringfence.grammar.contexts import (
    CHANGES,
    CLOSES,
    CONTEXTS,
    INSIDE_WORD,
    OPENS,
    WORD_OPENERS,
    lets_through,
)
from ringfence.grammar.errors import TooComplex, Unexpected, shown, spoken
from ringfence.grammar.nodes import Span
from ringfence.grammar.pairs import Pairs
from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled
from ringfence.grammar.tables import END, Place, Tables

Build: TypeAlias = Callable[..., Any]
"""From a Builder and the values that a rule takes to the value that it makes."""


@define(eq=False)
class Program:
    """What to do for each rule, which the machine looks up by the rule's number.

    ``rules`` hold how many values a rule takes, the nonterminal it makes, and its function; None
    where the single value is handed on. ``fused`` maps functions that follow one another, each
    of one value, to a function that does what they do.
    """

    rules: tuple[tuple[int, str, Build | None], ...]
    unused: frozenset[str]  # the terminals whose tokens no function looks at
    fused: Mapping[tuple[Build, ...], Build] = field(factory=dict)
    chains: dict[tuple[int, int, str], Chain] = field(factory=dict, repr=False)


@define(eq=False)
class Chain:
    """Reductions by rules of one value that follow one another.

    They depend on nothing but the two states on top of the stack and the next terminal, so they
    are worked out once.
    """

    builds: tuple[Build, ...]
    state: int  # in the end, on top of the stack in place of the one before


Offsets: TypeAlias = int | Sequence[int]
"""How positions of a text map to the outer source: a shift, or one position for each index
(and one more for the end)."""

MAX_DEPTH = 5_000
"""States on the parser's stack; a level of nesting takes three to six."""
MAX_CONTINUATIONS = 20_000
"""Backslash-newline pairs that are removed; each removal copies the rest of the text."""


class Token:
    """A piece of source: ``text`` after line continuations were removed, and its span.

    ``end`` is the position behind it in the machine's own text.
    """

    __slots__ = ("end", "span", "text")

    def __init__(self, text: str, span: Span, end: int) -> None:
        self.text = text
        self.span = span
        self.end = end


@define
class PendingHere:
    """A here-document whose text begins after the next newline."""

    delimiter: str
    quoted: bool
    strip_tabs: bool
    redirection: Any  # the Redirection node to complete
    outlived: bool = False  # the substitution that it stood in has ended before its text


class Builder(Protocol):
    """What makes values, as far as the machine itself calls it."""

    def complete_here(
        self, pending: PendingHere, pieces: list[tuple[int, str]], end: int, *, terminated: bool
    ) -> None:
        """A here-document has been read: (position, text) of each line that belongs to it."""


@define
class _Opened:
    """An entry of the context stack."""

    context: str
    continues_word: bool  # when it closes, the word it stood in may go on
    heres: list[PendingHere]  # those of this command substitution
    start: int = 0  # the position behind what opened it


@define(eq=False)
class Machine:
    """Parses one text; make a new one for each.

    ``source_start`` and ``source_end`` map positions of the text to the outer source.
    """

    tables: Tables
    program: Program
    builder: Builder
    nested: Callable[[str], Machine]  # a machine for the same source
    text: str
    offsets: Offsets = 0
    extglob: bool = False  # may be switched on between two lines
    ends: dict[int, int] = field(factory=dict)  # places of `$(` → the length of what follows
    cuts: list[int] = field(factory=list)  # where a continuation was removed, in `text`
    shifted_end: int = 0  # the position behind the last shifted token
    values: list[Any] = field(factory=list)
    trace: list[Token] | None = None  # all tokens, if wanted
    opened: list[_Opened] = field(factory=list)
    length: int = field(init=False)  # of the text as it was given
    _continued: bool = False
    _pairs: Pairs = field(init=False)

    @length.default
    def _length(self) -> int:
        return len(self.text)

    def whole(self) -> Span:
        """The span of the whole text."""
        offsets = self.offsets
        if isinstance(offsets, int):
            return (offsets, offsets + self.length)
        return (offsets[0], offsets[self.length])

    def source_start(self, position: int) -> int:
        """The place in the outer source of a token that begins at ``position``."""
        if self.cuts:
            from bisect import bisect_right  # noqa: PLC0415 - few texts are continued

            position += 2 * bisect_right(self.cuts, position)
        offsets = self.offsets
        return position + offsets if isinstance(offsets, int) else offsets[position]

    def source_end(self, position: int) -> int:
        """The place in the outer source where a token that ends at ``position`` ends."""
        if self.cuts:
            from bisect import bisect_left  # noqa: PLC0415

            position += 2 * bisect_left(self.cuts, position)
        offsets = self.offsets
        if isinstance(offsets, int):
            return position + offsets
        return offsets[position - 1] + 1 if position else offsets[0]

    def after_last(self) -> Span:
        """An empty span behind the last token that was shifted."""
        return (self.source_end(self.shifted_end),) * 2

    def places(self, start: int, text: str) -> Offsets:
        """Offsets for a nested text that stands verbatim at ``start`` of this one."""
        if not self.cuts and isinstance(self.offsets, int):
            return start + self.offsets
        places = [self.source_start(start + i) for i in range(len(text))]
        places.append(self.source_end(start + len(text)))
        return places

    def written(self, span: Span) -> str | None:
        """The source of a span of this text, if it stands there as it stood."""
        if self.cuts or not isinstance(self.offsets, int):
            return None
        return self.text[span[0] - self.offsets : span[1] - self.offsets]

    def run(self, start: str, context: str, position: int = 0) -> Any:
        """Parse the text from ``position`` as ``start``, beginning in ``context``.

        The whole text must be one; only a ``substitution`` ends where its ``)`` does, and
        gives nothing (``shifted_end`` tells where).
        Raises Unexpected where bash would refuse it and TooComplex past the limits.
        """
        tables = self.tables
        actions = tables.actions
        rules, chains, builder = self.program.rules, self.program.chains, self.builder
        trace = self.trace
        unused = self.program.unused if trace is None else ()
        accepting = tables.accepts[start]
        state = tables.starts[start]
        states = [state]
        values = self.values
        opened = self.opened
        opened.append(_Opened(context, continues_word=False, heres=[]))
        self._continued = "\\\n" in self.text
        self._pairs = Pairs(self.text, self._substitution_end)
        # Where nothing is cut out and nothing moved, the usual case takes a shorter way.
        plain = not self._continued and isinstance(self.offsets, int)
        shift = self.offsets if isinstance(self.offsets, int) else 0
        text = self.text
        place = Place.OPENED if start == "substitution" else Place.OUTSIDE
        mode = tables.mode(context, place, self.extglob)
        while True:
            # --- read one terminal
            top = opened[-1]
            if mode.extglob is not self.extglob:
                mode = tables.mode(mode.context, mode.place, self.extglob)
            match = None
            if plain:
                matching = mode.matching.get(state) or tables.matching(mode, state)
                match = matching(text, position)
            token: Token | None
            if match and (matched := match.lastgroup) and matched not in _LOOKED_AT:
                name = matched
                begin, end = position, match.end()
                if name in unused:
                    token = None
                else:
                    # Without a shift, tokens side by side share the number where they meet.
                    span = (position + shift, end + shift) if shift else (position, end)
                    token = Token(text[position:end], span, end)
            elif match and match.lastgroup == "SKIP":
                position = match.end()
                if mode.place is Place.INSIDE:
                    top.context = CONTEXTS[top.context].one_word or top.context
                    mode = tables.mode(top.context, Place.AFTER, self.extglob)
                continue
            else:
                name, begin, end = self._read(states, position, mode.place)
                if top.context != mode.context:
                    mode = tables.mode(top.context, mode.place, self.extglob)
                if name == END:
                    token = Token("", (self.whole()[1],) * 2, begin)
                else:
                    span = (self.source_start(begin), self.source_end(end))
                    token = Token(self.text[begin:end], span, end)
            # --- reduce and shift
            while True:
                action = actions[state].get(name)
                if action is None:
                    if token is None:
                        token = Token(text[begin:end], (begin + shift, end + shift), end)
                    raise self._unexpected(name, token, states)
                if action >= 0:
                    break
                size, origin, build = rules[~action]
                if size == 1:
                    chain = chains.get((states[-2], state, name)) or self._chain(states, name)
                    for step in chain.builds:
                        values[-1] = step(builder, values[-1])
                    state = states[-1] = chain.state
                else:
                    assert build is not None  # only a single value is handed on
                    if size:
                        made = build(builder, *values[-size:])
                        del values[-size:]
                        del states[-size:]
                    else:
                        made = build(builder)
                    values.append(made)
                    state = actions[states[-1]][origin]
                    states.append(state)
                if state == accepting and name == END:
                    self._finish(begin)
                    return values[-1]
            state = action
            states.append(state)
            values.append(token)
            if trace is not None and token is not None:
                trace.append(token)
            if len(states) > MAX_DEPTH:
                raise TooComplex("the command is nested too deeply")
            self.shifted_end = position = end
            # --- what it opens and closes
            following = mode.after.get(name)
            if following is not None:
                mode = following
                continue
            if name == "RPAR" and len(opened) == 1 and start == "substitution":
                return None
            after = _after(top.context, name)
            place = self._enter(name) if after is None else after
            if name == "NEWLINE":
                position = self._read_heres(position)
            before, mode = mode, tables.mode(opened[-1].context, place, mode.extglob)
            if after is not None and name not in _HEEDED:
                before.after[name] = mode

    def _chain(self, states: list[int], name: str) -> Chain:
        """The reductions by rules of one value that the top of the stack and ``name`` lead to."""
        actions, rules = self.tables.actions, self.program.rules
        accepting = self.tables.accepts.values()
        below, first = states[-2:]
        builds: tuple[Build, ...] = ()
        state = first
        while True:
            action = actions[state].get(name, 0)
            if action >= 0 or rules[~action][0] != 1:
                break
            _, origin, build = rules[~action]
            if build is not None:
                builds += (build,)
            state = actions[below][origin]
            if state in accepting:
                break
        for several, one in self.program.fused.items():
            for start in range(len(builds) - len(several), -1, -1):
                if builds[start : start + len(several)] == several:
                    builds = (*builds[:start], one, *builds[start + len(several) :])
        chain = self.program.chains[below, first, name] = Chain(builds, state)
        return chain

    # --- the lexer ---------------------------------------------------------------------------

    def _read(self, states: list[int], position: int, place: Place) -> tuple[str, int, int]:
        """The next terminal from ``position``: its name, its start and its end."""
        opened = self.opened[-1]
        state = states[-1]
        scan = self.tables.scanner
        scanner = scan(state, opened.context, place, self.extglob)
        while True:
            if self._continued:
                self._join(position)
            text = self.text
            match = scanner.pattern.match(text, position)
            if self._continued and match and text.startswith("\\\n", match.end()):
                self._cut(match.end())
                continue
            if match is None:
                if position == len(text):
                    return END, position, position
                half = _HALF_OPERATOR.match(text, position) if self._continued else None
                if half is not None:
                    self._cut(half.end())
                    continue
                raise self._unexpected_text(position, states)
            name = match.lastgroup or ""
            if name == "SKIP":
                position = match.end()
                if place is Place.INSIDE:
                    opened.context = CONTEXTS[opened.context].one_word or opened.context
                    place = Place.AFTER
                scanner = scan(state, opened.context, place, self.extglob)
                continue
            end = match.end()
            check = _CHECKS.get(name)
            if name in _IN_GROUP and opened.context in ("regex_group", "extglob"):
                closer = self._pairs.last_inside(opened.start, _IN_GROUP[name])
                check = _never if closer < end else check
            if check is not None:
                checked = check(self._pairs, position, end)
                if checked < 0:
                    if name in _MUST_CLOSE and checked == _UNCLOSED:
                        start = self.source_start(position)
                        raise Unexpected(_MUST_CLOSE[name], (start, start + end - position))
                    scanner = self.tables.without(scanner, name)
                    continue
                end = checked
            return name, position, end

    def _join(self, position: int) -> None:
        """Take out the backslash-newlines of the plain text that begins at ``position``.

        Half a reserved word, or half of ``{fd}>``, does not match yet.
        """
        while True:
            plain = _PLAIN.match(self.text, position)
            end = plain.end() if plain else position
            if not self.text.startswith("\\\n", end):
                return
            self._cut(end)

    def _cut(self, position: int) -> None:
        if len(self.cuts) >= MAX_CONTINUATIONS:
            raise TooComplex("the command is continued over too many lines")
        self.cuts.append(position)
        self.text = self.text[:position] + self.text[position + 2 :]
        self._pairs = Pairs(self.text, self._substitution_end)

    def _enter(self, name: str) -> Place:
        """Note what terminal ``name`` opens or closes; the place after it."""
        if name == "CLOSE":
            return Place.GLUED
        if name in ("COMMAND", "PROCESS"):
            self._word_goes_on(name)
            return Place.OPENED
        return Place.INSIDE if self._word_goes_on(name) else Place.OUTSIDE

    def _word_goes_on(self, name: str) -> bool:
        """Note what terminal ``name`` opens or closes; says whether a word may go on after it."""
        opened = self.opened
        top = opened[-1]
        change = CHANGES.get((top.context, name))
        if change is None:
            opens = OPENS.get(name)
            if opens is not None:
                if opens == "parameter" and CONTEXTS[top.context].quoted:
                    opens = "parameter_quoted"
                heres = [] if name in ("COMMAND", "PROCESS") else top.heres
                opened.append(_Opened(opens, name in WORD_OPENERS, heres, self.shifted_end))
                return False
            if name in CLOSES:
                opened.pop()
                return top.continues_word
            if top.context.startswith("conditional_") and name in _WORD_ENDERS:
                top.context = "conditional"
            return name in INSIDE_WORD
        if change == "-":
            if len(opened) > 1:
                opened.pop()
            if top.heres and opened[-1].heres is not top.heres:
                # `$(cat <<E)`: bash looks for the text after the next newline outside.
                for here in top.heres:
                    here.outlived = True
                opened[-1].heres.extend(top.heres)
            return top.continues_word
        if change[0] == "+":
            opened.append(_Opened(change[1:], continues_word=False, heres=top.heres))
        else:
            top.context = change
        return False

    def _substitution_end(self, position: int) -> int:
        """Where the ``$(`` before ``position`` ends, found by parsing what is in it.

        Raises Unexpected if bash would refuse it.
        """
        place = self.source_start(position)
        length = None if self.cuts else self.ends.get(place)
        if length is None:
            nested = self.nested(self.text)
            nested.run("substitution", "command", position)
            length = nested.shifted_end + 2 * len(nested.cuts) - position
            if not self.cuts:
                self.ends[place] = length
        return position + length

    # --- here-documents ----------------------------------------------------------------------

    def _read_heres(self, position: int) -> int:
        """Read the pending here-documents' texts from ``position``; where the script goes on."""
        heres = self.opened[-1].heres
        if not heres:
            return position
        pending = heres[:]
        heres.clear()
        in_substitution = len(self.opened) > 1 and any(
            o.heres is not heres for o in self.opened[:-1]
        )
        for here in pending:
            position = self._read_here(here, position, in_substitution)
        return position

    def _read_here(self, here: PendingHere, position: int, in_substitution: bool) -> int:
        text = self.text
        pieces: list[tuple[int, str]] = []
        while position < len(text):
            begin = position
            end = _line_end(text, begin, joined=not here.quoted)
            line = text[begin:end]
            # Bash looks for the delimiter before it strips the tabs, and after.
            ended = self._delimits(here, line)
            if here.strip_tabs and not ended:
                begin += len(line) - len(line.lstrip("\t"))
                line = text[begin:end]
                ended = self._delimits(here, line)
            if ended:
                self.builder.complete_here(here, pieces, begin, terminated=True)
                return end
            rest = line.removeprefix(here.delimiter)
            shared = rest != line and ")" in rest
            if shared and here.outlived:
                # Bash still looks for `E)`, and reads the `)` where the substitution ended.
                place = self.source_start(begin + len(here.delimiter))
                raise Unexpected("found `)` behind a here-document", (place, place + 1))
            if shared and in_substitution:
                # `$(cat <<E` … `E)`: the delimiter and the closer may share a line.
                self.builder.complete_here(here, pieces, begin, terminated=True)
                return begin + len(here.delimiter)
            pieces.append((begin, line))
            position = end
        self.builder.complete_here(here, pieces, position, terminated=False)
        return position

    def _delimits(self, here: PendingHere, line: str) -> bool:
        line = line.removesuffix("\n")
        if not here.quoted:
            line = line.replace("\\\n", "")
        return line == here.delimiter

    def _finish(self, position: int) -> None:
        for here in self.opened[-1].heres:
            self.builder.complete_here(here, [], position, terminated=False)

    # --- errors ------------------------------------------------------------------------------

    def _unexpected(self, name: str, token: Token, states: list[int]) -> Unexpected:
        expected = spoken(self._acceptable(states))
        if name == END:
            return Unexpected(f"unexpected end: expected {expected}", token.span)
        return Unexpected(f"found {shown(token.text)}, expected {expected}", token.span)

    def _unexpected_text(self, position: int, states: list[int]) -> Unexpected:
        start = self.source_start(position)
        found = self.text[position]
        if found in "'\"`":
            return Unexpected(f"the quote {found} is not closed", (start, start + 1))
        if self.text.startswith("$'", position):
            return Unexpected("the quote $' is not closed", (start, start + 2))
        expected = spoken(self._acceptable(states))
        return Unexpected(f"found {shown(found)}, expected {expected}", (start, start + 1))

    def _acceptable(self, states: list[int]) -> frozenset[str]:
        """The terminals that could stand next.

        A state's own look-aheads are merged from everywhere its rules are used, so each is
        tried on the stack.
        """
        actions, rules = self.tables.actions, self.tables.rules
        fitting = set()
        context = CONTEXTS[self.opened[-1].context]
        for name in actions[states[-1]]:
            if name != END and not (name.isupper() and lets_through(context, name)):
                continue
            stack = states[-_LOOK_BACK:]
            while (action := actions[stack[-1]].get(name)) is not None:
                if action >= 0:
                    fitting.add(name)
                    break
                rule = rules[~action]
                if rule.size >= len(stack):
                    fitting.add(name)  # it reduces past what was kept: taken to fit
                    break
                if rule.size:
                    del stack[-rule.size :]
                stack.append(actions[stack[-1]].get(rule.origin, 0))
        return frozenset(fitting)


_PLAIN = compiled(r"[ \t]*[^\s;&|()<>'\"`$\\#]*[<>]?")
_HALF_OPERATOR = compiled(r"[ \t]*[;&|<>]+(?=\\\n)")  # of `;;`, where no `;` may stand
_LOOK_BACK = 50  # states kept for finding out what could stand next
_WORD_ENDERS = frozenset(("BLANK", "NEWLINE", "AND_IF", "OR_IF", "RPAR"))


@cache
def _after(context: str, name: str) -> Place | None:
    """The place after terminal ``name``; None for those that open, close or change a context."""
    changes = (context, name) in CHANGES or name in OPENS or name in CLOSES
    if changes or name in ("CLOSE", "COMMAND", "PROCESS"):
        return None
    if context.startswith("conditional_") and name in _WORD_ENDERS:
        return None
    return Place.INSIDE if name in INSIDE_WORD else Place.OUTSIDE


def _line_end(text: str, begin: int, *, joined: bool) -> int:
    """The position after the line at ``begin``, with its continuation lines if ``joined``."""
    position = begin
    while True:
        newline = text.find("\n", position)
        if newline < 0:
            return len(text)
        slashes = newline
        while joined and slashes > begin and text[slashes - 1] == "\\":
            slashes -= 1
        if not joined or (newline - slashes) % 2 == 0:
            return newline + 1
        position = newline + 1


_NO = -1  # not this terminal
_UNCLOSED = -2  # this terminal, and its closer is missing


def _arithmetic(pairs: Pairs, _begin: int, end: int) -> int:
    """``((`` and ``$((`` open arithmetic if the matching ``)`` is followed by another."""
    close = pairs.parenthesis(end)
    if close < 0:
        return _UNCLOSED
    return close + 2 if pairs.text.startswith(")", close + 1) else _NO


def _arithmetic_command(pairs: Pairs, begin: int, end: int) -> int:
    """As above; but bash does not look behind a backslash-newline for the second ``)``."""
    close = pairs.parenthesis(end)
    if close >= 0 and pairs.text.startswith("\\\n", close + 1):
        return _UNCLOSED
    return _arithmetic(pairs, begin, end)


def _never(_pairs: Pairs, _begin: int, _end: int) -> int:
    return _NO


def _arithmetic_old(pairs: Pairs, _begin: int, end: int) -> int:
    return pairs.bracket(end, arithmetic=True) + 1 or _UNCLOSED


def _command_text(pairs: Pairs, _begin: int, end: int) -> int:
    """``$((…)…)`` and ``<((…)…)`` that are no arithmetic: all to the matching parenthesis."""
    return pairs.parenthesis(end) + 1 or _UNCLOSED


def _subscript(pairs: Pairs, _begin: int, end: int) -> int:
    """Where an assignment may stand, ``name[`` and ``[`` are read up to the matching ``]``."""
    return end if pairs.bracket(end) >= 0 else _UNCLOSED


def _declared_subscript(pairs: Pairs, _begin: int, end: int) -> int:
    """In ``declare name[…]=``, the brackets hold no blank outside quotes."""
    close = pairs.bracket(end, plain=True)
    return end if close >= 0 and _SIGN.match(pairs.text, close + 1) else _NO


def _coprocess_element(pairs: Pairs, _begin: int, end: int) -> int:
    """A coprocess's name may hold brackets, with anything in them: ``coproc a[x y] { …; }``.

    Behind ``coproc a[x]=`` there is no name: an assignment begins the command.
    """
    close = pairs.bracket(end)
    if close < 0 or _SIGN.match(pairs.text, close + 1):
        return _NO
    rest = _REST_OF_NAME.match(pairs.text, close + 1)
    return rest.end() if rest else _NO


def _parameter_subscript(pairs: Pairs, _begin: int, end: int) -> int:
    """``${name[`` is a subscript if its ``]`` comes before the ``}`` that ends the expansion."""
    return end if pairs.bracket(end, in_braces=True) >= 0 else _NO


_REST_OF_NAME = compiled(
    r"""(?:[^ \t\n;&|()<>'"`$\\]|\\[^\n]|'[^']*'|"[^"$`\\]*")*"""
    r"""(?:\$(?=\w)|\$[$*@#?!\-]|\$(?![({\['"])|[^ \t\n;&|()<>'"`$\\])*"""
    r"(?=[ \t]*\(|[ \t]+(?:if|then|elif|else|fi|while|until|do|done|for|select|case|in|esac"
    r"|function|coproc|[{}!]|\[\[|\]\])(?:[ \t\n;&|()<>]|$))"
)
"""As COPROC_NAME ends in the grammar: a compound command, or a word reserved there, follows."""
_SIGN = compiled(r"\+?=")
_CHECKS: dict[str, Callable[[Pairs, int, int], int]] = {
    "ARITHMETIC_COMMAND": _arithmetic_command,
    "ARITHMETIC": _arithmetic,
    "ARITHMETIC_OLD": _arithmetic_old,
    "COMMAND_TEXT": _command_text,
    "PROCESS_TEXT": _command_text,
    "ASSIGN_ELEMENT": _subscript,
    "DECLARED_ELEMENT": _declared_subscript,
    "COPROC_ELEMENT": _coprocess_element,
    "ARRAY_KEY": _subscript,
    "SUBSCRIPT": _parameter_subscript,
}
"""Terminals that a regular expression alone cannot recognise: (…, start, end) → the end, or one
of the two negative answers above."""

_IN_GROUP = {"PARAMETER": "}", "ARITHMETIC_OLD": "]"}
"""In a parenthesis of a regular expression or an extended pattern, bash looks for the ``)`` alone:
what is not closed before it is text."""

_LOOKED_AT = frozenset(("SKIP", *_CHECKS, *_IN_GROUP))
"""What a match of these means is not clear at once."""

_HEEDED = frozenset(("NEWLINE", "RPAR"))
"""After these there is more to do than to go on in another place."""

_MUST_CLOSE = {
    "ARITHMETIC_COMMAND": "the `((` is not closed",
    "ARITHMETIC": "the `$((` is not closed",
    "ASSIGN_ELEMENT": "the `[` of the subscript is not closed",
    "ARRAY_KEY": "the `[` of the subscript is not closed",
    "ARITHMETIC_OLD": "the `$[` is not closed",
    "COMMAND_TEXT": "the `$(` is not closed",
    "PROCESS_TEXT": "the `(` is not closed",
}
MAX_HERE_DOCUMENTS = 16  # as bash: more on one line is an error
