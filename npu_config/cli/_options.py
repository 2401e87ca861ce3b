"""Options that several commands have."""

from typing import Any, Optional

import click

from npu_config.target import MODES, Product, Target


def target_options(function: Any) -> Any:
    """``--target`` and ``--mode``, which replace what a file says of its target."""
    products = [product.value for product in Product]
    function = click.option(
        "--mode", type=click.Choice(MODES), help="How the job runs; replaces the file's."
    )(function)
    return click.option(
        "--target",
        "product",
        type=click.Choice(products),
        metavar="PRODUCT",
        help="What it runs on: {}.".format(", ".join(products)),
    )(function)


def merged(found: Optional[Target], product: Optional[str], mode: Optional[str]) -> Target:
    """The target that a file names, with what the command line says of it."""
    known = found or Target()
    return Target(
        product or known.product,
        mode or known.mode,
        known.cann,
    )


def out_options(function: Any) -> Any:
    """``-o`` and ``--force``."""
    function = click.option("--force", is_flag=True, help="Overwrite a file that exists.")(
        function
    )
    return click.option(
        "-o",
        "--output",
        "out",
        metavar="FILE",
        help="Write to a file instead of standard output.",
    )(function)


def as_option(function: Any) -> Any:
    """``--as KIND``."""
    from npu_config.readers import KINDS

    return click.option(
        "--as",
        "as_kind",
        type=click.Choice(list(KINDS)),
        metavar="KIND",
        help="Read every file as this, whatever its name: {}.".format(", ".join(KINDS)),
    )(function)
