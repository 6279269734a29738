"""What the README shows is what happens."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def ringfence(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ringfence.engine.cli", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(cwd.parent if cwd else "/home/dev"), "PATH": "/usr/bin:/bin"},
    )


def test_the_library_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The three lines give a decision with the outside path."""
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out == "ask ['/etc/hosts']\n"


def test_the_shown_command_prints_what_is_shown(tmp_path: Path) -> None:
    """The first console example, but for the working directory."""
    shown = next(block for block in blocks("console") if block.startswith("$ ringfence check"))
    command, _, output = shown.partition("\n")
    arguments = shlex.split(command.removeprefix("$ ringfence "))
    done = ringfence(*arguments, "--no-log", "--cwd", "/home/dev/project", cwd=tmp_path)
    assert done.stdout.strip() == output.strip()
    assert done.returncode == 3


def test_the_policy_example_is_valid_and_does_what_is_said(tmp_path: Path) -> None:
    """Denied, asked about and allowed, as the text around it says."""
    (config,) = blocks("toml")
    tomllib.loads(config)
    file = tmp_path / "config.toml"
    file.write_text(config, "utf-8")
    (tmp_path / "project").mkdir()
    for command, status in (
        ("git status && rm -rf build", 1),
        ("command rm x", 1),
        ("/bin/rm x", 1),
        ("git push", 3),
        ("git -C sub push", 3),
        ("git log", 0),
        ("cat ~/.ssh/id_rsa", 1),
        ("cat sub/.env", 3),
        ("echo > .env", 1),
        ("ls /tmp/x", 0),
    ):
        done = ringfence(
            "check", command, "--config", str(file), "--no-log", cwd=tmp_path / "project"
        )
        assert done.returncode == status, command


def test_every_link_leads_somewhere() -> None:
    """Files that the documents name exist."""
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")),
    ):
        text = (ROOT / name).read_text("utf-8")
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", text):
            assert (ROOT / name).parent.joinpath(target).exists(), (name, target)


def test_the_grammar_example_runs() -> None:
    """The extension in docs/grammar.md works as it stands there."""
    (example,) = blocks("python", (ROOT / "docs/grammar.md").read_text("utf-8"))
    names: dict[str, object] = {}
    exec(compile(example, "docs/grammar.md", "exec"), names)
    assert names["grammar"].parse("a |> b").problem is None  # type: ignore[attr-defined]


def test_the_examples_of_the_other_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy page's config is valid, the grants page's library example runs."""
    file = tmp_path / "config.toml"
    file.write_text(blocks("toml", (ROOT / "docs/policy.md").read_text("utf-8"))[0], "utf-8")
    assert ringfence("config", "check", str(file)).stdout.endswith("\nNo errors.\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (example,) = blocks("python", (ROOT / "docs/grants.md").read_text("utf-8"))
    names: dict[str, object] = {}
    exec(compile(example, "docs/grants.md", "exec"), names)
    assert str(getattr(names["decision"], "state")) == "allow"  # noqa: B009
