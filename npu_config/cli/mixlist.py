"""``npu-config mixlist``: build and check ops_info.json, the file of ``modify_mixlist``."""

import functools
from typing import Any, Iterator, List, Optional, Tuple

import click

from npu_config.cli._language import CommandGroup
from npu_config.cli._options import ANY_PATH, FILE, out_options, together
from npu_config.cli._output import DONE, FINDINGS, deliver
from npu_config.cli._report import (
    InputFile,
    check_files,
    format_option,
    print_file_findings,
    refusals,
    strict_option,
)
from npu_config.core.message import localized, phrase

_LISTS = (
    ("black", "keep their precision"),
    ("white", "may be computed in lower precision"),
    ("gray", "take the precision of the operator before them"),
)


_library_option = click.option(
    "--library",
    "libraries",
    multiple=True,
    metavar="PATH",
    type=FILE,
    help="An operator library to check against: aic-<soc>-ops-info*.json, or the "
    "directory with these files.",
)
_types_option = functools.partial(click.option, multiple=True, metavar="TYPES")
_move_options = together(
    *(
        _types_option("--" + name, help=phrase("Operator types that {}.", words))
        for name, words in _LISTS
    ),
    *(
        _types_option(
            "--remove-from-" + name,
            help=phrase("Operator types to remove from the {} list.", name),
        )
        for name, _ in _LISTS
    ),
)


@click.group("mixlist", cls=CommandGroup)
def command() -> None:
    """Build and check the mixed-precision lists (ops_info.json)."""


@command.command("build")
@_move_options
@_library_option
@out_options
def build_command(
    libraries: Tuple[str, ...],
    out: Optional[str],
    force: bool,
    **moves: Tuple[str, ...],
) -> int:
    """Write ops_info.json; TYPES are operator types joined by commas.

    \b
    npu-config mixlist build --black ReduceSum,Pow --white Exp -o ops_info.json
    """
    from npu_config.core.diagnostics import Severity
    from npu_config.sidefiles import mixlist

    wanted = {name: _types(words) for name, words in moves.items()}
    if not any(wanted.values()):
        raise click.UsageError("pass an operator type, e.g. --black ReduceSum")
    lists = {
        name if name.startswith("remove") else name + "_list": types
        for name, types in wanted.items()
    }
    with refusals():
        model = mixlist.Mixlist.of(**lists)
    found = list(mixlist.check(model, library=_library(libraries)))
    if found:
        print_file_findings(found, err=True)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in found):
        return FINDINGS
    deliver(mixlist.render(model), out, force)
    return DONE


@command.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=ANY_PATH)
@_library_option
@format_option
@strict_option
def check_command(
    paths: Tuple[str, ...],
    libraries: Tuple[str, ...],
    format_: str,
    strict: bool,
) -> int:
    """Check files of mixed-precision lists (- for standard input).

    Exit code 0: no errors (with --strict: no warnings either); 1: otherwise; 2: wrong usage.
    """
    from npu_config.sidefiles import mixlist

    library = _library(libraries)

    def judge(source: InputFile) -> Iterator[Any]:
        parsed = mixlist.parse(source.text or "", source.name)
        yield from parsed.diagnostics
        if parsed.model is not None:
            yield from mixlist.check(parsed.model, places=parsed.places, library=library)

    return check_files(paths, judge, format_, strict)


def _types(words: Tuple[str, ...]) -> List[str]:
    """The operator types of some words, joined by commas.

    Raises:
        click.UsageError: one of them cannot be the name of an operator type.
    """
    found = [part.strip() for word in words for part in word.split(",") if part.strip()]
    for word in found:
        if not word.isidentifier():
            raise click.UsageError(
                localized(
                    '"{}" is not an operator type: letters, digits and "_", e.g. ReduceSum', word
                )
            )
    return found


def _library(paths: Tuple[str, ...]) -> Any:
    """The operator library of some files; with errors the command ends with code 1."""
    from npu_config.sidefiles import library

    if not paths:
        return None
    parsed = library.load(*paths)
    if parsed.model is None:
        print_file_findings(parsed.diagnostics, err=True)
        raise click.exceptions.Exit(1)
    return parsed.model
