"""Typed, validated session configuration for TensorFlow on Huawei Ascend NPUs.

    import npu_config as npu

    config = (
        npu.NpuConfigBuilder(target=npu.Target(product="atlas_a2"))
        .mixed_precision("allow_mix_precision", black_list=["ReduceSumD"])
        .iteration_offload(10)
        .build()
    )
    with tf.Session(config=config.to_config_proto()) as sess:
        ...

Names are loaded when they are first used: importing the package imports nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from npu_config import cluster as cluster
    from npu_config import dumps as dumps
    from npu_config import launch as launch
    from npu_config import presets as presets
    from npu_config import rank_table as rank_table
    from npu_config import sidefiles as sidefiles
    from npu_config import tf1 as tf1
    from npu_config.builder import NpuConfigBuilder
    from npu_config.catalogue import OPTIONS
    from npu_config.checking import check
    from npu_config.config import NpuConfig
    from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity
    from npu_config.core.settings import UNKNOWN
    from npu_config.core.target import Target
    from npu_config.core.version import __version__ as __version__
    from npu_config.core.versions import Product
    from npu_config.diagnosis.graph import diagnose
    from npu_config.flags import add_arguments
    from npu_config.migration import migrate
    from npu_config.records import record
    from npu_config.rulebook import RULES
    from npu_config.rules.overwritten import OverwrittenWarning
    from npu_config.runner.finder import install_npu_bridge
    from npu_config.runner.run import run_path
    from npu_config.tf1.records import ConfigRecordHook as ConfigRecordHook

__all__ = [
    "Diagnostic",
    "NpuConfig",
    "NpuConfigBuilder",
    "NpuConfigError",
    "OPTIONS",
    "OverwrittenWarning",
    "Product",
    "RULES",
    "Report",
    "Severity",
    "Target",
    "UNKNOWN",
    "add_arguments",
    "check",
    "diagnose",
    "install_npu_bridge",
    "migrate",
    "record",
    "run_path",
]

_HOMES = {
    "__version__": "core.version",
    "Diagnostic": "core.diagnostics",
    "NpuConfig": "config",
    "NpuConfigBuilder": "builder",
    "NpuConfigError": "core.diagnostics",
    "OPTIONS": "catalogue",
    "OverwrittenWarning": "rules.overwritten",
    "Product": "core.target",
    "RULES": "rulebook",
    "Report": "core.diagnostics",
    "Severity": "core.diagnostics",
    "Target": "core.target",
    "UNKNOWN": "core.settings",
    "check": "checking",
    "diagnose": "diagnosis.graph",
    "install_npu_bridge": "runner.finder",
    "run_path": "runner.run",
    "migrate": "migration",
    "add_arguments": "flags",
    "record": "records",
    "ConfigRecordHook": "tf1.records",
}


_ROOMS = ("cluster", "dumps", "launch", "presets", "rank_table", "sidefiles", "tf1")
"""Modules with names of their own, which need no import statement: ``npu.tf1.plan_loops``."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module("npu_config." + name)
        home = _HOMES.get(name)
        if home is None:
            from npu_config.text.words import no_name

            raise AttributeError(no_name(__name__, name, (*__all__, *_ROOMS)))
        value = getattr(importlib.import_module("npu_config." + home), name)
        globals()[name] = value
        return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
