"""The data about commands: it follows the schema, and errors say where it does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringfence.rules.commands import data, lookup, usage
from ringfence.rules.commands.reading import read_entry
from ringfence.rules.commands.schema import CommandDataError, Syntax, Value
from ringfence.rules.model import Field

REASONS = [
    ({"operand": []}, "no such key: operand"),
    ({"operands": "read"}, "a list of values was expected, not 'read'"),
    ({"operands": ["raed"]}, "no such kind of value: 'raed'"),
    ({"operands": ["read deep"]}, "no such modifier: 'deep'"),
    ({"operands": ["read...", "write..."]}, "only one operand may repeat"),
    ({"operands": ["program"]}, "a program has a language, and a script may have one: 'program'"),
    ({"operands": ["text:awk"]}, "a program has a language, and a script may have one: 'text:awk'"),
    ({"operands": ["read keys"]}, "keys, and nothing else, has a list: 'keys'"),
    ({"options": {"f": "read"}}, "an option begins with a hyphen: 'f'"),
    ({"options": {"-f": "read", "-g -f": "read"}}, "option given twice: -f"),
    ({"syntax": "dos"}, "'dos' is not a valid Syntax"),
    ({"stops": "yes"}, "stops must be true or false"),
    ({"when": [{"if": "-r"}]}, "no such key in when: if"),
    ({"when": [{"given": "-r", "options": {"-f": "read"}}]}, "options that are not listed: -f"),
    ({"commands": {"a b": {}, "b": {}}}, "subcommand given twice: b"),
]


def test_no_problems():
    """Every entry of every file can be read, its subcommands too."""
    assert data.problems() == []


def test_enough_commands():
    """The table knows the commands that agents use."""
    assert len(list(data.names())) >= 300


def test_every_family_has_a_table():
    """Beside each file of commands there is a table of cases for it."""
    tables = {path.stem for path in (Path(__file__).parent / "commands").glob("*.txt")}
    assert {path.stem for path in Path(data.FOLDER).glob("*.toml")} - tables == {"environment"}


@pytest.mark.parametrize(("table", "reason"), REASONS, ids=[r for _, r in REASONS])
def test_schema_errors(table, reason):
    """A broken entry is refused with its name and what is wrong."""
    with pytest.raises(CommandDataError, match=f"^frob: .*{re.escape(reason)}$"):
        read_entry("frob", table)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of data files in place of the real one."""

    def clear():
        for cached in (data._sections, data._prepared, data._table, data.lookup):
            cached.cache_clear()

    monkeypatch.setattr(data, "FOLDER", tmp_path)
    clear()
    yield tmp_path
    clear()


def test_problems_name_file_and_entry(folder):
    """A problem names the file, the entry and the subcommand."""
    (folder / "a.toml").write_text('[x]\n[x.commands.y]\noperands = ["no"]\n')
    assert data.problems() == ["a.toml: x y: no such kind of value: 'no'"]


def test_toml_errors_are_problems(folder):
    """A syntax error breaks its own entry, and no other."""
    (folder / "a.toml").write_text('[x]\noperands = [\n\n[y]\noperands = ["read"]\n')
    (problem,) = data.problems()
    assert problem.startswith("a.toml: x: ")
    assert data.lookup("y") is not None


def test_second_entry_is_refused(folder):
    """A command has one entry, whose lines stand together."""
    (folder / "a.toml").write_text("[x]\n[y]\n")
    (folder / "b.toml").write_text('["x z"]\n')
    with pytest.raises(CommandDataError, match=r"^b\.toml: x has a second entry"):
        data.lookup("x")


def test_prepared_data_is_the_same(monkeypatch, tmp_path):
    """What a wheel brings along says what the TOML files say."""
    monkeypatch.setattr(data, "_prepared", lambda: ({}, ""))
    said = {name: data._entry(name) for name in data._sections()}
    (tmp_path / "commands.json").write_text(data.prepared())
    monkeypatch.undo()
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    data._prepared.cache_clear()
    assert {name: data._entry(name) for name in data.names()} == said
    assert data._entry("no such command") is None
    monkeypatch.undo()
    data._prepared.cache_clear()


def test_like_merges_tables(folder):
    """An entry like another one takes over all that it does not say itself."""
    (folder / "a.toml").write_text(
        '[x]\noperands = ["read"]\noptions = { "-a" = "text", "-b" = "text" }\n'
        '[y]\nlike = "x"\noptions = { "-a" = "read" }\n'
    )
    entry = data.lookup("y")
    assert entry.operands == (Value.parse("read"),)
    assert {name: option.values[0].kind for name, option in entry.options.items()} == {
        "-a": "read",
        "-b": "text",
    }


def test_like_nothing_is_a_problem(folder):
    """The other entry must exist."""
    (folder / "a.toml").write_text('[y]\nlike = "x"\n')
    assert data.problems() == ["a.toml: y: like 'x', which has no entry"]


def test_broken_entry_is_opaque(folder):
    """A command whose entry cannot be read is not known, and is said to be opaque."""
    (folder / "a.toml").write_text('[x]\noperands = ["no"]\n')
    use = usage([Field("x", (0, 1)), Field("/etc/hosts", (2, 12))])
    assert not use.known
    assert [path.path for path in use.paths] == ["/etc/hosts"]
    assert use.opaque == (("what it does is not known: a.toml: x: no such kind of value: 'no'", 0),)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("cat", "cat"),
        ("/usr/bin/cat", "cat"),
        ("./cat", "cat"),
        ("python3.11", "python"),
        ("gcc-12", "gcc"),
        ("pip3", "pip"),
        ("cat2", None),
        ("", None),
        ("3", None),
    ],
)
def test_lookup(name, found):
    """A command is found by name or path; versions count where the entry says so."""
    entry = lookup(name)
    assert (entry and entry.name) == found


def test_syntax_of_find():
    """Single-dash long options are not clusters."""
    assert lookup("find").syntax is Syntax.SINGLE_DASH
