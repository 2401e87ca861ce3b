"""Checks of scripts: rules that concern more than the options that are set.

One function per constraint, decorated with ``check``; what it sees is a
:class:`~._check.Context`.  Every module of this package is loaded.
"""

import importlib
import pkgutil
from typing import List, Optional, Sequence

from npu_config.script.checks._check import CHECKS, Context, Found
from npu_config.script.paths import Path
from npu_config.script.script import Script

__all__ = ["CHECKS", "run_checks"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module("npu_config.script.checks." + _module.name)


def run_checks(
    script: Script, groups: Sequence[Sequence[Path]], version: Optional[int] = None
) -> List[Found]:
    """Every finding of every check.

    ``version`` is the adapter that the script is for (``Target.version``).
    """
    paths = [path for group in groups for path in group]
    context = Context(script, paths, version)
    for check in CHECKS:
        context.rule = check.rule
        if check.whole:
            context.path = None
            check.function(context)
        else:
            for path in paths:
                context.path, context.run = path, path.outcome
                check.function(context)
    return context.found
