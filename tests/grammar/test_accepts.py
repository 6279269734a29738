"""What is accepted and what refused, against ``bash -n``.

snippets.jsonl holds short scripts with the verdict of GNU bash 5.2 (exit status 0 and nothing
said but here-document warnings); each was met by a fault, by the fuzzer, or made to cover a form.
"""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from ringfence.grammar import caret, parse

SNIPPETS = [
    (row["text"], row["ok"])
    for row in map(json.loads, Path(__file__).with_name("snippets.jsonl").open(encoding="utf-8"))
]
BASH = shutil.which("bash")


def bash_version() -> str:
    if BASH is None:
        return ""
    return subprocess.run(
        [BASH, "-c", "echo $BASH_VERSION"], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(("text", "ok"), SNIPPETS)
def test_agrees_with_bash(text: str, ok: bool) -> None:
    """A script is accepted if and only if bash accepts it."""
    problem = parse(text).problem
    assert (problem is None) is ok, problem


@pytest.mark.skipif(not bash_version().startswith("5.2"), reason="needs bash 5.2")
def test_the_verdicts_are_those_of_bash() -> None:
    """The table says what this machine's bash says."""
    assert BASH is not None
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script")
        for text, ok in SNIPPETS:
            script.write_text(text, encoding="utf-8")
            done = subprocess.run(
                [BASH, "--norc", "--noprofile", "-n", str(script)],
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            said = re.sub(rb"(?ms)^[^\n]*warning: .*?here-document.*?$", b"", done.stderr)
            assert (done.returncode == 0 and not said.strip()) is ok, text


ERRORS = [
    (
        "for x in a; b; done",
        "for x in a; b; done\n            ^\nfound `b`, expected `do` or a newline",
    ),
    ("a | | b", "a | | b\n    ^\nfound `|`, expected a command or a newline"),
    (
        "if a; then b",
        "if a; then b\n            ^\nunexpected end: expected `fi` or `else` or an operator or a newline",
    ),
    (
        "cd x\nwhile a; do b; fi",
        "while a; do b; fi\n               ^^\nfound `fi`, expected `done`",
    ),
    ("echo 'a", "echo 'a\n     ^\nthe quote ' is not closed"),
    (
        "echo $(a; b",
        "echo $(a; b\n           ^\nunexpected end: expected `)` or an operator or a newline",
    ),
    ("f() a", "f() a\n    ^\nfound `a`, expected a compound command or a newline"),
    ("[[ a b ]]", "[[ a b ]]\n     ^\nfound `b`, expected `]]` or a test operator or an operator"),
    ("x=(a;b)", "x=(a;b)\n    ^\nfound `;`, expected `)` or a word"),
    ("then a", "then a\n^^^^\nfound `then`, expected a command or a newline"),
    ("a[1 b", "a[1 b\n^^\nthe `[` of the subscript is not closed"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), ERRORS)
def test_error_is_shown_with_a_caret(text: str, shown: str) -> None:
    """An error says what was found, what could have stood there, and where."""
    problem = parse(text).problem
    assert problem is not None
    assert caret(text, problem.found, problem.message) == shown


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb c\n)\nd", 2),
        ("a; b)\nc", 0),
        ("a\n)", 1),
        ("if a\n", 0),
        ("a\n'b", 1),
        (")", 0),
        ('a"', 0),
        ("a\n\n;", 1),
    ],
)
def test_lines_before_an_error_are_kept(text: str, lines: int) -> None:
    """Bash has run the complete lines before it finds an error."""
    script = parse(text)
    assert script.problem is not None
    assert len(script.body.items) == lines
    assert script.problem.span[1] == len(text)
