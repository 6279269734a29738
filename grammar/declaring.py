"""Classes declared by attrs, or by what attrs wrote for them before.

attrs writes the methods of a class as text and has Python compile it, at each start again. A
wheel has the text as a module, compiled like any other (prepare.py makes it). Where it knows a
class, and the class still looks as it did then, the methods come from there, and attrs need not
be loaded. What is seldom asked for (``repr``, ``attrs.fields``, an error when a frozen one is
changed) comes from a twin of the class that attrs makes then, of the same body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    CLASSES: dict[str, tuple[Any, ...]]
else:
    try:
        from ringfence.grammar.prepared import CLASSES
    except ImportError:  # this is no wheel
        CLASSES = {}

Body: TypeAlias = type
"""A class as it was written, before any decorator saw it."""

Said: TypeAlias = tuple[str, dict[str, Any], Body]
"""The decorator's name in attrs, its options, and what it decorates."""

_HEEDED = frozenset((
    "__attrs_init__", "__attrs_init_subclass__", "__attrs_post_init__", "__attrs_pre_init__",
    "__delattr__", "__eq__", "__getattr__", "__getstate__", "__hash__", "__init__",
    "__match_args__", "__ne__", "__repr__", "__setattr__", "__setstate__", "__slots__",
))  # fmt: skip
"""Attributes of a class beside its fields that attrs writes other methods for."""

declared: dict[type, Said] = {}
"""All classes."""

_prepared: set[type] = set()
_twins: dict[type, type] = {}  # of those that were prepared
_arguments: dict[type, tuple[tuple[str, str | None], ...]] = {}
"""The fields of a class, each with the argument that sets it."""


class Field:
    """What a class body says of a field."""

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options

    def default(self, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Decorate the method that makes the default."""
        self.options |= {"factory": method, "takes_self": True}
        return method

    def for_attrs(self) -> Any:
        """The same for attrs."""
        import attrs  # noqa: PLC0415 - few starts need it

        options = dict(self.options)
        if options.pop("takes_self", False):
            options["default"] = attrs.Factory(options.pop("factory"), takes_self=True)
        return attrs.field(**options)


# --- what attrs offers -------------------------------------------------------------------------

field = Field


def define(cls: type | None = None, /, **options: Any) -> Any:
    """As ``attrs.define``."""
    declare = partial(_declare, "define", options)
    return declare if cls is None else declare(cls)


def frozen(cls: type | None = None, /, **options: Any) -> Any:
    """As ``attrs.frozen``."""
    declare = partial(_declare, "frozen", options)
    return declare if cls is None else declare(cls)


def evolve(instance: Any, /, **changes: Any) -> Any:
    """As ``attrs.evolve``."""
    cls = instance.__class__
    for name, argument in _arguments.get(cls) or _told(cls):
        if argument is not None and argument not in changes:
            changes[argument] = getattr(instance, name)
    return cls(**changes)


def names(cls: type) -> tuple[str, ...]:
    """The names of all fields of a class."""
    return tuple([name for name, _ in _arguments.get(cls) or _told(cls)])


def _told(cls: type) -> tuple[tuple[str, str | None], ...]:
    import attrs  # noqa: PLC0415

    found = tuple((a.name, a.alias if a.init else None) for a in attrs.fields(cls))
    _arguments[cls] = found
    return found


# --- declaring ---------------------------------------------------------------------------------


def _declare(how: str, options: dict[str, Any], body: Body) -> type:
    said = (how, options, body)
    prepared = CLASSES.get(f"{body.__module__}.{body.__qualname__}")
    if prepared is not None and prepared[0] == look(said) and _has_prepared_bases(body):
        made = _from_prepared(body, *prepared[1:])
        _prepared.add(made)
    else:
        made = _by_attrs(*said)
    declared[made] = said
    return made


def look(said: Said) -> tuple[Any, ...]:
    """All that attrs writes methods by; the defaults themselves they look up when they are made."""
    how, options, body = said
    inside = body.__dict__
    fields: list[Any] = []
    for name, annotation in body.__annotations__.items():
        if "ClassVar" not in annotation:
            fields.append(name)
            value = inside.get(name)
            if type(value) is Field:
                fields.append(tuple([_look_of_option(*one) for one in value.options.items()]))
            elif name in inside:
                fields.append(not type(value).__module__.startswith("attr."))
    bases = tuple([base.__qualname__ for base in body.__bases__])
    heeded = tuple(sorted(_HEEDED.intersection(inside)))
    return (how, tuple(options.items()), bases, heeded, tuple(fields))


def _look_of_option(name: str, value: Any) -> Any:
    return (name, value) if isinstance(value, bool) else name


def _by_attrs(how: str, options: dict[str, Any], body: Body) -> type:
    import attrs  # noqa: PLC0415

    fields = {name: value for name, value in body.__dict__.items() if type(value) is Field}
    for name, value in fields.items():
        setattr(body, name, value.for_attrs())
    made: type = getattr(attrs, how)(**{"weakref_slot": False, **options})(body)
    if made is not body:  # a twin may be made of it
        for name, value in fields.items():
            setattr(body, name, value)
    return made


# --- from what is prepared ---------------------------------------------------------------------


def _has_prepared_bases(body: Body) -> bool:
    return all(base in _prepared or "__attrs_attrs__" not in base.__dict__ for base in body.__mro__)


def _from_prepared(
    body: Body,
    slots: tuple[str, ...],
    arguments: tuple[tuple[str, str | None], ...],
    constants: dict[str, Any],
    later: tuple[str, ...],
    write: Callable[[dict[str, dict[str, Any]]], tuple[FunctionType, ...]],
) -> type:
    """The class with its prepared methods; attrs' own way to make one with slots."""
    inside = dict(body.__dict__)
    for name in ("__dict__", "__weakref__", *[name for name, _ in arguments]):
        inside.pop(name, None)
    inside |= constants
    inside["__slots__"] = slots
    inside["__qualname__"] = body.__qualname__
    for name in later:
        inside[name] = _LATER[name]
    options: dict[str, dict[str, Any]] = {}
    for base in reversed(body.__mro__):
        options |= _options(declared[base][2] if base in declared else base)
    for method in write(options):
        name = method.__name__
        method.__module__ = body.__module__
        method.__qualname__ = f"{body.__qualname__}.{name}"
        inside[name] = method
    made = type(body)(body.__name__, body.__bases__, inside)
    for value in inside.values():
        if type(value) in _HOLDERS:
            _move(value, body, made)
    _arguments[made] = arguments
    return made


def _options(body: Body) -> dict[str, dict[str, Any]]:
    """What the prepared methods look up: the default, factory and converter of each field."""
    found = {}
    inside = body.__dict__
    for name in inside.get("__annotations__", ()):
        if name in inside:
            value = inside[name]
            found[name] = value.options if type(value) is Field else {"default": value}
    return found


_HOLDERS = frozenset((FunctionType, classmethod, property, staticmethod))


def _move(value: Any, body: Body, made: type) -> None:
    """Let ``super()`` and ``__class__`` in a method mean the class that was made."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    for cell in getattr(function, "__closure__", None) or ():
        try:
            if cell.cell_contents is body:
                cell.cell_contents = made
        except ValueError:  # an empty one
            continue


class _Later:
    """An attribute of a prepared class that its twin has."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        cls = next(cls for cls in owner.__mro__ if self.name in cls.__dict__)
        found = _twin(cls).__dict__[self.name]
        return found.__get__(instance, owner) if hasattr(found, "__get__") else found


LATER = (
    "__attrs_attrs__", "__attrs_props__", "__delattr__", "__getstate__", "__repr__",
    "__setattr__", "__setstate__",
)  # fmt: skip
_LATER = {name: _Later(name) for name in LATER}


def _twin(cls: type) -> type:
    if cls not in _twins:
        _twins[cls] = _by_attrs(*declared[cls])
    return _twins[cls]
