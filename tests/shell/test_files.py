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
    "/home/me/app/reads.py": "import helper\nopen('/etc/x')\nopen(helper.f())\n",
    "/home/me/app/takes.py": "import sys\nopen(sys.argv[1])\n",
    "/home/me/app/helper.py": "def f():\n    return 1\n",
    "/home/me/app/loads.py": "import helper\nprint(helper.f())\n",
    "/home/me/app/parses.py": "import loads, args\n",
    "/home/me/app/args.py": "import argparse\n",
    "/home/me/app/foreign.py": "import click_like\n",
    "/home/me/app/lib.js": "exports.f = 1;\n",
    "/home/me/app/loads.js": "const x = require('./lib');\n",
    "/home/me/app/takes.js": "require('fs').readFileSync(process.argv[2]);\n",
    "/home/me/app/hello.sh": "echo hello\n",
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
        ("python3 reads.py", ["/etc/x"]),
        ("python3 takes.py ../y", ["/home/me/y"]),
        # A script that never looks at its arguments touches none of them…
        ("python3 tool.py /etc/x", []),
        ("./tool.py /etc/x", []),
        ("python3 loads.py --config=/etc/x", []),
        ("node loads.js /etc/x", []),
        ("bash hello.sh /etc/x", []),
        ("./hello.sh ../y", []),
        # …but where that is not sure, the arguments count.
        ("python3 parses.py /etc/x", ["/etc/x"]),
        ("python3 foreign.py /etc/x", ["/etc/x"]),
        ("python3 missing.py /etc/x", ["/etc/x"]),
        ("node takes.js /etc/x", ["/etc/x"]),
        ("unheard_of; python3 tool.py /etc/x", ["/etc/x"]),
        # What a command adds to a script runs with it.
        ("echo 'cat /etc/x' >> hello.sh; bash hello.sh", ["/etc/x"]),
        ("echo 'cat /etc/x' >> new.sh; bash new.sh", ["/etc/x"]),
        ("unheard_of; echo 'cat /etc/x' >> hello.sh; bash hello.sh", ["/etc/x", "opaque hello.sh"]),
        # What goes through a descriptor of its own is not followed.
        ("exec 3> q; echo /etc/x >&3; cat $(<q)", ["opaque $(<q)"]),
        ("exec > q; echo /etc/x; cat $(<q)", ["opaque $(<q)"]),
        ("ls 2> q; cat $(<q)", ["opaque $(<q)"]),
        ("source ./vars; cat $D/x; greet", ["/etc/x", "/home/me/greeting"]),
        ("npm run ship", ["/etc/x"]),
        ("npm run build", []),
        ("npm test", ["/home/me/w"]),
        ("git push mirror", ["/srv/mirror.git"]),
        ("git fetch", []),
        ("git remote add o /srv/o.git", []),
        ("git remote add o /srv/o.git && git fetch -q o", ["/srv/o.git"]),
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
        ("echo /etc/x >> safe; xargs cat < safe", ["/etc/x"]),
        ("unheard_of; echo c >> safe; xargs cat < safe", ["opaque xargs"]),
        ("unheard_of; xargs cat < safe", ["opaque xargs"]),
        ("tar cf t.tar -T list", ["/etc/x"]),
        ("printf '%s\\n' /etc/x | tar cf t.tar -T -", ["/etc/x"]),
        ("printf '/etc/x\\0' > l; wc --files0-from=l", ["/etc/x"]),
        ("wc --files0-from=safe", []),
        ("wc --files0-from=missing", []),
        ("unheard_of; wc --files0-from=safe", ["opaque --files0-from=safe"]),
        ("awk -v f=/etc/x 'BEGIN { getline l < f }'", ["/etc/x"]),
        ("cat $(seq -f '/etc/%g' 2)", ["/etc/1", "/etc/2"]),
        ("chmod +x run.sh && ./run.sh", ["/etc/x"]),
        # Globs.
        ("cat *.txt", []),
        ("cat ../w/*.txt", ["/home/me/w/*.txt", "/home/me/w/c.txt"]),
        ("cat o*/x", ["/home/me/app/out", "/home/me/app/out/x"]),
        ("shopt -s nullglob; cat /etc/no*", ["/etc/no*"]),
        # Links that the command makes.
        ("ln -s ~/w l && cat l/c.txt", ["/home/me/w", "/home/me/w/c.txt"]),
        ("mv out o && cat o/x", ["/etc/x"]),
        # A physical `cd` goes up from where a link leads.
        ("cd -P out/..; cat x", ["/", "/x"]),
        ("cd out/..; cat a.txt", []),
        ("set -P; cd out/..; cat x", ["/", "/x"]),
        ("set -o physical; cd out/..; cat x", ["/", "/x"]),
        ("ln -s . here && cat here/a.txt", []),
        # The environment.
        ("PATH=$PATH:~/tools; helper", ["/home/me/tools/helper"]),
        ("hash -p ~/tools/helper ls; ls", ["/home/me/tools/helper"]),
        # A variable that is exported before it has a value, and one that `set -a` exports.
        ("export LD_PRELOAD; read LD_PRELOAD <<< ~/tools/helper; ls", ["/home/me/tools/helper"]),
        ("set -a; read LD_PRELOAD <<< ~/tools/helper; ls", ["/home/me/tools/helper"]),
        ("set -a; LD_PRELOAD=~/tools/helper; ls", ["/home/me/tools/helper"]),
        ("read LD_PRELOAD <<< ~/tools/helper; ls", []),
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
