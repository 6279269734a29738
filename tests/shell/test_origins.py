"""Where what is found stands, if not in the command itself: what a person would look at."""

from __future__ import annotations

import pytest

FILES = {
    "/home/me/app/package.json": '{\n  "scripts": {\n    "ship": "cp a /etc/x",\n'
    '    "preship": "show first"\n  }\n}\n',
    "/home/me/app/bin/ship.sh": "#!/bin/bash\nf() {\n  cat /etc/x\n}\n. bin/lib.sh\nf\ng\n"
    "eval 'show made'\nxargs show <<< in\n",
    "/home/me/app/bin/lib.sh": "g() {\n\n\n  show lib\n}\n",
    "/home/me/app/reads.py": "import os\n\nopen('/etc/x')\nos.system('show py')\n",
    "/home/me/app/.git/config": '[core]\n[remote "origin"]\n\turl = /srv/x\n',
    "/home/me/app/a": "",
}


@pytest.mark.parametrize(
    ("command", "origin"),
    [
        ("cat /etc/x", ""),
        ("bash -c 'cat /etc/x'", ""),
        ("npm run ship", 'package.json:3, script "ship"'),
        ("./bin/ship.sh", "bin/ship.sh:3"),
        ("cd bin && bash ../bin/ship.sh", "bin/ship.sh:3"),
        (". bin/ship.sh", "bin/ship.sh:3"),
        ("python3 reads.py", "reads.py:3"),
        ("git push", '.git/config:3, remote "origin"'),
        ("echo /etc/x | xargs cat", "input of xargs"),
        ("printf 'cat /etc/x' > s; bash s", "s:1"),
    ],
)
def test_of_paths(rooted, command, origin):
    """A file with its line; of a script of ``package.json`` that of its key."""
    found = rooted(FILES).evaluate(command).effects
    assert [e.origin for e in found if e.path in ("/etc/x", "/srv/x")] == [origin]


@pytest.mark.parametrize(
    ("command", "origins"),
    [
        ("show a", {"show a": ""}),
        ("bash -c 'show a'", {"show a": ""}),
        ("X='show a'; eval $X", {"show a": ""}),
        ("npm run ship", {"show first": 'package.json:4, script "preship"'}),
        (
            "bin/ship.sh",
            {
                "show lib": "bin/lib.sh:4",  # where it was defined, not where it is called
                "show made": "bin/ship.sh",  # a line of its own has no line there
                "show in": "bin/ship.sh:9",
            },
        ),
        ("python3 reads.py", {"show py": "reads.py"}),
        ("echo a b | xargs -n 1 show", {"show a": "input of xargs", "show b": "input of xargs"}),
        ("GIT_PAGER='show x' git log", {"show x": "$GIT_PAGER"}),
        ("git -c core.pager='show x' log", {"show x": ""}),
    ],
)
def test_of_commands(rooted, command, origins):
    """The same; what the environment or standard input brings is named by that."""
    found = rooted(FILES).evaluate(command).commands
    assert {" ".join(c.words): c.origin for c in found if c.words[0] == "show"} == origins
