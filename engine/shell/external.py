"""Programs: what the knowledge about commands says that they touch, run and print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ringfence.engine.filesystem import Kind
from ringfence.engine.paths import join, kernel_path, real_path
from ringfence.engine.shell import (
    environment,
    expansion,
    files,
    inputs,
    links,
    nested,
    projects,
    scripts,
    startup,
    trees,
)
from ringfence.engine.shell.call import Call
from ringfence.engine.shell.origin import Origin
from ringfence.engine.shell.outcome import Outcome
from ringfence.engine.shell.outputs import output
from ringfence.engine.shell.state import State, Variable, outputs
from ringfence.engine.shell.tidy import is_tidy
from ringfence.grammar.records import evolve
from ringfence.grammar.regex import compiled
from ringfence.rules.commands import usage
from ringfence.rules.model import UNKNOWN, Field, Operation
from ringfence.rules.usage import CommandUse, PathUse, ProgramUse, Usage

_KEEPERS = frozenset(("chgrp", "chmod", "chown", "touch"))  # they leave the text as it is
_COPIERS = frozenset(("cp", "install", "mv"))
_DOWNLOADERS = frozenset(("curl", "wget"))
_ASSIGNED = compiled(r"[A-Za-z_]\w*=")
_REMOTE_NAME = compiled(r"--remote-name|-[A-Za-z#]*[OJ]")
_BUILDERS = frozenset(
    [
        "ar",
        "as",
        "c++",
        "cargo",
        "cc",
        "clang",
        "clang++",
        "cmake",
        "dotnet",
        "esbuild",
        "g++",
        "gcc",
        "ghc",
        "git",
        "go",
        "gradle",
        "jar",
        "javac",
        "kotlinc",
        "ld",
        "link",
        "make",
        "mvn",
        "nim",
        "ninja",
        "npm",
        "npx",
        "pnpm",
        "poetry",
        "protoc",
        "python",
        "python3",
        "rustc",
        "scalac",
        "swc",
        "swiftc",
        "tsc",
        "uv",
        "webpack",
        "yarn",
        "zig",
        "autopep8",
        "biome",
        "black",
        "clang-format",
        "eslint",
        "gofmt",
        "goimports",
        "isort",
        "prettier",
        "ruff",
        "rustfmt",
        "shfmt",
        "yapf",
    ]
)
"""What they write comes from the project's own sources, not from the command's words."""
_NEVER_FAIL = frozenset(("echo",))


def execute(call: Call) -> Outcome:
    """Evaluate a program with its arguments."""
    head, state = call.argv[0], call.state
    if not head.text:
        return call.fails()
    if head.text.startswith(UNKNOWN) or (UNKNOWN in head.text and "/" not in head.text):
        call.unknown("which command runs is only known at run time", head)
        state.changed = True
    own = environment.own_variables(call)
    use = usage(call.argv, own)
    program = _Program(call, use, (*call.argv, *own))
    before = state.output
    if before:
        state.output = ("",)
    scripts.command_word(call, head)
    projects.look(call)
    program.run()
    if not is_tidy(call.argv, use):
        state.changed = True
    inner, state.output = state.output, before
    printed = _printed(call) if before else ""
    if printed is not None:
        state.write(printed)
    elif use.commands or any(program.language == "bash" for program in use.programs):
        state.output = outputs(a + b for a in before for b in inner)
    else:
        state.write(UNKNOWN)
    if call.name in _NEVER_FAIL:
        return call.succeeds()
    return call.either()


def _printed(call: Call) -> str | None:
    return output(call.argv, call.state.input, scripts.context(call))


# --- what its arguments say --------------------------------------------------------------------


class _Program:
    """A program's call with what is known of its arguments."""

    def __init__(self, call: Call, use: Usage, fields: Sequence[Field]) -> None:
        self.call = call
        self.use = use
        self.fields = fields  # the arguments, and behind them the environment
        self.heard = self._heard()  # before anything runs that may change the files

    def run(self) -> None:
        """Record all that the program touches, and evaluate all that it runs."""
        for path in self.use.paths:
            if path.argument < self.heard or path.argument >= len(self.call.argv):
                self.path(path)
        if self.use.command in _DOWNLOADERS:
            self.downloads()
        if self.use.command in links.MAKERS:
            links.remember(self.call, self.use)
        for program in self.use.programs:
            self.program(program)
        for command in self.use.commands:
            self.command(command)
        for reason, index in self.use.opaque:
            self.call.unknown(f"{self.use.command}: {reason}", self.fields[index], runs=True)

    def path(self, path: PathUse) -> None:
        """Record a path, and look into it if it is a script."""
        call = self.call
        at = self.fields[path.argument]
        text = path.path
        if path.tilde and (text == "~" or text.startswith("~/")):
            text = (expansion.home(call.world, "") or UNKNOWN) + text[1:]
        if path.names:
            self.names(path, at)
            if text == "-":
                return
        if files.is_open(call.state, text):
            call.run.recorder.reopened(text, path.operation, at, self.use.command)
            if path.operation is Operation.EXECUTE:
                self.opened_script(text, at, path)
            elif path.operation is Operation.WRITE:
                files.write(call.state, text, None)
            return
        absolute = call.run.recorder.effect(
            text,
            path.operation,
            evolve(at, glob=True) if path.glob else at,
            self.use.command,
            self.base(path),
            possible=path.possible,
            there=path.there,
            follow=path.follow,
            tree=path.recursive,
            fact=path.fact,
        )
        if absolute is None:
            return
        if path.through:
            self.through(path, absolute, at)
        if path.operation in (Operation.WRITE, Operation.DELETE):
            self.written(absolute)
        if path.operation is Operation.EXECUTE and path.argument > 0:
            with self.without(path.argument):
                scripts.run(call, absolute, at, self.parameters(path), path.language)

    def parameters(self, path: PathUse) -> Sequence[Field]:
        """The words that a script receives."""
        call = self.call
        if path.language == "make":
            return projects.make_words(call)
        behind = call.argv[path.argument + 1 :]
        if path.language == "awk":  # `-v name=value` stands before
            return [w for w in call.argv[1 : path.argument] if _ASSIGNED.match(w.text)] + behind
        return behind

    def through(self, path: PathUse, absolute: str, at: Field) -> None:
        """Record the links below a directory that the program follows out of the project."""
        recorder, changes = self.call.run.recorder, path.operation is not Operation.READ
        others = [
            kernel_path(join(self.base(other), other.path), recorder.filesystem)
            for other in self.use.paths
            if path.paired and other.paired and other.path != path.path
        ]
        root = real_path(absolute, recorder.filesystem)
        for link in trees.leading_out(
            absolute,
            path.path,
            recorder.cwd,
            recorder.filesystem,
            deep=path.recursive,
            hidden=path.hidden,
            changes=changes,
            excluded=path.excluded,
        ):
            beside = [f"{other}{link.removeprefix(root)}" for other in others]
            if any(recorder.filesystem.kind(place) is Kind.MISSING for place in beside):
                continue
            recorder.effect(
                link,
                path.operation,
                at,
                self.use.command,
                "/",
                possible=True,
                tree=path.recursive,
                fact=f"a link below `{path.path}`, which {self.use.command} follows",
            )

    def _heard(self) -> int:
        """How many arguments anything looks at: none behind a script that never does."""
        call, everything = self.call, len(self.call.argv)
        head = call.argv[0].text
        if not self.use.known and "/" in head and UNKNOWN not in head:
            path = kernel_path(join(call.world.directory, head), call.run.filesystem)
            return 1 if scripts.ignores_arguments(call, path, None) else everything
        executed = [
            path for path in self.use.paths if path.operation is Operation.EXECUTE and path.argument
        ]
        # Of several, one may be what `--rcfile` names, and another gets the arguments.
        script = executed[0] if len(executed) == 1 and not self.use.programs else None
        if script is None or script.path.startswith(UNKNOWN):
            return everything
        path = kernel_path(join(self.base(script), script.path), call.run.filesystem)
        ignores = scripts.ignores_arguments(call, path, script.language)
        return script.argument + 1 if ignores else everything

    def names(self, path: PathUse, at: Field) -> None:
        """Record the paths that a file lists, or standard input."""
        call = self.call
        if path.path == "-":
            text: str | None = call.state.input
        else:
            text = files.listing(
                call.world, kernel_path(join(self.base(path), path.path), call.run.filesystem)
            )
        if text is None:
            return  # no such file, or one outside, which is asked about itself
        if text == UNKNOWN:
            call.unknown(f"{self.use.command} reads names that are only known at run time", at)
            return
        fact = f"listed in {path.path}" if path.path != "-" else "listed on standard input"
        for name in inputs.listed(text):
            call.run.recorder.effect(
                name,
                path.operation,
                evolve(at, glob=False),
                self.use.command,
                self.base(path),
                fact=fact,
            )

    def opened_script(self, name: str, at: Field, path: PathUse) -> None:
        """Evaluate a script that a process substitution or a descriptor holds."""
        call = self.call
        text = files.read(call.world, name)
        parameters = self.parameters(path)
        if path.language == "bash" or text == UNKNOWN:
            given = startup.given_options(call.argv)
            nested.child(
                call.run, call.state, text, at, parameters=parameters, name=name, options=given
            )
        elif path.language is not None:
            scripts.inspect(call, self.use.command, path.language, text, at, parameters)

    def base(self, path: PathUse) -> str:
        """The directory that a path starts from."""
        directory = self.call.world.directory
        if path.base is None:
            return directory
        if path.base.startswith(UNKNOWN):
            return UNKNOWN
        return kernel_path(join(directory, path.base), self.call.run.filesystem)

    def downloads(self) -> None:
        """Remember the files that a download names itself, by the end of its address."""
        words = [word.text for word in self.call.arguments]
        if self.use.command == "curl" and not any(map(_REMOTE_NAME.match, words)):
            return
        for word in words:
            name = word.partition("?")[0].rpartition("/")[2]
            if "/" in word and name and not word.startswith("-"):
                path = join(self.call.world.directory, name)
                files.write(self.call.state, path, UNKNOWN)

    def written(self, path: str) -> None:
        """Remember that the program has changed ``path``."""
        state = self.call.state
        if self.use.command == "mkdir":
            files.make_directory(state, path)
        elif self.use.command == "tee":
            files.write(state, path, state.input)
        elif self.use.command in _COPIERS:
            operands = [word.text for word in self.call.arguments if not word.text.startswith("-")]
            files.write(
                state, path, scripts.read(self.call, operands[0]) if len(operands) == 2 else None
            )
        elif self.use.command in _DOWNLOADERS:
            files.write(state, path, UNKNOWN)
        elif self.use.command in _BUILDERS:
            files.build(state, path)
        elif self.use.command not in _KEEPERS:
            files.write(state, path, None)

    def program(self, program: ProgramUse) -> None:
        """Look into a program in an argument, or on standard input."""
        call, state = self.call, self.call.state
        at = self.fields[program.argument]
        text = program.text
        if text is None:
            text, state.input = state.input, ""
            at = evolve(at, span=state.input_at or at.span)
        if program.language == "bash":
            name, *parameters = program.parameters or (Field("bash", at.span),)
            recorder = call.run.recorder
            with self.without(program.argument), recorder.stands_in(self.origin(program.argument)):
                given = startup.given_options(call.argv)
                nested.child(
                    call.run, state, text, at, parameters=parameters, name=name.text, options=given
                )
        elif text.strip():
            self.inspect(program, text, at)

    @contextmanager
    def without(self, argument: int) -> Iterator[None]:
        """Within, the variable of the environment that ``argument`` is, if it is one, is not set.

        What ``$EDITOR`` runs would find itself there again.
        """
        name = self.fields[argument].text.partition("=")[0]
        variables_ = self.call.state.variables
        hidden = variables_.pop(name, None) if argument >= len(self.call.argv) else None
        try:
            yield
        finally:
            if hidden is not None:
                variables_[name] = hidden

    def origin(self, argument: int) -> Origin | None:
        """Where the text of an argument comes from: that of the environment from a variable."""
        known = self.call.run.recorder.origin
        if known is not None or argument < len(self.call.argv):
            return known
        return Origin(f"${self.fields[argument].text.partition('=')[0]}")

    def inspect(self, program: ProgramUse, text: str, at: Field) -> None:
        """Record what a program in another language touches."""
        given = [Field(f"{name}={value}", at.span) for name, value in program.variables]
        parameters = (*given, *program.parameters)  # awk takes both forms alike
        if program.language == "make":
            parameters = tuple(projects.make_words(self.call))
        scripts.inspect(self.call, self.use.command, program.language, text, at, parameters)

    def command(self, command: CommandUse) -> None:
        """Evaluate a command that the program runs."""
        if not command.words:
            return
        takes_input = command.appends_input or command.placeholder is not None
        if not takes_input:
            self.run_command(command, command.words, self.call.state.input)
            return
        text = self.call.state.input
        if command.input_file is not None:
            read = scripts.read(self.call, command.input_file)
            text = UNKNOWN if read is None else read
        recorder = self.call.run.recorder
        origin = recorder.origin or Origin(f"input of {self.use.command}")
        with recorder.stands_in(origin):
            for words in inputs.filled(command, text, self.call.argv[0]):
                self.run_command(command, words, "")

    def run_command(self, command: CommandUse, words: Sequence[Field], text: str) -> None:
        """Evaluate one command that the program runs, in a process of its own."""
        call, run = self.call, self.call.run
        span = (words[0].span[0], max(word.span[1] for word in words))

        def body(inner: State) -> Outcome:
            if command.clears_environment:
                inner.variables = {}
            for name in command.unset:
                inner.variables.pop(name, None)
            if command.directory is not None:
                # What `$PWD` says is not true any more, and bash looks where it is.
                inner.change_directory(self.directory(command.directory))
            if (
                command.directory is not None
                or command.clears_environment
                or "PWD" in command.unset
            ):
                nested.forget_name(run, inner)
            if command.other_user:
                _at_another_home(inner)
            for name, value in command.assignments:
                if name.startswith("BASH_FUNC_"):
                    run.recorder.unknown(
                        f"{name} is a function that bash takes over", words[0], runs=True
                    )
                steps = (f"`${name}` was set to `{expansion.shown(value)}`",)
                inner.variables[name] = Variable((value,), exported=True, steps=steps)
            inner.input = text
            return run.walker.arguments(words, inner, span)

        with run.nested():
            nested.process(run, call.state, body)

    def directory(self, text: str) -> str:
        """The directory that a nested command runs in."""
        if text.startswith(UNKNOWN):
            return UNKNOWN
        return kernel_path(join(self.call.world.directory, text), self.call.run.filesystem)


def _at_another_home(state: State) -> None:
    """``sudo`` may keep ``$HOME`` or set it to that of root."""
    held = state.variables.get("HOME") or Variable(())
    state.variables["HOME"] = Variable((*held.values, "/root"), exported=True, steps=held.steps)
