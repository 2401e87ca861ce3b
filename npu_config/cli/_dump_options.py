"""Options and first steps that the commands of ``npu-config dump`` share."""

from typing import Any, Optional, Sequence

import click

from npu_config.cli._options import form_option, together
from npu_config.cli._output import Failure
from npu_config.cli._paths import FILE
from npu_config.cli._report import attempt, print_findings
from npu_config.core.message import localized

NO_NUMPY = 'values need numpy: pip install "npu_config[compare]"'


LINES = 50


format_option = form_option("How the result is printed.")
device_option = click.option("--device", type=int, metavar="N", help="Only this device.")
selection_options = together(
    click.option("--step", type=int, metavar="N", help="Only this step (data_index)."),
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
threshold_option = click.option(
    "--threshold",
    type=click.FloatRange(-1, 1),
    default=0.98,
    show_default=True,
    help="A tensor agrees when its cosine similarity is above it.",
)
output_options = together(
    click.option(
        "--next-config",
        "next_config",
        metavar="CONFIG",
        help="Write the configuration of the next run: .yaml .toml .json .pbtxt .pb",
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
"""What is written beside the result, and how that is printed."""


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
        print_findings([*tree.diagnostics, no_dump(tree, path)], format_)
        raise click.exceptions.Exit(1)
    if not len(files):
        raise Failure(
            "no dump fits; there are the steps {}, the devices {} and {:,} operators",
            ", ".join(map(str, tree.steps)) or localized("(none)"),
            ", ".join(map(str, tree.devices)) or localized("(none)"),
            len({file.op_name for file in tree}),
        )
    return files
