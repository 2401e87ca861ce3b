"""A group of commands."""

from typing import List

import click

from npu_config.cli._exits import WRONG_CALL
from npu_config.cli._output import say


class Group(click.Group):
    """A group of commands; called without one, it shows its help."""

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """As click's, with the help on standard error, as for any wrong call."""
        if not args and not ctx.resilient_parsing:
            say(ctx.get_help() + "\n", err=True)
            ctx.exit(WRONG_CALL)
        return super().parse_args(ctx, args)
