"""Settings that all tests share."""

import os

from hypothesis import settings

# A slow machine is no failure; and what CI finds must not depend on luck.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
