"""The command line: ``npu-config``.

One module for each command; a command is imported when it is called.  Exit codes: ``_exits.py``.
"""

from typing import Optional, Sequence

__all__ = ["run"]


def run(arguments: Optional[Sequence[str]] = None) -> int:
    """Run a command line; returns the exit code.

    Args:
        arguments: without the name of the program; None: those of the process.
    """
    from npu_config.cli.app import app

    try:
        app.main(
            args=None if arguments is None else list(arguments),
            prog_name="npu-config",
        )
    except SystemExit as end:
        code = end.code
    if isinstance(code, int):
        return code
    return 0 if code is None else 1
