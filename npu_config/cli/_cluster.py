"""What the commands ``ranktable`` and ``env`` share."""

import sys
from typing import Any, Iterable, List, Mapping, NamedTuple, Optional, Tuple

import click

from npu_config.cli._output import Failure, read_stdin, say, wants_color
from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.core.target import Product

STDIN = "<stdin>"
LARGEST = 1 << 30


class Source(NamedTuple):
    """A file as it was read; ``text`` is None when it could not be."""

    name: str
    text: Optional[str]
    diagnostics: Tuple[Diagnostic, ...]


def product_option(function: Any) -> Any:
    """``--target``."""
    products = [product.value for product in Product]
    return click.option(
        "--target",
        "product",
        type=click.Choice(products),
        metavar="PRODUCT",
        help="What it is for: {}.".format(", ".join(products)),
    )(function)


def read(path: str) -> Source:
    """A file, or standard input for ``-``."""
    from npu_config.sidefiles.format import read_text

    if path != "-":
        return Source(path, *read_text(path))
    try:
        return Source(STDIN, read_stdin(LARGEST).decode("utf-8"), ())
    except UnicodeDecodeError:
        raise Failure("standard input is not UTF-8 text") from None


def tell(
    found: Iterable[Diagnostic],
    sources: Iterable[Source] = (),
    format_: str = "text",
    err: bool = False,
) -> Report:
    """Print findings; returns them as a report."""
    from npu_config.reporters import Summary, render

    read_files = list(sources)
    report = Report(found)
    texts: Mapping[Optional[str], str] = {
        source.name: source.text for source in read_files if source.text is not None
    }
    skipped = len([source for source in read_files if source.text is None])
    summary = Summary.of(report, len(read_files), skipped)
    color = wants_color(sys.stderr if err else sys.stdout)
    say(render(format_, report, summary, texts, color), err=err)
    return report


def table_of(ctx: click.Context, path: str, product: Optional[str]) -> Any:
    """The rank table of a file; with errors the command ends with code 1.

    What is only worth knowing is not told: ``ranktable check`` is there for that.
    """
    from npu_config.cluster import rank_table
    from npu_config.core.diagnostics import Severity
    from npu_config.core.target import Target

    source = read(path)
    found: List[Diagnostic] = list(source.diagnostics)
    model = None
    if source.text is not None:
        parsed = rank_table.parse(source.text, source.name, Target(product=product))
        found, model = list(parsed.diagnostics), parsed.model
    loud = [d for d in found if d.severity is not Severity.INFO]
    if loud:
        tell(loud, [source], err=True)
    if model is None:
        ctx.exit(1)
    return model
