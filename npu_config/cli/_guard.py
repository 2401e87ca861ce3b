"""What happens around every command: its exit code, whatever happens inside."""

import contextlib
import os
import sys
from typing import Any, Callable

from npu_config.cli._output import (
    DONE,
    FINDINGS,
    INTERRUPTED,
    WRONG_CALL,
    Failure,
    complain,
    say,
    unwritable,
)
from npu_config.core.message import localized


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
