"""``npu-config generate``."""

import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple, cast

import attr
import click

from npu_config.cli._options import INPUT, as_option, out_options, set_option, target_options
from npu_config.cli._output import FINDINGS, Failure, Unproducible, deliver, say, writing
from npu_config.cli._report import STDIN, findings_option, write_findings
from npu_config.core.diagnostics import REGISTRY, Diagnostic, NpuConfigError, Report, Severity
from npu_config.core.message import localized
from npu_config.core.settings import Settings, Stated
from npu_config.core.target import Target
from npu_config.rules.origin import origin_of
from npu_config.rules.reading import Below, Reading
from npu_config.rules.value import ConfigValue
from npu_config.text.files import write_missing
from npu_config.writers import FORMATS, LAYERED, WITHOUT_COMMENTS, render

if TYPE_CHECKING:
    from npu_config.script import ScriptReading


@click.command("generate")
@click.argument("config", metavar="CONFIG|SCRIPT", type=INPUT)
@click.option(
    "--to",
    type=click.Choice(list(FORMATS)),
    help="The output format; default: by the suffix of the output file.",
)
@out_options
@as_option
@target_options
@set_option
@findings_option
@click.option(
    "--drop-unknown",
    is_flag=True,
    help="Leave out and report the options that the adapter of the target version does not read.",
)
@click.option(
    "--keep-layers",
    is_flag=True,
    help="Write only the options that differ from the files that CONFIG extends (from "
    "CONFIG, if it extends none).",
)
@click.option(
    "--side-files",
    metavar="DIR",
    help="Write the files that a builder of the script would write into this directory.",
)
def command(
    config: str,
    to: Optional[str],
    out: Optional[str],
    force: bool,
    as_kind: Optional[str],
    target: Target,
    overrides: Tuple[Any, ...],
    findings: Optional[str],
    drop_unknown: bool,
    keep_layers: bool,
    side_files: Optional[str],
) -> int:
    """Convert a configuration (a file, or - for standard input) to another format.

    Of a training script, the options that it sets on every path are written.  An option whose
    value is known at run time only, differs by path, or is not allowed in the output becomes a
    comment; json and pb have no comments, so the conversion to them fails then.

    Nothing is written when the configuration has an error for the target (see `npu-config check`).
    With --target-cann, an option of a configuration file that the adapter of that version does not
    read is an error, unless --drop-unknown leaves it out.

    The formats python and builder add the source of each value as a comment: a line of a file, an
    override.

    A configuration that extends others becomes a single file; with --keep-layers, a file that
    extends the others and contains only the differences.
    """
    from npu_config.cli._report import complain, read_configuration, record_of
    from npu_config.judging import Around, judge_reading
    from npu_config.lint.project import in_project
    from npu_config.rulebook import load_all
    from npu_config.writers.carry import carry, layer_of, rewritten, without_unread

    config = record_of(config)
    to = to or _by_suffix(out)
    original = read_configuration(config, as_kind, scripts=True)
    reading = original.overridden(overrides)
    layers = _extended(original, to, out) if keep_layers else None
    around = in_project(Around(target), config, load_all)
    judged = judge_reading(reading, around, load_all)
    if findings is not None:
        write_findings(findings, judged)
    found = _of_options(
        judged.found, drop_unknown, side_files is not None or to in WITHOUT_COMMENTS
    )
    complain(found, reading, judged.texts)
    if found.errors:
        say(localized("nothing is written\n"), err=True)
        return FINDINGS
    source = _stated(reading, config)
    target = around.target_of(reading.target, reading.unreadable)
    try:
        if drop_unknown:
            source, dropped = without_unread(source, target)
            complain(dropped, reading)
        proto = reading.proto if to in ("pbtxt", "pb") else None
        carried = carry(source, target, to, reading.target, proto is not None, side_files)
        notes = carried.notes
        if carried.lost:
            raise NpuConfigError(carried.lost)
        if proto is not None:
            proto, notes = rewritten(carried, proto, source.settings.entries)
        if to in ("python", "builder"):
            notes = attr.evolve(notes, origins=_origins(source.settings))
        layer = layers and layer_of(carried.config, target, *layers)
        content = render(carried.config, to, notes, proto, layer)
    except NpuConfigError as error:
        complain(error.diagnostics, reading)
        say(localized("nothing is written\n"), err=True)
        return FINDINGS
    said = (*judged.found, *judged.silenced)
    complain(_new(carried.config.diagnostics, said), reading)
    if to in WITHOUT_COMMENTS:
        texts = (*notes.whole, *(text for each in notes.options.values() for text in each))
        say("".join("{}: {}\n".format(config, localized(text)) for text in texts), err=True)
    if side_files is not None:
        _write_side_files(carried.config, out, force)
    deliver(content, out, force)
    return 0


def _stated(reading: Reading, path: str) -> Stated:
    """What the source sets.

    Raises:
        Unproducible: it sets nothing.
    """
    if reading.unchecked is not None:
        raise Unproducible("{} is not checked: {}", path, reading.unchecked)
    if reading.kind == "script":
        from npu_config.script.ways import stated_by

        source = stated_by(cast("ScriptReading", reading))
        if source.settings.entries or source.more or source.unused:
            return source
        if source.settings.open and source.remarks:
            raise Unproducible("{}: no option could be determined; {}", path, source.remarks[-1])
    else:
        for settings in reading.settings:
            if settings.session is None or settings.session.optimizers:
                return Stated(settings._replace(session=None))
    for name in (each.file for each in reading.loads()):
        raise Unproducible(
            "{} sets no option itself: generate from {}, which it loads", path, name
        )
    raise Unproducible("{} sets no option of NpuOptimizer", path)


def _origins(settings: Settings) -> Dict[str, str]:
    """Option to where its value comes from, in words."""
    return {name: str(origin_of(each, settings)) for name, each in settings.entries.items()}


def _extended(original: Reading, to: str, out: Optional[str]) -> Tuple[Below, Tuple[str, ...]]:
    """What the files set that a new one extends, and their names for it.

    Raises:
        Unproducible: the original is no file that can be extended.
    """
    if to not in LAYERED:
        raise click.UsageError(localized("--keep-layers requires --to {}", "|".join(LAYERED)))
    path = original.path or ""
    folder = os.path.dirname(path)
    bases = tuple(os.path.join(folder, base.name) for base in original.bases)
    below = original.below
    if below is None:
        if original.kind not in LAYERED or not original.settings or path == STDIN:
            raise Unproducible("a configuration cannot extend {}", path)
        bases, below = (path,), Below(original.settings[0].entries, original.target)
    start = folder if out in (None, "-") else os.path.dirname(str(out))
    return below, tuple(os.path.relpath(each, start or os.curdir) for each in bases)


def _new(found: Iterable[Diagnostic], said: Iterable[Diagnostic]) -> List[Diagnostic]:
    """The findings about the output that the source did not draw; no information."""
    known = {(each.rule, each.option) for each in said}
    return [
        each
        for each in found
        if each.severity is not Severity.INFO and (each.rule, each.option) not in known
    ]


def _write_side_files(config: ConfigValue, out: Optional[str], force: bool) -> None:
    """Write the files that came with the source, unless the output cannot be written then."""
    texts: Dict[str, str] = {}
    for file in config.side_files.values():
        if texts.setdefault(file.path, file.text) != file.text:
            raise Failure(
                "two options require the file {}, but with different contents", file.path
            )
    if out not in (None, "-") and os.path.lexists(str(out)) and not force:
        raise Failure("{} exists; --force overwrites it", out)
    for path, text in texts.items():
        with writing(path):
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            write_missing({path: text}, force)


def _of_options(findings: Iterable[Diagnostic], drop_unknown: bool, said: bool) -> Report:
    """The findings that keep a configuration from being written, or are worth knowing then.

    What stands beside the options of a ConfigProto is not carried over, but for the name; of side
    files the output says more.
    """
    left_out = ("NPU111",) * drop_unknown + ("NPU8011",) * said
    return Report(
        each
        for each in findings
        if each.severity is not Severity.INFO
        and each.rule not in left_out
        and (REGISTRY[each.rule].about != "session" or each.rule == "NPU801")
    )


def _by_suffix(out: Optional[str]) -> str:
    suffix = os.path.splitext(out or "")[1].lower()
    for name, (_, suffixes) in FORMATS.items():
        if suffix in suffixes:
            return name
    raise click.UsageError(localized("choose the output format: --to {}", "|".join(FORMATS)))
