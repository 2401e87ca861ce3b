"""``npu-config format``: side files and rank tables as their runtime reads them."""

from typing import Any, List, Optional, Tuple

import click

from npu_config.cli._fix import difference, rewrite
from npu_config.cli._options import ANY_PATH, as_option, missing
from npu_config.cli._output import DONE, FINDINGS, WRONG_CALL, deliver, say
from npu_config.cli._report import InputFile, print_file_findings, read_side_file
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import localized, phrase
from npu_config.text.source import attempted


@click.command("format")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=ANY_PATH)
@click.option(
    "--check",
    "checking",
    is_flag=True,
    help=("Change nothing; exit code 1 if a file would change."),
)
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@as_option
def command(paths: Tuple[str, ...], checking: bool, diff: bool, as_kind: Optional[str]) -> int:
    """Clean side files and rank tables in place (- for standard input, to standard output).

    Comments and commas that strict JSON does not allow are removed, other mechanical faults are
    corrected, and JSON is indented again.  A file that has other errors is left unchanged.
    """
    dry = checking or diff
    outcomes = [_format(path, as_kind, dry, diff) for path in dict.fromkeys(paths)]
    if missing(paths):
        return WRONG_CALL
    return max(outcomes)


def _format(path: str, as_kind: Optional[str], dry: bool, diff: bool) -> int:
    """Clean one file and say what became of it; the exit code that this gives."""
    from npu_config.readers.side_file import format_of, recognise

    source = read_side_file(path)
    if source.text is None:
        print_file_findings(source.diagnostics, [source], err=True)
        return FINDINGS
    faults: List[Diagnostic] = []
    kind = as_kind or attempted(faults, source.name, recognise, source.text, source.name)
    if not faults and kind not in _side_files():
        say(localized("{}: this is neither a side file nor a rank table\n", source.name), err=True)
        return FINDINGS
    clean = kind and attempted(faults, source.name, _cleaned, format_of(kind), source)
    if faults:
        print_file_findings(faults, [source], err=True)
    if clean is None:
        outcome, code = phrase("unchanged: the file has errors"), FINDINGS
    elif clean == source.text:
        outcome, code = phrase("unchanged"), DONE
    elif dry:
        outcome, code = phrase("would change"), FINDINGS
    else:
        outcome, code = phrase("formatted"), DONE
    if clean is not None and diff and code is FINDINGS:
        say(difference(source.name, source.text, clean))
    if path == "-":
        if clean is not None and not dry:
            deliver(clean, None, force=False)
        return code
    if clean not in (None, source.text) and not dry:
        reason = rewrite(path, source.text, clean or "")
        outcome, code = (outcome, code) if reason is None else (reason, WRONG_CALL)
    say("{}: {}\n".format(path, localized(outcome)), err=True)
    return code


def _cleaned(format_: Any, source: InputFile) -> Optional[str]:
    """The clean text; None, and reported, when it has errors that no fix corrects."""
    text = source.text
    clean = format_.clean(text)
    parsed = format_.parse(clean, source.name)
    if not parsed.ok or parsed.model is None:
        print_file_findings(format_.parse(text, source.name).diagnostics, [source], err=True)
        return None
    canonical: Optional[str] = format_.canonical(clean)
    if canonical is None:
        print_file_findings(parsed.diagnostics, [source], err=True)
    return canonical


def _side_files() -> List[str]:
    from npu_config.readers import SIDE_FILES

    return list(SIDE_FILES)
