"""Codex's trust in a hook: it skips, without a word, each hook that its user has not trusted.

The trust is a hash of the hook's entry in ``config.toml``, under the place of the entry. Only Codex
can make that hash, so it is Codex that is asked to: by its own app server, which does the same for
its ``/hooks`` screen.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

EVENT: Final = "pre_tool_use"

PATIENCE: Final = 20.0
"""Seconds for Codex's app server to answer."""


class TrustError(Exception):
    """Codex could not be asked, or would not; the text says why."""


def missing(hooks: Path, folder: str, env: Mapping[str, str] = os.environ) -> str:
    """Why Codex will skip the hooks in the file ``hooks``; empty if it trusts them.

    Codex says so itself if it is here; else its config only shows whether it holds a hash for them.
    """
    config = _config(env)
    try:
        settings = _settings(config)
    except (OSError, ValueError) as error:
        return f"{config} cannot be read ({error})"
    if _get(settings, "features", "hooks") is False:
        return f"{config} turns hooks off (features.hooks)"
    if (codex := shutil.which("codex", path=env.get("PATH"))) is not None:
        return _distrusted(codex, folder, hooks)
    state = _get(settings, "hooks", "state")
    for key, value in state.items() if isinstance(state, dict) else ():
        if key.startswith(f"{hooks}:{EVENT}:") and _get(value, "trusted_hash"):
            return ""
    return f"{hooks} is not trusted"


def inline(env: Mapping[str, str] = os.environ) -> Path | None:
    """Codex's config file, if it registers Ringfence by itself."""
    config = _config(env)
    try:
        entries = _get(_settings(config), "hooks", "PreToolUse")
    except (OSError, ValueError):
        return None
    text = json.dumps(entries, default=str)
    return config if "ringfence" in text and "hook codex" in text else None


def _config(env: Mapping[str, str]) -> Path:
    home = env.get("CODEX_HOME", "")
    return Path(home if home.startswith("/") else Path.home() / ".codex") / "config.toml"


def _settings(config: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(config.read_text("utf-8"))
    except FileNotFoundError:
        return {}


def _distrusted(codex: str, folder: str, hooks: Path) -> str:
    try:
        with _server(codex, folder) as server:
            found = server.hooks(folder, hooks)
    except TrustError as error:
        return f"it cannot be told whether {hooks} is trusted ({error})"
    statuses = [str(hook.get("trustStatus")) for hook in found]
    if found and all(status in ("trusted", "managed") for status in statuses):
        return ""
    return f"{hooks} is {statuses[0] if statuses else 'not read'}"


def _get(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


class _Server:
    """Codex's app server, one JSON message a line; at most PATIENCE seconds in all."""

    def __init__(self, program: str, folder: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - the user's own Codex
            [program, "app-server"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._deadline = time.monotonic() + PATIENCE
        self._number = 0
        self._heard = b""

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def tell(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, parameters: dict[str, Any]) -> Any:
        self._number += 1
        self.tell({"id": self._number, "method": method, "params": parameters})
        while True:
            message = json.loads(self._line())
            if message.get("id") == self._number:
                if "error" in message:
                    raise TrustError(f"{method}: {message['error']}")
                return message["result"]

    def hooks(self, folder: str, file: Path) -> list[dict[str, Any]]:
        """Ringfence's hooks in a file, as Codex sees them from a project."""
        listed = self.ask("hooks/list", {"cwds": [folder]})["data"]
        return [
            hook
            for entry in listed
            for hook in entry["hooks"]
            if hook["key"].startswith(f"{file}:") and "hook codex" in str(hook.get("command", ""))
        ]

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        while b"\n" not in self._heard:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([handle], [], [], left)[0]:
                raise TrustError("codex app-server does not answer")
            part = os.read(handle, 1 << 16)
            if not part:
                raise TrustError("codex app-server ended")
            self._heard += part
        line, _, self._heard = self._heard.partition(b"\n")
        return line


@contextmanager
def _server(program: str, folder: str) -> Iterator[_Server]:
    """The app server, for as long as it is needed. Whatever goes wrong is a TrustError."""
    try:
        server = _Server(program, folder)
        try:
            about = {"name": "ringfence", "title": None, "version": "1"}
            server.ask("initialize", {"clientInfo": about})
            server.tell({"method": "initialized"})
            yield server
        finally:
            server.close()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrustError(f"codex app-server: {type(error).__name__}: {error}") from error


def trust(program: str, folder: str, hooks: Path) -> int:
    """Trust Ringfence's hooks in the file ``hooks``, and no others; how many there are.

    ``program`` is Codex, ``folder`` the project whose hooks it looks for. Raises TrustError.
    """
    with _server(program, folder) as server:
        ours = server.hooks(folder, hooks)
        if ours:
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in ours}
            edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
            server.ask("config/batchWrite", {"edits": [edit]})
        return len(ours)
