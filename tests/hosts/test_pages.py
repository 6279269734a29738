"""Each host has its page, and what it shows is what ``install`` writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringfence.engine.hosts import HOSTS
from ringfence.engine.hosts.registration import REGISTRATIONS, Shared
from ringfence.engine.hosts.settings import installed

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "hosts.md").read_text("utf-8")
PROGRAM = "/home/dev/.local/bin/ringfence-hook"


def page(name):
    return (DOCS / "hosts" / f"{name}.md").read_text("utf-8")


def test_a_page_for_each_host_and_no_other():
    """And a line of the index, which leads to it and names the file that is written."""
    assert {path.stem for path in (DOCS / "hosts").iterdir()} == HOSTS.keys()
    rows = dict(re.findall(r"^\| \[`(.+?)`\]\(hosts/\1\.md\) \| `?(.+?)`? \|", INDEX, re.MULTILINE))
    assert rows.keys() == HOSTS.keys()
    for name, one in REGISTRATIONS.items():
        assert rows[name] == f"~/{one.files[0].user}"


@pytest.mark.parametrize("name", sorted(HOSTS))
def test_what_a_page_says(name):
    """The same questions are answered for each host."""
    headings = re.findall(r"^## (.+)$", page(name), re.MULTILINE)
    for heading in ("When Ringfence denies", "When Ringfence asks", "When something fails",
                    "What it cannot do"):  # fmt: skip
        assert heading in headings
    assert re.search(r"^(Not tried|Tried) with the real program", page(name), re.MULTILINE)


@pytest.mark.parametrize("name", sorted(REGISTRATIONS))
def test_the_commands_and_files_of_a_page(name):
    """They are those of this version."""
    text = page(name)
    for command in ("install", "doctor", "uninstall"):
        assert f"$ ringfence {command} {name}\n" in re.sub(r" +#.*", "", text)
    for file in REGISTRATIONS[name].files:
        written = installed(file, name, None, PROGRAM)
        if isinstance(file, Shared) or file.user.endswith(".json"):
            assert f"`~/{file.user}`:\n\n```json\n{written}```\n" in text
        else:
            (source,) = re.findall(r"`engine/hosts/plugins/(.+?)`", text)
            assert written.splitlines()[-1] in (
                DOCS.parent / "engine/hosts/plugins" / source
            ).read_text("utf-8")
    first = REGISTRATIONS[name].files[0]
    assert f"# ~/{first.user}\n" in text
    assert f"# {first.project}, for this project\n" in text
