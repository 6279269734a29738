"""The folders are the architecture: imports point one way, and every class exists once."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_IMPORT = {
    "grammar": {"grammar"},
    "rules": {"rules", "grammar"},
    "engine": {"engine", "rules", "grammar"},
}


def imported(path):
    """The names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def imports_of(folder):
    """(file, module) of every import in a folder."""
    return [(path, name) for path in (ROOT / folder).rglob("*.py") for name in imported(path)]


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_arrows_point_one_way(folder):
    """Grammar knows nobody of ours, rules know the grammar, the engine knows both."""
    for path, name in imports_of(folder):
        parts = name.split(".")
        if parts[0] == "ringfence":
            inner = parts[1] if len(parts) > 1 else "engine"
            assert inner in MAY_IMPORT[folder], f"{path} imports {name}"


@pytest.mark.parametrize("folder", [*MAY_IMPORT, "tests"])
def test_one_name(folder):
    """Everything is imported by its full name: `engine.x` would be a second copy."""
    for path, name in imports_of(folder):
        assert not name.startswith("."), f"{path} imports {name}"
        assert name.split(".")[0] not in MAY_IMPORT, f"{path} imports {name}"


def test_one_identity():
    """No module of ours is loaded under a top-level name."""
    assert not MAY_IMPORT.keys() & sys.modules.keys()


def test_only_shell_commands_load_the_parser():
    """A hook runs before every call: what needs no grammar must not wait for Lark."""
    code = (
        "import sys; from ringfence import Engine, ToolCall;"
        "Engine().decide(ToolCall('read', {'path': '/etc/hosts'}, '/tmp'));"
        "sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
