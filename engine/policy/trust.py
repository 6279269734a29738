"""Which projects' config files the user trusts to loosen the policy, not only to tighten it.

Trust is for a folder and for the content of its config files: once one of them changes, the folder
is no longer trusted. It is kept in ``$XDG_STATE_HOME/ringfence/trust.json``, which only its owner
may read and write: a JSON object of folders and digests. A store that cannot be read trusts
nobody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ringfence.engine.state import (
    StateError,
    StrPath,
    locked,
    read_private,
    state_folder,
    write_private,
)
from ringfence.grammar.records import frozen

if TYPE_CHECKING:
    from pathlib import Path


@frozen
class TrustStore:
    """The trusted folders, kept in the file ``path``."""

    path: StrPath

    @classmethod
    def of_user(cls, env: Mapping[str, str]) -> TrustStore:
        """The store of the user whose variables ``env`` are."""
        return cls(f"{state_folder(env)}/trust.json")

    def folders(self) -> dict[str, str]:
        """Each trusted folder with the digest of the files that were trusted."""
        try:
            kept = json.loads(read_private(self.path) or b"{}")
        except (StateError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return {k: v for k, v in kept.items() if isinstance(k, str) and isinstance(v, str)}

    def trusts(self, folder: Path, files: Mapping[Path, bytes]) -> bool:
        """Whether these are the config files, with their content, that the user has trusted."""
        kept = self.folders().get(str(folder))
        return kept is not None and kept == digest(files)

    def trust(self, folder: Path, files: Mapping[Path, bytes]) -> None:
        """Trust a folder with these config files and their content. Raises StateError."""
        with locked(self.path):
            self._keep({**self.folders(), str(folder): digest(files)})

    def distrust(self, folder: Path) -> bool:
        """Take the trust back; False if there was none. Raises StateError."""
        with locked(self.path):
            folders = self.folders()
            found = folders.pop(str(folder), None) is not None
            if found:
                self._keep(folders)
        return found

    def _keep(self, folders: Mapping[str, str]) -> None:
        write_private(self.path, json.dumps(dict(sorted(folders.items())), indent=1).encode())


def digest(files: Mapping[Path, bytes]) -> str:
    """One digest of all files, their names included."""
    import hashlib  # noqa: PLC0415 - it loads slowly, and few projects have files to trust

    total = hashlib.sha256()
    for path in sorted(files):
        name = f"{path.parent.name}/{path.name}".encode("utf-8", "surrogateescape")
        for part in (name, files[path]):
            total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
