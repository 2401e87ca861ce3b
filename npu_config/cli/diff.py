"""``npu-config diff``."""

import contextlib
import json
import os
from typing import Any, Dict, List, Optional, Tuple

import click

from npu_config.cli._options import INPUT, as_option, form_option, set_option
from npu_config.cli._output import FINDINGS, say
from npu_config.core.message import localized, phrase


@click.command("diff")
@click.argument("old", metavar="A", type=INPUT)
@click.argument("new", metavar="B", type=INPUT)
@form_option("How the differences are printed.")
@as_option
@set_option
def command(
    old: str, new: str, format_: str, as_kind: Optional[str], overrides: Tuple[Any, ...]
) -> int:
    """Print the differences of two configurations or two jobs; exit code 1 when there are any.

    Values are compared, not their spelling: the steps "0|5" and [0, 5] are the same.  The target
    of a configuration (its product and versions) is not compared.  --set changes B, the second
    configuration.

    A job is its record, or a folder that contains the record (npu_config.json).  For two jobs,
    all of these are compared: the values in effect (with defaults that differ between versions),
    the content of side files, environment variables, the rank table, the adapter, the script.
    """
    from npu_config.cli._report import STDIN, complain, read_configuration

    if (old, new) == ("-", "-"):
        raise click.UsageError("only one of the two inputs can be standard input")
    if any(map(_is_job, (old, new))):
        return _compare_jobs(old, new, format_, as_kind, overrides)
    sides = []
    for path, changes in ((old, ()), (new, overrides)):
        reading = read_configuration(path, as_kind).overridden(changes)
        errors = [d for d in reading.diagnostics if d.severity.rank == 2]
        if errors or not reading.settings:
            complain(reading.diagnostics, reading)
            raise click.exceptions.Exit(FINDINGS)
        sides.append(_values(reading.settings[0].entries))
    before, after = sides
    names = [*before, *(name for name in after if name not in before)]
    differing = [name for name in names if not _is_same(before, after, name)]
    if format_ == "json":
        found: List[Dict[str, Any]] = [
            {
                "part": "options",
                "name": name,
                "old": _plain(before.get(name)),
                "new": _plain(after.get(name)),
                "old_origin": None,
                "new_origin": None,
            }
            for name in differing
        ]
        _say_json(found, {"options": len(names) - len(differing)}, ())
    elif differing:
        said = [STDIN if path == "-" else path for path in (old, new)]
        lines = [line for name in differing for line in _lines(before, after, name)]
        say("--- {}\n+++ {}\n".format(*said) + "".join(lines))
    return FINDINGS if differing else 0


def _is_job(path: str) -> bool:
    """Whether a path is a record, or a folder, which is looked into for one."""
    if path == "-":
        return False
    if os.path.isdir(path):
        return True
    from npu_config.readers import read

    return path.lower().endswith(".json") and read(path).kind == "record"


def _values(entries: Any) -> Dict[str, Any]:
    """Every setting by name, as it goes on the wire where it can."""
    from npu_config.catalogue import OPTIONS, InvalidValue
    from npu_config.core.settings import UNKNOWN

    values: Dict[str, Any] = {}
    known = [name for name in OPTIONS if name in entries]
    for name in [*known, *(name for name in entries if name not in OPTIONS)]:
        value = entries[name].value
        option = OPTIONS.get(name)
        if option is not None and value is not UNKNOWN:
            with contextlib.suppress(InvalidValue):
                value = option.kind.to_wire(option.kind.parse(value))
        values[name] = value
    return values


def _is_same(before: Dict[str, Any], after: Dict[str, Any], name: str) -> bool:
    old, new = before.get(name), after.get(name)
    return name in before and name in after and type(old) is type(new) and bool(old == new)


def _lines(before: Dict[str, Any], after: Dict[str, Any], name: str) -> List[str]:
    lines = []
    if name in before:
        lines.append("-{}: {}\n".format(name, _shown(before[name])))
    if name in after:
        lines.append("+{}: {}\n".format(name, _shown(after[name])))
    return lines


def _shown(value: Any) -> str:
    from npu_config.writers import scalar

    return scalar(value) if isinstance(value, (bool, int, str)) else repr(value)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _say_json(found: List[Dict[str, Any]], equal: Any, left: Any) -> None:
    document = {
        "version": 1,
        "differences": found,
        "equal": dict(equal),
        "not_compared": list(left),
    }
    say(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


# jobs

_TITLES = {
    "options": phrase("options"),
    "side_files": phrase("side files"),
    "environment": phrase("environment variables"),
    "rank_table": phrase("rank table"),
    "target": phrase("target"),
    "adapter": phrase("adapter"),
    "tensorflow": "TensorFlow",
    "script": phrase("script"),
}

_COUNTED = ("options", "side_files", "environment")
"""The parts of which there are several."""


def _compare_jobs(
    old: str, new: str, format_: str, as_kind: Optional[str], overrides: Tuple[Any, ...]
) -> int:
    """Compare two jobs, or a job and a configuration."""
    from npu_config.cli._output import read_stdin
    from npu_config.cli._report import STDIN, complain
    from npu_config.readers import LARGEST
    from npu_config.records.compare import compare, faults_of, job_of

    sides = []
    for path, changes in ((old, ()), (new, overrides)):
        content = read_stdin(LARGEST) if path == "-" else None
        job = job_of(STDIN if path == "-" else path, content, as_kind)
        job = job._replace(reading=job.reading.overridden(changes))
        if faults_of(job) or not job.reading.settings:
            complain(job.reading.diagnostics, job.reading)
            raise click.exceptions.Exit(FINDINGS)
        sides.append(job)
    result = compare(*sides)
    if format_ == "json":
        found = [each.to_dict() for each in result.differences]
        _say_json(found, result.equal, result.not_compared)
    else:
        say(_text(sides, result))
    return FINDINGS if result.differences else 0


def _text(sides: Any, result: Any) -> str:
    """The differences by part, and how much is equal."""
    from npu_config.core.message import printable

    lines = [
        "{} {}\n".format(mark, printable(localized(_head(job))))
        for mark, job in zip(("---", "+++"), sides)
    ]
    part = ""
    for each in result.differences:
        if each.part != part:
            part = each.part
            lines.append("{}:\n".format(localized(_TITLES[part])))
        name = each.name or localized(_TITLES[part])
        for mark, value, origin in (
            ("-", each.old, each.old_origin),
            ("+", each.new, each.new_origin),
        ):
            words = _said(value)
            if origin is not None:
                words = "{}  ({})".format(words, localized(str(origin)))
            lines.append(printable("{} {}: {}".format(mark, name, words)) + "\n")
    count = len(result.differences)
    equal = [
        "{} {}".format(localized(_TITLES[key]), number)
        if key in _COUNTED
        else localized(_TITLES[key])
        for key, number in result.equal.items()
        if number
    ]
    if not count:
        lines = [localized("no difference: {}\n", ", ".join(equal))]
    else:
        said = "1 difference; everything else is equal ({})\n"
        if count > 1:
            said = "{} differences; everything else is equal ({})\n"
            lines.append(localized(said, count, ", ".join(equal)))
        else:
            lines.append(localized(said, ", ".join(equal)))
    if result.not_compared:
        names = ", ".join(localized(_TITLES[key]) for key in result.not_compared)
        lines.append(localized("not compared, because they exist on one side only: {}\n", names))
    return "".join(lines)


def _head(job: Any) -> str:
    """The file of a side; of a record when and as which rank it ran, and how it ended."""
    if not job.is_record:
        return str(job.path)
    end = job.parts.get("end")
    rank, time = job.parts.get("rank", 0), job.parts.get("time", "")
    if not isinstance(end, dict):
        return phrase("{}  (rank {}, started {}, did not end normally)", job.path, rank, time)
    text = "{}  (rank {}, started {}, ended {} with {})"
    return phrase(text, job.path, rank, time, end.get("time"), end.get("exit"))


def _said(value: Any) -> str:
    if isinstance(value, dict):
        if "sha256" in value:
            return " ".join((value.get("path", ""), "sha256", str(value["sha256"])[:12])).strip()
        return " ".join("{}={}".format(*pair) for pair in value.items() if pair[1] is not None)
    return localized(phrase("not set")) if value is None else _shown(value)
