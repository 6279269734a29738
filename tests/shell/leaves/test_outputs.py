"""What pure commands print, with unknowns where nothing is known."""

import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ringfence.engine.filesystem import NoFileSystem, RealFileSystem
from ringfence.engine.shell.outputs import Context, output
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field

N, B, U = NAME, BELOW, UNKNOWN
ENVIRONMENT = {"TMPDIR": "", "USER": "dev"}


def context(directory="/home/dev/project", filesystem=None):
    return Context(
        directory,
        filesystem or NoFileSystem(),
        read={"known.txt": "text\n"}.get,
        lookup=ENVIRONMENT.get,
        project="/home/dev/project",
    )


def prints(command: str, stdin: str | None = None, **where) -> str | None:
    """The output of a command line of plain words; ``*`` is a glob that was not expanded."""
    fields = [Field(text, (0, 0), glob="*" in text) for text in shlex.split(command)]
    return output(fields, stdin, context(**where))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a b", "a b\n"),
        ("echo -n a", "a"),
        (r"echo 'a\nb'", "a\\nb\n"),
        (r"echo -e 'a\nb\x2f\057\0057'", "a\nb///\n"),
        (r"echo -e 'a\cb' c", "a"),
        ("echo -nx", "-nx\n"),
        (f"echo /etc/{U}", f"/etc/{U}\n"),
        ("printf %s /etc", "/etc"),
        (r"printf '%s\n' a b", "a\nb\n"),
        (r"printf '%s-%s\n' a b c", "a-b\nc-\n"),
        (r"printf '\x2fetc\057x'", "/etc/x"),
        ("printf %b '\\x2fa'", "/a"),
        ("printf '%05d|%-4s|%3s|%.1s' 42 a b cd", "00042|a   |  b|c"),
        ("printf '%x %o %i %%' 255 8 0x10", "ff 10 16 %"),
        ("printf %q 'a b'", r"a\ b"),
        ("printf '/tmp/%s.log' " + N, f"/tmp/{N}.log"),
        ("printf '/tmp/%d.log' " + U, f"/tmp/{N}.log"),
        ("printf '%*s' 3 a", "  a"),
        ("printf -v x %s a", ""),
        ("printf", None),
        (f"printf {U}", None),
    ],
)
def test_printing(command, expected):
    """``echo`` and ``printf`` print their arguments, as bash's do."""
    assert prints(command) == expected


WORDS = st.text("ab 01-+%'\\\"$#~!*/", max_size=6)
DIRECTIVES = ["%s", "%5s", "%-4s|", "%.2s", "%d", "%03d", "%+d", "%x", "%o", "%q", "%b", "%%", "%c"]
TEMPLATES = st.lists(
    st.sampled_from([*DIRECTIVES, "a", r"\n", r"\t", r"\101", r"\x41", "-"]), max_size=4
)


@given(TEMPLATES.map("".join), st.lists(WORDS, max_size=4))
@example("%b", ["\\0"])
def test_printf_prints_what_bash_prints(template, words):
    """Where an output is told, it is the one that bash prints."""
    fields = [Field(text, (0, 0)) for text in ("printf", "--", template, *words)]
    told = output(fields, None, context())
    done = subprocess.run(
        ["bash", "-c", 'printf -- "$@"', "_", template, *words], capture_output=True, check=False
    )
    if done.returncode == 0 and told is not None and NAME not in told:
        printed = done.stdout.replace(b"\0", b"").decode("utf-8", "surrogateescape")
        assert told.replace("\0", "") == printed  # whether a NUL stays does not matter


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pwd", "/home/dev/project\n"),
        ("dirname /a/b/c", "/a/b\n"),
        ("dirname a", ".\n"),
        ("dirname /", "/\n"),
        ("dirname /a", "/\n"),
        ("dirname a//b/ x/y", "a\nx\n"),
        (f"dirname /etc/{N}", "/etc\n"),
        (f"dirname src/{B}", f"src/{B}\n"),
        (f"dirname src/{B}/x", f"src/{B}\n"),
        (f"dirname /etc/{U}", f"/etc{U}\n"),
        (f"dirname {U}", f"{U}\n"),
        ("basename /a/b.py", "b.py\n"),
        ("basename /a/b.py .py", "b\n"),
        ("basename -s .py a/b.py c.py", "b\nc\n"),
        ("basename -a a/b c/d", "b\nd\n"),
        ("basename ..", "..\n"),
        ("basename /", "/\n"),
        (f"basename src/{B}", f"{N}\n"),
        (f"basename {U}.tar.gz .gz", f"{N}.tar\n"),
        ("realpath ../x", "/home/dev/x\n"),
        ("readlink -f src/../x", "/home/dev/project/x\n"),
        (f"realpath src/{B}", f"/home/dev/project/src/{B}\n"),
        (f"realpath {U}", None),
        ("realpath --relative-to=/a x", None),
        ("mktemp", f"/tmp/tmp.{N}\n"),
        ("mktemp -d", f"/tmp/tmp.{N}\n"),
        ("mktemp -d /tmp/work.XXXXXX", f"/tmp/work.{N}\n"),
        ("mktemp -p build x.XXXX", f"build/x.{N}\n"),
        ("mktemp --suffix=.json", f"/tmp/tmp.{N}.json\n"),
        ("mktemp local.XXXXXX", f"local.{N}\n"),
    ],
)
def test_paths(command, expected):
    """Commands that print a path made of their operands compute it."""
    assert prints(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git rev-parse --show-toplevel", "/home/dev/project\n"),
        ("git rev-parse HEAD", f"{N}\n"),
        ("git rev-parse --short HEAD", f"{N}\n"),
        ("git rev-parse --abbrev-ref HEAD", f"{B}\n"),
        ("git branch --show-current", f"{B}\n"),
        ("git ls-files", f"{B}\n"),
        ("git ls-files src '*.py'", f"{B}\n{B}/{N}.py\n"),
        ("git ls-files 'src/x*.py' 'a*/b'", f"src/{B}/{N}.py\n{B}\n"),
        ("git ls-files ':!src/*.py'", f"{B}\n"),
        ("git ls-files -o '*.py'", f"{B}\n"),
        ("git ls-files ../other", None),
        ("git diff --name-only main", f"{B}\n"),
        ("git diff", None),
        ("git log -1 --format=%H", f"{N}\n"),
        ("git log -1 --format=%s%n%b", None),
        ("git config core.hooksPath", None),
    ],
)
def test_git(command, expected):
    """Git's paths stay in the tree, its hashes are names, its other texts are not known."""
    assert prints(command) == expected


def test_git_without_a_file_system_elsewhere():
    """Outside the call's own directory the top of the tree is not guessed."""
    assert prints("git rev-parse --show-toplevel", directory="/srv/x") is None


def test_git_top_level_is_looked_for(tmp_path):
    """With a file system, the nearest directory with ``.git`` is the top."""
    (tmp_path / "top/.git").mkdir(parents=True)
    (tmp_path / "top/a/b").mkdir(parents=True)
    files = RealFileSystem(str(tmp_path))
    command = "git rev-parse --show-toplevel"
    assert prints(command, directory="/top/a/b", filesystem=files) == "/top\n"
    assert prints(command, directory="/", filesystem=files) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("find", f".\n./{B}\n"),  # what is found may be the root itself
        ("find -type f", f"./{B}\n"),
        ("find src -name '*.py'", f"src/{B}/{N}.py\n"),
        ("find . -name '*.py'", f"./{B}/{N}.py\n"),
        ("find a b -name x -o -name y", f"a/{B}/x\na/{B}/y\nb/{B}/x\nb/{B}/y\n"),
        ("find . -name x -prune -o -name y -print", f"./{B}/y\n"),
        ("find . -print -o -name y -print", f".\n./{B}\n"),
        ("find src lib -type f", f"src/{B}\nlib/{B}\n"),
        ("find /etc -maxdepth 1", f"/etc\n/etc/{B}\n"),
        ("find . -name x -exec echo {} +", None),
        ("find . -printf %f", None),
        (f"find {U}", f"{U}"),
        ("fd py", f"{B}\n"),
        ("fd -e py . src", f"src/{B}/{N}.py\n"),
        ("fd -e py -e js", f"{B}/{N}.py\n{B}/{N}.js\n"),
        ("fd -x rm", None),
        ("rg -l foo", f"{B}\n"),
        ("rg -l foo src", f"src\nsrc/{B}\n"),
        ("rg --files src", f"src\nsrc/{B}\n"),
        ("rg -l foo -g '*.py' src", f"src\nsrc/{B}/{N}.py\n"),
        ("rg -l foo -g '!*.py'", f"{B}\n"),
        ("rg -l foo -g 'a/*.py'", f"{B}\n"),
        ("rg -l -A 3 foo -t py", f"{B}\n"),
        ("rg foo", None),
        ("grep -rl foo src", f"src\nsrc/{B}\n"),
        ("grep -rl foo --include=x.py --include '*.c' .", f".\n./{B}/x.py\n./{B}/{N}.c\n"),
        ("ls", f"{N}\n"),
        ("ls -t logs", f"{N}\n"),
        ("ls -d src/*/", f"src/{N}/\n"),
        ("ls src/*.py", f"src/{N}.py\n"),
        ("ls -t src/.*.x", f"src/{U}\n"),
        ("ls -a", None),
        ("ls -l", None),
        ("ls src lib", None),
    ],
)
def test_listings(command, expected):
    """A listing is any path below its roots, or any name."""
    assert prints(command) == expected


def test_ls_names_the_entries_that_are_there(tmp_path):
    """With a file system the entries are named, besides what the command may have made."""
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).touch()
    files = RealFileSystem(str(tmp_path))
    assert prints("ls", directory="/", filesystem=files) == f"a\nb\n{N}\n"
    assert prints("ls -A", directory="/", filesystem=files) == f".hidden\na\nb\n{N}\n"
    assert prints("ls a b", directory="/", filesystem=files) == "a\nb\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("date", f"{N}\n"),
        ("date +%s", f"{N}\n"),
        ("date +%Y/%m/%d", f"{N}/{N}/{N}\n"),
        ("date -u +/var/%F.log", f"/var/{N}.log\n"),
        ("whoami", "dev\n"),
        ("nproc", f"{N}\n"),
        ("uname -s", f"{N}\n"),
        ("seq 3", "1\n2\n3\n"),
        ("seq 10 -5 1", "10\n5\n"),
        ("seq 100000", f"{N}\n"),
        ("expr 1 + 2", "3\n"),
        ("expr x : y", None),
        ("stat -c %s f", f"{N}\n"),
        ("stat -c %n f", None),
        ("printenv USER", "dev\n"),
        ("true", ""),
        ("mkdir -p x", ""),
        ("cp -v a b", None),
        ("nosuchcommand", None),
    ],
)
def test_values(command, expected):
    """Numbers, names and dates hold no slash but those of their format."""
    assert prints(command) == expected


LINES = "b x\na y\na y\n"


@pytest.mark.parametrize(
    ("command", "stdin", "expected"),
    [
        ("cat", LINES, LINES),
        ("cat -", LINES, LINES),
        ("cat known.txt", "", "text\n"),
        ("cat other.txt", "", None),
        ("cat", None, None),
        ("head -n1", LINES, "b x\n"),
        ("head -1", LINES, "b x\n"),
        ("head -c 3", LINES, None),
        ("tail -n 1", LINES, "a y\n"),
        ("tail -n +2", LINES, None),
        ("head -1", f"src/{B}\nlib/{B}\n", f"src/{B}\nlib/{B}\n"),
        ("sort", LINES, "a y\na y\nb x\n"),
        ("sort -u", LINES, "a y\nb x\n"),
        ("sort -V", LINES, None),
        ("sort -V", f"{N}\n", f"{N}\n"),
        ("uniq", LINES, "b x\na y\n"),
        ("tac", "1\n2\n", "2\n1\n"),
        ("rev", "cte/\n", "/etc\n"),
        ("wc -l", LINES, f"{N}\n"),
        ("grep a", LINES, "a y\na y\n"),
        ("grep -v a", LINES, "b x\n"),
        ("grep .py", f"{B}\n", f"{B}\n"),
        ("grep .py", f"{B}\nx\n", None),
        ("grep py", f"{B}\nx\n", f"{B}\n"),
        ("tr a-z A-Z", "ab\n", "AB\n"),
        ("tr : /", ":etc:x", "/etc/x"),
        ("tr '\\056' /", "a.b", "a/b"),
        ("tr '\\q' /", "a.b", None),
        ("sed 's/a/b/;s/bb/x/'", "ab\n", "x\n"),
        ("sed -e 's/a/b/' -e 's/bb/x/'", "ab\n", "x\n"),
        ("sed 's/a/b/;p'", "ab\n", None),
        ("sed -n 's/a/b/'", "ab\n", None),
        ("tr -d x", "/xextxc", "/etc"),
        ("tr -d '\\n'", f"{N}\n", N),
        ("tr : /", f"{N}:x", None),
        ("tr -s ' '", "a   b", "a b"),
        ("cut -d: -f2", "a:/etc/x:b\nc\n", "/etc/x\nc\n"),
        ("cut -d: -f2-", "a:b:c\n", "b:c\n"),
        ("cut -c1-2", "abc\n", "ab\n"),
        ("cut -d- -f1", f"{N}\n", None),
        ("sed 's/x/y/'", "xx\n", "yx\n"),
        ("sed 's,a,/etc/&,g'", "a a\n", "/etc/a /etc/a\n"),
        ("sed -e 's/^v//'", "v1.2\n", "1.2\n"),
        ("sed s/x/y/", f"{N}\n", None),
        ("sed 's/\\(a\\)/\\1/'", "a\n", None),
        ("sed -n 1p", "a\n", None),
        ("base64 -d", "L2V0Yy9wYXNzd2Q=\n", "/etc/passwd"),
        ("base64", "hi", "aGk=\n"),
        ("xxd -r -p", "2f657463", "/etc"),
        ("tee out.txt", LINES, LINES),
    ],
)
def test_filters(command, stdin, expected):
    """Filters compute on a known input, and keep lines that hold unknowns or give up."""
    assert prints(command, stdin) == expected


@pytest.mark.parametrize(
    "command",
    ["cut -d: -f1", "cut -c2-", "sort -r", "head -n2", "tail -n1", "tr a-y b-z", "tr -d a", "rev",
     "sed 's/a.*b/<&>/'", "sed 's/[ab]*/x/'", "grep -i A", "uniq", "tac", "base64", "tr -s ab"],
)  # fmt: skip
@given(text=st.text("ab:c/\n", max_size=20))
def test_filters_print_what_the_programs_print(command, text):
    """Where an output is told, it is the one that the program prints."""
    told = prints(command, text)
    if told is not None:
        done = subprocess.run(
            shlex.split(command), input=text, capture_output=True, text=True, check=False,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert told.splitlines() == done.stdout.splitlines()


@given(st.sampled_from(["printf", "date", "sed", "cut", "tr", "find", "fd", "ls", "mktemp", "seq",
                        "basename", "head", "git", "stat", "xxd", "grep", "echo", "expr"]),
       st.lists(st.text("-+%dsfac/.{}[]=" + N + B + U, max_size=5), max_size=4),
       st.none() | st.text(max_size=20))  # fmt: skip
def test_any_arguments_are_answered(name, words, stdin):
    """No arguments make `output` raise."""
    output([Field(text, (0, 0)) for text in (name, *words)], stdin, context())
