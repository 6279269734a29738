"""What holds of every command line, and finer points of a Usage than the tables show."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.rules.commands import data, usage
from ringfence.rules.model import BELOW, NAME, UNKNOWN, Field, Operation

COMMANDS = sorted(data.names())
TEXT = """
- -- -f -x -C -c -e -o -exec --file=/x -f/x -abcdef /etc/x ../y ~ a = {} ; + ( ::: A=/b run add exec
a:/b @/x https://x/y file:///x
"""
WORDS = st.one_of(
    st.sampled_from([*TEXT.split(), UNKNOWN, BELOW, NAME, ""]),
    st.text(max_size=6),
)
FIELDS = st.builds(
    Field, WORDS, st.just((0, 0)), quoted=st.booleans(), glob=st.booleans(), several=st.booleans()
)


def fields(*words: str) -> list[Field]:
    return [Field(word, (0, 0)) for word in words]


def paths(*words: str) -> list[str]:
    return [path.path for path in usage(fields(*words)).paths if not path.there]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([*COMMANDS, "nosuch"]), st.lists(FIELDS, max_size=7))
def test_never_raises(command, words):
    """Any arguments have a Usage, whose indexes are those of the arguments."""
    argv = [Field(command, (0, 0)), *words]
    use = usage(argv)
    places = [p.argument for p in use.paths] + [p.argument for p in use.programs]
    assert all(0 <= place < len(argv) for place in places + [i for _, i in use.opaque])


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(COMMANDS), st.lists(FIELDS, max_size=4), st.lists(FIELDS, max_size=2))
def test_environment_never_raises(command, words, variables):
    """Any variables may be set for a command."""
    names = ["GIT_DIR", "LD_PRELOAD", "PAGER", "PYTHONPATH", "BASH_ENV"]
    environment = [
        Field(f"{name}={field.text}", (0, 0)) for name, field in zip(names, variables, strict=False)
    ]
    usage([Field(command, (0, 0)), *words], environment)


@pytest.mark.parametrize("command", ["cat", "ls", "rm", "wc", "head", "touch", "stat", "du", "tee"])
@given(before=st.lists(st.sampled_from(["-v", "-a", "--quiet", "-q1"]), max_size=3))
def test_operand_stays_found(command, before):
    """Options without values hide no operand behind them."""
    assert "/etc/x" in paths(command, *before, "/etc/x")
    assert "/etc/x" in paths(command, "/etc/x", *before)
    assert "/etc/x" in paths(command, *before, "--", "/etc/x")


@given(st.text(alphabet="-abcf=./", min_size=1, max_size=6))
def test_double_hyphen_ends_options(word):
    """Behind -- every word is an operand, whatever it looks like."""
    assert paths("cat", "--", word) == ([] if word == "-" else [word])


@given(st.lists(WORDS, max_size=5))
def test_unknown_commands_show_their_paths(words):
    """A command without an entry shows every word that is absolute or climbs out."""
    found = paths("nosuch", *words)
    expected = {w for w in words if w in ("/etc/x", "../y", "~", UNKNOWN)}
    assert expected <= set(found)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("/x", ["/x"]),
        ("src/a.py", ["src/a.py"]),
        ("a.py", ["a.py"]),
        ("--file=/x", ["/x"]),
        ("--file=../x", ["../x"]),
        ("-o../x", ["../x"]),
        ("-f/x", ["/x"]),
        ("A=/x", ["/x"]),
        ("key:/x", ["/x"]),
        ("@/x", ["/x"]),
        ("file:///x", ["/x"]),
        ("--url=file:///x", ["/x"]),
        (UNKNOWN, [UNKNOWN]),
        (f"--f={UNKNOWN}", [UNKNOWN]),
        ("https://x/y", []),
        ("--url=https://x/y", []),
        ("@scope/package", []),
        ("--file=x", []),
        ("-x", []),
        ("word", []),
        ("1.5", []),
        ("/dev/null", []),
        (f"a{UNKNOWN}", []),
    ],
)
def test_unknown_command(word, found):
    """The path-shaped part of a word counts, glued to an option or not."""
    use = usage(fields("nosuch", word))
    assert not use.known
    assert paths("nosuch", word) == found
    assert all(p.possible and p.operation is Operation.UNKNOWN for p in use.paths)


@pytest.mark.parametrize(
    ("command", "followed"),
    [
        (["cat", "l"], True),
        (["rm", "l"], False),
        (["rm", "l/"], True),
        (["mv", "l", "d"], False),
        (["ls", "l"], True),
        (["ls", "-l", "l"], False),
        (["ls", "-lL", "l"], True),
        (["find", "l"], False),
        (["find", "-L", "l"], True),
        (["du", "l"], False),
        (["stat", "l"], False),
        (["stat", "-L", "l"], True),
        (["readlink", "l"], False),
        (["readlink", "-f", "l"], True),
        (["tar", "cf", "-", "l"], False),
        (["tar", "chf", "-", "l"], True),
        (["cp", "l", "d"], True),
        (["cp", "-a", "l", "d"], False),
        (["cp", "-rL", "l", "d"], True),
        (["rsync", "-a", "l", "d"], False),
        (["rsync", "-aL", "l", "d"], True),
        (["[", "-L", "l", "]"], False),
        (["[", "-f", "l", "]"], True),
        (["git", "add", "l"], False),
    ],
)
def test_links(command, followed):
    """Whether a link itself is meant, or what it leads to."""
    (use,) = [p for p in usage(fields(*command)).paths if p.path.rstrip("/") == "l"]
    assert use.follow is followed


@pytest.mark.parametrize(
    ("variable", "command", "found"),
    [
        ("GIT_DIR=/g", ["git", "log"], ["/g"]),
        ("GIT_WORK_TREE=/w", ["git", "add", "a"], ["/w", "a"]),
        ("GIT_DIR=/g", ["cat"], []),
        ("LD_PRELOAD=/a.so:b.so", ["ls", "x"], ["/a.so", "x"]),
        ("LD_PRELOAD=/a.so", ["nosuch"], ["/a.so"]),
        ("BASH_ENV=/e", ["bash", "-c", "ls"], ["/e"]),
        ("KUBECONFIG=/a:/b", ["kubectl", "get", "po"], ["/a", "/b"]),
        ("OTHER=/x", ["git", "log"], []),
        ("TAR_OPTIONS=-f /x --exclude=/y", ["tar", "-t"], ["/x"]),
        ("NODE_OPTIONS=--require=/x.js", ["node", "a.js"], ["/x.js", "a.js"]),
        ("PYTEST_ADDOPTS=--rootdir /r", ["pytest", "a"], ["/r", "a"]),
    ],
)
def test_environment(variable, command, found):
    """Variables that a command is known to open count like its arguments."""
    use = usage(fields(*command), fields(variable))
    assert [path.path for path in use.paths] == found


def test_environment_commands():
    """Variables that hold commands are programs."""
    (program,) = usage(fields("git", "log"), fields("GIT_PAGER=cat /x")).programs
    assert (program.language, program.text, program.argument) == ("bash", "cat /x", 2)


def test_shell_parameters():
    """The words behind bash -c text are the program's positional parameters."""
    (program,) = usage(fields("bash", "-c", "ls", "name", "/x")).programs
    assert [field.text for field in program.parameters] == ["name", "/x"]


def test_standard_input_program():
    """A shell without a script reads one; the first parameter is its own name."""
    (program,) = usage(fields("bash", "-s", "/x")).programs
    assert program.text is None
    assert [field.text for field in program.parameters] == ["bash", "/x"]


def test_script_language():
    """A script that is run by an interpreter is in its language."""
    assert [p.language for p in usage(fields("python3", "/x")).paths] == ["python"]


def test_xargs():
    """What xargs says about its command is kept with the command."""
    (command,) = usage(fields("xargs", "-0", "-I", "%", "cp", "%", "/d")).commands
    assert (command.placeholder, command.null_separated, command.appends_input) == (
        "%",
        True,
        False,
    )
    (command,) = usage(fields("xargs", "-a", "/l", "rm")).commands
    assert (command.input_file, command.appends_input) == ("/l", True)


def test_env():
    """What env changes for its command is kept with the command."""
    (command,) = usage(fields("env", "-i", "-C", "/d", "A=b", "ls")).commands
    assert command.clears_environment
    assert (command.directory, command.assignments) == ("/d", (("A", "b"),))


def test_sudo():
    """The command that sudo runs belongs to another user."""
    assert usage(fields("sudo", "ls", "~")).commands[0].other_user


def test_in_place():
    """With -i the program's files are written."""
    use = usage(fields("sed", "-i", "s/a/b/", "/x"))
    assert use.programs[0].in_place
    assert use.paths[0].operation is Operation.WRITE


def test_positions_after_an_unknown_number_of_words():
    """Behind words whose number is not known, a pattern may be a file."""
    argv = [*fields("grep"), Field(UNKNOWN, (0, 0), several=True), *fields("/etc/x")]
    assert "/etc/x" in [path.path for path in usage(argv).paths]


@pytest.mark.parametrize("command", ["echo", "expr", "printf", "kill"])
def test_text_stays_text(command):
    """Where no operand is a path, no number of words makes one."""
    argv = [*fields(command), Field(UNKNOWN, (0, 0), several=True), *fields("/etc/x")]
    assert usage(argv).paths == ()


def test_unknown_subcommand_is_opaque():
    """Which subcommand runs decides what the rest means."""
    use = usage(fields("git", UNKNOWN, "/x"))
    assert use.opaque == (("which subcommand of git runs is unknown", 1),)
    assert [path.path for path in use.paths] == ["/x"]


def test_no_arguments():
    """Not even a command is no error."""
    assert usage([]).paths == ()


def test_globs_are_passed_on():
    """A glob that bash could not expand is marked on its path."""
    argv = [*fields("cat"), Field("/x/*", (0, 0), glob=True)]
    assert usage(argv).paths[0].glob
