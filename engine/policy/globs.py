"""Whether a glob matches a whole path, in a time that grows with both and never with more.

A glob comes from files that may be hostile, so it becomes no regular expression, which would try
again and again: the pieces that may come next after a path's beginning are all known at once, as
the bits of one number.
"""

from __future__ import annotations

from functools import lru_cache

from ringfence.grammar.records import define, field
from ringfence.grammar.regex import compiled

_PIECE = compiled(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|[^*?\[]+|\[")
_FOLDERS, _ALL, _STAR = "**/", "**", "*"
_KEPT = 512  # characters whose steps are kept


@lru_cache(maxsize=512)
def glob(pattern: str) -> Glob:
    """The glob of a pattern; see ringfence.engine.policy.paths for what stands for what."""
    tail = pattern.endswith("/**")
    pieces: list[str | _Set] = []
    for text in _PIECE.findall(pattern[:-3] if tail else pattern):
        last = pieces[-1] if pieces else None
        if text in (_FOLDERS, _ALL, _STAR):
            # Of stars that stand together, one does the work of all.
            if last != _ALL and not (last == text == _FOLDERS):
                pieces.append(text)
        elif text == "?":
            pieces.append(_Set((("/", "/"),), negated=True))
        else:
            found = _set(text) if len(text) > 1 and text[0] == "[" else None
            pieces += [found] if found else [_Set(((c, c),)) for c in text]
    return Glob(tuple(pieces), tail)


@define(frozen=True)
class _Set:
    """One character of some ranges, or of none of them."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def __contains__(self, character: str) -> bool:
        return self.negated != any(low <= character <= high for low, high in self.ranges)

    @property
    def letter(self) -> str:
        """The one character that it stands for, or nothing."""
        low, high = self.ranges[0]
        return low if len(self.ranges) == 1 and low == high and not self.negated else ""


def _set(text: str) -> _Set | None:
    """What ``[a-z_]`` stands for; None if it is no set, but text."""
    inner = text[1:-1]
    negated = inner[:1] in ("!", "^")
    inner = inner[negated:]
    ranges = []
    place = 0
    while place < len(inner):
        is_range = inner[place + 1 : place + 2] == "-" and place + 2 < len(inner)
        low, high = inner[place], inner[place + 2] if is_range else inner[place]
        if low > high:
            return None
        ranges.append((low, high))
        place += 3 if is_range else 1
    return _Set(tuple(ranges), negated) if ranges else None


@define(eq=False)
class Glob:
    """The pieces of a glob, the n-th of which is the n-th bit; ``tail`` if ``/**`` ends it."""

    pieces: tuple[str | _Set, ...]
    tail: bool
    _first: str = field(init=False)
    _last: str = field(init=False)
    _skipped: int = field(init=False)  # the pieces that may stand for nothing
    _steps: dict[str, tuple[int, int, int]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        letters = ["" if isinstance(piece, str) else piece.letter for piece in self.pieces]
        first = next((n for n, letter in enumerate(letters) if not letter), len(letters))
        last = next((n for n, letter in enumerate(reversed(letters)) if not letter), len(letters))
        self._first = "".join(letters[:first])
        self._last = "" if self.tail else "".join(letters[len(letters) - last :])
        self._skipped = sum(1 << n for n, p in enumerate(self.pieces) if isinstance(p, str))

    def matches(self, path: str) -> bool:
        """Whether all of ``path`` matches."""
        if not (path.startswith(self._first) and path.endswith(self._last)):
            return False
        end = 1 << len(self.pieces)
        may_come = self._with_skipped(1 << len(self._first))
        for character in path[len(self._first) :]:
            if self.tail and may_come & end and character == "/":
                return True
            done, stays, within = self._steps.get(character) or self._step(character)
            # Folders once begun end with a `/`: only those that are not may stand for nothing.
            next_up = (may_come & done) << 1 | may_come & stays
            may_come = may_come & within | self._with_skipped(next_up)
            if not may_come:
                return False
        return bool(may_come & end)

    def _with_skipped(self, begun: int) -> int:
        """Pieces that may come next, with those that come after one that stands for nothing."""
        while more := (begun & self._skipped) << 1 & ~begun:
            begun |= more
        return begun

    def _step(self, character: str) -> tuple[int, int, int]:
        """The pieces that are done with this character, stars and folders that go on."""
        done = stays = within = 0
        for number, piece in enumerate(self.pieces):
            bit = 1 << number
            if isinstance(piece, _Set):
                done |= bit if character in piece else 0
            elif piece == _FOLDERS:
                within |= bit
                done |= bit if character == "/" else 0
            elif piece == _ALL or character != "/":
                stays |= bit
        if len(self._steps) < _KEPT:
            self._steps[character] = done, stays, within
        return done, stays, within
