"""The recorded truth is kept: nothing that the kernel saw slips by, nobody is asked for nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench")]
import truth  # noqa: E402
import world  # noqa: E402

SILENT = {
    "mkdir -p /srv/shared/a/b",  # the folder above is made, too
    "shred -u /tmp/work/x.txt",  # renames it in its folder first
    "sqlite3 /tmp/work/s.db 'create table t(a)'",  # syncs its folder
}
"""What is found by a path below the one that the kernel names besides."""

NEEDLESS = {
    "tar cf t.tar out/",  # tar drops the slash, and takes the link alone
    "ln -s /srv/shared/one.txt data/l",  # a link to the outside is worth a question
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Each recorded case with what is reported for it."""
    root = tmp_path_factory.mktemp("world")
    world.build(root)
    cases = truth.recorded()
    return list(zip(cases, truth.reports(cases, root), strict=True))


def test_nothing_slips_by(scored):
    """Every touched path is found, or the command is called opaque."""
    missed = []
    for case, answer in scored:
        paths = truth.reported(answer)
        found = [t for t in case.judged if any(truth.finds(p, t) for p in paths)]
        left = [t for t in case.judged if t not in found and not truth.on_the_way(t, found)]
        if left and not answer["opaque"] and case.command not in SILENT:
            missed.append((case.command, [t["path"] for t in left]))
    assert missed == []


def test_nobody_is_asked_for_nothing(scored):
    """What touches nothing outside is neither reported nor called opaque."""
    asked = [
        case.command
        for case, answer in scored
        if case.negative and (truth.reported(answer) or answer["opaque"])
    ]
    assert set(asked) <= NEEDLESS


def test_every_command_is_recorded():
    """A command that is added is recorded with the others."""
    assert len(truth.recorded()) == len({command.text for command in world.commands()})
