"""``npu-config format``: side files and rank tables as their runtime reads them."""

from typing import List, Optional, Tuple

import click

from npu_config.cli._cluster import InputFile, print_findings, read
from npu_config.cli._exits import DONE, FINDINGS, WRONG_CALL
from npu_config.cli._fix import difference
from npu_config.cli._options import as_option
from npu_config.cli._output import Failure, deliver, say
from npu_config.cli._paths import ANY_PATH, missing
from npu_config.cli._rewrite import rewrite
from npu_config.core.message import localized


@click.command("format")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=ANY_PATH)
@click.option("--check", "checking", is_flag=True, help="Change nothing; exit code 1 if it would.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@as_option
def command(paths: Tuple[str, ...], checking: bool, diff: bool, as_kind: Optional[str]) -> int:
    """Clean side files and rank tables in place (- for standard input, to standard output).

    Comments and commas that strict JSON refuses go, what else is mechanical is corrected, and
    JSON is laid out anew.  A file that has other errors stays as it is.
    """
    outcomes = [_format(path, as_kind, checking or diff, diff) for path in dict.fromkeys(paths)]
    if missing(paths):
        return WRONG_CALL
    return FINDINGS if None in outcomes or (True in outcomes and (checking or diff)) else DONE


def _format(path: str, as_kind: Optional[str], dry: bool, diff: bool) -> Optional[bool]:
    """Whether a file changed, or would; None when it has errors."""
    source = read(path)
    if source.text is None:
        print_findings(source.diagnostics, [source], err=True)
        return None
    clean = _cleaned(source, as_kind)
    if clean is None:
        return None
    changed = clean != source.text
    if diff and changed:
        say(difference(source.name, source.text, clean))
    if path == "-":
        if not dry:
            deliver(clean, None, force=False)
        return changed
    if changed and not dry:
        reason = rewrite(path, source.text, clean)
        if reason is not None:
            raise Failure("{}: {}".format(path, reason))
    words = "unchanged" if not changed else "would change" if dry else "formatted"
    say("{}: {}\n".format(path, words), err=True)
    return changed


def _cleaned(source: InputFile, as_kind: Optional[str]) -> Optional[str]:
    """The clean text; None, and reported, when it has errors that no fix corrects."""
    from npu_config.readers.side_file import format_of, recognise

    text = source.text or ""
    kind = as_kind or recognise(text, source.name)
    if kind is None or kind not in _side_files():
        raise click.UsageError(
            localized("{} is neither a side file nor a rank table", source.name)
        )
    format_ = format_of(kind)
    clean = format_.clean(text)
    parsed = format_.parse(clean, source.name)
    if not parsed.ok or parsed.model is None:
        found = format_.parse(text, source.name).diagnostics
        print_findings(found, [source], err=True)
        return None
    canonical = format_.canonical(clean)
    if canonical is None:
        print_findings(parsed.diagnostics, [source], err=True)
    return canonical


def _side_files() -> List[str]:
    from npu_config.readers.formats import SIDE_FILES

    return list(SIDE_FILES)
