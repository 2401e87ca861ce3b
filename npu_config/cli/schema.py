"""``npu-config schema``."""

import json
from typing import Optional

import click

from npu_config.cli._options import out_options
from npu_config.cli._output import deliver


@click.command("schema")
@click.argument(
    "of", metavar="[config|findings]", default="config", type=click.Choice(("config", "findings"))
)
@out_options
def command(of: str, out: Optional[str], force: bool) -> None:
    """Print a JSON Schema: of configuration files, for editors, or of --format json.

    \b
    npu-config schema -o npu-config.schema.json
    npu-config schema findings
    """
    if of == "config":
        from npu_config.writers.schema import schema
    else:
        from npu_config.reporters.schema import schema
    deliver(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", out, force)
