"""What each host does with an answer: whether the call runs without anybody having been asked."""

from __future__ import annotations

import json

from ringfence.engine.hosts.model import Answer

STOPPED = ("deny", "block", "ask")


def runs(name: str, answer: Answer) -> bool:
    """Whether the host would run the call after this answer, by its own contract."""
    said = json.loads(answer.stdout) if answer.stdout else {}
    if name == "cline":  # it looks at no exit status
        return said.get("cancel") is not True
    if answer.status:  # amp: 1 asks; the plugins of opencode and pi stop for any
        return answer.status != 2 and name not in ("amp", "opencode", "pi")
    inner = said.get("hookSpecificOutput", {})
    words = (said.get("decision"), said.get("permission"), said.get("permissionDecision"),
             inner.get("permissionDecision"), inner.get("decision", {}).get("behavior"))  # fmt: skip
    return not any(word in STOPPED for word in words)
