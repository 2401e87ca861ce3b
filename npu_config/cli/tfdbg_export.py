"""``npu-config tfdbg-export``."""

import os

import click

from npu_config.cli._options import FILE
from npu_config.cli._output import Failure, Unproducible, say, unwritable
from npu_config.cli._report import attempt
from npu_config.core.message import localized


@click.command("tfdbg-export")
@click.argument("dump", metavar="DUMP", type=FILE)
@click.argument("output", metavar="OUTPUT")
def command(dump: str, output: str) -> None:
    """Export tensors that tfdbg dumped on CPU or GPU as .npy files, with an index.

    DUMP is the directory given to tfdbg (sess_dump: precision_data/tf/tf_debug), OUTPUT a
    directory that is new or empty.
    """
    from npu_config.precision_tool.export import export_tfdbg
    from npu_config.text.tables import INDEX

    try:
        lines = attempt("text", lambda: export_tfdbg(dump, output))
    except FileExistsError:
        raise Failure("{} is not empty; pass another directory", output) from None
    except OSError as error:
        if error.filename is not None and _is_below(error.filename, dump):
            raise Unproducible("{} cannot be read: {}", error.filename, error.strerror) from None
        raise Failure(unwritable(output, error)) from None
    left_out = sum(line.status != "ok" for line in lines)
    say(
        localized(
            "tensors exported: {:,}, not exported: {:,}; see {}\n",
            len(lines) - left_out,
            left_out,
            os.path.join(output, INDEX),
        )
    )


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or lies in it."""
    inside, outer = (os.path.join(os.path.abspath(each), "") for each in (path, folder))
    return inside.startswith(outer)
