"""Writing to the terminal, to pipes and to files."""

import os
import sys
from typing import Any, Optional, Union

import click

from npu_config.core.files import write_atomic


def wants_color(stream: Any) -> bool:
    """Colours only on a terminal, and not where NO_COLOR is set or TERM is dumb."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


def say(text: str, err: bool = False) -> None:
    """Print text as it is; characters that the stream cannot encode are escaped.

    Raises:
        Failure: the stream cannot be written, other than that its reader has gone.
    """
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    text = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        click.echo(text, nl=False, err=err, color=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure("the output cannot be written: {}".format(error.strerror)) from None


def read_stdin(limit: int) -> bytes:
    """Standard input, up to one byte more than ``limit``."""
    return sys.stdin.buffer.read(limit + 1)


def deliver(content: Union[str, bytes], out: Optional[str], force: bool) -> None:
    """Write to a file, or to standard output when there is none.

    Raises:
        click.ClickException: the file exists and ``force`` is False, or cannot be written.
    """
    if out is None or out == "-":
        if isinstance(content, str):
            say(content)
        elif sys.stdout.isatty():
            raise click.UsageError("bytes are not written to a terminal; use -o FILE")
        else:
            sys.stdout.buffer.write(content)
        return
    try:
        write_atomic(out, content, overwrite=force)
    except FileExistsError:
        raise Failure("{} exists; --force overwrites it".format(out)) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise Failure("{} cannot be written: {}".format(out, reason)) from None


class Failure(click.ClickException):
    """What was asked for cannot be done; exit code 2."""

    exit_code = 2
