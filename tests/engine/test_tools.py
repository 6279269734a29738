"""Tools other than bash: which inputs are paths, and what happens to them."""

import pytest

from ringfence import Engine
from ringfence.engine.call import ToolCall
from ringfence.engine.filesystem import NoFileSystem, RealFileSystem
from ringfence.engine.pipeline import collect
from ringfence.engine.tools import tool_effects
from ringfence.rules.model import BELOW, State

CWD = "/home/dev/project"
PICKED = [("read", "/home/dev/project/*.py"), ("read", f"/home/dev/project/{BELOW}/*.py")]
KNOWN = ("find", "grep", "ls", "fetch", "read", "write")


def effects(tool, filesystem=NoFileSystem(), cwd=CWD, **data):  # noqa: B008
    """(operation, path) of each effect of a call."""
    found, _ = tool_effects(ToolCall(tool, data, cwd), "/home/dev", filesystem)
    return [(str(effect.operation), effect.path) for effect in found]


def opaque(tool, **data):
    """The reasons why a call is not understood."""
    _, parts = tool_effects(ToolCall(tool, data, CWD), "/h", NoFileSystem())
    return [part.reason for part in parts]


@pytest.mark.parametrize(
    ("tool", "data", "expected"),
    [
        ("read", {"path": "/etc/hosts"}, [("read", "/etc/hosts")]),
        ("read", {"path": "src/a.py"}, [("read", f"{CWD}/src/a.py")]),
        ("read", {"path": "../b"}, [("read", "/home/dev/b")]),
        ("read", {"path": "./src/../../b"}, [("read", "/home/dev/b")]),
        ("read", {"path": "~/b"}, [("read", "/home/dev/b")]),
        ("read", {"path": "~"}, [("read", "/home/dev")]),
        ("read", {"path": "~nobody-known/x"}, [("read", f"{CWD}/~nobody-known/x")]),
        ("read", {"path": "file:///etc/a%20b"}, [("read", "/etc/a b")]),
        ("read", {"paths": ["/a", "/b"]}, [("read", "/a"), ("read", "/b")]),
        ("read", {"files": [{"path": "/a"}, {"path": "/b"}]}, [("read", "/a"), ("read", "/b")]),
        ("write", {"path": "/a", "content": "/b"}, [("write", "/a")]),
        ("edit", {"file_path": "/a", "edits": [{"old": "/b"}]}, [("write", "/a")]),
        ("edit", {"filePath": "/a"}, [("write", "/a")]),
        ("delete", {"path": "/a"}, [("delete", "/a")]),
        ("ls", {}, []),
        ("ls", {"path": "/a"}, [("read", "/a")]),
        ("grep", {"pattern": "/etc/x"}, []),  # what is searched for is no path
        ("grep", {"pattern": "x", "path": "/a"}, [("read", "/a")]),
        ("grep", {"pattern": "x", "glob": "*.py"}, PICKED),
        ("find", {"pattern": "**/*.py"}, []),
        ("find", {"pattern": "/etc/**"}, [("read", "/etc/**")]),
        ("find", {"pattern": "~/*"}, [("read", "/home/dev/*")]),
        ("find", {"pattern": "../*", "path": "/a/b"}, [("read", "/a/b"), ("read", "/a/*")]),
        ("fetch", {"url": "https://example.com/etc/hosts"}, []),
        ("fetch", {"url": "file:///etc/hosts"}, [("read", "/etc/hosts")]),
        ("fetch", {"url": "FILE:/etc/hosts"}, [("read", "/etc/hosts")]),
        ("query", {"sql": "select 1/2"}, []),
        ("query", {"directory": "/a"}, [("unknown", "/a")]),
        ("query", {"deep": {"er": [{"file": "/a"}]}}, [("unknown", "/a")]),
        ("mcp__fs__read", {"path": "../x"}, [("unknown", "/home/dev/x")]),
        ("mcp__web__get", {"uri": "https://example.com/x"}, []),
        ("query", {"path": "x", "workdir": "/a"}, [("enter", "/a"), ("unknown", "/a/x")]),
        ("query", {"path": None}, []),
        # What looks like a path outside is one, whatever its input is named,
        ("mcp__fs__read", {"p": "/data/x"}, [("unknown", "/data/x")]),
        ("mcp__fs__read", {"location": "a/../../y"}, [("unknown", "/home/dev/y")]),
        ("mcp__fs__read", {"x": ["$HOME/y"]}, [("unknown", "/home/dev/y")]),
        ("mcp__fs__read", {"x": "ab://../../../y"}, [("unknown", "/home/y")]),
        ("mcp__fs__read", {"x": "\tfile:///etc/y"}, [("unknown", "/etc/y")]),
        ("grep", {"pattern": "x", "where": "/etc"}, [("read", "/etc")]),
        # but these are none.
        ("query", {"url": "https://example.com/a/b", "re": "^/a/b$", "route": "/users"}, []),
        ("query", {"re": "/foo|bar/x", "ref": "v1..v2", "range": "origin/a..b/c"}, []),
        ("query", {"text": "as in /data/x, and ../y", "lines": "/a/b\n/c/d", "x": "..."}, []),
        ("grep", {"pattern": "../x", "query": "/etc/passwd"}, []),
        # Globs, in whatever input, however `..` is spelt.
        ("grep", {"include": "../**"}, [("read", "/home/dev/**")]),
        ("grep", {"glob": ["*.py", "../**"]}, [*PICKED, ("read", "/home/dev/**")]),
        ("find", {"pattern": ["/etc/*"]}, [("read", "/etc/*")]),
        ("find", {"pattern": '["/etc/*"]'}, [("read", "/etc/*")]),
        ("find", {"pattern": "[.][.]/*"}, [("read", "/home/dev/*")]),
        ("find", {"pattern": "a/.[.]/\\.\\./*"}, [("read", "/home/dev/*")]),
        ("find", {"pattern": "@(..|x)/*"}, [("read", "/home/dev/*")]),
        ("find", {"pattern": "$HOME/*"}, [("read", "/home/dev/*")]),
        ("find", {"pattern": ".*/[!a]?/??/[a-z].py"}, []),
        # Addresses of files, as browsers read them.
        ("fetch", {"url": " file:///etc/shadow"}, [("read", "/etc/shadow")]),
        ("fetch", {"url": "\x00\tfi\nle:etc\\shadow"}, [("read", "/etc/shadow")]),
        ("fetch", {"urls": ["https://x.y", "file:///etc/x"]}, [("read", "/etc/x")]),
        # A list as text.
        ("read", {"files": '["/etc/x"]'}, [("read", "/etc/x")]),
        ("read", {"files": '[{"path": "/etc/x"}]'}, [("read", "/etc/x")]),
        ("read", {"path": "[1]"}, [("read", f"{CWD}/[1]")]),
        ("ls", {"workingDirectory": "/etc"}, [("enter", "/etc")]),
    ],
)
def test_effects(tool, data, expected):
    """Each input that names a path is an effect, resolved as the tool would."""
    assert effects(tool, **data) == expected


def test_no_depth_hides_a_path():
    """However deep a path stands, it is found."""
    data = {"path": "/etc/hosts"}
    for _ in range(500):
        data = {"x": [data]}
    assert effects("query", **data) == [("unknown", "/etc/hosts")]


@pytest.mark.parametrize(
    ("tool", "data", "reason"),
    [
        ("read", {}, "read names no path that is understood"),
        ("write", {"destination_of_it": "/a"}, "write names no path that is understood"),
        ("read", {"path": 3}, "the path of read is no text"),
        ("read", {"paths": ["a", 4]}, "the paths of read is no text"),
        ("powershell", {"command": "gc x"}, "commands of powershell are not read"),
        *((tool, {"path": {"p": "/x"}}, f"the path of {tool} is no text") for tool in KNOWN),
        ("query", {"paths": ["a"] * 2000}, "query names too many paths"),
    ],
)
def test_not_understood(tool, data, reason):
    """What cannot be read is opaque, so that it is asked about."""
    assert reason in opaque(tool, **data)


def test_links_are_followed_before_dot_dot(tmp_path):
    """`link/../x` is beside the link's target, where the kernel looks."""
    (tmp_path / "project").mkdir()
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (tmp_path / "project" / "link").symlink_to(tmp_path / "other" / "deep")
    real = effects("read", RealFileSystem(), str(tmp_path / "project"), path="link/../x")
    assert real == [("read", f"{tmp_path}/other/x")]


@pytest.mark.parametrize("path", ["C:\\Users\\ann\\.ssh\\id", "c:/Users", "\\\\srv\\share\\x"])
@pytest.mark.parametrize("tool", ["read", "write", "ls", "mcp__files__open"])
def test_a_path_of_windows(tool, path):
    """On POSIX it is the name of a file in the folder, but whoever says it means another place."""
    assert opaque(tool, path=path) == [f"the path of {tool} is a path of Windows"]


def test_no_path_of_windows():
    """A colon or a backslash elsewhere makes none."""
    for path in ("a:b", "C:", "notes\\a", "src/C:/x", "./C:\\x"):
        assert not opaque("read", path=path)
        assert len(effects("read", path=path)) == 1


@pytest.mark.parametrize(
    "key", ["cwd", "directory", "dir", "folder", "working_dir", "workingDirectory", "workdir"]
)
@pytest.mark.parametrize("tool", ["bash", "mcp__shell__run"])
def test_where_commands_start(key, tool):
    """By whatever name the call says it."""
    call = ToolCall(tool, {"command": "cat passwd", key: "/etc"}, CWD, env={"HOME": "/home/dev"})
    decision = Engine(filesystem=NoFileSystem()).decide(call)
    assert decision.state is State.ASK
    assert ("read", "/etc/passwd") in [
        (str(found.effect.operation), found.path) for found in decision.findings
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"command": "cat /etc/passwd"},
        {"cmd": "cat /etc/passwd"},
        {"shell_command": "cat /etc/passwd"},
        {"commandLine": "cat /etc/passwd"},
        {"cmd": ["cat", "/etc/passwd"]},
        {"commands": ["make", "cat /etc/passwd"]},
        {"steps": [{"cmd": "make"}, {"cmd": "cat /etc/passwd"}]},
        {"arguments": '{"cmd": "cat /etc/passwd"}'},
    ],
)
@pytest.mark.parametrize("tool", ["mcp__shell__run", "run_in_container"])
def test_by_which_names_tools_take_commands(tool, given):
    """Wherever it stands, a command is read as one, and the rules for bash see it."""
    call = ToolCall(tool, given, CWD, env={"HOME": "/home/dev"})
    facts = collect(call, NoFileSystem()).facts
    found = {(str(finding.effect.operation), finding.path) for finding in facts.findings}
    assert ("read", "/etc/passwd") in found
    assert "cat /etc/passwd" in [line.text for line in facts.commands]


def test_a_command_of_a_tool_that_runs_none_is_text():
    """What a tool that is known does with its input is known, too."""
    assert not effects("ls", command="cat /etc/passwd")


def test_half_a_character():
    """No program can be given one, so whatever is opened is another file: a person looks."""
    for tool, values in (("read", {"path": "\ud800"}), ("bash", {"command": "cat '\udfff'"})):
        assert Engine().decide(ToolCall(tool, values, "/home/dev/p", env={})).state == "ask"
    for text in ("\U0001f600", "\udc80"):  # a byte of another encoding is a name as any other
        call = ToolCall.bash(f"cat {text}", "/home/dev/p", env={})
        assert Engine().decide(call).state == "allow"
