"""How `ringfence shell` reads bash's arguments: as bash does, or not at all."""

from __future__ import annotations

import pytest

from ringfence.engine.cli.shell import Invocation


@pytest.mark.parametrize(
    ("given", "program", "judged"),
    [
        (["-c", "ls x"], "ls x", "ls x"),
        (["-lc", "ls x"], "ls x", "ls x"),
        (["-l", "-c", "ls x"], "ls x", "ls x"),
        (["-ilc", "ls x"], "ls x", "ls x"),
        (["--login", "-c", "ls x"], "ls x", "ls x"),
        (["-c", "--", "ls x"], "ls x", "ls x"),
        (["-c", "-l", "ls x"], "ls x", "ls x"),  # the text comes behind all options
        (["-c", "ls $1", "a", "b c"], "ls $1", "bash -c 'ls $1' a 'b c'"),
        (["-ec", "ls x"], "ls x", "bash -e -c 'ls x'"),
        (["+e", "-c", "ls x"], "ls x", "bash +e -c 'ls x'"),
        (["-eo", "pipefail", "-c", "ls x"], "ls x", "bash -e -o pipefail -c 'ls x'"),
        (["-oO", "a", "b", "-c", "ls"], "ls", "bash -o a -O b -c ls"),
        (["--rcfile", "f", "-ic", "ls"], "ls", "bash --rcfile f -i -c ls"),
        (["-norc", "-c", "ls"], "ls", "bash --norc -c ls"),  # one hyphen will do
        (["script", "-c", "x"], "script", "bash -- script -c x"),
        (["-x", "script"], "script", "bash -x -- script"),
        (["--", "-c", "x"], "-c", "bash -- -c x"),
        (["-", "script"], "script", "bash -- script"),
        # What is read from standard input.
        ([], None, ""),
        (["-i"], None, ""),
        (["-s", "a"], None, ""),
        (["-l"], None, ""),
        (["-eo", "pipefail"], None, ""),
        (["--rcfile", "f"], None, ""),
        (["-"], None, ""),
        (["-c"], None, ""),
        (["+c", "ls"], "ls", "bash +c -- ls"),
    ],
)
def test_arguments(given, program, judged):
    """Long options, then short ones with their values, then what is run."""
    found = Invocation.read(given)
    assert (found.program, found.judged) == (program, judged)
