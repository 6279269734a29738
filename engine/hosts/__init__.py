"""The agents that Ringfence can stand in front of: one module and one row each."""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.engine.hosts.claude_code import CLAUDE_CODE
from ringfence.engine.hosts.model import Host

HOSTS: Mapping[str, Host] = {host.name: host for host in (CLAUDE_CODE,)}
