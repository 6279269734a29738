"""PHP, for ``php -r``."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline import scripting
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.scripting import Call, Language, Reader, uses
from ringfence.engine.shell.inline.tokens import Lexis
from ringfence.grammar.regex import compiled
from ringfence.rules.model import is_known


def _call_by_name(reader: Reader, call: Call) -> bool:
    """``call_user_func("unlink", …)``."""
    for name in reader.values(call.arguments[0]) if call.arguments else ():
        if is_known(name):
            reader.look(Call(name, call.arguments[1:], call.start, call.end))
        else:
            reader.findings.opaque("a php function that is only known at run time")
    return True


LANGUAGE = Language(
    name="php",
    lexis=Lexis(
        name=compiled(r"\$?[A-Za-z_\\]\w*(?:\\\w+)*"),
        comment=compiled(r"//[^\n]*|#(?!\[)[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL),
        quotes={"'": "text", '"': "raw", "`": "shell"},
    ),
    concatenation=".",
    functions=uses(
        {
            "read:0": "file_get_contents file readfile scandir opendir dir parse_ini_file "
            "simplexml_load_file highlight_file show_source chdir readlink getimagesize md5_file "
            "sha1_file SplFileObject DirectoryIterator RecursiveDirectoryIterator",
            "read:1": "hash_file",
            "test:0": "is_file file_exists is_dir is_readable is_writable is_link is_executable "
            "filesize filemtime fileperms stat lstat realpath disk_free_space",
            "write:0": "file_put_contents mkdir touch chmod chown tempnam SQLite3",
            "delete:0": "unlink rmdir",
            "delete:0 write:1": "rename move_uploaded_file",
            "read:0 write:1": "copy",
            "unknown:0 write:1": "symlink link",
            "mode:0:1": "fopen gzopen",
        }
    ),
    shells=frozenset(("exec", "system", "shell_exec", "passthru", "popen", "proc_open")),
    runners=frozenset(),
    plain_runners=frozenset(("pcntl_exec",)),
    evaluators=frozenset(("eval", "assert", "create_function")),
    results={
        "getenv": "environment",
        "$_ENV": "environment",
        "$_SERVER": "environment",
        "$argv": "parameters",
        "dirname": "dirname",
        "basename": "basename",
        "realpath": "resolve",
        "getcwd": "directory",
        "sys_get_temp_dir": "temporary",
        "glob": "glob",
        "time": "number",
        "getmypid": "number",
        "scandir": "names",
    },
    constants={"__DIR__": "directory", "DIRECTORY_SEPARATOR": "/"},
    interpolation=compiled(r"\{(?P<code>\$[^{}]*)\}|(?P<name>\$[A-Za-z_]\w*)(?:\[[^]]*\]|->\w+)?"),
    bare_names=frozenset(("include", "include_once", "require", "require_once")),
    globs=frozenset(("glob",)),
    special={"call_user_func": _call_by_name},
    loads=frozenset(("include", "include_once", "require", "require_once")),
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    scripting.inspect(LANGUAGE, program, findings)
