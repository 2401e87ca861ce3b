"""``npu-config schema``."""

import json
from typing import Optional

import click

from npu_config.cli._options import out_options
from npu_config.cli._output import deliver


@click.command("schema")
@out_options
def command(out: Optional[str], force: bool) -> None:
    """Print the JSON Schema of configuration files, for editors."""
    from npu_config.writers.schema import schema

    deliver(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n", out, force)
