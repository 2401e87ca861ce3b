"""``python -m npu_config`` and ``npu-config``."""

import sys
from typing import Optional, Sequence

_MISSING = """\
The command line of npu_config needs {}, which is not installed.  Install it with

    pip install "npu_config[cli]"
"""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command line; returns the exit code.

    Args:
        arguments: without the name of the program; None: those of the process.
    """
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write(_MISSING.format("click"))
        return 2
    from npu_config.cli import run

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
