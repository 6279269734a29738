"""Fetch the real clients for ``test_clients.py``: ``get.py FOLDER`` (npm; 2 GB in all)."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers.clients import CLIENTS


def main(folder: Path) -> int:
    """Install what is not there; 1 if one cannot be had."""
    missing = 0
    for name, client in CLIENTS.items():
        prefix = folder / name
        if (prefix / "node_modules/.bin" / name).exists():
            continue
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(prefix)]
        try:
            subprocess.run([*command, *client.packages], check=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            print(error, file=sys.stderr)
            missing += 1
    return int(missing > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
