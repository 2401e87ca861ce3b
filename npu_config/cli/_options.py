"""Options that several commands have."""

from typing import Any, Optional

import click

from npu_config.cli._complete import complete_rules
from npu_config.core.target import MODES, Product, Target

_PARTS = ("product", "mode", "cann")


def target_options(function: Any) -> Any:
    """``--target``, ``--mode`` and ``--target-cann``, which replace what a file says."""
    products = [product.value for product in Product]
    function = click.option(
        "--target-cann",
        "cann",
        metavar="VERSION",
        help="The CANN version that it runs with, e.g. 8.5.0; replaces the file's.",
    )(function)
    function = click.option(
        "--mode", type=click.Choice(MODES), help="How the job runs; replaces the file's."
    )(function)
    return click.option(
        "--target",
        "product",
        type=click.Choice(products),
        metavar="PRODUCT",
        help="What it runs on: {}; replaces the file's.".format(", ".join(products)),
    )(function)


def merged(wanted: Target, found: Optional[Target], project: Optional[Target] = None) -> Target:
    """The target of a file: what the command line says, else the file, else the project."""
    said = [wanted, found or Target(), project or Target()]
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


def selection_options(function: Any) -> Any:
    """``--select`` and ``--ignore``."""
    for name, words in (
        ("ignore", "Do not report these rules."),
        ("select", "Only report these rules."),
    ):
        function = click.option(
            "--" + name,
            multiple=True,
            metavar="RULES",
            help=words,
            shell_complete=complete_rules,
        )(function)
    return function
