"""``npu-config diagnose``."""

from typing import Any, Optional

import click

from npu_config.cli._options import ANY_PATH, FILE, missing, out_options
from npu_config.cli._output import Failure, say, writing
from npu_config.cli._report import attempt, fails, format_option, print_findings, strict_option
from npu_config.core.message import localized


@click.command("diagnose")
@click.argument("graph", metavar="GRAPH", type=ANY_PATH)
@click.option(
    "--config",
    "config_path",
    metavar="CONFIG",
    type=FILE,
    help="The configuration the graph will run with: .yaml .toml .json .pbtxt .pb",
)
@format_option
@strict_option
@out_options
def command(
    graph: str,
    config_path: Optional[str],
    format_: str,
    strict: bool,
    out: Optional[str],
    force: bool,
) -> int:
    """Find the parts of a graph that will fail on the NPU, and show how to fix them.

    GRAPH is a GraphDef (.pbtxt, .pb), a MetaGraphDef (a checkpoint's .meta, or the checkpoint's
    prefix), or a SavedModel.  With --config and -o FILE the configuration is written with the
    options that fix the problems found, as far as options can.

    Exit code 0: no errors (with --strict: no warnings either); 1: otherwise; 2: wrong usage.
    """
    from npu_config.diagnosis.graph import diagnose

    if out is not None and config_path is None:
        raise click.UsageError("-o requires --config, the configuration to change")
    if missing([graph]) and missing([graph + ".meta"]):
        raise Failure("{} does not exist", graph)
    config = None if config_path is None else _config(config_path, format_)
    diagnosis = attempt(format_, lambda: diagnose(graph, config))
    print_findings(diagnosis, format_)
    if format_ == "text":
        say(_changes(diagnosis))
    if out is not None:
        changed = attempt(format_, lambda: diagnosis.apply(config))
        try:
            with writing(out):
                changed.save(out, overwrite=force)
        except ValueError as error:
            raise Failure("{} cannot be written: {}", out, error) from None
        say(localized("{} written\n", out), err=True)
    return 1 if fails(diagnosis, strict) else 0


def _config(path: str, format_: str) -> Any:
    from npu_config.config import NpuConfig

    return attempt(format_, lambda: NpuConfig.load(path))


def _changes(diagnosis: Any) -> str:
    """The changes that can be applied, one a line."""
    lines = [localized("option:      {}: {}", *item) for item in diagnosis.options.items()]
    lines += [localized("environment: {}={}", *item) for item in diagnosis.environment.items()]
    lines += [localized("conflict:    {}", text) for text in diagnosis.conflicts]
    return "".join("{}\n".format(line) for line in lines)
