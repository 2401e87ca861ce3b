"""The command line: ``npu-config``.

One module for each command; a command is imported when it is called.  Exit codes: ``_output.py``.
"""

import os
import sys
from typing import Optional, Sequence

__all__ = ["run"]

_MISSING = """\
The command line of npu_config needs click, which is not installed.  Install it with

    pip install "npu_config[cli]"
"""


def run(arguments: Optional[Sequence[str]] = None) -> int:
    """Run a command line; returns the exit code.

    A script is run without click, which it would have to wait for.

    Args:
        arguments: without the name of the program; None: those of the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["run"] and "_NPU_CONFIG_COMPLETE" not in os.environ:
        from npu_config.cli import _run

        values = _run.read(words[1:])
        if values is not None:
            return _run.alone(values)
    try:
        import click  # noqa: F401
    except ImportError:
        from npu_config.cli._output import say

        say(_MISSING, err=True)
        return 2
    from npu_config.cli.app import app

    try:
        app.main(args=words, prog_name="npu-config")
    except SystemExit as end:
        code = end.code
    if isinstance(code, int):
        return code
    return 0 if code is None else 1
