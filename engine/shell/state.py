"""The state of a shell: directories, variables, functions, options; and how states join.

A State stands for many possible ones. Where two ways through a script meet, each variable keeps
its alternatives; a simple command is then tried in each (see ``worlds``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias, TypeVar

from ringfence.engine.shell.limits import MAX_ALTERNATIVES
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.texts import joined
from ringfence.grammar.frozen import frozen
from ringfence.grammar.nodes import FunctionDefinition, Span
from ringfence.grammar.records import define, evolve, field
from ringfence.rules.model import UNKNOWN, Field, Operation

T = TypeVar("T")
K = TypeVar("K")


Opened: TypeAlias = tuple[tuple[str, Operation], ...]
"""Files that a descriptor may have open, each with what it was opened for."""


@frozen
class Array:
    """An array's elements by subscript (digits, or keys if ``associative``), in order.

    If ``loose``, the elements are some that the array may have, and subscripts say nothing.
    """

    elements: tuple[tuple[str, str], ...] = ()
    associative: bool = False
    loose: bool = False

    def get(self, key: str) -> str | None:
        """The element at ``key``, or None."""
        if self.loose:
            return joined(text for _, text in self.elements)
        for subscript, text in self.elements:
            if subscript == key:
                return text
        return None

    def put(self, key: str, text: str) -> Array:
        """The array with ``text`` at ``key``."""
        elements = [(k, v) for k, v in self.elements if k != key]
        elements.append((key, text))
        if not self.associative and all(k.isdecimal() for k, _ in elements):
            elements.sort(key=lambda element: int(element[0]))
        return evolve(self, elements=tuple(elements))

    def without(self, key: str) -> Array:
        """The array with nothing at ``key``."""
        return evolve(self, elements=tuple(e for e in self.elements if e[0] != key))

    def append(self, texts: Iterable[str]) -> Array:
        """The array with ``texts`` after its last element."""
        following = 1 + max((int(k) for k, _ in self.elements if k.isdecimal()), default=-1)
        added = tuple((str(following + index), text) for index, text in enumerate(texts))
        return evolve(self, elements=(*self.elements, *added))

    @property
    def texts(self) -> tuple[str, ...]:
        """The elements alone."""
        return tuple(text for _, text in self.elements)


Value: TypeAlias = str | Array | None
"""What a variable holds; None if it is declared or known to be unset."""


@frozen
class Variable:
    """A variable's possible values, with its attributes.

    ``steps`` tell a person where the value came from.
    """

    values: tuple[Value, ...] = (None,)
    exported: bool = False
    readonly: bool = False
    integer: bool = False
    lower: bool = False
    upper: bool = False
    reference: bool = False
    steps: tuple[str, ...] = ()


@frozen
class Function:
    """A function; ``anchor`` is the place of its text if that has none of its own.

    ``origin`` is where its text stands, if not in the command.
    """

    definition: FunctionDefinition
    anchor: Span | None = None
    origin: Origin | None = None


@define
class State:
    """Everything of a shell that evaluation needs; changed in place, so copy before a branch.

    - ``directories``: the possible working directories as ``$PWD`` shows them, UNKNOWN for one
      that nobody knows; ``entered`` is a plain ``cd`` home that nothing has made use of yet.
    - ``input``: what is left to read on standard input; in the source it stands at ``input_at``,
      if it is a here-document. ``descriptors`` hold what else is open for reading, by number.
    - ``opened``: the files that descriptors have open, and how, where that is not all inherited:
      whoever opens ``/dev/fd/3`` opens the file behind it once more. Replaced, never changed.
    - ``output``: the possible texts written to standard output since the enclosing substitution
      or pipe began; none where nothing in the command reads it.
    - ``files``: what this command itself wrote, by path: its text, or None if a program did;
      ``built`` are those of them that the project's own sources became. ``made`` and ``links``:
      the directories and symbolic links it made. ``changed``: whether a program ran that may
      have changed any file.
    - ``frames``: by function call, the variables that its ``local`` ones hide.
    """

    directories: tuple[str, ...]
    variables: dict[str, Variable] = field(factory=dict)
    functions: dict[str, tuple[Function | None, ...]] = field(factory=dict)
    exports: frozenset[str] = frozenset()
    aliases: dict[str, str] = field(factory=dict)
    parameters: tuple[tuple[Field, ...], ...] = ((),)
    name: str = "bash"
    options: frozenset[str] = frozenset()
    stack: tuple[str, ...] = ()
    entered: Field | None = None
    input: str = ""
    input_at: Span | None = None
    output: tuple[str, ...] = ("",)
    descriptors: dict[str, str] = field(factory=dict)
    files: dict[str, str | None] = field(factory=dict)
    links: dict[str, str] = field(factory=dict)
    made: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    changed: bool = False
    status: str = "0"
    traps: dict[str, Field] = field(factory=dict)
    frames: tuple[dict[str, Variable | None], ...] = ()
    opened: Mapping[str, Opened] = field(factory=dict)

    def copy(self) -> State:
        """An independent copy."""
        return State(
            self.directories,
            dict(self.variables),
            dict(self.functions) if self.functions else {},
            self.exports,
            dict(self.aliases) if self.aliases else {},
            self.parameters,
            self.name,
            self.options,
            self.stack,
            self.entered,
            self.input,
            self.input_at,
            self.output,
            dict(self.descriptors) if self.descriptors else {},
            dict(self.files) if self.files else {},
            dict(self.links) if self.links else {},
            self.made,
            self.built,
            self.changed,
            self.status,
            dict(self.traps) if self.traps else {},
            tuple(map(dict, self.frames)) if self.frames else (),
            self.opened,
        )

    def write(self, text: str) -> None:
        """Add to standard output."""
        if text and self.output:
            self.output = tuple([before + text for before in self.output])

    def absorb(self, other: State) -> None:
        """Take over what a process leaves behind that began in this state: what it wrote."""
        self.files, self.links, self.made = other.files, other.links, other.made
        self.built, self.changed = other.built, other.changed
        self.output, self.status = other.output, other.status

    def change_directory(self, directory: str) -> None:
        """Enter ``directory``; ``$OLDPWD`` remembers the ones before."""
        self.variables["OLDPWD"] = Variable(self.directories)
        self.directories = (directory,)
        self.variables.pop("PWD", None)


def join(states: Iterable[State | None]) -> State | None:
    """One state for all of ``states``; None stands for a way that does not get here."""
    present: list[State] = []
    for state in states:
        if state is None:
            continue
        for other in present:
            if other is state:
                break
        else:
            present.append(state)
    if not present:
        return None
    first, *rest = present
    if not rest:
        return first
    result = first.copy()
    for other in rest:
        _join_into(result, other)
    return result


def _join_into(state: State, other: State) -> None:
    state.directories = directories(state.directories + other.directories)
    if state.variables != other.variables:
        state.variables = _merged(state.variables, other.variables, _join_variables)
    if state.functions != other.functions:
        state.functions = _merged(
            state.functions,
            other.functions,
            lambda a, b: _distinct((*(a or (None,)), *(b or (None,)))),
        )
    state.aliases = {**other.aliases, **state.aliases}
    if state.parameters != other.parameters:
        state.parameters = _distinct(state.parameters + other.parameters)[:MAX_ALTERNATIVES]
    state.options &= other.options
    state.exports |= other.exports
    if state.stack != other.stack:
        state.stack = ()
    state.entered = state.entered or other.entered
    state.input = state.input if state.input == other.input else UNKNOWN
    if state.input_at != other.input_at:
        state.input_at = None
    state.output = outputs(state.output + other.output)
    state.descriptors = _merged(state.descriptors, other.descriptors, _same_text)
    if state.files != other.files:
        both = {**state.files, **other.files}
        state.files = {
            path: state.files.get(path) if state.files.get(path) == other.files.get(path) else None
            for path in both
        }
    state.links = {**other.links, **state.links}
    state.made &= other.made
    state.built |= other.built
    state.changed |= other.changed
    state.status = state.status if state.status == other.status else UNKNOWN
    if state.frames != other.frames:
        pairs = zip(state.frames, other.frames, strict=False)
        state.frames = tuple({**theirs, **ours} for ours, theirs in pairs)
    state.traps = {**other.traps, **state.traps}
    if state.opened is not other.opened:
        state.opened = _merged(state.opened, other.opened, _any_opened)


def _merged(
    left: Mapping[str, T], right: Mapping[str, T], combine: Callable[[T | None, T | None], T]
) -> dict[str, T]:
    result = dict(left)
    for name in {**left, **right}:  # no set: the order shows in what is found
        a, b = left.get(name), right.get(name)
        if a is not b and a != b:
            result[name] = combine(a, b)
    return result


def _same_text(left: str | None, right: str | None) -> str:
    return left if left is not None and left == right else UNKNOWN


def without(opened: Mapping[str, Opened], numbers: Collection[str]) -> Mapping[str, Opened]:
    """What is open but for the descriptors ``numbers``, which are pipes now."""
    if opened and any(number in opened for number in numbers):
        return {n: files for n, files in opened.items() if n not in numbers}
    return opened


def _any_opened(left: Opened | None, right: Opened | None) -> Opened:
    every = _distinct((*(left or ()), *(right or ())))
    return every if len(every) <= MAX_ALTERNATIVES else ((UNKNOWN, Operation.TEST),)


def _distinct(items: Iterable[K]) -> tuple[K, ...]:
    return tuple(dict.fromkeys(items))


def directories(possible: Iterable[str]) -> tuple[str, ...]:
    """The possible working directories, or UNKNOWN if there are too many."""
    distinct = _distinct(possible)
    return distinct if len(distinct) <= MAX_ALTERNATIVES else (joined(distinct),)


def outputs(possible: Iterable[str]) -> tuple[str, ...]:
    """The possible outputs, joined if there are too many."""
    distinct = _distinct(possible)
    return distinct if len(distinct) <= MAX_ALTERNATIVES else (joined(distinct),)


def alternatives(values: Iterable[Value]) -> tuple[Value, ...]:
    """The possible values, joined into one where there are too many."""
    distinct = _distinct(values)
    return distinct if len(distinct) <= MAX_ALTERNATIVES else (join_values(distinct),)


def join_values(values: Iterable[Value]) -> Value:
    """One value that stands for all of ``values``."""
    several = list(values)
    arrays = [value for value in several if isinstance(value, Array)]
    texts = [value for value in several if isinstance(value, str)]
    if not arrays:
        return joined(texts) if texts else None
    every = _distinct(text for array in arrays for text in array.texts) + _distinct(texts)
    kept = every if len(every) <= 2 * MAX_ALTERNATIVES else (joined(every),)
    return Array(
        tuple((str(index), text) for index, text in enumerate(kept)),
        associative=arrays[0].associative,
        loose=True,
    )


def _join_variables(left: Variable | None, right: Variable | None) -> Variable:
    """Where only one way assigns the variable, its value on the other is whatever it was."""
    a = left or Variable((UNKNOWN,))
    b = right or Variable((UNKNOWN,))
    return evolve(
        a,
        values=alternatives(a.values + b.values),
        exported=a.exported or b.exported,
        readonly=a.readonly and b.readonly,
        integer=a.integer and b.integer,
        steps=_distinct(a.steps + b.steps)[:MAX_ALTERNATIVES],
    )


def widen(before: State, after: State) -> State:
    """The join of both in which whatever still differs from ``before`` is unknown.

    Used where a loop would go on: a second widening finds nothing more to change.
    """
    result = join((before, after))
    assert result is not None
    for name, variable in result.variables.items():
        if variable.values != _values(before, name):
            result.variables[name] = evolve(variable, values=(join_values(variable.values),))
    if result.directories != before.directories:
        result.directories = (joined(result.directories),)
    if result.output != before.output:
        result.output = (joined(result.output),)
    if after.input != before.input:
        result.input = UNKNOWN
    return result


def is_steady(before: State, after: State) -> bool:
    """Whether a round of a loop changed nothing but its output, so that the next will not."""
    return evolve(after, output=before.output, status=before.status) == before


def _values(state: State, name: str) -> tuple[Value, ...] | None:
    variable = state.variables.get(name)
    return variable.values if variable else None
