"""Word expansion in bash's order: braces, tildes, parameters and substitutions, splitting, globs.

Each function works in one World, so that a word has one expansion there; alternatives are tried
world by world.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ringfence.engine.paths import normalise
from ringfence.engine.shell import arithmetic, parameters, variables
from ringfence.engine.shell.braces import TooManyWords, expand_braces
from ringfence.engine.shell.core import World
from ringfence.engine.shell.limits import MAX_FIELDS, MAX_TEXT, LimitExceededError
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.pathnames import Matcher
from ringfence.engine.shell.patterns import compile_pattern, quote, unquote
from ringfence.engine.shell.pieces import Break, Piece, Pieces, plain, split, steps
from ringfence.engine.shell.state import State, without
from ringfence.engine.shell.texts import bounded, joined, trimmed
from ringfence.grammar.nodes import (
    AnsiCQuoted,
    ArithmeticExpansion,
    CommandSubstitution,
    DoubleQuoted,
    Escaped,
    ExtendedGlob,
    Literal,
    ParameterExpansion,
    ProcessSubstitution,
    Redirection,
    SimpleCommand,
    SingleQuoted,
    Span,
    Word,
    WordPart,
)
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field, OpaqueKind

_BLANK_IFS = " \t\n"
_SEQUENCE = compiled(r"\{(?:-?\d+\.\.-?\d+|[A-Za-z]\.\.[A-Za-z])(?:\.\.-?\d+)?\}")
_EXPANDED = compiled(r"[{~*?\[]")
"""What is expanded in unquoted text: braces, tildes and patterns."""
_TILDE = compiled(r"~(?P<user>[A-Za-z0-9_.+-]*)(?P<end>/|$)")


# --- what the rest of the evaluator asks for ---------------------------------------------------


def fields(world: World, words: Iterable[Word]) -> list[Field]:
    """The fields that ``words`` expand to as arguments of a command."""
    result: list[Field] = []
    for word in words:
        found = static(word)
        if found is not None:
            result.append(found)
            continue
        for one in _braces(word):
            result.extend(_word_fields(world, one, word))
            if len(result) > MAX_FIELDS * 4:
                return [*result, Field(UNKNOWN, word.span, several=True)]
    return result


def text(world: World, word: Word | None, *, assignment: bool = False) -> Field:
    """The one field that ``word`` expands to where bash neither splits nor globs it."""
    if word is None:
        return Field("", (0, 0))
    fixed = static(word)
    if fixed is not None:
        return fixed
    found = _tilde(world, word.parts, assignment=assignment)
    return Field(
        bounded(plain(found)),
        word.span,
        quoted=any(isinstance(piece, Piece) and piece.quoted for piece in found),
        steps=steps(found),
    )


def pattern(world: World, word: Word) -> str:
    """The pattern that ``word`` expands to: quoted characters are escaped by backslashes."""
    return _pattern(_tilde(world, word.parts))


def document(world: World, word: Word) -> str:
    """The text of a here-document's body."""
    return bounded(plain(_parts(world, word.parts, quoted=True)))


_TEXTS = (SingleQuoted, Escaped, AnsiCQuoted)
_UNQUOTED = (Literal, Escaped)


def static(word: Word) -> Field | None:
    """The field of a word in which nothing is expanded, which most words are; None for others."""
    parts = word.parts
    if len(parts) == 1 and type(parts[0]) is Literal:
        value = parts[0].text
        if not value or _EXPANDED.search(value) is not None:
            return None
        return Field(value if len(value) <= MAX_TEXT else bounded(value), word.span)
    texts: list[str] = []
    quoted = False
    for part in parts:
        if isinstance(part, Literal):
            if _EXPANDED.search(part.text) is not None:
                return None
            texts.append(part.text)
            continue
        quoted = True
        if isinstance(part, _TEXTS):
            texts.append(part.text)
        elif isinstance(part, DoubleQuoted):
            for inner in part.parts:
                if not isinstance(inner, _UNQUOTED):
                    return None
                texts.append(inner.text)
        else:
            return None
    value = texts[0] if len(texts) == 1 else "".join(texts)
    return Field(bounded(value), word.span, quoted) if value or quoted else None


def _braces(word: Word) -> tuple[Word, ...]:
    """The words of brace expansion; sequences too long to write out are one name each."""
    try:
        return expand_braces(word)
    except TooManyWords:
        parts = tuple(
            evolve(part, text=_SEQUENCE.sub(NAME, part.text)) if isinstance(part, Literal) else part
            for part in word.parts
        )
    try:
        return expand_braces(evolve(word, parts=parts))
    except TooManyWords as error:
        raise LimitExceededError(str(error)) from None


# --- words and pieces --------------------------------------------------------------------------


def _word_fields(world: World, word: Word, original: Word) -> list[Field]:
    found = _tilde(world, word.parts)
    result: list[Field] = []
    for pieces in split(found, variables.separators(world)):
        field = Field(
            bounded(plain(pieces)),
            original.span,
            quoted=any(piece.quoted for piece in pieces),
            several=any(piece.split and UNKNOWN in piece.text for piece in pieces),
            steps=steps(pieces),
        )
        result.extend(_glob(world, field, pieces))
    return result


def _glob(world: World, field: Field, pieces: Sequence[Piece]) -> list[Field]:
    """The fields that pathname expansion makes of ``field``, which has no sentinel to match."""
    options = _globbing(world)
    if "noglob" in options or not any(
        not piece.quoted and (piece.pattern or any(c in piece.text for c in "*?["))
        for piece in pieces
    ):
        return [field]
    directory = world.directory
    glob = _pattern(pieces)
    matcher = Matcher(world.run.filesystem, directory, options)
    if not matcher.magic(glob):
        return [evolve(field, text=unquote(glob))]
    step = f"`{world.run.recorder.text(field.span)}` is a pattern"
    # Elsewhere than in bash, an extended pattern is known as a star, or as a name if it may match
    # a leading dot.
    stars = "".join(_star(piece.pattern) if piece.pattern else piece.text for piece in pieces)
    if "dotglob" in options:  # a star is no star any more: it matches a leading dot
        stars = re.sub(r"(^|/)\*", rf"\1{NAME}", stars)
    unmatched = evolve(field, text=stars, glob=True, steps=(*field.steps, step))
    found = None
    if field.known and not world.state.changed and not directory.startswith(UNKNOWN):
        found = matcher.expand(glob)
    world.run.recorder.listed(unmatched, directory, trees="globstar" in options)
    if found is None:
        return [unmatched]
    world.run.recorder.looked_through(matcher.links, field)
    if not found:
        return [] if "nullglob" in options else [field]
    return [evolve(field, text=path, steps=(*field.steps, step)) for path in found]


def _globbing(world: World) -> frozenset[str]:
    """The options that hold for pathname expansion: ``GLOBIGNORE`` makes bash see hidden names."""
    options = world.state.options
    variable = world.state.variables.get("GLOBIGNORE")
    if variable is None or variable is world.run.inherited.get("GLOBIGNORE"):
        return options
    return options | {"dotglob"} if variables.scalar(world, "GLOBIGNORE") else options


def _star(pattern: str) -> str:
    return NAME if compile_pattern(pattern).dotted else "*"


def _pattern(pieces: Iterable[Piece | Break]) -> str:
    result: list[str] = []
    for piece in pieces:
        if isinstance(piece, Break):
            result.append(" ")
        elif piece.pattern is not None:
            result.append(piece.pattern)
        else:
            result.append(quote(piece.text) if piece.quoted else piece.text)
    return "".join(result)


def _parts(world: World, parts: Sequence[WordPart], *, quoted: bool) -> Pieces:
    result: Pieces = []
    for part in parts:
        result.extend(_part(world, part, quoted=quoted))
    return result


def word_pieces(world: World, word: Word, *, quoted: bool) -> Pieces:
    """The pieces of the word inside ``${x:-word}``: text there is split if the whole is."""
    found = _parts(world, word.parts, quoted=True) if quoted else _tilde(world, word.parts)
    if quoted:
        return found
    return [
        evolve(piece, split=True) if isinstance(piece, Piece) and not piece.quoted else piece
        for piece in found
    ]


def _part(world: World, part: WordPart, *, quoted: bool) -> Pieces:
    match part:
        case Literal(text=value):
            return [Piece(value, quoted)]
        case Escaped(text=value) | SingleQuoted(text=value) | AnsiCQuoted(text=value):
            return [Piece(value, quoted=True)]
        case DoubleQuoted(parts=inner):
            found = _parts(world, inner, quoted=True)
            nothing = not found and any(isinstance(p, ParameterExpansion) for p in inner)
            return found if found or nothing else [Piece("", quoted=True)]
        case ParameterExpansion():
            return parameters.expand(world, part, quoted=quoted)
        case CommandSubstitution():
            return _substitution(world, part, quoted=quoted)
        case ArithmeticExpansion(expression=expression):
            number = arithmetic_value(world, text(world, expression).text, part.span)
            return [Piece(NAME if number is None else str(number), quoted, split=not quoted)]
        case ProcessSubstitution():
            return [Piece(_process(world, part), quoted)]
        case ExtendedGlob(operator=operator, patterns=patterns):
            alternatives = "|".join(pattern(world, word) for word in patterns)
            written = f"{operator}({alternatives})"
            return [Piece(unquote(written), pattern=written)]


def arithmetic_value(world: World, expression: str, at: Span | None = None) -> int | None:
    """The value of an arithmetic expression, its assignments made ``at``; None if unknown.

    Arithmetic expands the subscripts in it once more, those in the values of variables too: a
    command substitution that is still in there would run.
    """

    def value_of(name: str) -> str | None:
        value = variables.number(world, name)
        forbid_substitution(world, value or "")
        return value

    forbid_substitution(world, expression)
    result = arithmetic.evaluate(expression, value_of)
    for name, number in result.assignments.items():
        variables.assign(world, name, NAME if number is None else number, at=at)
    return result.value


def forbid_substitution(world: World, text: str) -> None:
    """Call the command opaque if ``text``, which bash expands again, would run something."""
    if "$(" in text or "`" in text:
        recorder = world.run.recorder
        reason = "a value that bash expands again holds a command substitution"
        recorder.obscure(reason, (0, len(recorder.source)), OpaqueKind.CODE)


# --- tildes ------------------------------------------------------------------------------------


def _tilde(world: World, parts: Sequence[WordPart], *, assignment: bool = False) -> Pieces:
    """The pieces of a word with its tilde prefixes expanded (in assignments, after ``:`` too)."""
    result: Pieces = []
    for index, part in enumerate(parts):
        if not isinstance(part, Literal) or "~" not in part.text:
            result.extend(_part(world, part, quoted=False))
            continue
        whole = index + 1 == len(parts)
        chunks = part.text.split(":") if assignment else [part.text]
        for number, chunk in enumerate(chunks):
            if number:
                result.append(Piece(":"))
            closed = whole or number + 1 < len(chunks)
            if chunk and (number or index == 0):
                result.extend(_tilde_prefix(world, chunk, closed=closed))
            elif chunk:
                result.append(Piece(chunk))
    return result


def _tilde_prefix(world: World, chunk: str, *, closed: bool) -> list[Piece]:
    found = _TILDE.match(chunk)
    if found is None or not (closed or found["end"]):
        return [Piece(chunk)]
    directory = home(world, found["user"])
    if directory is None:
        return [Piece(chunk)]
    prefix = "~" + found["user"]
    note = (f"`{prefix}` is `{directory}`",)
    rest = chunk[len(prefix) :]
    if directory == "/" and rest.startswith("/"):
        directory = ""
    return [Piece(directory, quoted=True, steps=note), Piece(rest)]


def home(world: World, user: str) -> str | None:
    """The directory that ``~user`` stands for, or None if bash leaves it alone."""
    if user == "":
        known = variables.scalar(world, "HOME")
        return known if known is not None else UNKNOWN
    if user == "+":
        return world.shown
    if user == "-":
        return variables.scalar(world, "OLDPWD")
    if user.lstrip("+-").isdecimal():
        return _stacked(world, user)
    passwd = world.run.filesystem.text("/etc/passwd", 1 << 20)
    if passwd is None:
        return "/root" if user == "root" else f"/home/{user}"
    for line in passwd.splitlines():
        columns = line.split(":")
        if columns[0] == user and len(columns) > 5:
            return normalise(columns[5]) if columns[5].startswith("/") else None
    return None


def _stacked(world: World, user: str) -> str | None:
    stack = (world.shown, *world.state.stack)
    number = int(user.lstrip("+-"))
    index = len(stack) - 1 - number if user.startswith("-") else number
    return stack[index] if 0 <= index < len(stack) else None


# --- substitutions -----------------------------------------------------------------------------


def _substitution(world: World, part: CommandSubstitution, *, quoted: bool) -> Pieces:
    run = world.run
    body = part.body
    if body is None:
        run.recorder.obscure(
            "the command substitution is not valid bash", part.span, OpaqueKind.CODE
        )
        return [Piece(UNKNOWN, quoted, split=not quoted)]
    file = _file_read(part)

    def evaluate(inner: State) -> Outcome:
        inner.output, inner.opened = ("",), without(inner.opened, "1")
        if file is not None:
            return run.walker.redirect((file,), inner)
        return run.walker.execute_script(body, inner)

    with run.nested():
        state = run.walker.subshell(evaluate, world.state)
    if state is None:
        return [Piece(UNKNOWN, quoted, split=not quoted)]
    world.state.status = state.status
    outputs = state.output if file is None else (state.input,)
    value = bounded(trimmed(world.pick(outputs, joined)))
    source = run.recorder.text(part.span)
    note: tuple[str, ...] = ()
    if value and not value.startswith((UNKNOWN, NAME, BELOW)) and len(source) + len(value) <= 160:
        note = (f"`{source}` gives `{shown(value)}`",)
    return [Piece(value, quoted, split=not quoted, steps=note)]


def _file_read(part: CommandSubstitution) -> Redirection | None:
    """The redirection in ``$(< file)``, which prints the file."""
    body = part.body.body.items if part.body else ()
    if len(body) != 1 or not isinstance(body[0].command, SimpleCommand):
        return None
    command = body[0].command
    if command.arguments or command.assignments or len(command.redirections) != 1:
        return None
    redirection = command.redirections[0]
    return redirection if redirection.operator.startswith("<") else None


def _process(world: World, part: ProcessSubstitution) -> str:
    """Evaluate the body of ``<(body)``; the path that stands for it, what it prints remembered."""
    run, state = world.run, world.state

    def evaluate(inner: State) -> Outcome:
        inner.output = ("",)
        inner.opened = without(inner.opened, "0" if part.direction == ">" else "1")
        if part.direction == ">":
            inner.input = UNKNOWN
        return run.walker.execute_script(part.body, inner)

    with run.nested():
        inner = run.walker.subshell(evaluate, state)
    number = 63
    while str(number) in state.descriptors:
        number -= 1
    reads = part.direction == "<" and inner is not None
    state.descriptors[str(number)] = joined(inner.output) if reads and inner else UNKNOWN
    return f"/dev/fd/{number}"


def shown(value: str) -> str:
    """A value as a step shows it: the unknowns as ``…``."""
    for sentinel in (UNKNOWN, NAME, BELOW):
        value = value.replace(sentinel, "…")
    return value
