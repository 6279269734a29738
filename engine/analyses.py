"""What was found of earlier calls, kept for calls that say the same.

Agents say the same again and again. What a call would touch depends on the call, the environment
and what stands on the disk; so beside what was found is kept what the file system was asked, and
it is asked again before the old answer is used. Rules are judged anew each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from ringfence.engine.call import ToolCall
from ringfence.engine.filesystem import FileSystem, Seen
from ringfence.grammar.records import define, evolve, field

if TYPE_CHECKING:
    from ringfence.engine.pipeline import Collected

MOST = 512
"""Calls that are kept; the one that was not used for the longest time goes first."""
MAX_LENGTH = 4096
"""Characters of a call's values and of what was read; what is longer is not kept."""
MAX_QUESTIONS = 256
"""Questions to the file system; where there were more, the call is not kept."""


@define(eq=False)
class Analyses:
    """What was found of the last calls. Threads may share one."""

    _kept: dict[Hashable, tuple[Seen, Collected]] = field(factory=dict)

    def get(self, key: Hashable, call: ToolCall, filesystem: FileSystem) -> Collected | None:
        """What was found, if there is a call with this key and the disk is as it was."""
        kept = self._kept.pop(key, None)
        if kept is None or not kept[0].is_still(filesystem):
            return None
        self._kept[key] = kept
        return evolve(kept[1], facts=evolve(kept[1].facts, input=call.input))

    def keep(self, key: Hashable, seen: Seen, collected: Collected) -> None:
        """Keep what was found, unless it is an error or large."""
        if collected.failure is not None or seen.questions > MAX_QUESTIONS:
            return
        if seen.read > MAX_LENGTH:
            return
        while len(self._kept) >= MOST:
            try:
                self._kept.pop(next(iter(self._kept)), None)
            except (RuntimeError, StopIteration):  # another thread was faster
                break
        self._kept[key] = (seen, collected)


def key_of(call: ToolCall, env: Mapping[str, str], *, everything: bool) -> Hashable | None:
    """What the findings of a call depend on besides the disk; None for a call that is not kept."""
    values = tuple(call.input.items())
    length = 0
    for _, value in values:
        if not isinstance(value, str):
            return None
        length += len(value)
    if length > MAX_LENGTH:
        return None
    key = (
        call.tool,
        call.spelling,
        values,
        call.cwd,
        tuple(call.roots),
        tuple(env.items()),
        everything,
    )
    try:
        hash(key)
    except TypeError:  # an embedder's variables need not be text
        return None
    return key
