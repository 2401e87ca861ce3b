"""``npu-config init``."""

from typing import Optional

import click

from npu_config.cli._options import out_options
from npu_config.cli._output import deliver


@click.command("init")
@out_options
def command(out: Optional[str], force: bool) -> None:
    """Print a commented configuration (YAML) with every option, to start from."""
    from npu_config.writers.init import render

    deliver(render(), out, force)
