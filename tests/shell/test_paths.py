"""Paths: normalising, following links, and what is outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.engine.filesystem import NoFileSystem, RealFileSystem
from ringfence.engine.paths import (
    is_inside,
    kernel_path,
    normalise,
    outside,
    real_path,
    stays_inside,
)
from ringfence.rules.model import BELOW, NAME, UNKNOWN


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("/", "/"),
        ("//a///b/", "/a/b"),
        ("/a/./b/../c", "/a/c"),
        ("/../..", "/"),
        (f"/a/{NAME}/../b", "/a/b"),
        (f"/a/{BELOW}/b", f"/a/{BELOW}/b"),
        (f"/a/{BELOW}/..", f"/a/{BELOW}"),
        (f"/a/b/{BELOW}/../..", "/a"),
        (f"/a/{UNKNOWN}/../b", f"/a/{UNKNOWN}/b"),
    ],
)
def test_normalise(path, normal):
    """`..` takes one name; what it leaves of an unknown part is still unknown."""
    assert normalise(path) == normal


@pytest.mark.parametrize(
    ("path", "directory", "inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
    ],
)
def test_is_inside(path, directory, inside):
    """A directory holds itself and what is below it, not its siblings with longer names."""
    assert is_inside(path, directory) is inside


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/w/x", None),
        ("/w", None),
        ("/w2/x", ("/w2/x", "/w2/x")),
        ("/", ("/", "/")),
        ("/dev/null", None),
        ("/dev/stdin", None),
        ("/dev/fd/1", None),
        ("/dev/fd/3", ("/dev/fd/3", "/dev/fd/3")),
        ("/dev/sda", ("/dev/sda", "/dev/sda")),
        (f"/w/{BELOW}", None),
    ],
)
def test_outside_without_files(path, found):
    """Without a file system, the text alone counts; devices that hold nothing are no place."""
    assert outside(path, "/w", NoFileSystem()) == found


@pytest.fixture
def linked(tmp_path: Path) -> RealFileSystem:
    for directory in ("etc", "w/src", "data"):
        (tmp_path / directory).mkdir(parents=True)
    for name, target in {
        "w/out": "/etc",
        "w/in": "src",
        "w/up": "../..",
        "w/chain": "out",
        "w/loop": "loop",
        "w/dangling": "/data/new",
        "back": "/w",
    }.items():
        (tmp_path / name).symlink_to(target)
    return RealFileSystem(str(tmp_path))


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("/w/out/x", "/etc/x"),
        ("/w/in/x", "/w/src/x"),
        ("/w/out/../x", "/x"),
        ("/w/chain/x", "/etc/x"),
        ("/w/up/x", "/x"),
        ("/w/dangling", "/data/new"),
        ("/w/loop/x", "/w/loop/x"),
        ("/back/in/..", "/w"),
        ("/w/none/../x", "/w/x"),
    ],
)
def test_real_path(linked, path, real):
    """Links are followed one component at a time, below the root; loops end."""
    assert real_path(path, linked) == real


@pytest.mark.parametrize(
    ("path", "kernel"),
    [("/w/out/x", "/w/out/x"), ("/w/out/../x", "/x"), ("/w/in/../x", "/w/x"), ("/w/./x", "/w/x")],
)
def test_kernel_path(linked, path, kernel):
    """A path keeps its names, but `..` leads where the kernel goes."""
    assert kernel_path(path, linked) == kernel


def test_outside_with_links(linked):
    """What counts is where a path really leads; a link itself is where it stands."""
    assert outside("/w/out/x", "/w", linked) == ("/w/out/x", "/etc/x")
    assert outside("/w/out", "/w", linked, follow=False) is None
    assert outside("/back/x", "/w", linked) is None
    assert outside("/w/x", "/back", linked) is None


@given(st.lists(st.sampled_from(["a", "b", "..", ".", ""]), max_size=8))
def test_normalise_is_that_of_the_library(parts):
    """On known texts it agrees with `os.path.normpath`, and doing it twice changes nothing."""
    path = "/" + "/".join(parts)
    assert normalise(path) == "/" + os.path.normpath(path).lstrip("/")
    assert normalise(normalise(path)) == normalise(path)


class OneCase(NoFileSystem):
    """A disk on which the cases of letters do not matter, at least below /Src."""

    def same(self, path: str, other: str) -> bool:
        return path.casefold() == other.casefold() == "/src/app"


@pytest.mark.parametrize(
    ("path", "inside"),
    [("/src/APP/x", True), ("/src/app", True), ("/src/apple", False), ("/src/app2/x", False)],
)
def test_other_cases_of_the_directory(path, inside):
    """Where the disk says that both spellings are one directory, a path in it is inside."""
    assert (outside(path, "/Src/App", OneCase()) is None) is inside
    assert outside(path, "/Src/App", NoFileSystem()) is not None


class TestStaysInside:
    """What is surely inside without a look at where the directory itself leads."""

    @pytest.fixture
    def filesystem(self, tmp_path):
        """A project behind a link, with links out, in and to nothing."""
        for folder in ("real/project/src", "real/outside"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "project").symlink_to("real/project")
        project = tmp_path / "project"
        (project / "file").write_text("")
        (project / "out").symlink_to("../outside")
        (project / "in").symlink_to("src")
        (project / "away").symlink_to("/nowhere")
        return RealFileSystem(str(tmp_path))

    @pytest.mark.parametrize("follow", [True, False])
    @pytest.mark.parametrize("directory", ["/project", "/real/project", "/"])
    @pytest.mark.parametrize(
        "path",
        [
            *("/project", "/project/file", "/project/src/new/deep", "/project/new", "/project2"),
            *("/project/out", "/project/out/x", "/project/in", "/project/in/x", "/project/away"),
            *("/real/project/src", "/real/outside", "/etc/hosts", "/", "/project/src/../../x"),
            *(f"/project/{NAME}", f"/project/{BELOW}/x", f"/project/{UNKNOWN}"),
        ],
    )
    def test_it_is_never_milder(self, path, directory, follow, filesystem):
        """A path that is surely inside is never one that leads out."""
        place = outside(path, directory, filesystem, follow=follow)
        if stays_inside(path, (directory,), filesystem, follow=follow):
            assert place is None

    @pytest.mark.parametrize(
        ("path", "follow", "stays"),
        [
            ("/project/src/new", True, True),
            ("/project/out/x", True, False),
            ("/project/out", False, True),
            ("/project", False, False),
            ("/project2", True, False),
        ],
    )
    def test_it_tells(self, path, follow, stays, filesystem):
        """A link between says nothing; a link that is itself what is touched is in its folder."""
        assert stays_inside(path, ("/project",), filesystem, follow=follow) is stays
