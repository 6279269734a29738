"""How each real client is pointed at the scripted model: its package, settings, command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

PROMPT = "Run the command."
AGAIN = "And what was that?"
SECRET = "what-is-outside"
INSIDE = "what-is-inside"


@frozen
class Dialogue:
    """The client with a screen: how it is started, and what its screen says when.

    ``ready`` is there when it waits for a prompt, ``question`` when it asks whether to run a call;
    ``yes`` and ``no`` are the keys that answer. ``prepare`` spares it what it asks new users.
    ``others`` are arguments of the model's call without which it would not ask.
    """

    arguments: tuple[str, ...]
    ready: str
    question: str
    yes: str
    no: str
    prepare: Callable[[Path, Path], None] = lambda _, __: None
    others: dict[str, object] = field(factory=dict)


@frozen
class Client:
    """``host`` is Ringfence's name for it; ``settings`` merges what the model needs into a home.

    ``packages`` are its own and what it needs beside it. ``arguments`` are for a run that asks
    nobody, ``dialogue`` is for one on a terminal.
    """

    host: str
    packages: tuple[str, ...]
    settings: Callable[[Path, Path, str], None]
    arguments: tuple[str, ...]
    environment: dict[str, str]
    dialogue: Dialogue | None = None


def _merge(file: Path, values: dict[str, object]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    there = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**there, **values}))


def _codex(home: Path, work: Path, url: str) -> None:
    (home / "tmp").mkdir(parents=True)
    file = home / ".codex/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"""
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
remote_plugin = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[projects."{work}"]
trust_level = "trusted"
""")


def _opencode(home: Path, _: Path, url: str) -> None:
    model = {"tool_call": True, "limit": {"context": 100_000, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    _merge(
        home / ".config/opencode/opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": {"scripted": provider},
            "permission": {"*": "allow"},
        },
    )


def _pi(home: Path, _: Path, url: str) -> None:
    model = {"id": "scripted", "name": "Scripted", "contextWindow": 100_000, "maxTokens": 4096}
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [model],
    }
    _merge(home / ".pi/agent/models.json", {"providers": {"scripted": provider}})


def _gemini(home: Path, _: Path, __: str) -> None:
    _merge(
        home / ".gemini/settings.json",
        {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
        },
    )


def _qwen(home: Path, _: Path, __: str) -> None:
    _merge(
        home / ".qwen/settings.json",
        {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
        },
    )


def _claude(_: Path, __: Path, ___: str) -> None:
    """All of it is in the environment."""


def _claude_known(home: Path, work: Path) -> None:
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    _merge(
        home / ".claude.json",
        {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["none"], "rejected": []},
            "projects": {str(work): project},
        },
    )


def _codex_asks(home: Path, _: Path) -> None:
    file = home / ".codex/config.toml"
    text = file.read_text().replace('"never"', '"on-request"')
    file.write_text(text.replace("danger-full-access", "read-only"))


CLIENTS = {
    "codex": Client(
        "codex",
        ("@openai/codex@0.171.0",),
        _codex,
        ("exec", "--json", "--skip-git-repo-check", PROMPT),
        {"TMPDIR": "{home}/tmp"},
        Dialogue(
            ("--no-daemon",),
            "? for shortcuts",
            "Would you like to run the following command?",
            "y",
            "\x1b",
            _codex_asks,
            {"sandbox_permissions": "require_escalated", "justification": "it must"},
        ),
    ),
    "opencode": Client(
        "opencode",
        ("opencode-ai@1.18.33",),
        _opencode,
        ("run", "--format", "json", PROMPT),
        {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
    ),
    "pi": Client(
        "pi",
        ("@mariozechner/pi-coding-agent@0.73.1",),
        _pi,
        ("-p", "--mode", "json", "--provider", "scripted", "--model", "scripted", PROMPT),
        {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"},
        Dialogue(
            ("--provider", "scripted", "--model", "scripted"),
            "(auto)",
            "escape/ctrl+c cancel",
            "\r",
            "\x1b",
        ),
    ),
    "gemini": Client(
        "gemini-cli",
        ("@google/gemini-cli@0.61.0",),
        _gemini,
        (
            "-m",
            "gemini-2.5-flash",
            "--output-format",
            "stream-json",
            "--approval-mode",
            "yolo",
            "-p",
            PROMPT,
        ),
        {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": "{url}",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        Dialogue(
            ("-m", "gemini-2.5-flash", "--approval-mode", "yolo"),
            "Type your message",
            "Allow execution of",
            "1",
            "\x1b",
        ),
    ),
    "qwen": Client(
        "qwen-code",
        ("@qwen-code/qwen-code@0.24.4", "node@22"),  # it does not start with an older node
        _qwen,
        ("-p", PROMPT, "--approval-mode", "yolo", "--output-format", "stream-json"),
        {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_MODEL": "scripted",
        },
        Dialogue(
            ("--approval-mode", "default"),
            "Type your message",
            "Waiting for user confirmation",
            "1",
            "\x1b",
        ),
    ),
    "claude": Client(
        "claude-code",
        ("@anthropic-ai/claude-code@2.1.332",),
        _claude,
        (
            "-p",
            PROMPT,
            "--permission-mode",
            "bypassPermissions",
            "--verbose",
            "--output-format",
            "stream-json",
            "--model",
            "claude-sonnet-4-5",
        ),
        {
            "ANTHROPIC_BASE_URL": "{url}",
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "IS_SANDBOX": "1",  # it refuses this mode to root otherwise
        },
        Dialogue(
            ("--model", "claude-sonnet-4-5"),
            "manual mode on",
            "Do you want to proceed?",
            "1",
            "\x1b",
            _claude_known,
        ),
    ),
}
"""Without a dialogue, each in the mode in which it asks nobody, so that a call that was stopped, Ringfence stopped."""
