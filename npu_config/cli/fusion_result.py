"""``npu-config fusion-result``."""

from typing import Tuple

import click

from npu_config.cli._options import FILE
from npu_config.cli._output import say
from npu_config.cli._report import attempt
from npu_config.core.message import localized


@click.command("fusion-result")
@click.argument("path", metavar="FILE", type=FILE)
@click.option(
    "--all", "all_", is_flag=True, help="Also show fusion passes that matched but changed nothing."
)
def command(path: str, all_: bool) -> None:
    """Sum up a fusion_result.json: which fusion passes changed the graphs.

    One of the passes can cause a wrong result: switch half of them off (fusion_switch_file), run
    again, and continue with the half that changes the result.
    """
    from npu_config.diagnosis.fusion_result import FusionPass, read_fusion_result

    result = attempt("text", lambda: read_fusion_result(path))
    passes: Tuple[FusionPass, ...] = result.passes if all_ else result.effective
    lines = [localized("graphs: {}, passes: {}", len(result.graphs), len(passes))]
    if passes:
        lines.append("{:>9} {:>9}  {:<13} {}".format("effective", "matched", "kind", "pass"))
    lines += [
        "{:>9,} {:>9,}  {:<13} {}".format(
            each.effect_times, each.match_times, each.kind, each.name
        )
        for each in passes
    ]
    say("\n".join([*lines, ""]))
