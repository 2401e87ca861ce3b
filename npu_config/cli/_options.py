"""Options that several commands have."""

from typing import Any, Optional

import click

from npu_config.core.target import MODES, Product, Target

_PARTS = ("product", "mode", "cann")


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


def merged(
    found: Optional[Target],
    product: Optional[str],
    mode: Optional[str],
    project: Optional[Target] = None,
) -> Target:
    """The target of a file: what the command line says, else the file, else the project."""
    said = [Target(product, mode), found or Target(), project or Target()]
    return Target(
        *(
            next((value for value in values if value is not None), None)
            for values in ([getattr(target, name) for target in said] for name in _PARTS)
        )
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
