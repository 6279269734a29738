"""Where grants are kept: ``$XDG_STATE_HOME/ringfence/grants.json``, for its owner alone.

A store that cannot be read, or that others may write, grants nothing. It is read anew for every
question, and written as a whole, under a lock, in the place of the old one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ringfence.engine.escape import json_text
from ringfence.engine.grants.model import SESSION_LIMIT, Grant, Scope, Subject
from ringfence.engine.state import (
    StateError,
    StrPath,
    locked,
    read_private,
    state_folder,
    write_private,
)
from ringfence.grammar.records import evolve, frozen
from ringfence.rules.model import Operation

MAX_GRANTS = 2000
"""More than anyone has given by hand; what is read for every question stays short."""


class GrantError(Exception):
    """The store cannot be used; the text says why."""


@frozen
class GrantStore:
    """The grants in the file ``path``."""

    path: StrPath

    @classmethod
    def of_user(cls, env: Mapping[str, str] = os.environ) -> GrantStore:
        """The store of the user whose variables ``env`` are."""
        return cls(f"{state_folder(env)}/grants.json")

    def read(self) -> tuple[Grant, ...]:
        """All grants that still hold, in the order in which they were given. Raises GrantError."""
        try:
            content = read_private(self.path)
            grants = _grants(json.loads(content)) if content is not None else ()
            now = time.time()
            return tuple(grant for grant in grants if not _is_over(grant, now))
        except StateError as error:
            raise GrantError(str(error)) from error
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problem = "is damaged, so it grants nothing; `ringfence grants revoke --all` empties it"
            raise GrantError(f"{self.path} {problem}") from error

    def add(self, grants: Iterable[Grant]) -> tuple[Grant, ...]:
        """Keep ``grants`` and return them with their ids; one that is there already keeps its own.

        Raises GrantError.
        """
        added = []
        with self._changing() as kept:
            for grant in grants:
                known = next((k for k in kept if _same(k, grant)), None)
                if known is None:
                    known = evolve(grant, id=os.urandom(4).hex(), created=time.time())
                    kept.append(known)
                added.append(known)
        return tuple(added)

    def revoke(self, ids: Iterable[str]) -> tuple[Grant, ...]:
        """Take grants back and return those that were there. Raises GrantError."""
        wanted = set(ids)
        with self._changing() as kept:
            gone = tuple(grant for grant in kept if grant.id in wanted)
            kept[:] = [grant for grant in kept if grant.id not in wanted]
        return gone

    def clear(self) -> None:
        """Take all grants back, also those that cannot be read. Raises GrantError."""
        try:
            with locked(self.path):
                write_private(self.path, b"[]")
        except StateError as error:
            raise GrantError(str(error)) from error

    @contextmanager
    def _changing(self) -> Iterator[list[Grant]]:
        """The list of grants under the lock; kept when the block ends without an exception."""
        try:
            with locked(self.path):
                kept = list(self.read())
                yield kept
                if len(kept) > MAX_GRANTS:
                    raise GrantError(f"there are {MAX_GRANTS} grants already; revoke some first")
                text = json_text([_row(grant) for grant in kept], indent=1)
                write_private(self.path, text.encode())
        except StateError as error:
            raise GrantError(str(error)) from error


def _is_over(grant: Grant, now: float) -> bool:
    return grant.scope is Scope.SESSION and now - grant.created > SESSION_LIMIT


def _same(kept: Grant, grant: Grant) -> bool:
    # A session's grant begins anew: its day is counted from the last answer.
    if grant.scope is Scope.SESSION:
        return False
    return evolve(kept, id="", created=0.0) == evolve(grant, id="", created=0.0)


def _row(grant: Grant) -> dict[str, Any]:
    row = {
        "id": grant.id,
        "subject": grant.subject.value,
        "text": grant.text,
        "wide": grant.wide,
        "operation": grant.operation.value if grant.operation else "",
        "real": grant.real,
        "cwd": grant.cwd,
        "scope": grant.scope.value,
        "agent": grant.agent,
        "project": grant.project,
        "session": grant.session,
        "created": grant.created,
    }
    return {key: value for key, value in row.items() if value not in ("", False)}


def _grants(rows: Any) -> tuple[Grant, ...]:
    if not isinstance(rows, list):
        raise TypeError
    return tuple(map(_grant, rows))


def _grant(row: Any) -> Grant:
    texts = {key: row.get(key, "") for key in ("real", "cwd", "agent", "project", "session")}
    texts |= {"text": row["text"], "id": row["id"]}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["id"]:
        raise TypeError
    wide, created = row.get("wide", False), row.get("created", 0.0)
    if not isinstance(wide, bool) or not isinstance(created, (int, float)):
        raise TypeError
    operation = Operation(row["operation"]) if row.get("operation") else None
    grant = Grant(
        Subject(row["subject"]),
        wide=wide,
        operation=operation,
        scope=Scope(row["scope"]),
        created=float(created),
        **texts,
    )
    if grant.subject is Subject.COMMAND and not grant.words:
        raise ValueError
    return grant
