"""``npu-config compat``."""

import json
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import click

from npu_config.cli._options import INPUT, form_option
from npu_config.cli._output import say
from npu_config.core.message import in_columns, localized, printable

_MARKS = {"read": "+", "not-read": "-", "other-field": "f", "value-not-known": "v"}
_LEGEND = (
    "+ read, - not read, f the adapter reads another field (.b, .i, .f, .s), v the "
    "value is not supported"
)


class _Chosen(NamedTuple):
    """A version of CANN, and the snapshot of the adapter that it means."""

    cann: str
    version: int


class CannType(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A version of CANN, as the snapshot of the adapter that it means."""

    name = "version"

    def convert(self, value: Any, param: Any, ctx: Any) -> _Chosen:
        """The version with the index of the snapshot."""
        from npu_config.core.target import Target

        if isinstance(value, _Chosen):
            return value
        try:
            target = Target(cann=value)
        except ValueError as error:
            self.fail(localized(str(error)), param, ctx)
        assert target.cann is not None
        assert target.version is not None
        return _Chosen(target.cann, target.version)


@click.command("compat")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=INPUT)
@click.option(
    "--cann",
    "chosen",
    multiple=True,
    type=CannType(),
    metavar="VERSION",
    help="Show only this version of CANN; repeatable.",
)
@form_option("How the table is printed.")
def command(paths: Tuple[str, ...], chosen: Tuple[_Chosen, ...], format_: str) -> int:
    """List which versions of the TF Adapter read the options of scripts and configurations.

    One row for each place where an option is set, one column for each version; then the oldest
    version that supports every option as it is set.  Without --cann every measured version is
    shown, and neighbouring versions whose rows are all equal share a column.

    Exit code 0: with --cann every option is read in each of these versions; 1: an option is
    not read, or a file cannot be read; 2: wrong usage.
    """
    from npu_config.cli._session import candidates
    from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity
    from npu_config.core.versions import SNAPSHOTS
    from npu_config.lint.project import find_project
    from npu_config.lint.walk import Skipped
    from npu_config.readers import read, read_if_ours
    from npu_config.reporters import Summary, Unchecked
    from npu_config.rulebook import load_all
    from npu_config.rules.compatibility import READ, OptionUse, oldest, uses
    from npu_config.text.rules import unreadable_file
    from npu_config.text.source import attempted

    versions = sorted({each.version for each in chosen}) or list(range(len(SNAPSHOTS)))
    found: List[OptionUse] = []
    unread: List[Diagnostic] = []
    unchecked: List[Unchecked] = []
    skipped: List[Skipped] = []
    for each in candidates(paths, find_project(paths[0], load_all), skipped=skipped):
        if each.root is None:
            reading = read(each.path, None, each.content)
        else:
            found_reading = read_if_ours(each.path)
            if found_reading is None:
                continue
            reading = found_reading
        if reading.unchecked is not None:
            unchecked.append(Unchecked(each.path, str(reading.unchecked)))
        found += attempted(unread, reading.path, uses, reading.settings, versions) or []
        unread += [d for d in reading.diagnostics if d.severity is Severity.ERROR]
    unread += [
        unreadable_file.diagnostic(left.reason, Place(left.path))
        for left in skipped
        if left.unlisted
    ]
    first = oldest(found, versions)
    if format_ == "json":
        document = {
            "version": 1,
            "options": [use.to_dict(versions) for use in found],
            "oldest": None if first is None else SNAPSHOTS[first].adapter,
        }
        say(json.dumps(document, indent=2) + "\n")
    else:
        columns = _columns(found, versions, not chosen)
        say(_table(found, columns, first, paths) + "".join(map(_meant, dict.fromkeys(chosen))))
    for line in Summary.of(Report(()), len(unchecked), unchecked=unchecked).reasons():
        say(line + "\n", err=True)
    if unread:
        from npu_config.cli._report import print_findings

        print_findings(unread, err=True)
    refused = any(use.counts and set(use.verdicts) != {READ} for use in found)
    return 1 if unread or (chosen and refused) else 0


def _meant(chosen: _Chosen) -> str:
    """Why another version is shown than the one that was asked for, if one is."""
    from npu_config.core.versions import NEWEST, SNAPSHOTS, is_measured, parse_cann

    snapshot = SNAPSHOTS[chosen.version]
    if snapshot.cann is not None and parse_cann(snapshot.cann)[1] == parse_cann(chosen.cann)[1]:
        return ""
    if is_measured(chosen.cann):
        which = "the closest older version that was measured"
    else:
        which = "the newest" if chosen.version == NEWEST else "the oldest"
    return localized(
        "the options of CANN {} were not measured; its column shows {}, {}\n",
        chosen.cann,
        snapshot,
        localized(which),
    )


class _Column(NamedTuple):
    """The first and the last version of a column, and the mark of each row."""

    first: int
    last: int
    marks: Tuple[str, ...]


def _columns(found: Sequence[Any], versions: Sequence[int], together: bool) -> List[_Column]:
    """The columns of the table; ``together``: neighbours that say the same are one."""
    columns: List[_Column] = []
    for number, version in enumerate(versions):
        marks = tuple(_MARKS[use.verdicts[number]] for use in found)
        if together and columns and columns[-1].marks == marks:
            columns[-1] = columns[-1]._replace(last=version)
        else:
            columns.append(_Column(version, version, marks))
    return columns


def _table(
    found: Sequence[Any], columns: Sequence[_Column], first: Optional[int], paths: Sequence[str]
) -> str:
    from npu_config.core.versions import SNAPSHOTS

    if not found:
        return localized("no option is set in {}\n", ", ".join(paths))
    few = len(columns) <= 6
    names = [
        "..".join(dict.fromkeys(SNAPSHOTS[end].adapter for end in column[:2]))
        for column in columns
    ]
    heads = names if few else [str(number) for number in range(1, len(columns) + 1)]
    places = [
        ":".join(str(part) for part in (use.place.path, use.place.line) if part is not None)
        for use in found
    ]
    rows = [["", "", " ".join(heads)]]
    for row, (place, use) in enumerate(zip(places, found)):
        marks = ("{:^{}}".format(column.marks[row], len(h)) for column, h in zip(columns, heads))
        rows.append([printable(place), use.option, " ".join(marks)])
    lines = in_columns(rows)
    lines += ["", localized(_LEGEND)]
    if few:
        ends = dict.fromkeys(
            localized(str(SNAPSHOTS[end])) for column in columns for end in column[:2]
        )
        lines += ends
    else:
        for head, column in zip(heads, columns):
            ends = dict.fromkeys(localized(str(SNAPSHOTS[end])) for end in column[:2])
            lines.append("{:>2} {}".format(head, localized(" to ").join(ends)))
    lines.append(
        localized("no version supports every option as it is set")
        if first is None
        else localized(
            "the oldest version that supports every option as it is set: {}", SNAPSHOTS[first]
        )
    )
    return "\n".join(lines) + "\n"
