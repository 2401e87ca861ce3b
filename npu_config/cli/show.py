"""``npu-config show``: the effective configuration, and where each value comes from."""

import json
from typing import Any, Dict, List, Optional, Sequence, Tuple, cast

import click

from npu_config.cli._options import INPUT, as_option, form_option, set_option, target_options
from npu_config.cli._output import DONE, FINDINGS, Unproducible, say
from npu_config.cli._report import findings_option, write_findings
from npu_config.core.message import localized, phrase
from npu_config.core.settings import Settings, SourceKind
from npu_config.core.target import Target
from npu_config.judging import read_loaded
from npu_config.rules.origin import Effective
from npu_config.rules.reading import Reading

_WIDEST = 48


@click.command("show")
@click.argument("source", metavar="FILE|SCRIPT|RECORD", type=INPUT)
@click.option(
    "--all", "every", is_flag=True, help="Show the options that have their default, too."
)
@form_option("How the configuration is printed.", ("text", "json", "yaml"))
@set_option
@target_options
@as_option
@findings_option
def command(
    source: str,
    every: bool,
    format_: str,
    overrides: Tuple[Any, ...],
    target: Target,
    as_kind: Optional[str],
    findings: Optional[str],
) -> int:
    """Show the effective configuration: every option, its value, and the source of the value.

    Takes a configuration, a training script, the record of a job or a folder that holds one, or -
    for standard input.  The source of a value is a file or one that it extends, --set, a
    script, a call of the builder, a task that implies it, the adapter that replaces the value, or
    the default of the version.

    Findings are printed to standard error; exit code 1 when there are errors.
    """
    from npu_config.cli._report import complain, read_configuration, record_of
    from npu_config.core.diagnostics import Report, Severity
    from npu_config.judging import Around, judge_reading
    from npu_config.lint.project import in_project
    from npu_config.records.document import target_of
    from npu_config.rulebook import load_all
    from npu_config.rules.origin import effective

    source = record_of(source)
    reading = read_configuration(source, as_kind, scripts=True).overridden(overrides)
    around = in_project(Around(target), source, load_all)
    judged = judge_reading(reading, around, load_all)
    if findings is not None:
        write_findings(findings, judged)
    found = Report(each for each in judged.found if each.severity is not Severity.INFO)
    complain(found, reading, judged.texts)
    reading = _loaded(reading, source, overrides)
    settings, words = _stated(reading, source)
    meant = around.target_of(reading.target, reading.unreadable)
    options = effective(settings, meant, every)
    if format_ == "json":
        document = {
            "version": 1,
            "target": target_of(meant),
            "options": [each.to_dict() for each in options],
        }
        say(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    elif format_ == "yaml":
        say(_as_yaml(options, meant))
    else:
        say(_table(options, meant, words, settings.open))
    return FINDINGS if found.errors else DONE


def _loaded(reading: Reading, source: str, overrides: Tuple[Any, ...]) -> Reading:
    """What was read; for a script that sets nothing itself, the configuration that it loads."""
    if reading.settings and any(each.entries for each in reading.lasting):
        return reading
    for load in reading.loads():
        loaded = read_loaded(reading, load, overrides)
        if loaded is not None:
            words = localized("{} loads {}; the loaded file is shown\n", source, loaded.path)
            say(words, err=True)
            return loaded
    return reading


def _stated(reading: Reading, source: str) -> Tuple[Settings, Dict[str, str]]:
    """What is set, and what is said of values that are not known here.

    Raises:
        Unproducible: nothing was read.
    """
    if reading.unchecked is not None or not (reading.settings or reading.kind == "script"):
        raise Unproducible("{} is not checked: {}", source, reading.unchecked or "cannot be read")
    if reading.kind != "script":
        return reading.settings[0]._replace(session=None), {}
    from npu_config.script import ScriptReading
    from npu_config.script.ways import stated_by

    script = cast(ScriptReading, reading)
    stated = stated_by(script)
    for remark in stated.remarks + (() if stated.more is None else (stated.more,)):
        say("{}: {}\n".format(source, localized(remark)), err=True)
    kinds = {each.settings.source_kind for each in script.variants}
    kind = SourceKind.BUILDER if kinds == {SourceKind.BUILDER} else SourceKind.SCRIPT
    return stated.settings._replace(source_kind=kind), dict(stated.words)


def _as_yaml(options: Sequence[Effective], target: Target) -> str:
    """A configuration with the same values, each below where it comes from."""
    from npu_config.rules.value import ConfigValue, from_validated
    from npu_config.writers import render
    from npu_config.writers.shared import Notes

    values = {each.option: each.value for each in options if each.value is not None}
    notes = Notes({each.option: (_said(each),) for each in options})
    return str(render(from_validated(ConfigValue, values, target), "yaml", notes))


def _table(
    options: Sequence[Effective], target: Target, words: Dict[str, str], is_open: bool
) -> str:
    from npu_config.core.message import printable, width
    from npu_config.records.document import target_of
    from npu_config.writers import scalar

    parts = [value for value in (target_of(target) or {}).values() if value]
    lines = [localized("target: {}\n", " ".join(parts))] if parts else []
    rows: List[Tuple[str, str, str]] = []
    for each in options:
        value = localized(phrase("unknown")) if each.value is None else scalar(each.value)
        if each.is_default and each.value is None:
            value = localized(phrase("not set"))
        said = words.get(each.option)
        if said is not None and each.value is not None:
            said = phrase("{}; set to {}", str(each.origin), said)
        rows.append((each.option, printable(value), localized(said or _said(each))))
    if not rows and is_open:
        return "".join(lines) + localized("the value of no option could be determined\n")
    if not rows:
        return "".join(lines) + localized("no option is set; --all shows the defaults\n")
    sizes = [min(max(width(row[n]) for row in rows), _WIDEST) for n in (0, 1)]
    for row in rows:
        cells = [cell + " " * (size - width(cell)) for cell, size in zip(row, sizes)]
        lines.append("{}  {}  {}\n".format(*cells, printable(row[2])))
    return "".join(lines)


def _said(each: Effective) -> str:
    """Where a value comes from, in words; and what was set in its place."""
    if each.given is None:
        return str(each.origin)
    return phrase("{}; set to {}", str(each.origin), each.given)
