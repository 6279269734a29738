"""The examples of docs/python.md, run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs/python.md"


def example(heading: str, **names: Any) -> dict[str, Any]:
    """Everything that the example below a heading names, after it ran with ``names``."""
    section = re.split(r"^## ", DOCS.read_text(), flags=re.MULTILINE)
    body = next(text for text in section if text.startswith(f"{heading}\n"))
    code = re.search(r"```python\n(.*?)```", body, re.DOTALL)
    assert code is not None
    exec(compile(code[1], f"{DOCS.name}: {heading}", "exec"), names)
    return names
