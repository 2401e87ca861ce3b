"""What the commands of ``npu-config dump`` share: options, output, files that are asked for."""

import contextlib
import functools
import os
from typing import Any, Callable, NamedTuple, Optional, Sequence

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._options import FILE, form_option, together
from npu_config.cli._output import Failure, Unproducible, progress, say, write
from npu_config.cli._report import attempt, name_logs, print_findings
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import localized
from npu_config.dumps.tree import find_dumps, run_folder

NO_NUMPY = 'values need numpy: pip install "npu_config[compare]"'

LINES = 50


format_option = form_option("How the result is printed.")
device_option = click.option(
    "--device", type=click.IntRange(min=0), metavar="N", help="Only this device."
)
selection_options = together(
    click.option(
        "--step", type=click.IntRange(min=0), metavar="N", help="Only this step (data_index)."
    ),
    click.option(
        "--op", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
    ),
    click.option(
        "--type", "types", multiple=True, metavar="PATTERN", help="Only these operator types."
    ),
    device_option,
)
"""Which files."""
graph_option = click.option(
    "--graph",
    metavar="GE_GRAPH",
    type=FILE,
    help="ge_proto_*_Build.txt (DUMP_GE_GRAPH=2), or the folder with it.",
)

_output_options = together(
    click.option(
        "--next-config",
        "next_config",
        metavar="CONFIG",
        help="Write the configuration of the next run: .yaml .toml .json .pbtxt .pb",
    ),
    click.option(
        "--config",
        "config",
        metavar="BASE",
        type=FILE,
        help="The job's configuration, which --next-config starts from.",
    ),
    click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON."),
    click.option(
        "--html",
        "html_file",
        metavar="FILE",
        help="Write a report as one page that needs nothing else.",
    ),
    click.option("--force", is_flag=True, help="Overwrite files that exist."),
    format_option,
)


class Outputs(NamedTuple):
    """What is written beside the result, and how that is printed."""

    next_config: Optional[str]
    config: Optional[str]
    json_file: Optional[str]
    html_file: Optional[str]
    force: bool
    format_: str

    def deliver(
        self,
        content: Callable[[], Any],
        found: Sequence[Diagnostic],
        results: Sequence[Diagnostic],
        shown: Callable[[], str],
        page: Callable[[], str],
    ) -> None:
        """Print a result, and write it where that is asked for.

        Args:
            content: makes what JSON holds.
            found: what is wrong with the dump.
            results: the result as findings, for JSON.
            shown: makes the text.
            page: makes the HTML.
        """
        if self.format_ == "json":
            for piece in text.pieces(content(), [*found, *results]):
                say(piece)
        else:
            say(shown())
            if found:
                print_findings(found)
        if self.json_file is not None:
            whole = text.pieces(content(), [*found, *results])
            write(self.json_file, (piece.encode("ascii") for piece in whole), self.force)
        if self.html_file is not None:
            write(self.html_file, page(), self.force)


def output_options(function: Any) -> Any:
    """The options of what is written, given to the command as one ``outputs``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        outputs = Outputs(*(given.pop(name) for name in Outputs._fields))
        return function(*args, outputs=outputs, **given)

    return _output_options(command)


def print_result(
    format_: str, content: Any, found: Sequence[Diagnostic], shown: Callable[[], str], files: int
) -> None:
    """Print a result: as JSON with the findings, or as text before them."""
    if format_ == "json":
        say(text.document(content, found))
    else:
        say(shown())
        if found:
            print_findings(found, files=files)
            name_logs(found)


def files_of(
    path: str,
    format_: str,
    step: Optional[int] = None,
    ops: Sequence[str] = (),
    types: Sequence[str] = (),
    device: Optional[int] = None,
) -> Any:
    """The files that are asked for; without any the command ends with code 1."""
    from npu_config.dumps.tree import find_dumps, no_dump, select

    tree = attempt(format_, lambda: find_dumps(path))
    files = select(tree, step, ops, types, device)
    if not len(tree):
        found = [*tree.diagnostics, no_dump(tree, path)]
        print_findings(found, format_)
        if format_ == "text":
            name_logs(found)
        raise click.exceptions.Exit(1)
    if not len(files):
        raise Failure(
            "no dump fits; there are the steps {}, the devices {} and {:,} operators",
            ", ".join(map(str, tree.steps)) or localized("(none)"),
            ", ".join(map(str, tree.devices)) or localized("(none)"),
            len({file.op_name for file in tree}),
        )
    return files


def write_next(
    outputs: Outputs,
    dump: str,
    layers: Sequence[str],
    step: Optional[int],
    passes: Sequence[str] = (),
    black_list: Optional[Sequence[str]] = None,
) -> None:
    """Write the configuration of the next run, with what may cure the suspects.

    Args:
        outputs: the file to write, if there is one; side files are written beside it.
        dump: the dump that was looked at, which says where the next one goes.
        layers: suspected operators, to be dumped with inputs and outputs.
        step: the step to dump.
        passes: fusion passes to switch off.
        black_list: operator types to keep in float32, where overflows are looked for again.
    """
    from npu_config.cli import _dump_next as following

    if outputs.next_config is None:
        return
    if not layers:
        raise Unproducible("nothing is suspected; {} is not written", outputs.next_config)
    records = following.DUMP if black_list is None else following.OVERFLOW
    change = following.NextRunChange(
        *following.by_kind(passes), tuple(black_list or ()), False, records, tuple(layers), step
    )
    path = _dump_path(dump)
    say(following.write_next(outputs.next_config, change, outputs.config, path, outputs.force))


def _dump_path(dump: str) -> str:
    """The ``dump_path`` of the job: what is above the folder of the run."""
    runs = (run_folder(file) for file in find_dumps(dump) if file.run is not None)
    run = next(runs, None)
    return os.path.abspath(dump) if run is None else os.path.dirname(run)


class Bar:
    """A bar on the terminal whose length is known when the work begins."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._advance: Optional[Callable[[int], None]] = None

    def advance(self, done: int, total: int) -> None:
        """One of ``total`` more is done."""
        if self._advance is None:
            self._advance = self._stack.enter_context(progress(total))
        self._advance(1)


def attempt_values(format_: str, read: Callable[[], Any]) -> Any:
    """As :func:`attempt`; says what to install when numpy is missing."""
    try:
        return attempt(format_, read)
    except ImportError:
        raise Failure(NO_NUMPY) from None
