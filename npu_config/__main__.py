"""``python -m npu_config`` and ``npu-config``."""

import sys
from typing import Optional, Sequence

from npu_config.cli import run


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command line; returns the exit code.

    Args:
        arguments: without the name of the program; None: those of the process.
    """
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
