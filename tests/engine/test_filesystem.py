"""The file system is asked for the names that bash would open, whatever the locale."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ringfence.engine.filesystem import Kind, RealFileSystem

NAMES = ["\u00e9", "\udcff", "\U0001f600"]


@pytest.mark.parametrize("name", NAMES)
def test_names(tmp_path, name):
    """Those of a disk may be any bytes."""
    (tmp_path / name).symlink_to("/etc/hosts")
    files = RealFileSystem()
    assert files.kind(f"{tmp_path}/{name}") is Kind.LINK
    assert files.link(f"{tmp_path}/{name}") == "/etc/hosts"
    assert files.entries(str(tmp_path)) == [name]
    assert files.links_below(str(tmp_path), 9)[0] == (f"{tmp_path}/{name}",)


def test_half_a_character(tmp_path):
    r"""Bash writes `$'\ud800'` as three bytes; a file of that name is found by it."""
    os.symlink("/etc", os.fsencode(tmp_path) + b"/\xed\xa0\x80")
    assert RealFileSystem().kind(f"{tmp_path}/\ud800") is Kind.LINK


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_another_locale(tmp_path, locale):
    """Neither the command line nor who imports the engine takes a link for missing."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p/\u00e9").symlink_to("/etc/hosts")
    env = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": str(tmp_path)}
    row = b'{"command": "cat \\u00e9", "cwd": "%b"}\n' % os.fsencode(tmp_path / "p")
    check = [sys.executable, "-m", "ringfence.engine.cli", "check", "--jsonl", "--no-log"]
    done = subprocess.run(check, env=env, input=row, capture_output=True, check=False)
    assert b'"decision": "ask"' in done.stdout, done
    program = (
        "import sys; from ringfence.engine.filesystem import RealFileSystem\n"
        "assert sys.getfilesystemencoding() != 'utf-8'\n"
        "print(RealFileSystem().kind(sys.argv[1] + '/\\u00e9').value)"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "p")]
    done = subprocess.run(words, env=env, capture_output=True, check=False)
    assert done.stdout == b"link\n", done
