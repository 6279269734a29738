"""Differential fuzzing of the grammar against ``bash -n``.

    python tests/fuzz/fuzz_bash.py --minutes 30 [--seed N] [--corpora DIR] [--found FILE]

Half of the scripts are derived from Ringfence's own grammar at random, half are made from seeds
(the snippets of tests/grammar and, with --corpora, the ``text`` of each line of its files) by
random edits. Where bash and Ringfence disagree, the script is shrunk and written to --found, one
JSON object a line; each shape is written once. Nothing is ever run: bash only reads (``-n``).

What was found becomes a line of tests/grammar/snippets.jsonl.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ringfence.grammar import TooComplex, parse
from ringfence.grammar import bash as grammar

HERE = Path(__file__).parent
BASH = shutil.which("bash") or "bash"
SAMPLES: dict[str, list[str]] = {
    "LITERAL": ["a", "b=c", "x", "1", "-f", "*", "a[1]", "~", "a#b", "{a,b}", "=", "]", "[", "!"],
    "ESCAPED": ["\\a", "\\ ", "\\;", "\\\\", "\\'"],
    "SINGLE_QUOTED": ["'a b'", "''", "'$x'"],
    "ANSI_QUOTED": ["$'a'", "$'\\''"],
    "BACKQUOTED": ["`a`", "`a \\`b\\``"],
    "VARIABLE": ["$a", "$1", "$@", "$?"],
    "COMMAND": ["$("],
    "PROCESS": ["<(", ">("],
    "ARITHMETIC": ["$((1))", "$((a + (b)))"],
    "ARITHMETIC_OLD": ["$[1]"],
    "ARITHMETIC_COMMAND": ["((1))", "((a; b))"],
    "PARAMETER": ["${"],
    "PARAMETER_NAME": ["a", "1", "@", "#", "?"],
    "PARAMETER_INDIRECT": ["!"],
    "PARAMETER_LENGTH": ["#"],
    "PARAMETER_OPERATOR": [":-", "-", "##", "/", "//", ":", "^^", "@Q", "%"],
    "PARAMETER_TEXT": ["a", " ", "*", ";", ")", "("],
    "PARAMETER_ESCAPED": ["\\}"],
    "PARAMETER_QUOTED": ["'a'"],
    "PARAMETER_BAD": ["."],
    "DQUOTE": ['"', '$"'],
    "DQUOTE_TEXT": ["a", " ", "'", ";", "("],
    "DQUOTE_ESCAPED": ['\\"', "\\$"],
    "SUBSCRIPT_TEXT": ["1", "a b", "@"],
    "BLANK": [" ", "\t", "  "],
    "ARRAY_BLANK": [" ", "\n", " # c\n"],
    "NEWLINE": ["\n", " # c\n", "\n\n"],
    "SEMI": [";", " ; "],
    "AMP": ["&", " & "],
    "AND_IF": ["&&", " && "],
    "OR_IF": ["||", " || "],
    "PIPE": ["|", " | "],
    "PIPE_AMP": ["|&"],
    "CLAUSE_END": [";;", ";&", ";;&"],
    "REDIRECT": [">", ">>", "<", "<>", ">&", "<&", ">|", "&>", "<<<"],
    "FD": ["2", "{a}"],
    "ASSIGN": ["a=", "a+="],
    "ASSIGN_ARRAY": ["a=("],
    "ASSIGN_ELEMENT": ["a["],
    "DECLARED_ELEMENT": ["a["],
    "ASSIGN_SIGN": ["=", "+="],
    "ASSIGN_SIGN_ARRAY": ["=("],
    "DECLARATION": ["declare", "export", "local", "eval"],
    "COPROC_NAME": ["n"],
    "UNARY_TEST": ["-f ", "-n "],
    "BINARY_TEST": ["-eq "],
    "MATCH_TEST": ["== ", "!= "],
    "REGEX_TEST": ["=~ "],
    "ORDER_TEST": [" < ", " > "],
    "PATTERN_TEXT": ["a", "*"],
    "REGEX_TEXT": ["a", "^b", "|", "[[:x:]]"],
    "REGEX_GROUP_TEXT": ["a b", "|", ";"],
    "EXTGLOB": ["@(", "!("],
    "EXTGLOB_TEXT": ["a", " ", "*"],
    "TIME_OPTION": ["-p"],
}
LITERALS = {
    "LPAR": "(", "RPAR": ")", "PARENS": "()", "LBRACE": "{ ", "RBRACE": "}", "BANG": "! ",
    "CONDITIONAL": "[[ ", "CONDITIONAL_END": " ]]", "CONDITION_NOT": "! ", "SUBSCRIPT": "[",
    "SUBSCRIPT_NESTED": "[", "SUBSCRIPT_END": "]", "PARAMETER_END": "}", "DQUOTE_END": '"',
    "ARRAY_KEY": "[", "EXTGLOB_LPAR": "(", "EXTGLOB_OR": "|", "EXTGLOB_END": ")",
    "REGEX_LPAR": "(", "REGEX_RPAR": ")", "BANG_ALONE": "!", "TIME_ALONE": "time",
}  # fmt: skip
COPROC = re.compile(
    r"coproc\s+\S+\s+[^;&|]*?\w(?:\[|\+?=\()"
    r"|coproc\s+\S*[$`]\S*\s+(?:[{(]|\[\[|if|while|until|for|select|case|function)"
    r"|coproc\s+\S+\s+(?:then|do|fi|done|elif|else|esac|in|\}|!|\]\])"
)
"""After `coproc WORD`, bash reads an array assignment where it otherwise reads a word, though what it
then runs is refused; and a reserved word that closes ends a command of one word: not followed."""
SILENT = re.compile(
    r"\[\[(?:[^\]]|\](?!\]))*(?:\[\[|&&|\|\||!|\(|\n)\s*\]\]|\[\[\s*\]\]|for(?:\s|\\\n)*\(\("
)
"""Where ``bash -n`` may stop reading without a word (`[[ ]]`, `[[ a && ]]`, `for ((` without
`))`): it says yes to anything behind, though bash runs none of it."""
OUTLIVED = re.compile(r"[$<>]\([^)]*(?<!<)<<(?!<)[^\n]*\)|\(\([^\n]*(?<!<)<<(?!<)")
"""A here-document in `((`, which bash reads ahead to see whether it is arithmetic; and one whose
substitution ends on its line: bash reads its text at once, in the middle of whatever stands around
it, and goes on behind its delimiter where the substitution ended."""
PATTERN = re.compile(r"(?:[?*+@!]|=~[^\n]*?)\([^\n]*?[$<>]\(")
"""``bash -n`` does not look into the substitutions of an extended pattern, or of a group behind `=~`;
bash runs them all the same, so they are read."""
TWICE = re.compile(r"\w\[[^\n]*[\"{][^\n]*\$\$[({]")
"""``a["$$("]``: bash looks through a subscript a second time, by other rules."""
BEHIND = re.compile(
    r"[<>][^;&|\n]*\s\w+(?:\[[^\n]*?\])?\+?=\([^)]*\w\["
    r"|\w(?:\[[^\n]*?\])?\+?=[^;&|\n]*[<>][^;&\n]*\s\w+\["
)
"""``>a y=(b[)``: in an array behind a redirection, bash looks for the end of a word's ``[``. And behind
an assignment and a redirection (``E=1 >f c[``), it reads no brackets."""
WARNING = re.compile(
    r"^[^\n]*?warning: (?:here-document (?s:.*?)\(wanted `(?s:.*?)'\)|[^\n]*unterminated here-document[^\n]*)$",
    re.MULTILINE,
)
NEVER = ("GROUP_DOLLAR", "HERE", "HERE_TEXT", "HERE_ESCAPED", "COMMAND_TEXT", "PROCESS_TEXT")
EDITS = [
    *";&|()<>{}[]!$`'\"\\#=*? \n\t~-",
    "&&", "||", ";;", "$(", "${", "((", "))", "[[", "]]", "<(", "<<E\n", "\nE\n", "<<<", ">&", "&>",
    " if ", " then ", " fi ", " do ", " done ", " in ", " esac ", " case ", " for ", " while ",
    " { ", " } ", " ! ", " time ", " function ", " coproc ", "a=(", " [[ ", " ]] ", "=~", "==",
    "\\\n", "$((", "a[", "]=", "+=", "2>", "{x}>", "@(", " declare ", "case x in a) ", "f() ",
]  # fmt: skip


def accepted_by_bash(text: str, folder: Path) -> bool:
    """The verdict of ``bash -n``: exit status 0 and nothing said but here-document warnings."""
    script = folder / "script"
    script.write_text(text, encoding="utf-8", errors="surrogateescape")
    done = subprocess.run(
        [BASH, "--norc", "--noprofile", "-n", str(script)],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        check=False,
    )
    said = WARNING.sub("", done.stderr.decode("utf-8", "replace"))
    return done.returncode == 0 and not said.strip()


def accepted_by_us(text: str) -> bool | str:
    try:
        return parse(text).problem is None
    except TooComplex:
        return "too complex"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"{type(error).__name__}: {error}"


class Derivation:
    """Random sentences of the grammar, kept small by preferring short rules when deep."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._rules: dict[str, list[tuple[str, ...]]] = {}
        for rule in grammar().tables.rules:
            if not any(name in rule.symbols for name in NEVER):
                self._rules.setdefault(rule.origin, []).append(rule.symbols)
        self._least: dict[str, int] = {}
        while True:
            before = dict(self._least)
            for origin, choices in self._rules.items():
                costs = [self._cost(symbols) for symbols in choices]
                self._least[origin] = 1 + min(costs)
            if before == self._least:
                break

    def _cost(self, symbols: tuple[str, ...]) -> int:
        return max((self._least.get(s, 50) for s in symbols if s in self._rules), default=0)

    def script(self) -> str:
        return self._expand("script", self._dice.randint(6, 22))

    def _expand(self, symbol: str, budget: int) -> str:
        choices = self._rules.get(symbol)
        if choices is None:
            return self._terminal(symbol)
        fitting = [c for c in choices if self._cost(c) < budget]
        symbols = self._dice.choice(fitting or [min(choices, key=self._cost)])
        return "".join(self._expand(s, budget - 1) for s in symbols)

    def _terminal(self, name: str) -> str:
        if name in SAMPLES:
            return self._dice.choice(SAMPLES[name])
        if name in LITERALS:
            return LITERALS[name]
        return f" {name.lower()} "  # a reserved word


def edited(dice: random.Random, seeds: list[str]) -> str:
    """A seed with one to three random edits."""
    text = dice.choice(seeds)
    for _ in range(dice.randint(1, 3)):
        place = dice.randint(0, len(text))
        kind = dice.randint(0, 5)
        if kind <= 2:
            text = text[:place] + dice.choice(EDITS) + text[place:]
        elif kind == 3:
            text = text[:place] + text[place + dice.randint(1, 3) :]
        elif kind == 4:
            end = min(len(text), place + dice.randint(1, 12))
            text = text[:place] + text[place:end] * 2 + text[end:]
        else:
            text = text[:place] + dice.choice(seeds)[dice.randint(0, 10) :]
    return text


def shrunk(text: str, differs: Callable[[str], bool]) -> str:
    """The text with everything left out that the difference does not need."""
    size = max(1, len(text) // 2)
    while size:
        place = 0
        while place < len(text):
            shorter = text[:place] + text[place + size :]
            if differs(shorter):
                text = shorter
            else:
                place += size
        size //= 2
    return text


def shape(text: str) -> str:
    """What makes two findings the same: names and blanks do not."""
    return re.sub(r"[A-Za-z0-9_]+", "a", re.sub(r"[ \t]+", " ", text))


def seeds_from(corpora: Path | None) -> list[str]:
    files = [HERE.parent / "grammar" / "snippets.jsonl"]
    if corpora is not None:
        files += sorted(p for p in corpora.glob("*.jsonl") if "sexp" not in p.name)
    return [text for path in files for text in _texts(path) if len(text) < 2000]


def _texts(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def main() -> None:
    import tempfile

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--minutes", type=float, default=1)
    arguments.add_argument("--seed", type=int, default=None)
    arguments.add_argument("--corpora", type=Path)
    arguments.add_argument("--found", type=Path, default=Path("found.jsonl"))
    options = arguments.parse_args()
    seed = options.seed if options.seed is not None else int(time.time())
    dice = random.Random(seed)
    seeds = seeds_from(options.corpora)
    derivation = Derivation(dice)
    known = {shape(text) for text in _texts(HERE / "known.jsonl")}
    tried = found = refused = 0
    end = time.monotonic() + options.minutes * 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def differs(text: str) -> bool:
            if (
                any(
                    kind.search(text) for kind in (SILENT, COPROC, OUTLIVED, PATTERN, TWICE, BEHIND)
                )
                or text.endswith("\\")  # a file's last backslash is dropped
            ):
                return False
            try:
                return accepted_by_us(text) is not accepted_by_bash(text, folder)
            except subprocess.TimeoutExpired:
                return False

        while time.monotonic() < end:
            text = derivation.script() if dice.random() < 0.5 else edited(dice, seeds)
            if "\0" in text or len(text) > 3000 or SILENT.search(text):
                continue
            tried += 1
            if not differs(text):
                refused += accepted_by_us(text) is False
                continue
            smallest = shrunk(text, differs)
            if shape(smallest) in known:
                continue
            known.add(shape(smallest))
            found += 1
            row = {"text": smallest, "ours": accepted_by_us(smallest), "from": text[:300]}
            with options.found.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{row['text']!r}: ours {row['ours']}", flush=True)
    print(f"seed {seed}: {tried} scripts, {refused} refused by both, {found} new differences")


if __name__ == "__main__":
    main()
