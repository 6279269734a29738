"""Ruby, for ``ruby -e``."""

from __future__ import annotations

import re

from ringfence.engine.shell.inline import scripting
from ringfence.engine.shell.inline.model import Findings, Program
from ringfence.engine.shell.inline.python_values import glob_root
from ringfence.engine.shell.inline.scripting import Call, Language, Reader, uses
from ringfence.engine.shell.inline.tokens import (
    Lexis,
    Quote,
    Token,
    closer_index,
    closing,
    here_document,
    operand_fits,
)
from ringfence.grammar.regex import compiled
from ringfence.rules.model import Operation

_OPERANDS = frozenset(("puts", "print", "p", "return", "and", "or", "not", "if", "unless", "when"))
_PERCENT = compiled(r"%([wWiIqQxr]?)(?=([^\w\s=]))")


def _quote_like(text: str, at: int, before: Token | None) -> Quote | None:
    """``%w[]``, ``%q()``, ``%x()``, ``%r{}`` and here-documents."""
    if not operand_fits(before, _OPERANDS) and (before is None or before.kind != "name"):
        return None
    if text.startswith("<<", at):
        return here_document(text, at)
    match = _PERCENT.match(text, at)
    if match is None or (not match[1] and match[2] not in "([{<"):
        return None
    start = match.start(2)
    end = closing(text, start)
    kinds = {"w": "words", "W": "words", "i": "words", "I": "words", "q": "text", "x": "shell"}
    kind = "regex" if match[1] == "r" else kinds.get(match[1], "raw")
    return Quote(kind, text[start + 1 : end - 1], end)


def _open(reader: Reader, call: Call) -> bool:
    """``open("|command")`` runs a command."""
    piped = False
    for value in reader.values(call.arguments[0]) if call.arguments else ():
        if value.startswith("|"):
            piped = True
            reader.findings.shell(value[1:], reader.span(call.arguments[0]), "ruby open()")
    return piped


def _block(reader: Reader, call: Call) -> bool:
    """``instance_eval do … end`` is given a block, no text."""
    return not call.arguments or reader.operator(call.arguments[0][0]) == "{"


def _directory_index(reader: Reader, index: int) -> None:
    """``Dir["/pattern"]``."""
    if reader.name(index) == "Dir" and reader.operator(index + 1) == "[":
        part = (index + 2, closer_index(reader.tokens, index + 1))
        for value in reader.values(part):
            reader.findings.path(glob_root(value), Operation.READ, reader.span(part), "ruby Dir[]")


LANGUAGE = Language(
    name="ruby",
    lexis=Lexis(
        name=compiled(r"(?:@{1,2}|\$)?[A-Za-z_]\w*[?!]?"),
        comment=compiled(r"#[^\n]*|^=begin.*?(?:^=end[^\n]*|\Z)", re.DOTALL | re.MULTILINE),
        quotes={"'": "text", '"': "raw", "`": "shell"},
        regexes=True,
        quote_like=_quote_like,
        operand_names=_OPERANDS,
    ),
    concatenation="+",
    functions=uses(
        {
            "read:0": "File.read File.readlines File.foreach File.binread File.readlink "
            "IO.read IO.readlines IO.foreach IO.binread CSV.read CSV.readlines CSV.foreach "
            "CSV.table Dir.entries Dir.children Dir.each_child Dir.chdir Dir.foreach Dir.open "
            "Dir.new YAML.load_file YAML.safe_load_file JSON.load_file",
            "test:0": "File.exist? File.file? File.directory? File.stat File.lstat File.size "
            "File.mtime File.symlink? File.readable? File.writable? File.executable? File.zero? "
            "File.realpath Dir.exist? Dir.empty? Pathname.new Pathname",
            "write:0": "File.write File.binwrite File.truncate IO.write Dir.mkdir "
            "FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs FileUtils.touch PStore.new "
            "SQLite3.Database.new",
            "write:1": "FileUtils.chmod FileUtils.chmod_R File.chmod",
            "delete:*": "File.delete File.unlink",
            "delete:0": "Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_r "
            "FileUtils.rm_f FileUtils.rm_rf FileUtils.remove FileUtils.rmdir "
            "FileUtils.remove_dir",
            "delete:0 write:1": "File.rename FileUtils.mv FileUtils.move",
            "read:0 write:1": "FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file "
            "FileUtils.install IO.copy_stream",
            "unknown:0 write:1": "File.symlink FileUtils.ln_s FileUtils.ln_sf FileUtils.symlink "
            "File.link FileUtils.ln FileUtils.link FileUtils.cp_lr",
            "mode:0:1": "File.open File.new open Kernel.open IO.sysopen CSV.open "
            "Zlib.GzipReader.open Zlib.GzipWriter.open",
        }
    ),
    shells=frozenset(),
    runners=frozenset(
        (
            *(
                "system",
                "exec",
                "spawn",
                "Kernel.system",
                "Kernel.exec",
                "Process.spawn",
                "IO.popen",
            ),
            *("Open3.capture2", "Open3.capture2e", "Open3.capture3", "Open3.popen3"),
        )
    ),
    evaluators=frozenset(("eval", "*.instance_eval", "*.class_eval", "*.module_eval")),
    results={
        "File.join": "join",
        "File.expand_path": "expand",
        "File.absolute_path": "resolve",
        "File.realpath": "resolve",
        "File.dirname": "dirname",
        "File.basename": "basename",
        "Dir.home": "home",
        "Dir.pwd": "directory",
        "Dir.tmpdir": "temporary",
        "Dir.glob": "glob",
        "Dir.children": "names",
        "Dir": "glob",
        "ENV": "environment",
        "ENV.fetch": "environment",
        "ARGV": "parameters",
        "Time.now.to_i": "number",
    },
    constants={"__dir__": "directory"},
    interpolation=compiled(r"#\{(?P<code>(?:[^{}]|\{[^{}]*\})*)\}"),
    bare_calls=True,
    globs=frozenset(("Dir.glob",)),
    loads=frozenset(("require_relative", "load", "require")),
    special={
        "open": _open,
        "Kernel.open": _open,
        "instance_eval": _block,
        "class_eval": _block,
    },
    look_at_name=_directory_index,
)


def inspect(program: Program, findings: Findings) -> None:
    """See `ringfence.engine.shell.programs.inspect_program`."""
    scripting.inspect(LANGUAGE, program, findings)
