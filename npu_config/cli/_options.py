"""Options that several commands have."""

import functools
import os
from typing import TYPE_CHECKING, Any, Callable, Sequence

import click

from npu_config.cli._complete import complete_rules
from npu_config.core.message import listed, localized, phrase
from npu_config.core.target import MODES, Product, Target

if TYPE_CHECKING:
    from npu_config.lint.project import Project
    from npu_config.rules.reading import Around

Decorator = Callable[[Any], Any]


def together(*options: Decorator) -> Decorator:
    """One decorator of several options, in the order of the help."""

    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def form_option(help: str, forms: Sequence[str] = ("text", "json")) -> Decorator:
    """``--format``; the first form is the default."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help=help,
    )


class ProductType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A product, or the name of a chip or server that can only mean one."""

    name = "product"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The product's own name."""
        try:
            return Product(value).value
        except ValueError as error:
            self.fail(localized(str(error)), param, ctx)

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> Any:
        """The products' own names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(p.value) for p in Product if p.value.startswith(incomplete)]


PRODUCT_HELP = phrase(
    "{}, or a name such as 910B or Atlas 800T A2", listed(product.value for product in Product)
)


_target_options = together(
    click.option(
        "--target",
        "product",
        type=ProductType(),
        metavar="PRODUCT",
        help=phrase("What it runs on: {}; replaces the file's.", PRODUCT_HELP),
    ),
    click.option(
        "--mode", type=click.Choice(MODES), help="How the job runs; replaces the file's."
    ),
    click.option(
        "--target-cann",
        "cann",
        metavar="VERSION",
        help="The version of CANN that it runs with, e.g. 8.0.0; replaces the file's.",
    ),
)


def target_options(function: Any) -> Any:
    """``--target``, ``--mode`` and ``--target-cann``, given to the command as one ``target``.

    What they say replaces what a file says of its target.
    """

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        product, mode, cann = (given.pop(name) for name in ("product", "mode", "cann"))
        try:
            target = Target.named(product, mode, cann)
        except ValueError as error:
            raise click.BadParameter(localized(str(error)), param_hint="--target-cann") from None
        return function(*args, target=target, **given)

    return _target_options(command)


def around_of(target: Target, project: "Project", on_host: bool = False) -> "Around":
    """What a command judges its files for, and with which surroundings."""
    from npu_config.rules.reading import Around

    return Around(target, project.target, os.environ if on_host else None, on_host)


out_options = together(
    click.option(
        "-o",
        "--output",
        "out",
        metavar="FILE",
        help="Write to a file instead of standard output.",
    ),
    click.option("--force", is_flag=True, help="Overwrite a file that exists."),
)
"""``-o`` and ``--force``."""


def as_option(function: Any) -> Any:
    """``--as KIND``."""
    from npu_config.readers import KINDS

    return click.option(
        "--as",
        "as_kind",
        type=click.Choice(list(KINDS)),
        metavar="KIND",
        help=phrase("Read every file as this, whatever its name: {}.", listed(KINDS)),
    )(function)


_rules_option = functools.partial(
    click.option, multiple=True, metavar="RULES", shell_complete=complete_rules
)
selection_options = together(
    _rules_option("--select", help="Only report these rules."),
    _rules_option("--ignore", help="Do not report these rules."),
)
"""``--select`` and ``--ignore``."""
