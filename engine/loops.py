"""How often a session has made the same call in a row, for ``special.doom_loop``.

Kept in ``$XDG_STATE_HOME/ringfence/loops.json``: of each session the digest of its last call and
how often it was made; never the call itself.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from typing import Any

from ringfence.engine.call import ToolCall
from ringfence.engine.state import StrPath, locked, read_private, state_folder, write_private
from ringfence.grammar.records import frozen

MAX_SESSIONS = 200
"""Sessions that are kept; the one that was quiet for longest goes first."""


@frozen
class LoopStore:
    """The counts in the file ``path``."""

    path: StrPath

    @classmethod
    def of_user(cls, env: Mapping[str, str] = os.environ) -> LoopStore:
        """The store of the user whose variables ``env`` are."""
        return cls(f"{state_folder(env)}/loops.json")

    def count(self, call: ToolCall) -> int:
        """Note the call, and say how often it has been made in a row, this one included.

        0 for a call without a session. Raises StateError.
        """
        if not call.session:
            return 0
        session, digest = _digest(call.session), _digest([call.tool, dict(call.input), call.agent])
        with locked(self.path):
            kept = self._read()
            last, number, _ = kept.pop(session, ("", 0, 0))
            number = number + 1 if last == digest else 1
            kept[session] = (digest, number, int(time.time()))
            recent = sorted(kept.items(), key=lambda item: item[1][2])[-MAX_SESSIONS:]
            write_private(self.path, json.dumps(dict(recent)).encode())
        return number

    def _read(self) -> dict[str, tuple[str, int, int]]:
        """The counts; a damaged file is as good as none: it only begins to count anew."""
        try:
            rows = json.loads(read_private(self.path) or b"{}")
            return {str(k): (str(d), int(n), int(t)) for k, (d, n, t) in rows.items()}
        except (ValueError, TypeError, AttributeError, RecursionError):
            return {}


def _digest(value: Any) -> str:
    import hashlib  # noqa: PLC0415 - it loads slowly, and not all calls have a session

    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
