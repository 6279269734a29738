"""Qwen Code: Claude Code's PreToolUse and PermissionRequest hooks, under Gemini CLI's tool names.

Exit status 2 blocks by what stands on standard error, and standard output is ignored then; without
a terminal its own ask is a refusal, which is what an ask should be there.
"""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.hosts import claude
from ringfence.engine.hosts.model import Host, HostTool, Request

_FILE = {"file_path": "path", "absolute_path": "path"}

TOOLS: Mapping[str, HostTool] = {
    "run_shell_command": HostTool("bash", {"directory": "workdir"}),
    "read_file": HostTool("read", _FILE),
    "read_many_files": HostTool("read"),
    "zoom_image": HostTool("read", _FILE),
    "write_file": HostTool("write", _FILE),
    "edit": HostTool("edit", _FILE),
    "replace": HostTool("edit", _FILE),
    "notebook_edit": HostTool("edit", {"notebook_path": "path"}),
    "glob": HostTool("find"),
    "list_directory": HostTool("ls"),
    "grep_search": HostTool("grep", {"pattern": "regex"}),
    "search_file_content": HostTool("grep", {"pattern": "regex", "include": "glob"}),
    "web_fetch": HostTool("fetch"),
    "lsp": HostTool("read", {**_FILE, "filePath": "path"}),
    "skill": HostTool("skill", {"skill": "name"}),
}


def _read(content: bytes, env: Mapping[str, str]) -> Request:
    return claude.read(content, env, tools=TOOLS, project_variable="QWEN_PROJECT_DIR")


HOST = Host("qwen-code", _read, claude.answer, claude.refuse, claude.sample("run_shell_command"))
