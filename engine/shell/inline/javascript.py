"""JavaScript and TypeScript, for ``node -e``, ``bun -e``, ``deno eval``."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline import scripting
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.scripting import Call, Language, Reader, uses
from ringfence.engine.shell.inline.tokens import Lexis
from ringfence.grammar.regex import compiled

_LEXIS = Lexis(
    name=compiled(r"#?[A-Za-z_$][\w$]*"),
    comment=compiled(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\A#![^\n]*", re.DOTALL),
    quotes={"'": "escaped", '"': "escaped", "`": "raw"},
    regexes=True,
    operand_names=frozenset(
        ("return", "typeof", "case", "in", "of", "delete", "void", "throw", "await", "else", "do")
    ),
)

_FILES = {
    "read:0": "readFile readdir readlink opendir createReadStream openAsBlob watch watchFile "
    "readJson readJSON",
    "test:0": "stat lstat statfs access exists realpath pathExists",
    "write:0": "writeFile appendFile mkdir mkdtemp chmod chown lchown utimes truncate "
    "createWriteStream outputFile writeJson writeJSON outputJson ensureDir ensureFile emptyDir",
    "delete:0": "unlink rm rmdir remove",
    "delete:0 write:1": "rename move",
    "read:0 write:1": "copyFile cp copy",
    "unknown:0 write:1": "symlink link",
    "mode:0:1": "open",
}
_MODULES = ("fs", "fs.promises", "fs/promises", "fs-extra", "graceful-fs", "fsp", "fsPromises")

_FUNCTIONS = uses(
    {
        use: " ".join(
            [f"{module}.{name}" for module in _MODULES for name in names.split()]
            + [f"*.{name}Sync" for name in names.split()]
        )
        for use, names in _FILES.items()
    },
    {
        "read:0": "Deno.readTextFile Deno.readFile Deno.readDir Deno.readTextFileSync Bun.file "
        "Deno.readDirSync process.chdir Deno.chdir child_process.fork *.loadEnvFile",
        "test:0": "Deno.stat Deno.lstat Deno.statSync",
        "write:0": "Deno.writeTextFile Deno.writeFile Deno.mkdir Deno.writeTextFileSync Bun.write "
        "better-sqlite3 sqlite.DatabaseSync bun:sqlite.Database sqlite3.Database",
        "mode:0:1": "Deno.open",
        "delete:0": "Deno.remove Deno.removeSync",
        "delete:0 write:1": "Deno.rename",
        "read:0 write:1": "Deno.copyFile",
    },
)


def _dollar(reader: Reader, call: Call) -> bool:
    """``$`…` `` of bun and zx runs a command; ``$(…)`` is something else."""
    token = reader.tokens[call.arguments[0][0]] if call.arguments else None
    if token is not None and token.kind == "raw":
        for text in reader.interpolated(token):
            reader.findings.shell(text, (token.start, token.end), "javascript $`…`")
    return True


LANGUAGE = Language(
    name="javascript",
    lexis=_LEXIS,
    concatenation="+",
    functions=_FUNCTIONS,
    shells=frozenset(
        (
            "child_process.exec",
            "child_process.execSync",
            "*.execSync",
            "shelljs.exec",
            "execa.command",
        )
    ),
    runners=frozenset(),
    plain_runners=frozenset(
        (
            *("child_process.spawn", "child_process.execFile", "*.spawnSync", "*.execFileSync"),
            *("execa", "execa.execa", "Bun.spawn", "Deno.Command"),
        )
    ),
    evaluators=frozenset(("eval", "Function", "vm.runInThisContext", "vm.runInNewContext")),
    results={
        **dict.fromkeys(("path.join", "path.posix.join"), "join"),
        **dict.fromkeys(("path.resolve", "path.posix.resolve", "fs.realpathSync"), "resolve"),
        **dict.fromkeys(("path.normalize", "String", "url.fileURLToPath", "fileURLToPath"), "same"),
        "path.dirname": "dirname",
        "path.basename": "basename",
        "os.homedir": "home",
        "os.tmpdir": "temporary",
        "process.cwd": "directory",
        "process.env": "environment",
        "Bun.env": "environment",
        "Deno.env.get": "environment",
        "process.argv": "parameters",
        "Bun.argv": "parameters",
        "Deno.args": "parameters",
        "Date.now": "number",
        "process.pid": "number",
        "fs.readdirSync": "names",
    },
    constants={"__dirname": "directory", "true": "true", "false": "false"},
    interpolation=compiled(r"\$\{(?P<code>(?:[^{}]|\{[^{}]*\})*)\}"),
    loads=frozenset(("require", "import", "require.resolve")),
    special={"$": _dollar},
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    scripting.inspect(LANGUAGE, program, findings)
