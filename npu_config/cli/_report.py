"""What the commands share: files read and judged, findings printed, errors as findings."""

import contextlib
import itertools
import os
import sys
from shlex import quote
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

import click

from npu_config.cli._options import form_option, missing
from npu_config.cli._output import (
    DONE,
    FINDINGS,
    WRONG_CALL,
    Failure,
    Unproducible,
    read_stdin,
    say,
    wants_color,
    write,
)
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Report, Rule, Severity
from npu_config.core.message import localized, phrase
from npu_config.core.paths import reading
from npu_config.judging import Judgement
from npu_config.readers import LARGEST, Reading, kind_of_suffix, read, suffix_of
from npu_config.reporters import FORMATS, Style, Summary, Unchecked, render
from npu_config.rules.reading import CANNOT_BE_READ, TEMPLATE
from npu_config.text.source import attempted

_Result = TypeVar("_Result")


format_option = form_option("How the findings are printed.", tuple(FORMATS))
strict_option = click.option("--strict", is_flag=True, help="Fail on warnings, too.")


def print_findings(
    found: Iterable[Diagnostic],
    format_: str = "text",
    files: Optional[int] = None,
    sources: Optional[Mapping[Optional[str], str]] = None,
    unchecked: Sequence[Unchecked] = (),
    err: bool = False,
    notes: bool = True,
    hints: bool = False,
) -> Report:
    """Print findings; returns them as a report.

    Args:
        found: the findings.
        format_: one of the formats of reports.
        files: how many files were looked at; None: those that findings are in.
        sources: path to text, for the lines that are shown.
        unchecked: those of the files that were not checked, and why.
        err: print to standard error.
        notes: show information, and not just how much there is.
        hints: end with what can be done next.
    """
    report = found if isinstance(found, Report) else Report(found)
    color = wants_color(sys.stderr if err else sys.stdout)
    if files is None:
        files = max(1, len({each.path for each in report}))
    summary = Summary.of(report, files, unchecked=unchecked)
    text = render(format_, report, summary, sources, Style(color, notes, hints))
    say(text, err=err, color=color, commands=format_ == "github")
    return report


findings_option = click.option(
    "--findings",
    metavar="FILE",
    help="Write the findings in the source to a file, in the format of `npu-config check "
    "--format json`.",
)


def write_findings(path: str, judged: Optional[Judgement]) -> None:
    """Write what is to be said of a source as JSON, in place of earlier findings.

    Raises:
        Failure: the file cannot be written, or exists and holds something else.
    """
    if os.path.lexists(path) and not _holds_findings(path):
        raise Failure("{} exists and contains no findings; pass another file name", path)
    report = Report(() if judged is None else judged.found)
    unchecked = []
    if judged is not None and judged.unchecked is not None:
        unchecked.append(Unchecked(judged.path or "", str(judged.unchecked), judged.in_part))
    summary = Summary.of(report, int(judged is not None), unchecked=unchecked)
    write(path, render("json", report, summary), True)


def _holds_findings(path: str) -> bool:
    import json

    try:
        with open(path, "rb", opener=reading) as stream:
            found = json.loads(stream.read().decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"version", "diagnostics", "summary"} <= set(found)


def name_logs(found: Iterable[Diagnostic], err: bool = False) -> None:
    """Say of files with findings that they are logs, and what reads them."""
    for path in dict.fromkeys(each.path for each in found if each.path):
        if _is_log(path):
            text = localized("{} is a log; run: npu-config log {}\n", path, quote(path))
            say(text, err=err)


@contextlib.contextmanager
def refusals(
    format_: str = "text", err: bool = True, of_call: Optional[Rule] = None
) -> Iterator[None]:
    """Inside, what is refused is printed, and the command ends with code 1.

    Args:
        format_: how it is printed.
        err: to standard error.
        of_call: what this rule refuses is a wrong call, which ends with code 2.
    """
    try:
        yield
    except NpuConfigError as error:
        print_findings(error.diagnostics, format_, err=err)
        if format_ == "text":
            name_logs(error.diagnostics, err)
        wrong_call = of_call is not None and {each.rule for each in error.diagnostics} == {
            of_call.id
        }
        raise click.exceptions.Exit(WRONG_CALL if wrong_call else FINDINGS) from None


def attempt(format_: str, read: Callable[[], _Result]) -> _Result:
    """What ``read`` returns; when it raises its findings are printed, and the code is 1."""
    with refusals(format_, err=False):
        return read()


def fails(report: Report, strict: bool) -> bool:
    """True when a finding is bad enough for exit code 1."""
    worst = Severity.WARNING if strict else Severity.ERROR
    return any(diagnostic.severity >= worst for diagnostic in report)


STDIN = "<stdin>"

_CONFIGURATIONS = ("yaml", "toml", "json", "pbtxt", "pb", "record")


def read_configuration(path: str, as_kind: Optional[str] = None, scripts: bool = False) -> Reading:
    """Read the file of one configuration, or standard input for ``-``.

    Args:
        path: the file.
        as_kind: what to read it as; None: what it is.
        scripts: a training script will do, too.

    Raises:
        Failure: it is a file of another kind.
    """
    content = read_stdin(LARGEST) if path == "-" else None
    reading = read(STDIN if path == "-" else path, as_kind, content)
    if reading.kind == "script" and not scripts:
        raise Failure(
            "{} is a training script; create a configuration from it first: npu-config "
            "generate {} -o config.yaml",
            reading.path,
            path,
        )
    if reading.kind and reading.kind not in _CONFIGURATIONS + (("script",) if scripts else ()):
        raise Failure(
            "{} is not a configuration; legal: {}", reading.path, ", ".join(_CONFIGURATIONS)
        )
    return reading


def record_of(path: str) -> str:
    """The record of a job in a folder; any other path as it is.

    Raises:
        Unproducible: the folder holds none.
    """
    if not os.path.isdir(path):
        return path
    from npu_config.records.compare import record_in

    record = record_in(path)
    if not os.path.lexists(record):
        raise Unproducible(
            "{} does not exist; the folder holds no record of a job; pass a configuration or a "
            "script",
            record,
        )
    return record


_OTHERS = {
    "yaml": phrase("a YAML file"),
    "toml": phrase("a TOML file"),
    "pbtxt": phrase("a ConfigProto"),
    "pb": phrase("a ConfigProto"),
    "script": phrase("a Python script"),
}


def other_kind(path: str, *own: str, name: Optional[str] = None) -> Optional[str]:
    """Why a command does not take a file whose suffix is that of a configuration or a script.

    Args:
        path: the file that is named.
        own: kinds of those that the command takes all the same.
        name: what to call the file; None: its path.

    Returns:
        The message, which names the command that takes the file; None for any other file.
    """
    kind = kind_of_suffix(suffix_of(path))
    if kind is None and _is_log(path):
        return phrase(
            "{} is a log, which this command does not accept; run: npu-config log {}",
            *(name or path, quote(path)),
        )
    if kind not in _OTHERS or kind in own or not os.path.isfile(path):
        return None
    text = "{} is {}, which this command does not accept; run: npu-config check {}"
    return phrase(text, name or path, _OTHERS[kind], quote(path))


_TOP = 1 << 16


def _is_log(path: str) -> bool:
    from npu_config.readers import is_log

    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb", opener=reading) as stream:
            return is_log(stream.read(_TOP).decode("utf-8", "replace"), os.path.basename(path))
    except OSError:
        return False


_LOOKED_INTO = 50
"""Files of a folder that are looked into."""


def holds_logs(folder: str) -> bool:
    """Whether logs are among the first files of a folder."""
    from npu_config.logs.jobs import files_of

    return any(_is_log(path) for path, _ in itertools.islice(files_of([folder]), _LOOKED_INTO))


def refuse_other_kind(path: str, *own: str) -> None:
    """Refuse such a file.

    Raises:
        Failure: with the message of :func:`other_kind`.
    """
    message = other_kind(path, *own)
    if message is not None:
        raise Failure(message)


def complain(
    diagnostics: Iterable[Diagnostic],
    reading: Reading,
    texts: Optional[Mapping[Optional[str], str]] = None,
) -> None:
    """Print findings to standard error, with the lines of the texts of files that are given."""
    found = Report(diagnostics)
    if len(found):
        sources: Dict[Optional[str], str] = (
            {} if reading.text is None else {reading.path: reading.text}
        )
        sources.update(texts or {})
        unchecked = (
            [] if reading.unchecked is None else [Unchecked(reading.path or "", reading.unchecked)]
        )
        print_findings(found, sources=sources, unchecked=unchecked, err=True)


# side files and rank tables

_LARGEST_SIDE_FILE = 1 << 30


class InputFile(NamedTuple):
    """A file as it was read; ``text`` is None when it could not be."""

    name: str
    text: Optional[str]
    diagnostics: Tuple[Diagnostic, ...]


def read_side_file(path: str) -> InputFile:
    """A file, or standard input for ``-``; a configuration or a script is a finding."""
    from npu_config.sidefiles.format import read_text, side_file_unreadable

    if path != "-":
        message = other_kind(path, name=phrase("this"))
        if message is not None:
            return InputFile(path, None, (side_file_unreadable.diagnostic(message, Place(path)),))
        return InputFile(path, *read_text(path))
    try:
        return InputFile(STDIN, read_stdin(_LARGEST_SIDE_FILE).decode("utf-8"), ())
    except UnicodeDecodeError:
        raise Failure("standard input is not UTF-8 text") from None


def print_file_findings(
    found: Iterable[Diagnostic],
    sources: Iterable[InputFile] = (),
    format_: str = "text",
    err: bool = False,
) -> Report:
    """Print findings about files; returns them as a report."""
    read_files, shown = list(sources), list(found)
    unchecked = [Unchecked(one.name, CANNOT_BE_READ) for one in read_files if one.text is None]
    unchecked.extend(Unchecked(each.path or STDIN, TEMPLATE) for each in shown if is_hole(each))
    texts: Dict[Optional[str], str] = {
        source.name: source.text for source in read_files if source.text is not None
    }
    return print_findings(shown, format_, len(read_files), texts, unchecked, err)


def is_hole(finding: Diagnostic) -> bool:
    """True for the note that a file is a template, of which nothing was checked."""
    from npu_config.sidefiles.format import side_file_template

    return finding.rule == side_file_template.id


def check_files(
    paths: Iterable[str],
    judge: Callable[[InputFile], Iterator[Diagnostic]],
    format_: str,
    strict: bool,
) -> int:
    """Print what is wrong with files, by what judges the text of one; returns the exit code."""
    sources = [read_side_file(path) for path in dict.fromkeys(paths)]
    found = [each for source in sources for each in source.diagnostics]
    for one in sources:
        if one.text is not None:
            attempted(found, one.name, found.extend, judge(one))
    report = print_file_findings(found, sources, format_)
    if missing(paths):
        return WRONG_CALL
    failing = fails(report, strict) or (strict and any(map(is_hole, report)))
    return FINDINGS if failing else DONE


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
    from npu_config.core.target import Target

    absent = [path for path in paths if missing([path])]
    sources = [read_side_file(path) for path in paths if path not in absent]
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
        print_file_findings(loud, sources, err=True)
    if absent:
        raise Failure("{} does not exist", ", ".join(absent))
    if None in models:
        raise click.exceptions.Exit(1)
    return models
