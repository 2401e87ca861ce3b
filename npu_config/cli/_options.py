"""What the commands are made of: types of arguments, and options that several have."""

import functools
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Tuple, TypeVar

import click

from npu_config.cli._output import Failure
from npu_config.core.message import language, listed, localized, phrase
from npu_config.core.target import MODES, Target
from npu_config.core.versions import Product

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from npu_config.lint.project import Project
    from npu_config.rules.overrides import Override
    from npu_config.rules.reading import Around


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "List[CompletionItem]":
    """Ids and names of rules; of several, joined by commas, the last is completed."""
    from click.shell_completion import CompletionItem

    before, comma, word = incomplete.rpartition(",")
    return [
        CompletionItem(before + comma + name, help=words)
        for name, words in _rules()
        if name.lower().startswith(word.lower())
    ]


def complete_names(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "List[CompletionItem]":
    """Everything that ``explain`` explains."""
    from click.shell_completion import CompletionItem

    from npu_config.cli._topics import topics

    return [
        CompletionItem(name, help=topic.summary)
        for topic in topics()
        for name in (topic.name, *topic.also)
        if name.lower().startswith(incomplete.lower())
    ]


def _rules() -> List[List[str]]:
    from npu_config.cli._topics import topics

    rules = [topic for topic in topics() if topic.kind == "rule"]
    return [[rule.name, rule.summary] for rule in rules] + [
        [name, rule.summary] for rule in rules for name in rule.also
    ]


class InputPath(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A file or directory that is read.

    Args:
        must_exist: refuse a path that names nothing (exit code 2).
        stdin: ``-`` stands for standard input.
    """

    name = "path"

    def __init__(self, must_exist: bool = True, stdin: bool = True) -> None:
        self.must_exist = must_exist
        self.stdin = stdin

    def convert(
        self, value: Any, param: Optional[click.Parameter], ctx: Optional[click.Context]
    ) -> str:
        """The path; a path that names nothing is refused."""
        path = str(value)
        if not path or "\0" in path:
            raise Failure("{} is not a path", path or '""')
        if self.must_exist and not (self.stdin and path == "-") and not os.path.lexists(path):
            raise Failure("{} does not exist", path)
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "List[CompletionItem]":
        """Files, as the shell completes them."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


def missing(paths: Iterable[str]) -> List[str]:
    """The paths that name nothing."""
    return [path for path in paths if path != "-" and not os.path.lexists(path)]


INPUT = InputPath()
FILE = InputPath(stdin=False)
ANY_PATH = InputPath(must_exist=False)

Decorator = Callable[[Any], Any]
_Read = TypeVar("_Read")


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


product_option = click.option(
    "--target",
    "product",
    type=ProductType(),
    metavar="PRODUCT",
    help=phrase("The product to generate for: {}.", PRODUCT_HELP),
)


_target_options = together(
    click.option(
        "--target",
        "product",
        type=ProductType(),
        metavar="PRODUCT",
        help=phrase(
            ("The product that the job runs on: {}; overrides that of the file."), PRODUCT_HELP
        ),
    ),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help=("The mode in which the job runs; overrides that of the file."),
    ),
    click.option(
        "--target-cann",
        "cann",
        metavar="VERSION",
        help="The version of CANN that the job runs with, e.g. 8.0.0; overrides that of the file.",
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


def around_of(
    target: Target,
    project: "Project",
    on_host: bool = False,
    overrides: "Tuple[Override, ...]" = (),
) -> "Around":
    """What a command judges its files for, and with which surroundings."""
    from npu_config.rules.reading import Around

    environ = os.environ if on_host else None
    return Around(target, project.target, environ, on_host, overrides=overrides)


def complete_options(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "List[CompletionItem]":
    """Names of options, for ``--set``."""
    from click.shell_completion import CompletionItem

    from npu_config.catalogue import OPTIONS

    return [
        CompletionItem(name + "=", help=option.summary)
        for name, option in OPTIONS.items()
        if name.startswith(incomplete)
    ]


def _overrides(ctx: click.Context, param: click.Parameter, given: Tuple[str, ...]) -> Any:
    """``NAME=VALUE`` texts as overrides; every one that is none is said, as a wrong call."""
    if not given:
        return ()
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.rules.overrides import overrides_of

    try:
        return overrides_of(given)
    except NpuConfigError as error:
        found = error.diagnostics.localized(language())
        words = ["; ".join(filter(None, (each.message, each.help))) for each in found]
        raise click.BadParameter("; ".join(words), ctx, param) from None


def set_option(function: Any) -> Any:
    """``--set NAME=VALUE``, given to the command as ``overrides``."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_overrides,
        shell_complete=complete_options,
        help="Set an option, overriding the file; null removes the option.  Repeatable.",
    )(function)


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
        help=phrase("Read every file as this type, whatever its name: {}.", listed(KINDS)),
    )(function)


_rules_option = functools.partial(
    click.option, multiple=True, metavar="RULES", shell_complete=complete_rules
)
selection_options = together(
    _rules_option("--select", help="Only report these rules."),
    _rules_option("--ignore", help="Do not report these rules."),
)
"""``--select`` and ``--ignore``."""


def told_by(option: str, read_text: Callable[..., _Read], *texts: Any) -> _Read:
    """What the text of an option says, or what several say together; nothing is a wrong call."""
    from npu_config.core.diagnostics import NpuConfigError

    try:
        return read_text(*texts)
    except NpuConfigError as error:
        said = "; ".join(localized("{}; {}", d.message, d.help) for d in error.diagnostics)
        raise click.UsageError("{}: {}".format(option, said)) from None
