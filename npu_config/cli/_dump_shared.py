"""What the commands of ``npu-config dump`` share: options, files asked for, JSON and tables."""

import contextlib
import functools
import itertools
import json
import math
import os
import textwrap
from typing import Any, Callable, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence

import click

from npu_config.cli._options import FILE, Decorator, form_option, together
from npu_config.cli._output import Failure, Unproducible, progress, say, write
from npu_config.cli._report import attempt, name_logs, print_findings
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import fitted, localized, padded, printable, screen, width
from npu_config.dumps.tree import find_dumps, run_folder

NO_NUMPY = 'reading tensor values requires numpy: pip install "npu_config[compare]"'

LINES = 50


format_option = form_option("How the result is printed.")


def number_option(help: str, name: str = "--step") -> Decorator:
    """``--step``, or another option that takes a number."""
    return click.option(name, type=click.IntRange(min=0), metavar="N", help=help)


def limit_option(help: str) -> Decorator:
    """``--limit``."""
    return click.option(
        "--limit", type=click.IntRange(min=0), default=LINES, show_default=True, help=help
    )


device_option = number_option("Only this device.", "--device")
selection_options = together(
    number_option("Only this step (data_index)."),
    click.option(
        "--op", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
    ),
    click.option(
        "--type", "types", multiple=True, metavar="PATTERN", help="Only these operator types."
    ),
    device_option,
)
"""Which files."""
graph_option = click.option(
    "--graph",
    metavar="GE_GRAPH",
    type=FILE,
    help="ge_proto_*_Build.txt (DUMP_GE_GRAPH=2), or the folder with it.",
)

_output_options = together(
    click.option(
        "--next-config",
        "next_config",
        metavar="CONFIG",
        help="Write the configuration of the next run: .yaml .toml .json .pbtxt .pb",
    ),
    click.option(
        "--config",
        "config",
        metavar="BASE",
        type=FILE,
        help="The job's configuration, which --next-config starts from.",
    ),
    click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON."),
    click.option(
        "--html",
        "html_file",
        metavar="FILE",
        help="Write a report as one self-contained HTML page.",
    ),
    click.option("--force", is_flag=True, help="Overwrite files that exist."),
    format_option,
)


class Outputs(NamedTuple):
    """What is written beside the result, and how that is printed."""

    next_config: Optional[str]
    config: Optional[str]
    json_file: Optional[str]
    html_file: Optional[str]
    force: bool
    format_: str

    def deliver(
        self,
        content: Callable[[], Any],
        found: Sequence[Diagnostic],
        results: Sequence[Diagnostic],
        shown: Callable[[], str],
        page: Callable[[], str],
    ) -> None:
        """Print a result, and write it where that is asked for.

        Args:
            content: makes what JSON holds.
            found: what is wrong with the dump.
            results: the result as findings, for JSON.
            shown: makes the text.
            page: makes the HTML.
        """
        if self.format_ == "json":
            for piece in pieces(content(), [*found, *results]):
                say(piece)
        else:
            say(shown())
            if found:
                print_findings(found)
        if self.json_file is not None:
            whole = pieces(content(), [*found, *results])
            write(self.json_file, (piece.encode("ascii") for piece in whole), self.force)
        if self.html_file is not None:
            write(self.html_file, page(), self.force)


def output_options(function: Any) -> Any:
    """The options of what is written, given to the command as one ``outputs``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        outputs = Outputs(*(given.pop(name) for name in Outputs._fields))
        return function(*args, outputs=outputs, **given)

    return _output_options(command)


def print_result(
    format_: str, content: Any, found: Sequence[Diagnostic], shown: Callable[[], str], files: int
) -> None:
    """Print a result: as JSON with the findings, or as text before them."""
    if format_ == "json":
        say(document(content, found))
    else:
        say(shown())
        if found:
            print_findings(found, files=files)
            name_logs(found)


def files_of(
    path: str,
    format_: str,
    step: Optional[int] = None,
    ops: Sequence[str] = (),
    types: Sequence[str] = (),
    device: Optional[int] = None,
) -> Any:
    """The files that are asked for; without any the command ends with code 1."""
    from npu_config.dumps.tree import find_dumps, no_dump, select

    tree = attempt(format_, lambda: find_dumps(path))
    files = select(tree, step, ops, types, device)
    if not len(tree):
        found = [*tree.diagnostics, no_dump(tree, path)]
        print_findings(found, format_)
        if format_ == "text":
            name_logs(found)
        raise click.exceptions.Exit(1)
    if not len(files):
        raise Failure(
            "no dump matches; the dumps have the steps {}, the devices {} and {:,} operators",
            ", ".join(map(str, tree.steps)) or localized("(none)"),
            ", ".join(map(str, tree.devices)) or localized("(none)"),
            len({file.op_name for file in tree}),
        )
    return files


def write_next(
    outputs: Outputs,
    dump: str,
    layers: Sequence[str],
    step: Optional[int],
    passes: Sequence[str] = (),
    black_list: Optional[Sequence[str]] = None,
) -> None:
    """Write the configuration of the next run, with what may cure the suspects.

    Args:
        outputs: the file to write, if there is one; side files are written beside it.
        dump: the dump that was looked at, which says where the next one goes.
        layers: suspected operators, to be dumped with inputs and outputs.
        step: the step to dump.
        passes: fusion passes to switch off.
        black_list: operator types to keep in float32, where overflows are looked for again.
    """
    from npu_config.cli import _dump_next as following

    if outputs.next_config is None:
        return
    if not layers:
        raise Unproducible(
            "there is no suspected operator; {} is not written", outputs.next_config
        )
    records = following.DUMP if black_list is None else following.OVERFLOW
    change = following.NextRunChange(
        *following.by_kind(passes), tuple(black_list or ()), False, records, tuple(layers), step
    )
    path = _dump_path(dump)
    say(following.write_next(outputs.next_config, change, outputs.config, path, outputs.force))


def _dump_path(dump: str) -> str:
    """The ``dump_path`` of the job: what is above the folder of the run."""
    runs = (run_folder(file) for file in find_dumps(dump) if file.run is not None)
    run = next(runs, None)
    return os.path.abspath(dump) if run is None else os.path.dirname(run)


class Bar:
    """A bar on the terminal whose length is known when the work begins."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._advance: Optional[Callable[[int], None]] = None

    def advance(self, done: int, total: int) -> None:
        """One of ``total`` more is done."""
        if self._advance is None:
            self._advance = self._stack.enter_context(progress(total))
        self._advance(1)


def attempt_values(format_: str, read: Callable[[], Any]) -> Any:
    """As :func:`attempt`; says what to install when numpy is missing."""
    try:
        return attempt(format_, read)
    except ImportError:
        raise Failure(NO_NUMPY) from None


# what is printed


WIDEST = 72
"""Longer cells are cut; JSON has them whole."""


def document(content: Mapping[str, Any], found: Iterable[Diagnostic] = ()) -> str:
    """One JSON object with the version of its contract; numbers that are not finite are null.

    Of a long list each item has a line: thousands are written faster so than with indents.
    """
    whole = {
        "version": 1,
        **content,
        "diagnostics": [diagnostic.to_dict() for diagnostic in found],
    }
    parts = ["  {}: {}".format(json.dumps(str(key)), _value(item)) for key, item in whole.items()]
    return "{{\n{}\n}}\n".format(",\n".join(parts))


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)) and value:
        return "[\n    {}\n  ]".format(",\n    ".join(map(_encoded, value)))
    return _encoded(value)


def _encoded(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, default=_default)
    except ValueError:
        return json.dumps(_finite(value), default=str)


def _default(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def pieces(content: Mapping[str, Any], found: Iterable[Diagnostic] = ()) -> Iterator[str]:
    """The same piece by piece: a list that is an iterator is written last, an entry a line."""
    lists = [name for name, value in content.items() if isinstance(value, Iterator)]
    rest = {name: value for name, value in content.items() if name not in lists}
    text = document(rest, found)
    if not lists:
        yield text
        return
    yield text[: text.rindex("\n}")]
    for name in lists:
        yield ',\n  "{}": ['.format(name)
        comma = ""
        for entry in content[name]:
            yield "{}\n    {}".format(comma, json.dumps(_finite(entry), default=str))
            comma = ","
        yield "\n  ]"
    yield "\n}\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


Columns = Mapping[str, Callable[[Any], Any]]
"""The name of each column, and what gives the cell of an item."""


def table(
    columns: Columns, items: Iterable[Any], limit: int = 0, notes: Iterable[str] = ()
) -> str:
    """Columns as wide as they need to be and the terminal is; numbers to the right.

    Args:
        columns: the columns.
        items: what the rows are of.
        limit: how many rows are shown; 0: all.
        notes: what is said below each row; "" for nothing.
    """
    items = list(items)
    shown = items[:limit] if limit > 0 else items
    rows = [
        map(localized, columns),
        *([cell(each) for cell in columns.values()] for each in shown),
    ]
    lines = [[fitted(printable(str(cell)), WIDEST) for cell in row] for row in rows]
    widths = [max(map(width, column)) for column in zip(*lines)]
    right = [
        len(lines) > 1 and all(_is_number(line[index]) for line in lines[1:])
        for index in range(len(columns))
    ]
    most = screen()
    if most is not None:
        _narrow(widths, most, [index for index, number in enumerate(right) if not number])
    texts = []
    for line, note in itertools.zip_longest(lines, ["", *notes][: len(lines)], fillvalue=""):
        cells = [
            padded(fitted(cell, size), size, to_right)
            for cell, size, to_right in zip(line, widths, right)
        ]
        texts.append(_GAP.join(cells).rstrip() + "\n")
        if note:
            texts.append(_below(printable(note), most))
    return "".join(texts) + left_out(len(items) - len(shown))


_GAP = "  "
_NARROWEST = 10


def _narrow(widths: List[int], columns: int, texts: Sequence[int]) -> None:
    """Take from the widest columns of text what is more than the terminal has."""
    surplus = sum(widths) + len(_GAP) * (len(widths) - 1) - columns
    while surplus > 0:
        widest = max(texts, key=lambda index: widths[index], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            return
        others = [widths[index] for index in texts if index != widest]
        least = max(_NARROWEST, min(widths[widest] - 1, max(others, default=0)))
        taken = min(surplus, widths[widest] - least)
        widths[widest] -= taken
        surplus -= taken


def _below(note: str, columns: Optional[int]) -> str:
    """What is said of a row, set in and broken at the width of the terminal."""
    lines = textwrap.wrap(note, max(40, (columns or 100) - 6), break_long_words=False) or [note]
    return "".join("      {}\n".format(line) for line in lines)


def _is_number(text: str) -> bool:
    return bool(text) and not text.strip("0123456789.,+-e%") and text[0] not in "e%,"


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return "{:,.0f} {}".format(amount, unit) if unit == "B" else "{:,.1f} {}".format(amount, unit)


def shape(sizes: Sequence[int]) -> str:
    """``2x3x4``; a scalar has no sizes."""
    return "x".join(map(str, sizes)) or "scalar"


def number(value: float) -> str:
    """Six significant digits; ``NaN`` for what is not defined."""
    return "NaN" if math.isnan(value) else "{:.6g}".format(value)


def or_unknown(value: Optional[Any]) -> str:
    """What is not known is a question mark."""
    return "?" if value is None else str(value)


def lines_of(texts: Iterable[str]) -> str:
    return "".join("{}\n".format(printable(text)) for text in texts)


def left_out(count: int) -> str:
    """How much of a table is not shown."""
    return localized("and {:,} more (--limit 0 shows all)\n", count) if count else ""
