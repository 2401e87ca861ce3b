"""What happens around every command: its exit code, whatever happens inside."""

import contextlib
import os
import sys
from typing import Any, Callable, List

import click

from npu_config.cli._exits import DONE, INTERRUPTED, WRONG_CALL
from npu_config.cli._output import Failure, complain, say, unwritable


class Group(click.Group):
    """A group of commands; called without one, it shows its help."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """As click's, with the help on standard error, as for any wrong call."""
        if not args and not ctx.resilient_parsing:
            say(ctx.get_help() + "\n", err=True)
            ctx.exit(WRONG_CALL)
        return super().parse_args(ctx, args)


def guarded(command: Callable[[], Any]) -> int:
    """Run a command line; returns the exit code, with all output written."""
    try:
        result = command()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return result if isinstance(result, int) else DONE
    except click.ClickException as error:
        complain(error)
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        with contextlib.suppress(Failure, OSError):
            say("\nAborted!\n", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        code = WRONG_CALL
    except OSError as error:
        if error.filename is not None:
            raise
        complain(Failure(unwritable("the output", error)))
        code = WRONG_CALL
    _drop_what_is_left()
    return code


def check_directory() -> None:
    """Refuse to work in a directory that was deleted.

    Raises:
        Failure: there is no working directory.
    """
    try:
        os.getcwd()
    except OSError:
        raise Failure("the working directory does not exist any more; change to another") from None


def _drop_what_is_left() -> None:
    """Flush, or let go of what cannot be written, so that nothing fails at the very end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
