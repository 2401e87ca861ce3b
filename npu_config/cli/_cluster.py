"""What the commands ``ranktable``, ``mixlist`` and ``env`` share."""

from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

import click

from npu_config.cli._options import PRODUCT_HELP, ProductType, missing
from npu_config.cli._output import DONE, FINDINGS, WRONG_CALL, Failure, read_stdin
from npu_config.cli._report import fails, other_kind
from npu_config.cli._report import print_findings as print_report
from npu_config.core.diagnostics import Diagnostic, Place, Report
from npu_config.core.message import localized, phrase
from npu_config.reporters import Unchecked
from npu_config.rules.reading import CANNOT_BE_READ
from npu_config.text.source import attempted

Read = TypeVar("Read")
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
    help=phrase("The product it is generated for: {}.", PRODUCT_HELP),
)


def read(path: str) -> InputFile:
    """A file, or standard input for ``-``; a configuration or a script is a finding."""
    from npu_config.sidefiles.format import read_text, side_file_unreadable

    if path != "-":
        message = other_kind(path, name=phrase("this"))
        if message is not None:
            return InputFile(path, None, (side_file_unreadable.diagnostic(message, Place(path)),))
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
    return print_report(
        found,
        format_,
        len(read_files),
        {source.name: source.text for source in read_files if source.text is not None},
        [Unchecked(source.name, CANNOT_BE_READ) for source in read_files if source.text is None],
        err,
    )


def check_files(
    paths: Iterable[str],
    judge: Callable[[InputFile], Iterator[Diagnostic]],
    format_: str,
    strict: bool,
) -> int:
    """Print what is wrong with files, by what judges the text of one; returns the exit code."""
    sources = [read(path) for path in dict.fromkeys(paths)]
    found = [each for source in sources for each in source.diagnostics]
    for one in sources:
        if one.text is not None:
            attempted(found, one.name, found.extend, judge(one))
    report = print_findings(found, sources, format_)
    if missing(paths):
        return WRONG_CALL
    return FINDINGS if fails(report, strict) else DONE


def told_by(option: str, read_text: Callable[..., Read], *texts: Any) -> Read:
    """What the text of an option says, or what several say together; nothing is a wrong call."""
    from npu_config.core.diagnostics import NpuConfigError

    try:
        return read_text(*texts)
    except NpuConfigError as error:
        said = "; ".join(localized("{}; {}", d.message, d.help) for d in error.diagnostics)
        raise click.UsageError("{}: {}".format(option, said)) from None


def table_of(path: str, product: Optional[str] = None, for_hccl: bool = False) -> Any:
    """The rank table of a file; see :func:`tables_of`."""
    return tables_of([path], product, for_hccl)[0]


def tables_of(
    paths: Sequence[str], product: Optional[str] = None, for_hccl: bool = False
) -> List[Any]:
    """The rank tables of files; where there is none the command ends with code 1.

    Args:
        paths: the files.
        product: what they are for.
        for_hccl: HCCL reads the files as they are, so that comments in them are errors, too.
            Else only warnings are printed of a table that can be read: ``ranktable check`` is
            there for the rest.
    """
    from npu_config import rank_table
    from npu_config.core.diagnostics import Severity
    from npu_config.core.target import Target

    absent = [path for path in paths if missing([path])]
    sources = [read(path) for path in paths if path not in absent]
    models: List[Any] = []
    loud: List[Diagnostic] = []
    for source in sources:
        found, model = source.diagnostics, None
        if source.text is not None:
            parsed = rank_table.parse(source.text, source.name, Target.named(product))
            found, model = tuple(parsed.diagnostics), parsed.model
        if for_hccl and any(d.severity is Severity.ERROR for d in found):
            model = None
        models.append(model)
        loud.extend(d for d in found if model is None or d.severity is Severity.WARNING)
    if loud:
        print_findings(loud, sources, err=True)
    if absent:
        raise Failure("{} does not exist", ", ".join(absent))
    if None in models:
        raise click.exceptions.Exit(1)
    return models
