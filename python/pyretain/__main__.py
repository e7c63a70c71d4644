"""The command ``retain``: also ``python -m pyretain``."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the command, with this process's arguments."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "retain")
    try:
        os.execv(command, ["retain", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"retain: {command}: {error.strerror}")


if __name__ == "__main__":
    main()
