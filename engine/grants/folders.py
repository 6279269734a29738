"""Which folders may be offered whole, as ``/tmp/build/**``.

Never what would be a whole disk, a home, a tree of the system, or the project's surroundings, and
never where keys are kept: whoever wants that writes it into a config.
"""

from __future__ import annotations

from ringfence.engine.paths import is_inside, normalise
from ringfence.rules.model import Operation

TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp")  # noqa: S108 - names alone

_GLOB = frozenset("*?[")

_PER_USER = ("/var/folders", "/private/var/folders")

_NEVER = ("/dev", "/proc", "/sys", "/run", "/root", "/boot")

_SYSTEM = (
    *("/bin", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/sbin", "/snap", "/usr", "/var"),
    *("/Applications", "/Library", "/System", "/private"),
)
"""Trees of the system: parts of them may be read whole, not written."""

_SECRET = frozenset(
    (
        *(".ssh", ".gnupg", ".gpg", ".aws", ".azure", ".kube", ".docker", ".password-store"),
        *("keyrings", "Keychains", "gcloud", "ssl", "pki", "private", "secrets", ".mozilla"),
        *(".thunderbird", ".config", ".local", "sudoers.d", "ringfence", ".ringfence"),
    )
)
"""Folders that hold keys, or settings of programs: nothing in them is offered as a tree."""


def may_be_opened(folder: str, operation: Operation, home: str, cwd: str) -> bool:
    """Whether ``folder/**`` may be offered for an operation to who works in ``cwd``."""
    folder = normalise(folder)
    if folder in TEMPORARY:
        return True
    if not _GLOB.isdisjoint(folder) or is_inside(normalise(cwd), folder):
        return False
    names = folder.removeprefix("/private").strip("/").split("/")[1:]
    if not names or not _SECRET.isdisjoint(names):
        return False
    if any(is_inside(folder, place) for place in _NEVER):
        return False
    if any(is_inside(folder, place) for place in (*TEMPORARY, *_PER_USER)):
        return True
    homes = {normalise(home)} if home.startswith("/") else set()
    if folder.startswith(("/home/", "/Users/")):
        homes.add("/".join(folder.split("/")[:3]))
    for place in homes - {"/"}:
        if is_inside(place, folder):
            return False
        below = folder.removeprefix(place).strip("/") if is_inside(folder, place) else ""
        if below.startswith(".") and "/" not in below:
            return False  # ~/.cache whole holds what every program keeps there
    reads = operation in (Operation.READ, Operation.ENTER, Operation.TEST)
    return reads or not any(is_inside(folder, place) for place in _SYSTEM)
