"""The working directory: where `cd` and its like lead, and what relative paths then mean."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        # Inside and back.
        ("cd src && cat ../x", []),
        ("cd src && cd .. && cat x", []),
        ("mkdir -p a/b; cd a/b; cat ../../x", []),
        ("(cd src && ls); cat x", []),
        ("cd ./src/../docs && ls", []),
        ("cd /home/me/app/src && cat ../x", []),
        ('cd "$PWD" && cat x', []),
        ("cd ..; cd app && cat x", ["/home/me"]),
        ("cd", []),
        # Out of it.
        ("cd ..", ["/home/me"]),
        ("cd .. && cat x", ["/home/me", "/home/me/x"]),
        ("cd src && cat ../../x", ["/home/me/x"]),
        ("cd && cat x", ["/home/me", "/home/me/x"]),
        ("cd ~/w; cat x", ["/home/me/w", "/home/me/w/x"]),
        ("cd -- ..; ls", ["/home/me"]),
        ("cd -P ..; ls", ["/home/me"]),
        ("cd /etc && cd - && cat x", ["/etc"]),
        ("cd /etc && cd /usr && cat ~-/x", ["/etc", "/etc/x", "/usr"]),
        ("pushd /etc && cat x && popd; cat x", ["/etc", "/etc/x"]),
        ("pushd src && pushd /etc && popd && cat ../x", ["/etc"]),
        ("OLDPWD=/etc; cd -; cat x", ["/etc", "/etc/x"]),
        ("CDPATH=/etc cd ssh && cat x", ["/etc/ssh", "/etc/ssh/x"]),
        # A subshell's directory is its own; a function's and a group's is not.
        ("(cd ..); cat x", ["/home/me"]),
        ("x=$(cd ..; pwd); cat x", ["/home/me"]),
        ("cd .. | cat; cat x", ["/home/me"]),
        ("cd .. & cat x", ["/home/me"]),
        ("{ cd ..; }; cat x", ["/home/me", "/home/me/x"]),
        ("f() { cd ..; }; f; cat x", ["/home/me", "/home/me/x"]),
        ("f() (cd ..); f; cat x", ["/home/me"]),
        ("if true; then cd ..; fi; cat x", ["/home/me", "/home/me/x"]),
        # A `cd` that may fail leaves both directories possible after `;`, one after `&&`.
        ("cd src; cat ../x", ["/home/me/x"]),
        ("cd src || exit; cat ../x", []),
        ("set -e; cd src; cat ../x", []),
        ("false && cd src; cat ../x", ["/home/me/x"]),
        ("cd src && true; cat ../x", ["/home/me/x"]),
        ("if cd src; then cat ../x; fi", []),
        # The prompt is for the unknown directory, once.
        ('cd "$NEVER_SET" && ls && cat x', ['opaque "$NEVER_SET"']),
        ('cd "$NEVER_SET" && cat /etc/x', ["/etc/x", 'opaque "$NEVER_SET"']),
        ("while unheard_of; do cd ..; done; cat x", ["/", "/home", "/home/me", "/x"]),
    ],
)
def test_directory(world, command, touched):
    """Every directory entered outside is found, and relative paths start where they must."""
    found = world.touched(command)
    if "/x" in touched:  # all the directories on the way up
        assert set(touched) <= set(found)
    else:
        assert found == touched


def test_home_counts_from_the_first_command_after_it(world):
    """A plain `cd` names no path, but whoever goes on there is in the home directory."""
    assert world.touched("cd; pwd") == ["/home/me"]
    assert world.touched("cd; cd app; ls") == ["/home/me"]


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("cat link/x", ["/home/me/app/link/x"]),
        ("cat link/../x", ["/x"]),
        ("cd link && cat x", ["/home/me/app/link", "/home/me/app/link/x"]),
        ("cd link && cat ../x", ["/home/me/app/link", "/x"]),
        ("cd link && cd .. && cat y", ["/home/me/app/link"]),
        ("cd -P link && cd .. && cat y", ["/", "/home/me/app/link", "/y"]),
        ("cat in/x", []),
        ("cd in && cat ../y", []),
        ("rm link", []),
        ("ls -l link", []),
        ("ls link/", ["/home/me/app/link"]),
        ("cat /proc/self/cwd/../x", ["/home/me/x"]),
        ("cd src; cat ../y", []),
        ("cd nosuch; cat ../y", ["/home/me/y"]),
        ("cat /back/y", []),
        ("cat li*/x", ["/home/me/app/link", "/home/me/app/link/x"]),
    ],
)
def test_links(rooted, command, touched):
    """`..` after a link is physical for programs and logical for `cd`, as in bash."""
    world = rooted(
        {
            "/etc/x": "",
            "/home/me/app/link": "@/etc",
            "/home/me/app/in": "@src",
            "/home/me/app/src/x": "",
            "/home/me/app/y": "",
            "/back": "@/home/me/app",
        }
    )
    assert world.touched(command) == touched


def test_a_linked_working_directory_is_the_working_directory(rooted):
    """Both the link and its target count as inside."""
    world = rooted({"/home/me/app": "@/data/app", "/data/app/x": ""}, cwd="/home/me/app")
    assert world.touched("cat x /data/app/x /home/me/app/x") == []
    assert world.touched("cat ../x") == ["/data/x"]
