"""The exit codes of every command, as one table."""

from typing import Mapping

DONE, FINDINGS, WRONG_CALL, INTERRUPTED = 0, 1, 2, 130

EXIT_CODES: Mapping[int, str] = {
    DONE: "done, and nothing to complain about",
    FINDINGS: (
        "findings at or above the failing severity (error; with --strict warning, too); or what "
        "was asked for cannot be produced because of what the input holds; or a file exists and "
        "cannot be read"
    ),
    WRONG_CALL: (
        "a wrong call: an unknown command or option, a named path that does not exist, an output "
        "that exists (--force overwrites it) or cannot be written, no working directory"
    ),
    INTERRUPTED: "interrupted",
}
"""Exit code to what it means.  ``npu-config run`` ends with the code of the script it runs."""
