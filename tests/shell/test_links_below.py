"""Links below a directory: commands that follow them touch what they lead to."""

from __future__ import annotations

import pytest

from ringfence.engine.filesystem import RealFileSystem, Seen
from ringfence.engine.shell import trees
from ringfence.engine.shell.limits import MAX_BELOW, MAX_LINKS_NAMED

APP = "/home/me/app"
FILES = {
    "/etc/x": "",
    "/srv/data/f": "",
    "/usr/bin/python3": "",
    f"{APP}/src/a.txt": "",
    f"{APP}/src/deep/x": "@/etc/x",
    f"{APP}/src/deep/in": "@../a.txt",
    f"{APP}/tied/loop": "@..",  # through it, the whole project
    f"{APP}/twin/deep/x": "",
    f"{APP}/clean/in": "@../src/a.txt",
    f"{APP}/clean/self": "@.",
    f"{APP}/clean/gone": "@/srv/gone",
    f"{APP}/clean/.hidden/b": "",
    f"{APP}/venv/bin/python": "@/usr/bin/python3",
    "/home/me/.pyenv/3.11/bin/python3.11": "",
    f"{APP}/py/pyvenv.cfg": "",
    f"{APP}/py/bin/python": "@python3",
    f"{APP}/py/bin/python3": "@/home/me/.pyenv/3.11/bin/python3.11",
    f"{APP}/odd/pyvenv.cfg": "",
    f"{APP}/odd/bin/python": "@/etc/x",
    f"{APP}/odd/bin/tool": "@/home/me/.pyenv/3.11/bin/python3.11",
    f"{APP}/own/.venv/python": "@/srv/data/f",
    f"{APP}/links/out": "@/srv/data",
    f"{APP}/.git/objects/x": "@/etc/x",
}
ALL = [
    f"{APP}/{name}"
    for name in ("links/out", "odd/bin/python", "odd/bin/tool", "own/.venv/python", "src/deep/x")
]
DEEP = [f"{APP}/src/deep/x"]
OUT = [f"{APP}/links/out"]
ODD = [f"{APP}/odd/bin/python", f"{APP}/odd/bin/tool"]
OWN = [f"{APP}/own/.venv/python"]


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("grep -R x .", ALL),
        ("grep -R x", ALL),
        ("grep -R x tied", ALL),
        ("cd src && grep -R x", DEEP),
        ("grep --dereference-recursive x src links", [*OUT, *DEEP]),
        ("grep -rR x src", DEEP),
        ("egrep -R x src", DEEP),
        ("cp -rL src copy", DEEP),
        ("cp -RL -t copy src", DEEP),
        ("cp -aL src copy", DEEP),
        ("tar -chf t.tar src", DEEP),
        ("tar cfh t.tar src", DEEP),
        ("tar -C src --dereference -cf t.tar .", DEEP),
        ("find -L . -name x", ALL),
        ("find src -follow -type f", DEEP),
        ("rsync -aL src/ copy/", DEEP),
        ("rsync -a --copy-links src host:", DEEP),
        ("rsync -a --copy-unsafe-links src/ copy/", DEEP),
        ("zip -r z.zip src", DEEP),
        ("zip -qr z.zip .", ALL),
        ("7z a z.7z src", DEEP),
        ("jar cf z.jar src", DEEP),
        ("scp -r src host:", DEEP),
        ("aws s3 sync src s3://bucket", DEEP),
        ("rclone copy -L src far:", DEEP),
        ("du -shL .", ALL),
        ("ls -RL", ALL),
        ("ls -lL links", OUT),
        ("tree -l", ALL),
        ("diff -rN src clean", DEEP),
        ("diff -r src twin", DEEP),
        ("chmod -R -L 600 src", DEEP),
        ("chown -RL me src", DEEP),
        ("chgrp -RL me src", DEEP),
        ("setfacl -R -L -m u:me:r src", DEEP),
        ("rg --follow x src", DEEP),
        ("ag -f x src", DEEP),
        ("fd -L x src", DEEP),
        ("bash -c 'grep -R x src'", DEEP),
        ("find . -exec grep -R x src \\;", DEEP),
        # Those that look at no hidden names unless they are told to.
        ("rg -L x", [*OUT, *ODD, *DEEP]),
        ("rg -L --hidden x", ALL),
        ("fd -L x", [*OUT, *ODD, *DEEP]),
        ("fd -LH x", ALL),
        # A program where programs are can be read; changing it is another thing.
        ("grep -R x venv", []),
        ("zip -r z.zip py", []),
        ("grep -R x odd", ODD),
        ("chmod -R -L 700 venv", [f"{APP}/venv/bin/python"]),
        # No link followed, or none that leads out to something.
        ("grep -R x clean", []),
        ("grep -r x .", []),
        ("cp -r src copy", []),
        ("cp -a src copy", []),
        ("cp -rH src copy", []),
        ("cp -L src/a.txt copy", []),
        ("tar -cf t.tar .", []),
        ("tar -xhf t.tar", []),
        ("find . -name x", []),
        ("find -H . -name x", []),
        ("rsync -a src/ copy/", []),
        ("zip -ry z.zip src", []),
        ("zip -r --symlinks z.zip src", []),
        ("7z a -snl z.7z src", []),
        ("du -sh .", []),
        ("ls -R", []),
        ("ls -L src", []),
        ("tree", []),
        ("diff -r --no-dereference src twin", []),
        ("diff -r src clean", []),  # what stands on one side alone is not looked at
        ("diff src/a.txt clean/in", []),
        ("chmod -R 600 .", []),
        ("chown -R me src", []),
        ("rg x", []),
        ("fd x", []),
        ("aws s3 sync --no-follow-symlinks src s3://bucket", []),
        # What is left out.
        ("grep -R --exclude-dir=.venv --exclude-dir=deep x own src", []),
        ("zip -r z.zip own -x 'own/.venv/*'", []),
        ("zip -r z.zip . -x 'own/*' 'links/*'", [*ODD, *DEEP]),
        ("zip -r z.zip . -x '*/.venv/*' -x 'src/deep/*'", [*OUT, *ODD]),
        ("zip -r z.zip own -x '.venv/*'", OWN),
        ("tar -chf t.tar --exclude=.venv own", []),
        ("tar -chf t.tar --exclude='.ve*' own", []),
        ("rsync -aL --exclude .venv own/ copy/", []),
        ("rsync -aL --include .venv/python --exclude '.venv/*' own/ copy/", OWN),
        # Links that the command makes.
        ("mv links/out clean/new; grep -R x clean", ["/srv/data"]),
    ],
)
def test_links_that_are_followed(rooted, command, touched):
    """Each link below that leads out is named; without one, nobody is asked."""
    assert rooted(FILES).touched(command) == touched


def test_only_some_links_are_named(rooted):
    """Many links are as good a reason to ask as a few."""
    many = {f"{APP}/l/{number}": "@/etc/x" for number in range(MAX_LINKS_NAMED + 5)}
    assert len(rooted({"/etc/x": "", **many}).touched("grep -R x")) == MAX_LINKS_NAMED


def test_looking_ends(tmp_path, monkeypatch):
    """Past the limit nothing is said; what stands near the top was looked at before."""
    (tmp_path / "etc").mkdir()
    for name in ("app/node_modules/big", "app/src/deep"):
        (tmp_path / name).mkdir(parents=True)
    for number in range(20):
        (tmp_path / f"app/node_modules/big/{number}").touch()
    for name in ("node_modules/big/30", "src/deep/etc"):
        (tmp_path / "app" / name).symlink_to("/etc")
    filesystem = RealFileSystem(str(tmp_path))

    def found(limit: int) -> list[str]:
        monkeypatch.setattr(trees, "MAX_BELOW", limit)
        return trees.leading_out("/app", ".", "/app", filesystem)

    assert found(MAX_BELOW) == ["/app/src/deep/etc", "/app/node_modules/big/30"]
    assert found(10) == ["/app/src/deep/etc"]
    assert found(3) == []


def test_what_was_seen_below_is_asked_again(tmp_path):
    """A decision that was kept does not outlive a new link."""
    (tmp_path / "app").mkdir()
    filesystem = RealFileSystem(str(tmp_path))
    seen = Seen(filesystem)
    assert seen.links_below("/app", 10) == ((), 0)
    assert seen.is_still(filesystem)
    (tmp_path / "app/l").symlink_to("/etc")
    assert seen.links_below("/app", 10) == ((), 0)
    assert not seen.is_still(filesystem)
