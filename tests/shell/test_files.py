"""What files say: those of the project, and those that the command itself writes."""

from __future__ import annotations

import pytest

FILES = {
    "/etc/x": "",
    "/home/me/app/run.sh": "#!/bin/bash\ncat /etc/x\n",
    "/home/me/app/args.sh": '#!/usr/bin/env bash\nfor f in "$@"; do wc "$f"; done\n',
    "/home/me/app/here.sh": '#!/bin/sh\ncd "$(dirname "$0")" && cat ../x\n',
    "/home/me/app/unclear.sh": '#!/bin/sh\ncat "$SOMETHING"\n',
    "/home/me/app/tool.py": "#!/usr/bin/env python3\nprint(1)\n",
    "/home/me/app/vars": "D=/etc\ngreet() { cat ~/greeting; }\n",
    "/home/me/app/list": "a\n/etc/x\n",
    "/home/me/app/safe": "a\nb\n",
    "/home/me/app/package.json": '{"scripts": {"ship": "cp a /etc/x", "prebuild": "ls", '
    '"test": "ls ~/w"}}',
    "/home/me/app/.git/config": '[remote "mirror"]\n\turl = /srv/mirror.git\n'
    '[remote "origin"]\n\turl = https://a.example/b\n',
    "/home/me/app/out": "@/etc",
    "/home/me/app/a.txt": "",
    "/home/me/app/b.txt": "",
    "/home/me/app/.hidden": "",
    "/home/me/tools/helper": "",
    "/home/me/w/c.txt": "",
}


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        # Scripts of the project are looked into; what stays unclear there is no prompt.
        ("./run.sh", ["/etc/x"]),
        ("bash run.sh", ["/etc/x"]),
        ("bash args.sh /etc/x", ["/etc/x"]),
        ("./here.sh", ["/home/me/x"]),
        ("./unclear.sh", []),
        ("./tool.py", []),
        ("source ./vars; cat $D/x; greet", ["/etc/x", "/home/me/greeting"]),
        ("npm run ship", ["/etc/x"]),
        ("npm run build", []),
        ("npm test", ["/home/me/w"]),
        ("git push mirror", ["/srv/mirror.git"]),
        ("git fetch", []),
        # Data of the project.
        ("xargs cat < list", ["/etc/x"]),
        ("xargs -a list cat", ["/etc/x"]),
        ("cat list | xargs cat", ["/etc/x"]),
        ("while read -r f; do cat $f; done < list", ["/etc/x"]),
        ("while read -r f; do cat $f; done < safe", []),
        ("mapfile -t l < list; cat ${l[1]}", ["/etc/x"]),
        ("cat $(tail -1 list)", ["/etc/x"]),
        # It says nothing any more once it may have been changed.
        ("echo /etc/x > safe; xargs cat < safe", ["/etc/x"]),
        ("echo c >> safe; xargs cat < safe", ["opaque xargs"]),
        ("unheard_of; xargs cat < safe", ["opaque xargs"]),
        ("chmod +x run.sh && ./run.sh", ["/etc/x"]),
        # Globs.
        ("cat *.txt", []),
        ("cat ../w/*.txt", ["/home/me/w/*.txt", "/home/me/w/c.txt"]),
        ("cat o*/x", ["/home/me/app/out", "/home/me/app/out/x"]),
        ("shopt -s nullglob; cat /etc/no*", ["/etc/no*"]),
        # Links that the command makes.
        ("ln -s ~/w l && cat l/c.txt", ["/home/me/w", "/home/me/w/c.txt"]),
        ("mv out o && cat o/x", ["/etc/x"]),
        ("ln -s . here && cat here/a.txt", []),
        # The environment.
        ("PATH=$PATH:~/tools; helper", ["/home/me/tools/helper"]),
        ("GIT_DIR=/srv/g git log", ["/srv/g"]),
    ],
)
def test_files_are_looked_at(rooted, command, touched):
    """A file counts with its text, unless the command may have changed it before."""
    assert rooted(FILES).touched(command) == touched


def test_words_of_globs_are_those_of_the_directory(rooted):
    """Matches are sorted; hidden names need a dot; a pattern without a match stays."""
    world = rooted(FILES)
    assert world.words("show *.txt [ab].txt .h* no*") == [
        ("a.txt", "b.txt", "a.txt", "b.txt", ".hidden", "no*")
    ]
    assert world.words("x='*.txt'; show $x \"$x\" '*'.txt") == [
        ("a.txt", "b.txt", "*.txt", "*.txt")
    ]


def test_downloaded_scripts_are_opaque(world):
    """A script with a text that nobody has seen must not pass as the project's own."""
    command = "curl -o s.sh https://a.example/s && bash s.sh"
    assert [one.text for one in world.evaluate(command).opaque] == ["s.sh"]
    command = "curl https://a.example/s > s.sh; . ./s.sh"
    assert [one.text for one in world.evaluate(command).opaque] == ["./s.sh"]
