"""Whether the resident engine answers as `ringfence hook` does, to the byte.

    python tests/bench/resident.py CORPORA [--host claude-code] [--every 1] [--show]

Each text of each ``*.jsonl`` in the folder CORPORA (``command`` or ``text``) is the command of one
call, whose payload goes to a resident engine through its socket, and to the hook in this process.
What differs is counted, as is what the resident engine left to the other way. Nothing is run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path


def texts(folder: Path) -> Iterator[str]:
    """The texts of all files."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8", "surrogateescape").splitlines():
            row = json.loads(line)
            text = row.get("command") or row.get("text")
            if isinstance(text, str):
                yield text


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--host", default="claude-code")
    parser.add_argument("--every", type=int, default=1, help="take one text of so many")
    parser.add_argument("--show", action="store_true", help="print the answers that differ")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for folder in ("home", "project", "run"):
            (root / folder).mkdir(mode=0o700)
        os.environ.update(HOME=str(root / "home"), XDG_RUNTIME_DIR=str(root / "run"))
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "RINGFENCE_RESIDENT"):
            os.environ.pop(variable, None)
        os.chdir(root / "project")
        return compared(options)


def compared(options: argparse.Namespace) -> int:
    """Ask both ways."""
    from ringfence.engine.cli import hook
    from ringfence.engine.hosts import host as host_of
    from ringfence.engine.resident import client

    words = [sys.executable, "-P", "-m", "ringfence.engine.resident.server"]
    engine = subprocess.Popen(words, start_new_session=True)
    host, environ, folder = host_of(options.host), dict(os.environb), str(Path.cwd())
    same = different = left = 0
    try:
        socket = Path(os.fsdecode(client.folder(environ)), os.fsdecode(client.name()))
        while not socket.exists():
            time.sleep(0.05)
        for number, text in enumerate(texts(options.corpora)):
            if number % options.every:
                continue
            content = json.dumps(host.sample(text, folder)).encode()
            try:
                resident = client.asked(["hook", host.name], content, environ)
            except OSError:
                resident = None  # as the launcher takes it
            made = hook.respond(host, content, None)
            out, err = (
                f"{text}\n".encode() if text else b"" for text in (made.stdout, made.stderr)
            )
            here = (out, err, made.status)
            if resident is None:
                left += 1
            elif resident == here:
                same += 1
            else:
                different += 1
                if options.show:
                    print(repr(text), resident, here, sep="\n  ")
    finally:
        engine.kill()
        engine.wait()
    print(f"{same} the same, {different} different, {left} left to the other way")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
