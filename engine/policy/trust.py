"""Which projects' config files the user trusts to loosen the policy, not only to tighten it.

Trust is for a folder and for the content of its config files: once one of them changes, the folder
is no longer trusted. It is kept in ``$XDG_STATE_HOME/ringfence/trust.json``, which only its owner
may read and write: a JSON object of folders and digests. A store that cannot be read trusts
nobody.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import frozen

MAX_BYTES = 1 << 20


@frozen
class TrustStore:
    """The trusted folders, kept in the file ``path``."""

    path: Path

    @classmethod
    def of_user(cls, env: Mapping[str, str]) -> TrustStore:
        """The store of the user whose variables ``env`` are."""
        base = env.get("XDG_STATE_HOME", "")
        if not base.startswith("/"):  # the XDG specification: a relative path is to be ignored
            base = str(Path(env.get("HOME") or Path.home(), ".local", "state"))
        return cls(Path(base, "ringfence", "trust.json"))

    def folders(self) -> dict[str, str]:
        """Each trusted folder with the digest of the files that were trusted."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.getuid() or status.st_mode & 0o022:
                    return {}  # others may have written it
                kept = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(kept, dict):
            return {}
        return {k: v for k, v in kept.items() if isinstance(k, str) and isinstance(v, str)}

    def trusts(self, folder: Path, files: Iterable[Path]) -> bool:
        """Whether the folder's config ``files`` are those that the user has trusted."""
        kept = self.folders().get(str(folder))
        return kept is not None and kept == digest(files)

    def trust(self, folder: Path, files: Iterable[Path]) -> None:
        """Trust a folder with its config files as they are now. Raises OSError."""
        self._keep({**self.folders(), str(folder): digest(files)})

    def distrust(self, folder: Path) -> bool:
        """Take the trust back; False if there was none. Raises OSError."""
        folders = self.folders()
        found = folders.pop(str(folder), None) is not None
        if found:
            self._keep(folders)
        return found

    def _keep(self, folders: Mapping[str, str]) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".trust-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(dict(sorted(folders.items())), file, indent=1)
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def digest(files: Iterable[Path]) -> str:
    """One digest of all files, their names included; a file that is gone counts, too."""
    total = hashlib.sha256()
    for file in sorted(files):
        try:
            content = file.read_bytes()
        except OSError:
            content = b"\0missing"
        for part in (file.name.encode("utf-8", "surrogateescape"), content):
            total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()
