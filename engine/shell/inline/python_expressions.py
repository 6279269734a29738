"""Python's expressions: the values they may have, and the calls among them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ringfence.engine.shell.inline.python_calls import Caller
from ringfence.engine.shell.inline.python_library import ALIASES, NAMESPACES
from ringfence.engine.shell.inline.python_state import STAND_IN, State
from ringfence.engine.shell.inline.python_values import (
    ANYTHING,
    NAMESPACE,
    NUMBER,
    UNKNOWN_VALUES,
    Arguments,
    Items,
    Local,
    Named,
    Plain,
    Table,
    Text,
    Value,
    Values,
    combine,
    elements,
    join,
    listing,
    part,
    path_parent,
    percent_formatted,
    stem,
    subscript,
    text_of,
    texts,
    union,
)
from ringfence.engine.shell.outputs.places import last_name
from ringfence.grammar.records import define
from ringfence.rules.model import NAME, UNKNOWN, is_known

MAX_ITEMS = 64
"""How many items that are added to a collection are told apart."""

MAX_CALLS = 6
"""How deep the program's own functions are followed into each other."""


@define
class Expressions(State):
    """Follows the expressions of a program."""

    def body(self, statements: Iterable[ast.stmt]) -> None:
        """Follow statements in order."""
        raise NotImplementedError

    # --- expressions ---------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Values:
        """What an expression may be; what it opens and runs is found on the way."""
        self._step()
        match node:
            case ast.Constant(value):
                return self._constant(value)
            case ast.JoinedStr(values):
                return combine(lambda *pieces: "".join(pieces), *map(self._piece, values))
            case ast.Name(name):
                found = self.lookup(name)
                return found if found is not None else (Named(ALIASES.get(name, name)),)
            case ast.Attribute(receiver, name):
                return self._attribute(node, self.value(receiver), name)
            case ast.Subscript(container, index):
                return self._subscript(self.value(container), index)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left, operator, right):
                return self._binary(operator, self.value(left), self.value(right))
            case ast.BoolOp(_, values):
                return union(*map(self.value, values))
            case ast.IfExp(test, first, second):
                self.value(test)
                return union(self.value(first), self.value(second))
            case ast.NamedExpr(target, value):
                named = self.value(value)
                self.assign(target, named)
                return named
            case ast.List(items) | ast.Tuple(items) | ast.Set(items):
                return (self._items(items),)
            case ast.Dict(keys, values):
                return (self._table(keys, values),)
            case ast.ListComp(item, generators) | ast.SetComp(item, generators):
                return self._comprehension(item, generators)
            case ast.GeneratorExp(item, generators):
                return self._comprehension(item, generators)
            case ast.DictComp(key, value, generators):
                self._comprehension(key, generators)
                found = self._comprehension(value, generators)
                return (Table((), elements(found)),)
            case ast.Lambda():
                return (Local(node),)
            case ast.Await(value) | ast.Starred(value):
                return self.value(value)
            case _:
                self.others(node)
                return UNKNOWN_VALUES

    @staticmethod
    def _constant(value: object) -> Values:
        if isinstance(value, str):
            return (Text(value.replace(STAND_IN, UNKNOWN)),)
        if isinstance(value, bytes):
            return (Text(value.decode("utf-8", "surrogateescape")),)
        if isinstance(value, int) and -(2**63) < value < 2**63:
            return (Text(str(value), "number"),)
        return (Plain("constant"),)

    def _piece(self, node: ast.expr) -> Values:
        """A piece of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return self.value(node)
        values = self.value(node.value)
        if node.format_spec is not None:
            self.value(node.format_spec)
        if node.format_spec is None and node.conversion in (-1, 115):
            return values
        numbers = all(isinstance(v, Text) and v.kind == "number" for v in values)
        return NUMBER if numbers else UNKNOWN_VALUES

    def _items(self, nodes: Sequence[ast.expr]) -> Items:
        items: list[Values] = []
        many = False
        for node in nodes:
            values = self.value(node)
            if isinstance(node, ast.Starred):
                known = values[0] if len(values) == 1 else None
                if isinstance(known, Items) and not known.many:
                    items += known.items
                else:
                    items.append(elements(values))
                    many = True
            else:
                items.append(values)
        return Items(tuple(items), many=many)

    def _table(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Table:
        entries: dict[str, Values] = {}
        rest: Values = ()
        for key, value in zip(keys, values, strict=True):
            names = texts(self.value(key)) if key is not None else (UNKNOWN,)
            found = self.value(value)
            if len(names) == 1 and is_known(names[0]):
                entries[names[0]] = found
            else:
                rest = union(rest, found)
        return Table(tuple(entries.items()), rest)

    def _comprehension(self, item: ast.expr, generators: Sequence[ast.comprehension]) -> Values:
        self.frames.append({})
        for generator in generators:
            self.assign(generator.target, elements(self.value(generator.iter)))
            for test in generator.ifs:
                self.value(test)
        found = self.value(item)
        self.frames.pop()
        return listing(found)

    def _binary(self, operator: ast.operator, left: Values, right: Values) -> Values:
        both = (*left, *right)
        if all(isinstance(value, Text) and value.kind == "number" for value in both):
            return NUMBER
        if isinstance(operator, ast.Div):
            return combine(join, left, right, kind="path")
        if isinstance(operator, ast.Add):
            if any(isinstance(value, Items) for value in both):
                return self._concatenated(left, right)
            return combine(lambda a, b: a + b, left, right)
        if isinstance(operator, ast.Mod) and len(left) == 1 and isinstance(left[0], Text):
            return percent_formatted(left[0].text, right)
        return UNKNOWN_VALUES

    @staticmethod
    def _concatenated(left: Values, right: Values) -> Values:
        items: list[Values] = []
        many = False
        for values in (left, right):
            value = values[0] if len(values) == 1 else ANYTHING
            if isinstance(value, Items):
                items += value.items
                many = many or value.many
            else:
                items.append(elements(values))
                many = True
        return (Items(tuple(items), many=many),)

    def _attribute(self, node: ast.Attribute, receiver: Values, name: str) -> Values:
        found: list[Values] = []
        for value in receiver:
            if isinstance(value, Named):
                found.append(self._named(f"{value.name}.{name}"))
            elif isinstance(value, Text):
                found.append(_text_attribute(value, name))
            elif value == NAMESPACE:
                found.append((NAMESPACE,))
            else:
                found.append(self._field(node))
        return union(*found)

    def _field(self, node: ast.Attribute) -> Values:
        """An attribute that the program has set: ``self.path``."""
        if isinstance(node.value, ast.Name):
            known = self.frames[0].get(f"{node.value.id}.{node.attr}")
            if known is not None:
                return known
        return UNKNOWN_VALUES

    def _named(self, name: str) -> Values:
        if name == "sys.argv":
            parameters = (Text(parameter.text) for parameter in self.program.parameters)
            many = any(parameter.several for parameter in self.program.parameters)
            return (Items(((Text("-c"),), *((p,) for p in parameters)), many=many),)
        constants = {"os.sep": "/", "os.curdir": ".", "os.pardir": "..", "os.devnull": "/dev/null"}
        constants |= {"sys.executable": "python3", "os.linesep": "\n", "os.extsep": "."}
        constants |= {"os.O_RDONLY": "r"}
        if name in constants:
            return (Text(constants[name]),)
        if name.endswith(".__dict__") or name in NAMESPACES:
            return (NAMESPACE,) if "." in name else (Named(name),)
        if name in ("os.name", "sys.platform", "os.pathsep"):
            return (Text(NAME),)
        return (Named(ALIASES.get(name, name)),)

    def _subscript(self, container: Values, index: ast.expr) -> Values:
        if isinstance(index, ast.Slice):
            for bound in (index.lower, index.upper, index.step):
                if bound is not None:
                    self.value(bound)
            lower, upper = _number(index.lower), _number(index.upper)
            if index.step is not None or lower is UNKNOWN or upper is UNKNOWN:
                return listing(elements(container))
            return part(container, _int(lower), _int(upper))
        keys = self.value(index)
        if container == (Named("os.environ"),):
            return union(*((Text(self.program.variable(key)),) for key in texts(keys)))
        return subscript(container, keys)

    # --- calls ---------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Values:
        positional: list[Values] = []
        spread = False
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                values = self.value(argument.value)
                known = values[0] if len(values) == 1 else None
                if isinstance(known, Items) and not known.many:
                    positional += known.items
                else:
                    spread = True
            else:
                positional.append(self.value(argument))
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        arguments = Arguments(node, tuple(positional), keywords, spread)
        caller = Caller(self)
        found: list[Values] = []
        if isinstance(node.func, ast.Attribute):
            for value in self.value(node.func.value):
                if isinstance(value, Named):
                    (named,) = self._named(f"{value.name}.{node.func.attr}")
                    found.append(caller.function(text_of_name(named), arguments))
                else:
                    found.append(caller.method(node.func, value, arguments))
            return union(*found)
        for value in self.value(node.func):
            if isinstance(value, Named):
                found.append(caller.function(value.name, arguments))
            elif isinstance(value, Local):
                found.append(self.apply(value, arguments))
            elif value == NAMESPACE:
                found.append(caller.obscure())
            else:
                caller.follow_callbacks(arguments)
                found.append(UNKNOWN_VALUES)
        return union(*found)

    def apply(self, function: Local, arguments: Arguments | None) -> Values:
        """Call a function of the program; without arguments, with anything for each."""
        node = function.node
        depth = self._running.count(node)
        if depth > 1 or len(self._running) >= MAX_CALLS:
            if depth > 2 or node in self._followed:
                return UNKNOWN_VALUES
            self._followed.add(node)
            arguments = None
        frame = self._parameters(node.args, arguments)
        self.frames.append(frame)
        self._running.append(node)
        self._returned.append(())
        before, self._weak = self._weak, 0
        globals_, self._globals = self._globals, set()
        if isinstance(node, ast.Lambda):
            self._returned[-1] = self.value(node.body)
        else:
            self.body(node.body)
        self._weak, self._globals = before, globals_
        self._running.pop()
        self.frames.pop()
        return self._returned.pop() or (Plain("nothing"),)

    def follow(self, function: Local) -> None:
        """Follow a function that is called from elsewhere, with anything for its parameters."""
        if function.node not in self._followed:
            self._followed.add(function.node)
            self.apply(function, None)

    def _parameters(self, names: ast.arguments, arguments: Arguments | None) -> dict[str, Values]:
        frame: dict[str, Values] = {}
        positional = [*names.posonlyargs, *names.args]
        defaults = dict(zip(reversed(positional), reversed(names.defaults), strict=False))
        named = [(a, d) for a, d in zip(names.kwonlyargs, names.kw_defaults, strict=True)]
        for index, parameter in enumerate(positional):
            name = parameter.arg
            if arguments is None or arguments.spread:
                frame[name] = UNKNOWN_VALUES
            elif index < len(arguments.positional):
                frame[name] = arguments.positional[index]
            elif name in arguments.keywords:
                frame[name] = arguments.keywords[name]
            elif parameter in defaults:
                frame[name] = self.value(defaults[parameter])
            else:
                frame[name] = UNKNOWN_VALUES
        for parameter, default in named:
            known = arguments.keywords.get(parameter.arg) if arguments is not None else None
            if known is None and default is not None and arguments is not None:
                known = self.value(default)
            frame[parameter.arg] = known if known is not None else UNKNOWN_VALUES
        if names.vararg is not None:
            rest = arguments.positional[len(positional) :] if arguments is not None else ()
            frame[names.vararg.arg] = (Items(rest, many=arguments is None or arguments.spread),)
        if names.kwarg is not None:
            frame[names.kwarg.arg] = UNKNOWN_VALUES
        return frame

    # --- assignments ---------------------------------------------------------------------------

    def assign(self, target: ast.expr, values: Values) -> None:
        """Let a target hold ``values``."""
        match target:
            case ast.Name(name):
                self.bind(name, values)
            case ast.Tuple(targets) | ast.List(targets):
                for index, one in enumerate(targets):
                    inner = one.value if isinstance(one, ast.Starred) else one
                    rest = isinstance(one, ast.Starred)
                    self.assign(
                        inner,
                        listing(elements(values))
                        if rest
                        else subscript(values, (Text(str(index), "number"),)),
                    )
            case ast.Attribute(ast.Name(name), attribute):
                self.frames[0][f"{name}.{attribute}"] = union(
                    self.frames[0].get(f"{name}.{attribute}", ()), values
                )
            case ast.Subscript(ast.Name(name), index):
                self.add_item(name, self.value(index), values)
            case _:
                self.others(target)

    def add_item(self, name: str, key: Values, values: Values) -> None:
        """Let the collection in variable ``name`` hold ``values`` besides what it holds."""
        changed: list[Value] = []
        for value in self.lookup(name) or UNKNOWN_VALUES:
            if isinstance(value, Items):
                items = tuple(dict.fromkeys((*value.items, values)))
                few = len(items) <= MAX_ITEMS
                changed.append(Items(items if few else (UNKNOWN_VALUES,), many=True))
            elif isinstance(value, Table):
                entries = dict(value.entries)
                for text in texts(key):
                    entries[text] = union(entries.get(text, ()), values)
                known = tuple((k, v) for k, v in entries.items() if is_known(k))
                rest = union(value.rest, *(v for k, v in entries.items() if not is_known(k)))
                few = len(known) <= MAX_ITEMS
                changed.append(Table(known, rest) if few else ANYTHING)
            else:
                changed.append(value)
        # What it held is still in it, so this replaces it, wherever the variable lives.
        for frame in reversed(self.frames):
            if name in frame:
                frame[name] = union(tuple(changed))
                return

    def others(self, node: ast.AST) -> None:
        """Follow whatever stands below a node of no interest of its own."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.stmt):
                with self.branch():
                    self.body([child])
            else:
                self.others(child)


def text_of_name(value: Value) -> str:
    """The full name of something in a module."""
    return value.name if isinstance(value, Named) else text_of(value)


def _text_attribute(value: Text, name: str) -> Values:
    path = value.text
    match name:
        case "parent":
            return (Text(path_parent(path), "path"),)
        case "name":
            return (Text(last_name(path)),)
        case "stem":
            return (Text(stem(path)),)
        case "path":
            return (Text(path),)
        case "parents":
            found = [path_parent(path)]
            while len(found) < 12 and path_parent(found[-1]) != found[-1]:
                found.append(path_parent(found[-1]))
            return (Items(tuple((Text(parent, "path"),) for parent in found)),)
    return UNKNOWN_VALUES


def _number(node: ast.expr | None) -> str | None:
    """The digits of a constant bound of a slice, None without bound, UNKNOWN for another."""
    match node:
        case None:
            return None
        case ast.Constant(int(value)):
            return str(value)
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
            return str(-value)
    return UNKNOWN


def _int(digits: str | None) -> int | None:
    return None if digits is None else int(digits)
