"""Record which outside paths the commands of tests/truth really touch.

    python tests/bench/record_truth.py HARNESS [--home DIR] [--only TEXT]

HARNESS is a folder with ``truth.py``, ``sandbox.py`` and ``world.py``: a harness that runs
``bash -c`` in throw-away namespaces under a system-call tracer and summarises what was opened.
It is not part of this repository; it needs root, Linux and strace. The world of tests/truth is
laid over its own. Without --only, tests/truth/recorded.jsonl is written anew: for each command
the touched paths (``path`` as named, ``real`` with links resolved, ``ops``, and a ``note`` where
the touch is not judged: walked over, or a program's own), and whether it ran out of time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "truth"
sys.path.insert(0, str(DATA))
import world as ours  # noqa: E402

OWN = re.compile(r"/\.gitattributes$|^/etc/perl/|^/etc/profile$|/\.(?:bash_\w+|profile)$")
"""What git, perl and login shells read by themselves, whatever they are told."""


def lay_over(root: Path, owner: int) -> None:
    """Put our world where the harness's own was."""
    for top in ours.TOPS:
        shutil.rmtree(root / top.lstrip("/"), ignore_errors=True)
    (root / "tmp").mkdir()
    ours.build(root)
    for top in ("home/dev/project", "srv/shared"):
        _git(root / top, bare=top.startswith("srv"))
    project = root / ours.CWD.lstrip("/")
    subprocess.run(["tar", "cf", "data/in.tar", "notes.md"], cwd=project, check=True)
    subprocess.run(["tar", "cf", "bundle.tar", "one.txt"], cwd=root / "srv/shared", check=True)
    for top in ours.TOPS:
        for folder, names, files in os.walk(root / top.lstrip("/")):
            for name in (".", *names, *files):
                os.lchown(Path(folder, name), owner, owner)
    (root / "tmp").chmod(0o1777)


def _git(folder: Path, *, bare: bool) -> None:
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null"}
    who = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com")
    if bare:
        steps = [("init", "-q", "--bare", "--template=", "repo.git")]
    else:
        shutil.rmtree(folder / ".git")
        steps = [
            ("init", "-q", "--template="), ("config", "user.name", "Dev"),
            ("config", "user.email", "dev@example.com"), ("add", "-A"),
            (*who, "commit", "-q", "-m", "one"),
        ]  # fmt: skip
    for step in steps:
        subprocess.run(["git", *step], cwd=folder, env=env, check=True)


def harness_at(folder: Path, home: Path) -> Any:
    """The harness's module, with our world in its place."""
    os.environ["TRUTH_HOME"] = str(home)
    before = {name: sys.modules.pop(name, None) for name in ("truth", "world")}
    sys.path.insert(0, str(folder))
    import truth
    import world as theirs

    sys.path.remove(str(folder))
    sys.modules.update({name: module for name, module in before.items() if module})
    theirs.build(truth.ROOTFS)
    lay_over(Path(truth.ROOTFS), theirs.UID)
    return truth


def main() -> None:
    """See above."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("harness", type=Path)
    arguments.add_argument("--home", type=Path, help="scratch folder of the harness")
    arguments.add_argument("--only", help="show what the commands with this text touch")
    options = arguments.parse_args()
    commands = [c for c in ours.commands() if options.only is None or options.only in c.text]
    home = options.home or Path(tempfile.mkdtemp())
    home.mkdir(parents=True, exist_ok=True)
    box = harness_at(options.harness, home).Harness()
    rows = []
    for number, command in enumerate(commands):
        made = box.measure({"id": str(number), "command": command.text}, options.only is not None)
        kept = ("path", "real", "ops", "note")
        touched = [{k: t[k] for k in kept if k in t} for t in made["touched"]]
        for touch in touched:
            if OWN.search(touch["path"]):
                touch.setdefault("note", "aside")
        row = {"command": command.text, "touched": touched}
        if made["timeout"]:
            row["timeout"] = True
        if options.only is not None:
            print(json.dumps({**row, "exit": made["exit"], "err": made["stderr"]}, indent=1))
        if bool(touched) != command.outside:
            print(f"unlike its heading ({made['exit']}): {command.text!r} {made.get('err', '')}")
        rows.append(row)
    if options.only is None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (DATA / "recorded.jsonl").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
