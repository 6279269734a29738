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
    "/home/me/app/reads.awk": 'BEGIN { getline < "/etc/x" }\n',
    "/home/me/app/writes.awk": "{ print > out }\n",
    "/home/me/app/writes.sed": "w /etc/x\n",
    "/home/me/app/plain.sed": "s/a/b/\n",
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
        # Programs in files, in other languages than the shell's.
        ("awk -f reads.awk a.txt", ["/etc/x"]),
        ("awk -v out=/etc/x -f writes.awk a.txt", ["/etc/x"]),
        ("sed -f writes.sed a.txt", ["/etc/x"]),
        ("sed -f plain.sed a.txt; xargs cat < safe", []),
        ("echo 'w /etc/x' > s.sed; sed -n -f s.sed a.txt", ["/etc/x"]),
        ("echo 'w /etc/x' | sed -f - a.txt", ["/etc/x"]),
        ("sed -f /dev/stdin a.txt <<< 'w /etc/x'", ["/etc/x"]),
        ("sed -f <(echo 'w /etc/x') a.txt", ["/etc/x"]),
        ("echo 'BEGIN { getline < \"/etc/x\" }' > p.awk; gawk --file=p.awk", ["/etc/x"]),
        ("echo 'BEGIN { system(\"cat /etc/x\") }' | awk -f -", ["/etc/x"]),
        ("awk -f ~/tools/helper a.txt", ["/home/me/tools/helper"]),
        # What bash reads before a script, which the command wrote.
        ("echo 'cat /etc/x' > e; BASH_ENV=e bash hello.sh", ["/etc/x"]),
        ("echo 'cat /etc/x' > e; export ENV=e; sh -c ls", ["/etc/x"]),
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


@pytest.mark.parametrize(
    "setting",
    [
        *("core.pager", "core.editor", "core.sshCommand", "core.fsmonitor", "diff.external"),
        *("core.gitProxy", "core.alternateRefsCommand", "uploadpack.packObjectsHook"),
        *("interactive.diffFilter", "trailer.sign.command", "trailer.sign.cmd", "man.x.cmd"),
        *("browser.x.cmd", "guitool.x.cmd", "tar.x.command", "remote.origin.uploadpack"),
        *("remote.origin.receivepack", "sendemail.sendmailCmd", "hook.x.command"),
        *("filter.x.clean", "merge.x.driver", "gpg.ssh.defaultKeyCommand"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "git -c {0}='{1}' status",
        "git clone -c {0}='{1}' https://a.example/b",
        "git config {0} '{1}'",
        "V='{1}' git --config-env={0}=V status",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0={0} GIT_CONFIG_VALUE_0='{1}' git status",
        "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0={0} GIT_CONFIG_VALUE_0='{1}'; git status",
        "GIT_CONFIG_PARAMETERS=\"'{0}={1}'\" git status",
        "GIT_CONFIG_PARAMETERS=\"'{0}'='{1}'\" git status",
    ],
)
def test_settings_of_git_that_run_commands(world, setting, command):
    """However git is told, what it runs is judged as the command that it is."""
    assert world.touched(command.format(setting, "cat /etc/x")) == ["/etc/x"]


@pytest.mark.parametrize(
    ("command", "touched"),
    [
        ("git -c credential.helper='!cat /etc/x' fetch", ["/etc/x"]),
        ("git -c credential.helper='/srv/helper -a' fetch", ["/srv/helper"]),
        ("git -c credential.helper=store fetch", []),
        ("git -c alias.x='!cat /etc/x' x", ["/etc/x"]),
        ("git -c alias.x=log x", []),
        ("git -c submodule.a.update='!cat /etc/x' submodule update", ["/etc/x"]),
        ("git -c submodule.a.update=merge submodule update", []),
        ("git -c core.hooksPath=/srv/hooks commit", ["/srv/hooks"]),
        ("git -c core.hooksPath=/dev/null commit", []),
        ("git -c include.path=/srv/c log", ["/srv/c"]),
        ("git -c includeIf.gitdir:/a/.path=/srv/c log", ["/srv/c"]),
        ("git -c url./srv/r/.insteadOf=x: fetch x:y", ["/srv/r"]),
        ("git -c url.https://a.example/.insteadOf=x: fetch x:y", []),
        ("git -c remote.o.url=/srv/r fetch o", ["/srv/r"]),
        ("git -c http.sslKey=/srv/key fetch", ["/srv/key"]),
        ("git -c user.signingKey=ABCDEF commit -S", []),
        ("git -c user.name='A B' -c color.ui=always -c safe.directory='*' log", []),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0='cat /etc/x' git l", []),
        ("GIT_CONFIG_VALUE_0='!cat /etc/x' git log", ["/etc/x"]),  # its key was set before
        ("git --config-env=core.pager=V log", ["opaque --config-env=core.pager=V"]),
        ("git --config-env=http.extraHeader=V fetch", []),
        ("MANPAGER='cat /etc/x' man ls", ["/etc/x"]),
        ("KUBE_EDITOR='cat /etc/x' kubectl edit pod", ["/etc/x"]),
        ("SYSTEMD_PAGER='cat /etc/x' systemctl status", ["/etc/x"]),
        ("GH_PAGER='cat /etc/x' gh pr list", ["/etc/x"]),
        ("AWS_PAGER='' aws s3 ls", []),
        ("SUDO_ASKPASS=/srv/ask sudo -A ls", ["/srv/ask"]),
        ("RUSTC_WRAPPER=/srv/wrapper cargo build", ["/srv/wrapper"]),
        ("RUSTC_WRAPPER=sccache cargo build", []),
        ("LESSOPEN='|cat /etc/x %s' less a", ["/etc/x"]),
        ("make CC='/srv/cc -O'", ["/srv/cc"]),
        ("CC=/srv/cc make", ["/srv/cc"]),
        ("CC=clang make CXX=/usr/bin/g++", []),
    ],
)
def test_settings_and_variables(world, command, touched):
    """What programs are told to run or read counts; what is only a value does not."""
    assert world.touched(command) == touched
