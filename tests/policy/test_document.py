"""Config files as data: values, and the line of every key."""

import json
import tomllib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.policy.document import MAX_BYTES, content_of, parse, parse_json, parse_toml
from ringfence.engine.policy.errors import ConfigError

TOML = """\
# a comment
[special]
external_directory = "ask"

[bash]
"*" = "allow"
'git push *' = "ask"
many = [
  "x",
]

[agents.reviewer.bash]
"rm *" = "deny"
text = '''
[not.a.table]
'''
after = 1
inline = { a = "b" }
dotted.key = 2
"""


def read(path):
    """The document in a file, or None."""
    content = content_of(path)
    return None if content is None else parse(path, content)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("special",), 2),
        (("special", "external_directory"), 3),
        (("bash", "*"), 6),
        (("bash", "git push *"), 7),
        (("bash", "many"), 8),
        (("agents",), 12),
        (("agents", "reviewer", "bash", "rm *"), 13),
        (("agents", "reviewer", "bash", "text"), 14),
        (("agents", "reviewer", "bash", "after"), 17),
        (("agents", "reviewer", "bash", "inline", "a"), 18),
        (("agents", "reviewer", "bash", "dotted", "key"), 19),
        (("bash", "missing"), 5),  # the nearest table around it
        (("missing",), 1),
    ],
)
def test_toml_lines(keys, line):
    """Counts lines from 1, through comments, arrays and strings of many lines."""
    assert parse_toml("f", TOML).line(*keys) == line


JSONC = """\
// the origin's form
{
  "defaultPolicy": { "bash": "ask", /* two
  lines */ "special": "deny" },
  "bash": {
    "git *": "allow", // trailing comma below
  },
}
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("defaultPolicy", "bash"), 3),
        (("defaultPolicy", "special"), 4),
        (("bash",), 5),
        (("bash", "git *"), 6),
    ],
)
def test_json_lines(keys, line):
    """Counts lines through both kinds of comments."""
    assert parse_json("f", JSONC).line(*keys) == line


def test_json_data():
    """Reads comments and trailing commas away and leaves strings that look like them alone."""
    document = parse_json("f", '{"a": "// \\" /* x */", "b": [1, [], {}, null,], /**/}')
    assert document.data == {"a": '// " /* x */', "b": [1, [], {}, None]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([None, 1]))
def test_json_is_json(value, indent):
    """Every JSON object is read as the standard reader reads it."""
    assert parse_json("f", json.dumps(value, indent=indent)).data == value


@given(st.text())
def test_json_never_crashes(text):
    """Whatever stands in the file, the answer is a document or a ConfigError."""
    with suppress(ConfigError):
        parse_json("f", "{" + text)


@given(st.text(alphabet="[]a.= \"\n'#{},1", max_size=40))
def test_toml_lines_are_complete(text):
    """Every key of a valid file has a line that exists."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    document = parse_toml("f", text)
    for key in data:
        assert key in text.split("\n")[document.lines[(key,)] - 1] or key == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.toml", b"a = \n", "{f}:1: not valid TOML: Invalid value (column 5)"),
        ("c.toml", b"a = 1\nb = [1,\n", "{f}:3: not valid TOML: Invalid value"),
        (
            "c.toml",
            b"a = 1\na = 2\n",
            "{f}:2: a: not valid TOML: the key stands here a second time",
        ),
        ("c.toml", b"a = '\xff'\n", "{f}:1: is not UTF-8 text"),
        ("c.json", b"", "{f}:1: not valid JSON: expected {{ to open the file's object (column 1)"),
        (
            "c.json",
            b"[]",
            "{f}:1: not valid JSON: expected {{ to open the file's object (column 1)",
        ),
        (
            "c.json",
            b'{"a": 1} x',
            "{f}:1: not valid JSON: expected nothing after the closing }} (column 10)",
        ),
        ("c.json", b'{\n"a" 1}', "{f}:2: a: not valid JSON: expected : after the key (column 5)"),
        ("c.json", b'{\n"a": }', "{f}:2: a: not valid JSON: expecting value (column 6)"),
        ("c.json", b'{"a": 1\n"b": 2}', "{f}:2: not valid JSON: expected , or }} (column 1)"),
        ("c.json", b'{"a": [1 2]}', "{f}:1: a: not valid JSON: expected , or ] (column 10)"),
        ("c.json", b"{a: 1}", '{f}:1: not valid JSON: expected "key" or }} (column 2)'),
        (
            "c.json",
            b'{"bash": {"x": "ask",\n"x": "deny"}}',
            "{f}:2: bash.x: not valid JSON: the key stands here a second time (column 4)",
        ),
        ("c.json", b'{"a": 1 /* ', "{f}:1: not valid JSON: a comment is not closed (column 9)"),
        ("c.json", b'{"a":' * 99, "{f}:1: not valid JSON: is nested too deeply (column 166)"),
        (
            "c.json",
            b'{"a":' + b"[" * 99999,
            "{f}:1: not valid JSON: is nested too deeply (column 38)",
        ),
        ("c.toml", b"a = " + b"[" * 3000, "{f}: is nested too deeply"),
        (
            "c.toml",
            b"x = 1\na = [" + b"1,\n" * 50000 + b"]",
            "{f}:2: a value is longer than 20 lines",
        ),
        ("c.toml", b"a" + b".a" * 1500 + b" = 1", "{f}: is nested too deeply"),
        ("c.toml", b"\na" + b".a" * 2000, "{f}:2: the line is longer than 4000 characters"),
        ("c.toml", b"#" * (MAX_BYTES + 1), f"{{f}}: is larger than {MAX_BYTES} bytes"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    """Says file, line and key, whatever is wrong."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert str(caught.value) == message.format(f=path)


def test_a_number_past_all_bounds():
    """Python refuses to read it: that too is the file's fault."""
    with pytest.raises(ConfigError, match=r"[Ee]xceeds the limit"):
        parse_json("f", '{"a": ' + "9" * 5000 + "}")


def test_directory_instead_of_a_file(tmp_path):
    """A directory is an error, not an absent file: what it should forbid would be allowed."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is no regular file"


def test_absent_file(tmp_path):
    """A file that is not there is no error."""
    assert read(tmp_path / "config.toml") is None


def test_byte_order_mark_and_carriage_returns(tmp_path):
    """Files from other systems are read."""
    path = tmp_path / "c.toml"
    path.write_bytes(b'\xef\xbb\xbf[bash]\r\n"a" = "ask"\r\n')
    assert read(path).line("bash", "a") == 2
