"""From a command's arguments and its entry to a Usage."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from ringfence.grammar.records import define, evolve, field
from ringfence.grammar.regex import compiled
from ringfence.rules.commands.arguments import (
    Arguments,
    Given,
    Item,
    Piece,
    names_given,
    overridden,
    piece,
    read_arguments,
)
from ringfence.rules.commands.collector import Collector
from ringfence.rules.commands.data import lookup
from ringfence.rules.commands.expression import tested_files
from ringfence.rules.commands.found import below, found_names
from ringfence.rules.commands.placing import (
    kinds_of,
    moves,
    names_module,
    option_kinds,
    paths_among,
)
from ringfence.rules.commands.reading import subentry
from ringfence.rules.commands.schema import (
    PLAIN_KINDS,
    CommandDataError,
    Entry,
    Syntax,
    Value,
)
from ringfence.rules.commands.split_string import split_string
from ringfence.rules.commands.templates import executed, filled_scripts
from ringfence.rules.commands.unlisted import shaped_uses
from ringfence.rules.model import NAME, UNKNOWN, Field, Operation, is_known
from ringfence.rules.usage import CommandUse, PathUse, ProgramUse, Usage

_NAMED_OPERAND = compiled(r"[A-Za-z_]\w*\+?=")
_SETTING = compiled(r"\s*(?P<key>[^=\s]+)\s*[=\s]\s*(?P<value>.*)", re.DOTALL)
_ADDRESS = compiled(r"(?P<key>[^:,]+):(?P<value>(?:[^,\\]|\\.)*)", re.DOTALL)
_STANDARD_INPUT = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0", "ip6-localhost"))  # noqa: S104
_ANY_COMMAND = "*"  # the entry of what holds for all commands
_REST = frozenset(("words", "shell"))
_UNLISTED = Value("unknown", modifiers=frozenset(("shaped", "possible", "url")))


def usage(argv: Sequence[Field], environment: Sequence[Field] = ()) -> Usage:
    """What the simple command ``argv`` does with its arguments.

    ``argv[0]`` is the command, as a name or as a path to it. ``environment`` holds variables
    that were set for it, as fields ``NAME=value``; what it does with them counts too.
    It is never an error: a command without an entry has its path-shaped words as paths, and
    ``known`` is False; so has one whose entry cannot be read, which is opaque as well.
    """
    if not argv:
        return Usage("", known=True)
    name = argv[0].text
    try:
        entry = lookup(name) if argv[0].known else None
        interpreter = _Interpreter(argv, entry or Entry(name), Collector((*argv, *environment)))
        interpreter.environment(entry, environment)
        if entry is not None:
            interpreter.run(entry, 1)
            return interpreter.found.result(name)
    except CommandDataError as error:
        opaque = ((f"what it does is not known: {error}", 0),)
        paths = tuple(shaped_uses(argv, 1, f"argument of {name}"))
        return Usage(name, known=False, paths=paths, opaque=opaque)
    fact = f"argument of {posixpath.basename(name)}, whose options are not known"
    interpreter.found.shaped(1, len(argv), fact)
    return evolve(interpreter.found.result(name), known=False)


@define
class _Interpreter:
    argv: Sequence[Field]
    entry: Entry
    found: Collector
    operation: Operation | None = None  # what happens to operands that are read otherwise
    shifted: bool = False  # an unknown number of words came before: positions are not certain
    tree: bool = False  # whether operands stand for the whole tree below them
    changed: dict[str, bool] = field(factory=dict)  # modifiers that options give or take
    follow: bool | None = None  # whether links among the operands are followed, if options say
    placed: Sequence[Item] = ()  # what is read now

    # --- the whole command -------------------------------------------------------------------

    def run(self, entry: Entry, start: int) -> None:
        """Read the words of ``entry`` from ``start`` on, then those of its subcommand."""
        if entry.syntax is Syntax.TEST:
            for index, follow in tested_files(self.argv, start):
                value = Value("test") if follow else Value.parse("test nofollow")
                self.found.path(value, piece(self.argv, index), f"tested by {entry.name}")
            return
        arguments = read_arguments(entry, self.argv, start)
        entry, items = self.conditions(entry, arguments.items)
        self.entry, self.placed = entry, items
        kinds = option_kinds(items)
        if "base" in kinds:
            self.found.bases += [item.values[-1].text for item in items if moves(item, later=False)]
        later = self.items(items)
        module = None
        if "module" in kinds:
            module = next((item for item in items if names_module(item)), None)
        if module is not None:
            self.module(entry, module, arguments.rest)
        elif entry.commands and arguments.rest < len(self.argv):
            self.subcommand(entry, arguments.rest)
        else:
            self.operands(entry, arguments, items, kinds)
            self.implied(entry, later)

    def environment(self, entry: Entry | None, environment: Sequence[Field]) -> None:
        """What the variables set for the command make it touch or run."""
        if not environment:
            return
        general = lookup(_ANY_COMMAND)
        for index, variable in enumerate(environment, len(self.argv)):
            name, _, text = variable.text.partition("=")
            for known in (entry, general):
                value = known.variables.get(name) if known is not None else None
                if value is None and known is not None:
                    patterns = (p for p in known.variables if "*" in p and fnmatchcase(name, p))
                    value = known.variables.get(next(patterns, ""))
                if value is not None and text:
                    if value.kind == "base":
                        self.found.bases.append(text)
                    part = Piece(text, index, variable.glob, variable.several)
                    if value.has("prompt"):
                        self.found.shell(f": <<_PROMPT_\n{text}\n_PROMPT_\n", index)
                    elif value.language == "bash" and ("$(" in text or "`" in text):
                        reason = f"{name} holds a command substitution, which bash runs"
                        self.found.opaque.append((reason, index))
                    elif value.kind == "setting" and value.keys:
                        key = self.set_variable(value.keys[0] + name.rpartition("_")[2])
                        if key is None:  # it was set before: any of them
                            self.value(Value.parse("command bang"), part, f"variable {name}")
                        else:
                            setting = evolve(part, text=f"{key}={text}")
                            self.setting(value, setting, f"variable {name}")
                    elif value.kind == "options":
                        self.more_options(part)
                    else:
                        self.value(value, part, f"variable {name} of {self.entry.name}")
                    break

    def more_options(self, part: Piece) -> None:
        """Options that a variable adds to those of the command: ``TAR_OPTIONS``."""
        words = [evolve(self.found.argv[part.argument], text=text) for text in _split(part.text)]
        use = usage([self.argv[0], *words])
        self.found.paths += [evolve(path, argument=part.argument) for path in use.paths]
        self.found.programs += [
            evolve(program, argument=part.argument)
            for program in use.programs
            if program.text is not None
        ]
        self.found.commands += use.commands

    def conditions(self, entry: Entry, items: Sequence[Item]) -> tuple[Entry, Sequence[Item]]:
        """Apply the entry's ``when`` parts that hold."""
        if not entry.when:
            return entry, items
        names = names_given(items)
        result = items
        for when in entry.when:
            if not when.holds(names):
                continue
            entry = when.applied(entry)
            self.operation = when.operation or self.operation
            self.follow = self.follow if when.follow is None else when.follow
            self.tree = self.tree or when.tree
            if when.through is not None:
                self.changed["through"] = when.through
            if when.hidden:
                self.changed["shown"] = False
            self.found.in_place = self.found.in_place or when.in_place
            if when.options:
                result = overridden(result, when.options)
        return entry, result

    def items(self, items: Sequence[Item]) -> str:
        """Note what the options say, in order; the directory that the last of them moved to."""
        later = ""
        for item in items:
            if isinstance(item, Given):
                self.given(item)
                if item.option is not None and item.option.values and moves(item, later=True):
                    later = posixpath.join(*self.found.bases, later, item.values[0].text)
            elif later:
                self.found.base_of[item.argument] = later
        return later

    def subcommand(self, entry: Entry, index: int) -> None:
        """Go on with the subcommand whose name is word ``index``."""
        name = self.argv[index].text
        child = subentry(entry, name) if self.argv[index].known else None
        if self.argv[index].known and name not in entry.commands:
            # `bun ../x.ts`, `deno ../x.ts`: many take a file where a subcommand could stand.
            fact = f"argument of {entry.name} that is none of its subcommands"
            self.found.shaped(index, index + 1, fact, only_outward=True, names=False)
        if child is not None:
            self.run(child, index + 1)
            return
        if not self.argv[index].known:
            self.found.opaque.append((f"which subcommand of {entry.name} runs is unknown", index))
            name = "a subcommand"
        fact = f"argument of {entry.name} {name}, which is not known"
        self.found.shaped(index + 1, len(self.argv), fact)

    def module(self, entry: Entry, item: Given, rest: int) -> None:
        """``python -m name …``: a module's own entry, or that of the command of its name."""
        name = item.values[0].text
        child = subentry(entry, name)
        if child is None and "/" not in name:
            child = lookup(name)
        if child is not None:
            self.run(child, rest)
            return
        fact = f"argument of {entry.name} {item.name} {name}, which is not known"
        self.found.shaped(rest, len(self.argv), fact)

    def implied(self, entry: Entry, directory: str) -> None:
        """What the command touches without being told."""
        if directory:
            self.found.base_of[0] = directory
        for value, path in entry.implied:
            self.found.path(value, Piece(_named(path), 0), f"{entry.name} works there")

    # --- options -----------------------------------------------------------------------------

    def given(self, item: Given) -> None:
        """What one option says."""
        role = item.option.role if item.option is not None else ""
        if role == "clear":
            self.found.wrapped.clears = True
        elif role == "null":
            self.found.wrapped.null = True
        elif role == "deletes":
            self.deletes(item.name)
        if item.option is None or not item.option.values:
            name = f"{self.entry.name} {item.name}"
            for part in item.values:
                self.found.path(_UNLISTED, part, f"value of {name}, which is not known")
            return
        values = item.option.values
        if len(values) == 1 and values[0].kind in PLAIN_KINDS and not values[0].modifiers:
            if self.shifted and item.values:
                self.argument(item.values[0])
            return
        name = f"{self.entry.name} {item.name}"
        if values[0].kind == "placeholder" and not item.values:
            self.found.wrapped.placeholder = "{}"
        if values[0].kind == "exec":
            self.executes(item)
            return
        for value, part in zip(values, item.values, strict=False):
            self.value(value, part, f"value of {name}")

    def value(self, value: Value, part: Piece, fact: str) -> None:
        """One value of an option, or one operand, of whatever kind."""
        kind, modifiers = value.kind, value.modifiers
        if kind in PLAIN_KINDS and not modifiers:
            if self.shifted:
                self.argument(part)
            return
        if kind == "execute" and value.language and part.text in _STANDARD_INPUT:
            self.found.programs.append(ProgramUse(value.language, None, part.argument))
        elif "remote" in modifiers and part.text.startswith("ext::"):
            self.found.shell(part.text.removeprefix("ext::"), part.argument)  # git runs it
        elif value.operation is not None or kind == "url":
            self.found.path(value, part, fact)
            if kind == "directory":
                self.found.wrapped.directory = part.text
        elif kind == "program":
            self.found.program(value.language, part)
        elif kind == "command":
            self.command(value, part)
        elif kind == "runs":
            if part.text:
                word = evolve(self.found.argv[part.argument], text=part.text)
                variable = self.found.argv[part.argument].text.partition("=")[0]
                unset = (variable,) if part.argument >= len(self.argv) else ()  # it is not for it
                self.found.commands.append(CommandUse((word,), unset=unset))
        elif kind == "host":
            if part.text.rpartition("@")[2].rstrip(".").lower() in _THIS_MACHINE:
                reason = "it runs commands on this very machine"
                self.found.opaque.append((reason, part.argument))
        elif kind == "split":
            self.split(part)
        elif kind == "unset":
            self.found.wrapped.unset.append(part.text)
        elif kind == "group":
            self.found.wrapped.group = part.text
        elif kind in ("assignment", "variable"):
            name, equals, text = part.text.partition("=")
            wrapped = self.found.wrapped.assignments
            if equals:
                (wrapped if kind == "assignment" else self.found.variables).append((name, text))
        elif kind == "placeholder":
            self.found.wrapped.placeholder = part.text or "{}"
        elif kind == "setting":
            self.setting(value, part, fact)
        elif kind == "parameters":
            self.found.parameters.append(self.argv[part.argument])
            unknown = part.text.startswith(UNKNOWN)  # what is done with it, the program says
            if not unknown and any(p.language != "bash" for p in self.found.programs):
                self.argument(part)
        elif kind == "arguments" or self.shifted:
            self.argument(part)
        excludes = "excludes" in modifiers or ("wildcards" in modifiers and "*" in part.text)
        if excludes and is_known(part.text) and not part.glob:
            self.found.excluded.append(part.text)

    def argument(self, part: Piece) -> None:
        """An argument that something unknown receives: a path if it looks like one."""
        if part.text == self.found.argv[part.argument].text:
            fact = f"argument of what {self.entry.name} runs"
            self.found.shaped(part.argument, part.argument + 1, fact, only_outward=True)

    def command(self, value: Value, part: Piece) -> None:
        """A shell command in one text."""
        text = part.text
        if value.has("slash") and "/" not in text and UNKNOWN not in text:
            return
        if value.has("pipe"):
            text = text.lstrip("|-")
        if value.has("bang"):
            absolute = value.has("absolute") and text.startswith(("/", "~"))
            if not (absolute or text.startswith(("!", UNKNOWN))):
                return
            text = text.removeprefix("!")
        self.found.shell(text, part.argument)

    def split(self, part: Piece) -> None:
        """``env -S 'text'``: as if its words stood there, options and assignments too."""
        head = self.argv[part.argument]
        words = [evolve(head, text=text) for text in split_string(part.text)]
        self.nested([self.argv[0], *words, *self.argv[part.argument + 1 :]])

    def setting(self, how: Value, part: Piece, fact: str) -> None:
        """``key=value`` or ``key value``: the entry says for which keys the value matters."""
        for text in _split(part.text) if how.has("several") else [part.text]:
            match = (_ADDRESS if how.has("address") else _SETTING).match(text)
            if match is None:
                continue
            key = match["key"]
            patterns = (p for p in self.entry.settings if fnmatchcase(key.lower(), p))
            value = self.entry.settings.get(next(patterns, ""))
            if value is None:
                continue
            content: str | None = match["value"]
            if value.has("subsection"):
                content = key.partition(".")[2].rpartition(".")[0]
            elif how.has("environment"):
                content = self.set_variable(match["value"])
            if content is None:
                reason = f"{key} is taken from ${match['value']}, which is not known"
                self.found.opaque.append((reason, part.argument))
            else:
                self.value(value, evolve(part, text=content), f"{fact}: {key}")

    def set_variable(self, name: str) -> str | None:
        """The value of a variable that was set for the command, or None."""
        found = [field.text for field in self.found.argv[len(self.argv) :]]
        texts = (text.partition("=")[2] for text in found if text.startswith(f"{name}="))
        return next(texts, None)

    # --- operands ----------------------------------------------------------------------------

    def operands(
        self, entry: Entry, arguments: Arguments, items: Sequence[Item], kinds: frozenset[str]
    ) -> None:
        """Give each operand its kind, those left unread included; options take ``kinds``."""
        operands = [item for item in items if isinstance(item, Piece)]
        operands += [
            piece(self.argv, index, after=arguments.ended)
            for index in range(arguments.rest, len(self.argv))
        ]
        if "split" in kinds:
            return  # the words behind it belong to the command that was split
        if "words" in kinds:
            self.words(evolve(entry, operands=(Value("words"),)), operands)
            return
        if not entry.kinds.isdisjoint(_REST):
            self.words(entry, operands)
            return
        if entry.default and not paths_among(entry, operands):
            kind = next((v for v in reversed(entry.operands) if v.operation), Value("read"))
            self.operand(kind, Piece(_named(entry.default), 0), f"{entry.name} works there")
        if entry.after is None:
            plain, behind = operands, []
        else:
            plain = [operand for operand in operands if not operand.after]
            behind = [operand for operand in operands if operand.after]
        self.place(entry.operands, plain)
        if behind:
            self.place(entry.after or (), behind)
        self.standard_input(entry, plain)

    def place(self, kinds: Sequence[Value], operands: Sequence[Piece]) -> None:
        """Give operands their kinds by their position."""
        counted = operands
        if self.entry.keys or self.entry.assignments:
            counted = [operand for operand in operands if not self.keyed(operand)]
        slots = kinds_of(kinds, len(counted))
        key = ""
        for index, part in enumerate(counted):
            value = slots[index] if index < len(slots) else Value("arguments")
            if value.kind == "login":
                shell = evolve(self.argv[part.argument], text="bash")
                self.nested([shell, *(self.argv[later.argument] for later in counted[index:])])
                break
            if value.kind == "key":
                key = part.text
            elif value.kind == "setting" and key:
                part = evolve(part, text=f"{key}={part.text}")  # noqa: PLW2901  # with its key
            if value.kind != "execute" or part.text not in _STANDARD_INPUT:
                self.operand(value, part, f"operand of {self.entry.name}")
            if part.several and not self.shifted:
                self.shifted = any(value.operation for value in kinds)

    def operand(self, value: Value, part: Piece, fact: str) -> None:
        """One operand; options may have changed what happens to it (``sed -i``)."""
        if value.operation is not None:
            changed = value.modifiers | {"tree"} if self.tree else value.modifiers
            if self.follow is not None:
                changed = changed - {"nofollow"} if self.follow else changed | {"nofollow"}
            # Of what `cp` writes, nothing is changed.
            if self.changed and (value.operation is Operation.READ or not self.entry.reads):
                for name, given in self.changed.items():
                    changed = changed | {name} if given else changed - {name}
            if changed != value.modifiers:
                value = _modified(value, changed)
        if self.operation is not None and value.operation is Operation.READ:
            value = evolve(value, kind=self.operation.value)
        self.value(value, part, fact)

    def keyed(self, part: Piece) -> bool:
        """Whether the operand has the form ``key=value``; then what it says is noted."""
        if self.entry.keys:
            key, equals, text = part.text.partition("=")
            value = self.entry.keys.get(key) or self.entry.keys.get("*")
            if equals and value is not None and "/" not in key:
                self.value(value, evolve(part, text=text), f"{self.entry.name} {key}=")
                return True
        if self.entry.assignments and _NAMED_OPERAND.match(part.text):
            name, _, text = part.text.partition("=")
            self.found.variables.append((name, text))
            return True
        return False

    def standard_input(self, entry: Entry, operands: Sequence[Piece]) -> None:
        """A shell or an interpreter without a script reads one from standard input."""
        if not entry.stdin or self.found.programs or self.found.commands:
            return
        kinds = kinds_of(entry.operands, len(operands))
        arguments = [self.argv[operand.argument] for operand in operands]
        scripts = [a for a, kind in zip(arguments, kinds, strict=False) if kind.kind == "execute"]
        if scripts and scripts[0].text not in _STANDARD_INPUT:
            return
        parameters = (self.argv[0], *arguments[len(scripts[:1]) :])
        self.found.programs.append(ProgramUse(entry.stdin, None, 0, parameters))

    # --- commands inside ---------------------------------------------------------------------

    def words(self, entry: Entry, operands: Sequence[Piece]) -> None:
        """A wrapper: some operands, then the words of another command."""
        left = list(operands)
        while left and entry.assignments and "=" in left[0].text[1:]:  # as env does, whatever name
            name, _, text = left.pop(0).text.partition("=")
            self.found.wrapped.assignments.append((name, text))
        last = entry.operands[-1]
        for value in entry.operands[:-1]:
            if left:
                self.value(value, left.pop(0), f"operand of {entry.name}")
        option = entry.option(left[0].text) if len(left) > 1 else None
        if option is not None and any(value.kind == "command" for value in option.values):
            self.given(Given(left[0].text, option, (left[1],)))
        elif left and last.kind == "shell":
            self.shell(entry, left)
        elif left:
            self.nested(self.argv[left[0].argument :])
        elif entry.stdin and not self.found.commands:
            self.found.programs.append(ProgramUse(entry.stdin, None, 0, (self.argv[0],)))

    def shell(self, entry: Entry, parts: Sequence[Piece]) -> None:
        """Words that are joined to a shell command, like those of eval."""
        words = [self.argv[part.argument] for part in parts]
        if not entry.inputs:
            scripts = [" ".join(word.text for word in words)]
        elif any(w.text.startswith(entry.inputs) or " " in w.text for w in words):
            scripts = list(filled_scripts(words, entry.inputs))
        else:
            self.nested(words)
            return
        for script in scripts:
            self.found.shell(script, parts[0].argument)

    def nested(self, words: Sequence[Field]) -> None:
        """Another command's words."""
        self.found.command(
            words, appends=self.entry.appends_input, other_user=self.entry.other_user
        )

    def roots(self) -> list[str]:
        """Where ``find`` begins."""
        return paths_among(self.entry, self.placed) or ["."]

    def executes(self, item: Given) -> None:
        """``-exec words ;``."""
        words = [evolve(self.argv[part.argument], text=part.text) for part in item.values]
        if words and item.option is not None:
            names = found_names([w.text for w in self.argv], item.values[0].argument - 1)
            self.found.commands += executed(
                words,
                self.roots(),
                names,
                in_directory=item.name.endswith("dir"),
                appends=item.option.values[0].has("appends"),
            )

    def deletes(self, name: str) -> None:
        """``-delete``: what is found by names, wherever that is; else the operands' whole trees."""
        words = [word.text for word in self.argv]
        for index in (index for index, word in enumerate(words) if word == name):
            names = found_names(words, index)
            if names is None:
                self.operation = Operation.DELETE
                continue
            fact = f"{name} of {self.entry.name}"
            self.found.paths += [
                PathUse(path, Operation.DELETE, index, fact, follow=False)
                for root in self.roots()
                for path in below(root, names)
            ]


def _split(text: str) -> list[str]:
    """The words of a text that a program splits itself."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


@lru_cache(maxsize=1024)
def _modified(value: Value, modifiers: frozenset[str]) -> Value:
    return evolve(value, modifiers=modifiers)


def _named(path: str) -> str:
    """A path of the data, where ``{name}`` stands for a name that is made up at run time."""
    return path.replace("{name}", NAME)
