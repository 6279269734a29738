"""Perl, for ``perl -e`` and its kin."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline import scripting
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.scripting import Call, Language, Reader, uses
from ringfence.engine.shell.inline.tokens import (
    Lexis,
    Quote,
    Token,
    closing,
    here_document,
    operand_fits,
)
from ringfence.grammar.regex import compiled
from ringfence.rules.model import UNKNOWN, Operation

_OPERANDS = frozenset(
    ("print", "return", "and", "or", "not", "if", "unless", "split", "grep", "map", "join", "push")
)
_QUOTATION = compiled(r"(qq|qw|qx|qr|q|m|s|tr|y)\b(?=[ \t]*([^\w\s]))")
_MODE = compiled(r"\s*(\+?[<>]{1,2}|\|)?\s*(.*?)\s*(\|)?\s*", re.DOTALL)


def _quote_like(text: str, at: int, before: Token | None) -> Quote | None:
    """``q{}``, ``qq{}``, ``qw()``, ``qx{}``, ``m{}``, ``s{}{}``, ``tr///`` and here-documents."""
    if before is not None and before.kind == "operator" and before.text in ("->", "::"):
        return None
    if text.startswith("<<", at) and operand_fits(before, _OPERANDS):
        return here_document(text, at)
    match = _QUOTATION.match(text, at)
    if (
        match is None
        or match[2] in "=,;)"
        or (match[2] == "}" or text[at - 1 : at] in ("$", "@", "%", "&"))
    ):
        return None
    start = match.start(2)
    end = closing(text, start)
    content = text[start + 1 : end - 1]
    kind = {"q": "text", "qq": "raw", "qw": "words", "qx": "shell"}.get(match[1], "regex")
    if match[1] not in ("s", "tr", "y"):
        flags = re.compile(r"[a-z]*").match(text, end) if kind == "regex" else None
        return Quote(kind, content, flags.end() if flags else end)
    return _substitution(text, match[1], start, end)


def _substitution(text: str, name: str, start: int, end: int) -> Quote:
    """The second half of ``s///`` or ``tr///``; with the flag ``e`` it is code."""
    if text[start] in "([{<":
        second = re.compile(r"\s*").match(text, end)
        begin = second.end() if second else end
    else:
        begin = end - 1
    finish = closing(text, begin) if begin < len(text) else end
    flags = re.compile(r"[a-z]*").match(text, finish)
    letters = flags[0] if flags else ""
    code = text[begin + 1 : finish - 1] if name == "s" and "e" in letters else ""
    return Quote("regex", "", finish + len(letters), code, begin + 1)


def _open(reader: Reader, call: Call) -> bool:
    """``open(HANDLE, mode, path)``, or with the mode and path in one."""
    by = "perl open()"
    if len(call.arguments) < 2:
        return True
    modes = reader.values(call.arguments[1])
    span = reader.span(call.arguments[-1])
    for mode in modes:
        if len(call.arguments) == 2:
            match = _MODE.fullmatch(mode)
            sign, path, pipe = match.groups() if match else (None, mode, None)
        else:
            path, sign, pipe = "", mode.strip(), None
        if pipe or (sign == "|" and path):
            reader.findings.shell(path, span, by)
        elif sign in ("-|", "|-"):
            texts = [reader.values(argument) for argument in call.arguments[2:]]
            words = [text[0] if len(text) == 1 else UNKNOWN for text in texts]
            if len(words) == 1:
                reader.findings.shell(words[0], span, by)
            else:
                reader.findings.command(words, span, by)
        else:
            writes = sign is not None and (">" in sign or "+" in sign)
            operation = Operation.WRITE if writes else Operation.READ
            if len(call.arguments) == 2:
                if path != "-":
                    reader.findings.path(path, operation, span, by)
            elif not _is_reference(reader, call):
                reader.opened(call.arguments[2], operation, by)
    return True


def _is_reference(reader: Reader, call: Call) -> bool:
    r"""Whether a text in memory is opened: ``open(F, "<", \$text)``."""
    return reader.operator(call.arguments[2][0]) == "\\"


def _block(reader: Reader, call: Call) -> bool:
    """``eval {…}`` and ``do {…}`` are blocks; ``require Module`` is no path."""
    start = call.arguments[0][0] if call.arguments else -1
    name = reader.name(start)
    return (
        not call.arguments or reader.operator(start) == "{" or (bool(name) and name[0] not in "$@")
    )


def _rest(reader: Reader, call: Call) -> bool:
    """``chmod mode, path…``, ``chown user, group, path…``, ``utime …``."""
    skipped = 1 if call.name == "chmod" else 2
    for argument in call.arguments[skipped:]:
        reader.opened(argument, Operation.WRITE, f"perl {call.name}()")
    return True


def _look_at_name(reader: Reader, index: int) -> None:
    """``-e "/path"``, and ``@ARGV = (…)`` whose files ``<>`` reads."""
    token = reader.tokens[index]
    if token.text == "@ARGV" and reader.operator(index + 1) == "=":
        reader.opened((index + 2, reader.end_of(index + 2)), Operation.READ, "perl <>")
    if len(token.text) != 1 or token.text not in "erwxofdszlpSbcugktTBAMC":
        return
    before = reader.tokens[index - 2] if index > 1 else None
    minus = reader.operator(index - 1) == "-" and reader.tokens[index - 1].end == token.start
    if minus and operand_fits(before, _OPERANDS):
        following = reader.tokens[index + 1]
        if following.kind in ("text", "raw") or following.text[:1] == "$":
            reader.opened((index + 1, index + 2), Operation.TEST, f"perl -{token.text}")


LANGUAGE = Language(
    name="perl",
    lexis=Lexis(
        name=compiled(
            r"[$@%&]\$?(?:::)?[A-Za-z_]\w*(?:::\w+)*|\$#?\$?[A-Za-z_]\w*|\$[0-9&_!@/\\,;.0]"
            r"|[A-Za-z_]\w*(?:::\w+)*"
        ),
        comment=compiled(r"#[^\n]*|^=[a-z].*?(?:^=cut[^\n]*|\Z)", re.DOTALL | re.MULTILINE),
        quotes={"'": "text", '"': "raw", "`": "shell"},
        regexes=True,
        quote_like=_quote_like,
        operand_names=_OPERANDS,
    ),
    concatenation=".",
    functions=uses(
        {
            "read:0": "IO::Dir.new chdir readlink lib read_file slurp",
            "read:1": "opendir find File::Find::find finddepth",
            "test:0": "stat lstat",
            "write:0": "POSIX::open POSIX::creat mkdir truncate write_file make_path mkpath",
            "mode:0:1": "IO::File.new",
            "write:1": "sysopen",
            "delete:*": "unlink",
            "delete:0": "rmdir remove_tree rmtree",
            "delete:0 write:1": "rename move File::Copy::move",
            "read:0 write:1": "copy File::Copy::copy",
            "unknown:0 write:1": "symlink link",
        }
    ),
    shells=frozenset(("readpipe",)),
    runners=frozenset(("system", "exec")),
    evaluators=frozenset(("eval",)),
    results={
        "$ENV": "environment",
        "@ARGV": "parameters",
        "$ARGV": "parameters",
        "shift": "parameters",
        **dict.fromkeys(("File::Spec.catfile", "File::Spec.catdir", "catfile"), "join"),
        **dict.fromkeys(("dirname", "File::Basename::dirname"), "dirname"),
        **dict.fromkeys(("basename", "File::Basename::basename"), "basename"),
        **dict.fromkeys(("cwd", "getcwd", "Cwd::cwd", "Cwd::getcwd"), "directory"),
        "glob": "glob",
        "time": "number",
        "$$": "number",
    },
    interpolation=compiled(
        r"(?P<code>\$\w+(?:->)?[\[{][^\]}]*[\]}])|(?P<name>[$@][A-Za-z_]\w*|\$\d)|\$\{\w+\}|@\{[^}]*\}"
    ),
    bare_calls=True,
    globs=frozenset(("glob",)),
    loads=frozenset(("do", "require")),
    special={
        "open": _open,
        "CORE::open": _open,
        "eval": _block,
        "do": _block,
        "require": _block,
        "chmod": _rest,
        "chown": _rest,
        "utime": _rest,
    },
    stops=frozenset((";",)),
    look_at_name=_look_at_name,
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    scripting.inspect(LANGUAGE, program, findings)
