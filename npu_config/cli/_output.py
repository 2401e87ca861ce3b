"""The one way out: exit codes and failures of every command, and all that is written anywhere."""

import contextlib
import os
import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from npu_config.core.message import harmless, localized, printable

DONE, FINDINGS, WRONG_CALL, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES: Mapping[int, str] = {
    DONE: "done, no problem found",
    FINDINGS: (
        "findings at or above the failing severity (error; with --strict also warning); or the "
        "input does not allow the requested output; or a file exists but cannot be read"
    ),
    WRONG_CALL: (
        "wrong usage: an unknown command or option, a named path that does not exist, an "
        "output that exists (--force overwrites it) or cannot be written, no working directory"
    ),
    INTERRUPTED: "interrupted",
}
"""Exit code to what it means.  ``npu-config run`` ends with the code of the script it runs."""


class Failure(Exception):  # noqa: N818 - it fails, and nothing is in error
    """What was asked for cannot be done; exit code 2.

    Args:
        message: why.
        values: what fills its places.
    """

    exit_code = WRONG_CALL

    def __init__(self, message: str, *values: object) -> None:
        super().__init__(localized(message, *values))


class Unproducible(Failure):
    """What was asked for cannot be made of this input; exit code 1."""

    exit_code = FINDINGS


def wants_color(stream: Any) -> bool:
    """Colours only on a terminal, and not where NO_COLOR is set or TERM is dumb."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


def say(text: str, err: bool = False, color: bool = False, commands: bool = False) -> None:
    """Print text; what a terminal or a CI log would act on, or cannot show, is escaped.

    Args:
        text: any lines.
        err: to standard error.
        color: the text holds colours of ours.
        commands: the text holds workflow commands of ours.

    Raises:
        Failure: the stream cannot be written, other than that its reader has gone.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None:  # closed by whoever started us
        return
    encoding = getattr(stream, "encoding", None) or "utf-8"
    text = (
        harmless(localized(text), color, commands)
        .encode(encoding, "backslashreplace")
        .decode(encoding)
    )
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(unwritable("the output", error)) from None


def complain(message: str, usage: str = "") -> None:
    """Print what is wrong with a call, on one line, after its usage."""
    with contextlib.suppress(Failure, OSError):
        say(usage + localized("Error: {}", printable(localized(message))) + "\n", err=True)


def unwritable(what: str, error: OSError) -> str:
    """Why something cannot be written; the error may name one file of it."""
    return localized("{} cannot be written: {}", error.filename or what, error.strerror or error)


def read_stdin(limit: int) -> bytes:
    """Standard input, up to one byte more than ``limit``.

    Raises:
        Failure: it is closed, or cannot be read.
    """
    if sys.stdin is None:
        raise Failure("standard input is closed")
    try:
        return sys.stdin.buffer.read(limit + 1)
    except (OSError, ValueError) as error:
        raise Failure("standard input cannot be read: {}", error) from None


def deliver(content: Union[str, bytes], out: Optional[str], force: bool) -> None:
    """Write to a file, or to standard output when there is none.

    Text for a file or a pipe is exactly as it is; on a terminal it is made harmless.

    Raises:
        Failure: the file exists and ``force`` is False, or cannot be written; or bytes would be
            written to a terminal.
    """
    if out is not None and out != "-":
        write(out, content, force)
    elif sys.stdout is None:
        raise Failure("standard output is closed")
    elif sys.stdout.isatty():
        if isinstance(content, bytes):
            raise Failure("binary output is not written to a terminal; use -o FILE")
        say(content)
    else:
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogateescape")
        try:
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Failure(unwritable("the output", error)) from None


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Inside, what keeps a file from being written is a failure of the command."""
    try:
        yield
    except FileExistsError:
        raise Failure("{} exists; --force overwrites it", path) from None
    except OSError as error:
        raise Failure(unwritable(path, error)) from None


def write(path: str, content: Union[str, bytes, Iterable[bytes]], force: bool) -> None:
    """Write a file.

    Raises:
        Failure: it exists and ``force`` is False, or it cannot be written.
    """
    from npu_config.text.files import write_atomic

    with writing(path):
        write_atomic(path, content, overwrite=force)


def write_mixlist(path: str, types: Sequence[str], force: bool) -> None:
    """Write the ops_info.json that keeps operator types in float32.

    Raises:
        Failure: there are none; or as :func:`write`.
    """
    from npu_config.sidefiles import mixlist

    if not types:
        raise Unproducible("no operator type for the block list was found; nothing is written")
    write(path, mixlist.render(mixlist.Mixlist.of(black_list=types)), force)
    say(
        localized(
            "{} written: set modify_mixlist to this file, with a mixed precision mode\n", path
        )
    )


_WORTH_SHOWING = 200


@contextmanager
def progress(total: int, worth: int = _WORTH_SHOWING) -> Iterator[Callable[[int], None]]:
    """A function that is told how much more is done; silent off a terminal.

    Args:
        total: how many files, or bytes, there are.
        worth: the least of them for which a bar is shown.
    """
    if total >= worth and wants_color(sys.stderr):
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(console=Console(stderr=True), transient=True) as bar:
                task = bar.add_task("checking", total=total)
                yield lambda count: bar.advance(task, count)
            return
    yield lambda count: None


# around every command


def guarded(command: Callable[[], Any]) -> int:
    """Run a command line; returns the exit code, with all output written."""
    try:
        result = command()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        return result if isinstance(result, int) else DONE
    except Failure as error:
        complain(error.args[0])
        code = error.exit_code
    except _of_click("ClickException") as error:
        complain(" ".join(error.format_message().split("\n\t")), _usage(error))
        code = error.exit_code
    except (KeyboardInterrupt, _of_click("Abort")):
        with contextlib.suppress(Failure, OSError):
            say("\nAborted!\n", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        code = WRONG_CALL
    except OSError as error:
        if error.filename is None:
            complain(unwritable("the output", error))
        else:
            complain("{}: {}".format(error.filename, error.strerror or error))
        code = WRONG_CALL
    except Exception as error:
        if sys.flags.dev_mode:  # python -X dev -m npu_config
            raise
        complain(_fault(error))
        code = FINDINGS
    _drop_what_is_left()
    return code


def _fault(error: Exception) -> str:
    """What is said of an exception that nothing expected."""
    from npu_config.core.diagnostics import Report
    from npu_config.core.message import language
    from npu_config.text.source import fault

    (found,) = Report([fault(None, error)]).localized(language())
    return "{} [{} {}]; {}".format(found.message, found.rule, found.name, found.help)


def _of_click(name: str) -> Any:
    """An exception of click's; none in a process that runs without click."""
    return getattr(sys.modules.get("click"), name, Failure)


def _usage(error: Any) -> str:
    """How the command is called that an error of click's is about."""
    context = getattr(error, "ctx", None)
    if context is None:
        return ""
    ask = localized("Try '{} --help' for help.\n", context.command_path)
    return "{}\n{}\n".format(context.get_usage(), ask)


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
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except OSError:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
