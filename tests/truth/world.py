"""The world in which the commands of commands.txt were recorded, and are judged again.

``build`` writes it below a folder as if that were ``/``. The working directory is CWD, the home
directory HOME; everything that a command can name outside lies in these few folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

HOME = "/home/dev"
CWD = "/home/dev/project"
ENV = {
    "HOME": HOME, "PWD": CWD, "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash",
    "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb",
}  # fmt: skip

PROJECT = {
    "package.json": '{"name": "demo"}\n',
    "README.md": "# demo\nx marks the spot\n",
    "notes.md": "notes\n",
    "src/app.py": "print('app')\n",
    "src/main.c": "int main(void) { return 0; }\n",
    "src/lib/util.py": "x = 1\n",
    "data/a.csv": "1,a/b\n2,c/d\n",
    "data/b.csv": "1,e\n",
    "data/with space.csv": "1\n",
    "data/d.json": '{"a": "b"}\n',
    "data/inside.txt": "README.md\nsrc/app.py\n",
    "data/outside.txt": "/srv/shared/one.txt\n/srv/shared/two.txt\n",
    "data/names.txt": "one.txt\n",
    "data/list0": "/srv/shared/one.txt\0/srv/shared/two.txt\0",
    "data/vars.sh": "TARGET=/srv/shared/one.txt\n",
    "data/x.patch": "--- x.txt\n+++ x.txt\n@@ -1 +1 @@\n-x\n+y\n",
    "Makefile": "all:\n\t@echo all\nclean:\n\t@echo clean\n",
    "scripts/lib.sh": 'say() { echo "$1"; }\n',
    "scripts/reads.sh": "#!/bin/bash\ncat /srv/shared/one.txt\n",
    "scripts/arg.sh": '#!/bin/bash\nwc -c "$1"\n',
    "scripts/ignore.sh": "#!/bin/bash\necho hello\n",
    "scripts/reads.py": "print(open('/srv/shared/one.txt').read())\n",
    "scripts/arg.py": "import sys\nprint(len(open(sys.argv[1]).read()))\n",
    "scripts/hello.py": "print('hello')\n",
    "scripts/reads.js": "require('fs').readFileSync('/srv/shared/one.txt');\n",
    "scripts/hello.js": "console.log('hello');\n",
}
OUTSIDE = {
    "/home/dev/notes.txt": "notes\n",
    "/home/dev/lib.sh": "true\n",
    "/home/dev/sibling/notes.txt": "sibling\n",
    "/home/dev/sibling/Makefile": "all:\n\t@echo sibling\n",
    "/srv/x.txt": "x\n",
    "/srv/shared/one.txt": "one\n",
    "/srv/shared/two.txt": "two\n",
    "/srv/shared/1.txt": "1\n",
    "/srv/shared/sub/three.txt": "three\n",
    "/srv/shared/emptydir/": "",
    "/srv/shared/patterns": "zzz\n",
    "/srv/shared/lib.sh": "true\n",
    "/srv/shared/prog.sed": "s/a/b/\n",
    "/srv/shared/prog.awk": "{ print }\n",
    "/srv/shared/prog.py": "x = 1\n",
    "/srv/shared/ext.c": "int ext;\n",
    "/srv/shared/rules.mk": "all:\n\t@echo rules\n",
    "/srv/shared/data.json": '{"a": 1}\n',
    "/srv/shared/filter.jq": ".\n",
    "/srv/shared/curlrc": "silent\n",
    "/srv/shared/gitconfig": "[a]\n\tb = c\n",
    "/etc/app/app.conf": "root = yes\n",
    "/opt/tool/run.sh": "#!/bin/bash\necho run\n",
    "/tmp/work/x.txt": "x\n",
    "/tmp/work/dir/y.txt": "y\n",
}
LINKS = {
    "out": "/srv/shared", "conf": "/etc/app/app.conf", "up": "..", "in": "src", "chain": "out",
    "dangling": "/srv/shared/new-target", "src/vendor": "../../sibling",
}  # fmt: skip
EXECUTABLE = (
    *(f"{CWD}/scripts/{name}.sh" for name in ("reads", "arg", "ignore")),
    "/opt/tool/run.sh",
)
TOPS = ("/home", "/srv", "/etc/app", "/opt", "/tmp")
"""The folders that belong to this world; a recorder empties them first."""


def build(root: Path) -> None:
    """Write the world below ``root``."""
    inside = {f"{CWD}/{name}": text for name, text in PROJECT.items()}
    for name, text in {**inside, **OUTSIDE}.items():
        path = root / name.lstrip("/")
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for name, target in LINKS.items():
        (root / CWD.lstrip("/") / name).symlink_to(target)
    for name in EXECUTABLE:
        (root / name.lstrip("/")).chmod(0o755)
    users = root / "etc/passwd"
    if not users.exists():
        users.write_text("root:x:0:0::/root:/bin/bash\ndev:x:1000:1000::/home/dev:/bin/bash\n")
    (root / CWD.lstrip("/") / ".git").mkdir(exist_ok=True)


@frozen
class Command:
    """A command of commands.txt; ``outside`` if it is meant to touch something outside."""

    text: str
    outside: bool
    about: str


def commands() -> Iterator[Command]:
    """The commands in the order of the file."""
    outside, about = False, ""
    for line in Path(__file__).with_name("commands.txt").read_text("utf-8").splitlines():
        if line.startswith("== "):
            where, _, about = line.removeprefix("== ").partition(": ")
            outside = where == "outside"
        elif line and not line.startswith("# "):
            yield Command(line.replace("⏎", "\n"), outside, about)
