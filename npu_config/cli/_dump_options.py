"""Options and first steps that the commands of ``npu-config dump`` share."""

from typing import Any, Optional, Sequence

import click

from npu_config.cli._output import Failure
from npu_config.cli._paths import FILE
from npu_config.cli._report import attempt, print_findings
from npu_config.core.message import told

NO_NUMPY = 'values need numpy: pip install "npu_config[compare]"'


LINES = 50


def format_option(function: Any) -> Any:
    """``--format``, of what is not a list of findings."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How the result is printed.",
    )(function)


def selection_options(function: Any) -> Any:
    """Which files: ``--step``, ``--op``, ``--type``, ``--device``."""
    for option in (
        click.option("--device", type=int, metavar="N", help="Only this device."),
        click.option(
            "--type", "types", multiple=True, metavar="PATTERN", help="Only these operator types."
        ),
        click.option(
            "--op", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
        ),
        click.option("--step", type=int, metavar="N", help="Only this step (data_index)."),
    ):
        function = option(function)
    return function


def graph_option(function: Any) -> Any:
    """``--graph``."""
    return click.option(
        "--graph",
        metavar="GE_GRAPH",
        type=FILE,
        help="ge_proto_*_Build.txt (DUMP_GE_GRAPH=2), or the folder with it.",
    )(function)


def force_option(function: Any) -> Any:
    """``--force``."""
    return click.option("--force", is_flag=True, help="Overwrite files that exist.")(function)


def report_options(function: Any) -> Any:
    """``--html`` and ``--json``."""
    for name, help_ in (
        ("--html", "Write a report as one page that needs nothing else."),
        ("--json", "Write the result as JSON."),
    ):
        function = click.option(name, name[2:] + "_file", metavar="FILE", help=help_)(function)
    return function


def files_of(
    ctx: click.Context,
    path: str,
    format_: str,
    step: Optional[int] = None,
    ops: Sequence[str] = (),
    types: Sequence[str] = (),
    device: Optional[int] = None,
) -> Any:
    """The files that are asked for; without any the command ends with code 1."""
    from npu_config.dumps.selection import select
    from npu_config.dumps.tree import find_dumps, no_dump

    tree = attempt(ctx, format_, lambda: find_dumps(path))
    files = select(tree, step, ops, types, device)
    if not len(tree):
        print_findings([*tree.diagnostics, no_dump(tree, path)], format_)
        ctx.exit(1)
    if not len(files):
        raise Failure(
            told(
                "no dump fits; there are the steps {}, the devices {} and {:,} operators",
                ", ".join(map(str, tree.steps)) or told("(none)"),
                ", ".join(map(str, tree.devices)) or told("(none)"),
                len({file.op_name for file in tree}),
            )
        )
    return files
