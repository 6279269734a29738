"""Makefiles, as far as a command brings one itself: the recipes of the goals, and ``$(shell …)``.

A recipe is a shell command once make's own variables are replaced. What a function of make gives
that the shell can give, too, is handed over to it: ``$(shell ls)`` as ``$(ls)``, and
``$(wildcard *.c)`` as ``*.c``.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.grammar.records import define, field, frozen
from ringfence.grammar.regex import compiled
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Operation

MAX_DEPTH = 12
"""Variables and functions within each other."""

MAX_STEPS = 20_000
"""Texts that are expanded in all."""

MAX_VALUE = 10_000
"""The longest text that a variable is followed to."""

_DEFAULTS = {
    "AR": "ar", "AS": "as", "CC": "cc", "CXX": "g++", "CPP": "cc -E", "LD": "ld", "MAKE": "make",
    "RM": "rm -f", "SHELL": "/bin/sh", "FC": "f77", "LEX": "lex", "YACC": "yacc",
}  # fmt: skip
_SHELLS = frozenset(
    f"{folder}{name}"
    for folder in ("", "/bin/", "/usr/bin/", "/usr/local/bin/", "/usr/bin/env ")
    for name in ("sh", "bash", "dash", "zsh", "ksh", "ash")
)
_ASSIGNMENT = compiled(
    r"\s*(?:(?:override|export|private)\s+)*(?P<name>[^\s:#=+?!]+)\s*"
    r"(?P<operator>:{0,3}=|\?=|\+=|!=)\s*(?P<value>.*)",
    re.DOTALL,
)
_RULE = compiled(r"(?P<targets>[^:=#]+?)\s*&?::?(?!=)(?P<rest>.*)", re.DOTALL)
_DIRECTIVE = compiled(r"\s*(?:ifn?eq|ifn?def|else|endif|unexport|export|vpath|undefine)\b")
_INCLUDE = compiled(r"\s*[-s]?include\s+(?P<names>.*)", re.DOTALL)
_DEFINE = compiled(r"\s*(?:override\s+)?define\s+(?P<name>[^\s=:+?]+)")
_CLOSERS = {"(": ")", "{": "}"}


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    _Makefile(program, findings).run()


@frozen
class _Rule:
    targets: tuple[str, ...]
    prerequisites: tuple[str, ...]
    recipe: list[str]


@define
class _Makefile:
    program: Program
    findings: Findings
    variables: dict[str, str] = field(factory=dict)
    fixed: set[str] = field(factory=set)  # those that the command's words set
    rules: list[_Rule] = field(factory=list)
    steps: int = 0
    unsure: bool = False  # lines that a condition may leave out

    def run(self) -> None:
        """Read the file, then follow the goals."""
        words = [word.text for word in self.program.parameters]
        goals = [word for word in words if not word.startswith("-") and "=" not in word]
        for word in words:
            name, equals, value = word.partition("=")
            if equals and not word.startswith("-"):
                self.variables[name.rstrip(":+?")] = value
                self.fixed.add(name.rstrip(":+?"))
        self.read()
        shell = self.expand("$(SHELL)")
        if shell not in _SHELLS:
            self.findings.opaque("a Makefile whose recipes are not for a shell")
            return
        if any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--dry-run|--just-print", w) for w in words):
            return
        together = any(".ONESHELL" in rule.targets for rule in self.rules)
        for rule in self.reached(goals):
            own = _automatic(rule)
            lines = [self.expand(line, own).strip() for line in rule.recipe]
            for line in ["\n".join(lines)] if together else lines:
                script = line.lstrip("@+- \t")
                if script:
                    self.findings.shell(script, (0, 0), "make")

    def reached(self, goals: Sequence[str]) -> list[_Rule]:
        """The rules that the goals may need."""
        named = [t for rule in self.rules for t in rule.targets]
        if not goals:
            goals = (
                self.expand("$(.DEFAULT_GOAL)").split()
                or [t for t in named if not t.startswith(".") and "%" not in t][:1]
            )
        if any(UNKNOWN in t for t in named) or not set(goals) <= set(named):
            return self.rules
        wanted = set(goals)
        while True:
            found = [r for r in self.rules if _is_general(r) or not wanted.isdisjoint(r.targets)]
            more = {p for rule in found for p in rule.prerequisites} - wanted
            if not more:
                return found
            wanted |= more

    # --- reading -----------------------------------------------------------------------------

    def read(self) -> None:
        """Take in every line."""
        rule: _Rule | None = None
        definition = ""
        for line in _lines(self.program.text):
            if definition:
                if line.strip() == "endef":
                    definition = ""
                else:
                    self.variables[definition] += line + "\n"
            elif line.startswith("\t") and rule is not None:
                rule.recipe.append(line[1:])
            elif started := _DEFINE.match(line):
                definition = started["name"]
                self.variables[definition] = ""
            elif line.strip() and not line.lstrip().startswith("#"):
                rule = self.line(line.partition("#")[0] if "\\#" not in line else line) or rule

    def line(self, line: str) -> _Rule | None:
        """Take in a line that is no recipe; the rule that it begins."""
        if included := _INCLUDE.match(line):
            for name in self.expand(included["names"]).split():
                self.findings.path(name, Operation.READ, (0, 0), "include")
            return None
        if _ASSIGNMENT.match(line):
            self.assign(line)
            return None
        if _DIRECTIVE.match(line):
            self.unsure = True
            self.expand(line)
            return None
        found = _RULE.match(line)
        if found is None:
            self.expand(line)
            return None
        rest, semicolon, recipe = found["rest"].partition(";")
        targets = tuple(self.expand(found["targets"]).split())
        if _ASSIGNMENT.match(rest):  # a variable of these targets
            self.assign(found["rest"])
            return None
        wanted = self.expand(rest).replace("|", " ").split()
        rule = _Rule(targets, tuple(wanted), [recipe] if semicolon else [])
        self.rules.append(rule)
        return rule

    def assign(self, line: str) -> None:
        """Take in an assignment."""
        found = _ASSIGNMENT.match(line)
        if found is None or found["name"] in self.fixed:
            return
        name, operator, value = found["name"], found["operator"], found["value"].strip()
        if operator == "!=":
            value = f"$(shell {value})"
        if "$(shell" in value or "${shell" in value:
            self.expand(value)
        held = self.variables.get(name)
        if operator == "?=" and (held is not None or self.outer(name)):
            return
        if operator == "+=" and held is not None:
            value = f"{held} {value}"
        elif ":" in operator:
            value = self.expand(value).replace("$", "$$")
        elif self.unsure and held is not None and held != value:
            value = "$(unsure)"
        self.variables[name] = value

    def outer(self, name: str) -> str:
        """The value of a variable of the environment; without one, make's is empty."""
        value = self.program.variable(name)
        return "" if value == UNKNOWN else value

    # --- expanding ---------------------------------------------------------------------------

    def expand(self, text: str, own: Mapping[str, str] | None = None, depth: int = 0) -> str:
        """The text with its references replaced; ``own`` are variables of one rule."""
        self.steps += 1
        if depth > MAX_DEPTH or len(text) > MAX_VALUE or self.steps > MAX_STEPS:
            return UNKNOWN
        pieces: list[str] = []
        at = 0
        while (dollar := text.find("$", at)) >= 0 and dollar + 1 < len(text):
            pieces.append(text[at:dollar])
            following = text[dollar + 1]
            if following in _CLOSERS:
                end = _end(text, dollar + 1)
                pieces.append(self.reference(text[dollar + 2 : end], own or {}, depth + 1))
                at = end + 1
            else:
                literal = following == "$"
                pieces.append("$" if literal else self.reference(following, own or {}, depth + 1))
                at = dollar + 2
        whole = "".join((*pieces, text[at:]))
        if len(whole) > MAX_VALUE:
            return UNKNOWN
        if "'" in text and "$(" in whole and "$(shell" in text:
            return UNKNOWN  # in single quotes, the shell would not replace it
        return whole

    def reference(self, text: str, own: Mapping[str, str], depth: int) -> str:
        """What ``$(text)`` stands for."""
        name, blank, rest = text.partition(" ")
        if blank and re.fullmatch(r"[a-z-]+", name):
            return self.function(name, rest.lstrip(), own, depth)
        if text in own:
            return own[text]
        name = self.expand(text, own, depth)
        if UNKNOWN in name:
            return UNKNOWN
        substituted = re.fullmatch(r"([^:]+):([^=]*)=(.*)", name)
        if substituted:
            old, new = (p if "%" in p else f"%{p}" for p in substituted.group(2, 3))
            return _patsubst(old, new, self.reference(substituted[1], own, depth))
        if name == "CURDIR":
            return self.program.directory
        if name == "unsure":
            return UNKNOWN
        if name in self.variables:
            return self.expand(self.variables[name], own, depth)
        return self.outer(name) or _DEFAULTS.get(name, "")

    def function(self, name: str, rest: str, own: Mapping[str, str], depth: int) -> str:
        """What ``$(name rest)`` gives."""
        if name == "shell":
            script = self.expand(rest, own, depth)
            self.findings.shell(script, (0, 0), "$(shell)")
            return UNKNOWN if UNKNOWN in script else f"$({script})"
        arguments = [self.expand(part, own, depth) for part in _arguments(rest)]
        if name in ("info", "warning", "error"):
            return ""
        if name == "file":
            target = arguments[0].lstrip("<> ")
            read = arguments[0].startswith("<")
            operation = Operation.READ if read else Operation.WRITE
            self.findings.path(target, operation, (0, 0), "$(file)")
            return UNKNOWN if read else ""
        function = _FUNCTIONS.get(name)
        if function is None:
            if name in ("eval", "guile", "load"):
                self.findings.opaque(f"a Makefile with $({name})")
            return UNKNOWN
        needed, apply = function
        if len(arguments) < needed or any(UNKNOWN in argument for argument in arguments):
            return UNKNOWN
        if name in ("abspath", "realpath"):
            return _each(lambda w: posixpath.join(self.program.directory, w), arguments[-1])
        return apply(*arguments[:needed])


def _each(change: Callable[[str], str], words: str) -> str:
    return " ".join(change(word) for word in words.split())


def _patsubst(old: str, new: str, words: str) -> str:
    if UNKNOWN in words:
        return UNKNOWN
    before, _, after = old.partition("%")

    def changed(word: str) -> str:
        if not (word.startswith(before) and word.endswith(after)) or "$" in word:
            return word if "$" not in word else UNKNOWN
        stem = word[len(before) : len(word) - len(after)]
        return new.replace("%", stem) if "%" in old else (new if word == old else word)

    return _each(changed, words)


_FUNCTIONS: Mapping[str, tuple[int, Callable[..., str]]] = {
    "wildcard": (1, lambda words: words),
    "sort": (1, lambda words: words),
    "strip": (1, lambda words: words),
    "firstword": (1, lambda words: words),
    "lastword": (1, lambda words: words),
    "abspath": (1, lambda words: words),
    "realpath": (1, lambda words: words),
    "filter": (2, lambda _, words: words),
    "filter-out": (2, lambda _, words: words),
    "notdir": (1, lambda words: _each(posixpath.basename, words)),
    "dir": (1, lambda words: _each(lambda w: posixpath.dirname(w) or ".", words)),
    "basename": (1, lambda words: _each(lambda w: posixpath.splitext(w)[0], words)),
    "addprefix": (2, lambda prefix, words: _each(lambda w: prefix + w, words)),
    "addsuffix": (2, lambda suffix, words: _each(lambda w: w + suffix, words)),
    "subst": (3, lambda old, new, words: words.replace(old, new) if old else words),
    "patsubst": (3, _patsubst),
}
"""How many arguments a function needs, and what it gives, or a text with all of that in it."""


def _is_general(rule: _Rule) -> bool:
    """Whether the rule is for many targets: ``%.o: %.c``, ``.c.o:``."""
    return any("%" in t or (t.startswith(".") and t != ".PHONY") for t in rule.targets)


def _automatic(rule: _Rule) -> dict[str, str]:
    """The variables that make sets for a rule."""
    targets = [target.replace("%", BELOW) for target in rule.targets]
    wanted = [name.replace("%", BELOW) for name in rule.prerequisites]
    found = {"*": NAME}
    plain = {"@": targets[:1] if len(targets) == 1 else targets, "<": wanted[:1]}
    for name, words in {**plain, "^": wanted, "+": wanted, "?": wanted, "%": []}.items():
        found[name] = " ".join(words)
        found[f"{name}D"] = " ".join(posixpath.dirname(word) or "." for word in words)
        found[f"{name}F"] = " ".join(posixpath.basename(word) for word in words)
    return found


def _lines(text: str) -> Iterator[str]:
    """The lines, those that a backslash continues joined."""
    held = ""
    for line in text.split("\n"):
        whole = held + (line.lstrip("\t") if held.startswith("\t") else line)
        if len(line) - len(line.rstrip("\\")) & 1:
            held = whole + "\n" if whole.startswith("\t") else whole[:-1].rstrip() + " "
            continue
        held = ""
        yield whole
    if held:
        yield held


def _end(text: str, opening: int) -> int:
    """Where the parenthesis or brace at ``opening`` closes, or the end of the text."""
    opener, closer = text[opening], _CLOSERS[text[opening]]
    depth = 0
    for index in range(opening, len(text)):
        if text[index] == opener:
            depth += 1
        elif text[index] == closer:
            depth -= 1
            if not depth:
                return index
    return len(text)


def _arguments(text: str) -> list[str]:
    """The arguments of a function, between commas that stand in no parentheses."""
    found = [""]
    depth = 0
    for character in text:
        depth += (character in "({") - (character in ")}")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found
