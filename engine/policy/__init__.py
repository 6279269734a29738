"""The policy: its files, its layers and its patterns."""

from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.load import load_policy
from ringfence.engine.policy.model import LayeredPolicy

__all__ = ["ConfigError", "LayeredPolicy", "load_policy"]
