"""A bar on the terminal while many files, or large ones, are looked at."""

import sys
from contextlib import contextmanager
from typing import Callable, Iterator

from npu_config.cli._output import wants_color

_WORTH_SHOWING = 200


@contextmanager
def progress(total: int, worth: int = _WORTH_SHOWING) -> Iterator[Callable[[int], None]]:
    """A function that is told how much more is done; silent off a terminal.

    Args:
        total: how many files, or bytes, there are.
        worth: the least of them for which a bar is shown.
    """
    if total >= worth and wants_color(sys.stderr):
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(console=Console(stderr=True), transient=True) as bar:
                task = bar.add_task("checking", total=total)
                yield lambda count: bar.advance(task, count)
            return
    yield lambda count: None
