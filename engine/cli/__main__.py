"""``python -m ringfence.engine.cli``: the same as the ``ringfence`` command."""

import sys

from ringfence.engine.cli import main

sys.exit(main())
