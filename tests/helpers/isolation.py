"""A network for a process of its own: loopback, and no way out of the machine."""

from __future__ import annotations

import fcntl
import functools
import socket
import struct
import subprocess

_WAYS = (("unshare", "--net"), ("unshare", "--net", "--map-root-user"))
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


@functools.cache
def alone() -> tuple[tuple[str, ...], str]:
    """The words before a command that give it such a network; or none, and why there is none."""
    reasons = []
    for words in _WAYS:
        try:
            done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
        except OSError as error:
            return (), f"unshare: {error.strerror}"
        if done.returncode == 0:
            return words, ""
        reasons.append(done.stderr.strip())
    return (), "; ".join(reasons)


def loopback() -> None:
    """Start the loopback interface, which a new network has, but not yet up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
