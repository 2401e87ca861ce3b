"""What the commands ``ranktable`` and ``env`` share."""

from typing import Any, Iterable, List, NamedTuple, Optional, Tuple

import click

from npu_config.cli._options import PRODUCT_HELP, ProductType
from npu_config.cli._output import Failure, read_stdin
from npu_config.cli._paths import missing
from npu_config.cli._report import print_findings as report
from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.core.message import phrase, told

STDIN = "<stdin>"
LARGEST = 1 << 30


class InputFile(NamedTuple):
    """A file as it was read; ``text`` is None when it could not be."""

    name: str
    text: Optional[str]
    diagnostics: Tuple[Diagnostic, ...]


product_option = click.option(
    "--target",
    "product",
    type=ProductType(),
    metavar="PRODUCT",
    help=phrase("What it is for: {}.", PRODUCT_HELP),
)


def read(path: str) -> InputFile:
    """A file, or standard input for ``-``."""
    from npu_config.sidefiles.format import read_text

    if path != "-":
        return InputFile(path, *read_text(path))
    try:
        return InputFile(STDIN, read_stdin(LARGEST).decode("utf-8"), ())
    except UnicodeDecodeError:
        raise Failure("standard input is not UTF-8 text") from None


def print_findings(
    found: Iterable[Diagnostic],
    sources: Iterable[InputFile] = (),
    format_: str = "text",
    err: bool = False,
) -> Report:
    """Print findings about files; returns them as a report."""
    read_files = list(sources)
    return report(
        found,
        format_,
        len(read_files),
        {source.name: source.text for source in read_files if source.text is not None},
        len([source for source in read_files if source.text is None]),
        err,
    )


def table_of(ctx: click.Context, path: str, product: Optional[str]) -> Any:
    """The rank table of a file; with errors the command ends with code 1.

    What is only worth knowing is not printed: ``ranktable check`` is there for that.
    """
    from npu_config.cluster import rank_table
    from npu_config.core.diagnostics import Severity
    from npu_config.core.target import Target

    if missing([path]):
        raise Failure(told("{} does not exist", path))
    source = read(path)
    found: List[Diagnostic] = list(source.diagnostics)
    model = None
    if source.text is not None:
        parsed = rank_table.parse(source.text, source.name, Target.named(product))
        found, model = list(parsed.diagnostics), parsed.model
    loud = [d for d in found if d.severity is not Severity.INFO]
    if loud:
        print_findings(loud, [source], err=True)
    if model is None:
        ctx.exit(1)
    return model
