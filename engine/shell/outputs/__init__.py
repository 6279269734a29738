"""The standard output of commands that only print: ``echo``, ``pwd``, ``dirname``, ``find``….

`output` says what a command prints as far as that can be known from its arguments, its input and
the file system; a text may hold the unknowns of ``rules.model``. To teach it a command, write a
function from an `Invocation` to a text, or None, and add it to `OUTPUTS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ringfence.engine.shell.outputs import filters, git, listings, places, printing, values
from ringfence.engine.shell.outputs.call import Context, Invocation
from ringfence.rules.model import Field

__all__ = ["OUTPUTS", "Context", "Invocation", "output"]

OUTPUTS: Mapping[str, Callable[[Invocation], str | None]] = {
    "arch": values.name,
    "base64": filters.base64_filter,
    "basename": places.basename,
    "cat": filters.cat,
    "cut": filters.cut,
    "date": values.date,
    "dirname": places.dirname,
    "echo": printing.echo,
    "expr": values.expr,
    "fd": listings.fd,
    "fdfind": listings.fd,
    "find": listings.find,
    "gdate": values.date,
    "getconf": values.name,
    "git": git.git,
    "grep": lambda call: listings.grep(call) or filters.grep(call),
    "head": filters.head,
    "hostname": values.name,
    "id": values.name,
    "logname": values.user,
    "ls": listings.ls,
    "mktemp": places.mktemp,
    "nproc": values.name,
    "pgrep": values.name,
    "pidof": values.name,
    "printenv": values.printenv,
    "printf": printing.printf,
    "pwd": places.pwd,
    "readlink": places.readlink,
    "realpath": places.realpath,
    "rev": filters.rev,
    "rg": listings.rg,
    "sed": filters.sed,
    "seq": values.seq,
    "sort": filters.sort,
    "stat": values.stat,
    "tac": filters.tac,
    "tail": filters.tail,
    "tee": filters.tee,
    "tput": values.name,
    "tr": filters.tr,
    "uname": values.name,
    "uniq": filters.uniq,
    "uuidgen": values.name,
    "wc": filters.wc,
    "whoami": values.user,
    "xxd": filters.xxd,
}
"""What each command prints, by its name."""

QUIET = frozenset(
    ("true", "false", ":", "test", "[", "sleep", "mkdir", "touch", "rm", "rmdir", "cp", "mv", "ln")
)
"""Commands that print nothing unless an option asks for it."""


def output(argv: Sequence[Field], stdin: str | None, context: Context) -> str | None:
    """What ``argv`` prints on standard output, or None if that is not known.

    ``stdin`` is the text on standard input, which may hold unknowns, or None. A line with an
    unknown stands for any number of such lines.
    """
    name = argv[0].text.rpartition("/")[2]
    if name in QUIET:
        verbose = any(field.text.startswith("-") and "v" in field.text for field in argv[1:])
        return None if verbose else ""
    known = OUTPUTS.get(name)
    if known is None:
        return None
    if name != "echo" and any(field.several for field in argv[1:]):
        return None
    return known(Invocation(tuple(argv[1:]), stdin, context))
