"""Checks of scripts: rules that concern more than the options that are set.

One function per constraint, decorated with ``check``; what it sees is a
:class:`~._check.Context`.  Every module of this package is loaded.
"""

import importlib
import pkgutil

from npu_config.script.checks._check import (
    CHECKS,
    find_situations,
    may_find_situations,
    run_checks,
)

__all__ = ["CHECKS", "find_situations", "may_find_situations", "run_checks"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module("npu_config.script.checks." + _module.name)
