"""What a hook loads when no engine is resident: each module is paid for with each call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

START = """
import json, sys, types
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("ringfence.grammar.prepared", sys.argv[1])
sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[spec.name])
from ringfence.rules.commands import data
data.FOLDER = sys.argv[2]
from ringfence.grammar import grammar
read = grammar._read
grammar._read = lambda name: open(name).read() if name == "tables.json" else read(name)
from ringfence.engine.cli import hook
hook._load("claude-code")
answer = hook.respond(hook.host("claude-code"), sys.argv[3].encode(), None)
assert answer.stdout == "", answer.stdout
print(json.dumps(sorted(sys.modules)))
"""

PREPARE = """
import sys
sys.modules["ringfence.grammar.prepared"] = None  # what a wheel brings along
from pathlib import Path
from ringfence.grammar import bash, prepare
from ringfence.rules.commands import data
Path("prepared.py").write_text(prepare.prepared("ringfence"))
Path("tables.json").write_text(bash().tables.to_json(bash().text))
Path("commands.json").write_text(data.prepared())
"""

SLOW = {
    "argparse", "ast", "attr", "attrs", "bisect", "dataclasses", "datetime", "hashlib",
    "importlib.metadata", "importlib.resources", "inspect", "pathlib", "random", "secrets",
    "shutil", "signal", "socket", "subprocess", "tempfile", "threading", "tomllib",
    "unicodedata", "urllib.parse", "yaml", "zipfile",
    "ringfence.engine.grants.offers", "ringfence.engine.messages", "ringfence.engine.secrets",
    "ringfence.engine.policy.form", "ringfence.engine.shell.inline.model",
}  # fmt: skip


def run(folder: Path, *words: str) -> str:
    """What a text of Python prints in a folder."""
    env = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-c", *words], check=True, capture_output=True, cwd=folder, env=env
    )
    return done.stdout.decode()


def test_what_a_plain_call_loads(tmp_path: Path) -> None:
    """Nothing that takes long, of a wheel, where the data and the classes are prepared."""
    run(tmp_path, PREPARE)
    command = "git status && grep -rn foo src | head -5"
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(tmp_path)}
    payload = json.dumps({**event, "tool_input": {"command": command}})
    loaded = set(json.loads(run(tmp_path, START, "prepared.py", str(tmp_path), payload)))
    assert loaded & SLOW == set()
