"""torchrun without its own account of a failure: the last words are those of the process that failed."""

from __future__ import annotations

import logging
import sys

from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.run import main


def launch() -> None:
    logging.getLogger("torch.distributed").setLevel(logging.CRITICAL)
    try:
        main(sys.argv[1:])
    except ChildFailedError as failed:
        _, first = failed.get_first_failure()
        sys.exit(first.exitcode if first.exitcode > 0 else 1)


if __name__ == "__main__":
    launch()
