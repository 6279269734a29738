"""A user without a config, and a tool that keeps what it was called with."""

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def ran():
    """The paths that reached the tool."""
    return []


@pytest.fixture
def show(ran):
    def show(path: str) -> str:
        """Show a file.

        Args:
            path: The file.
        """
        ran.append(path)
        return f"content of {path}"

    return show
