"""The rules: one function per constraint, one module per band of ids.

=====  =============================================  =======================================
1xx    ``values``, ``targets``                        names, fields, values; products, modes
2xx    ``precision``                                  precision modes and what hangs on them
3xx    ``dump``                                       dump, overflow detection, profiling
4xx    ``loops``                                      iteration offload and mixed computing
5xx    ``shapes``, ``dynamic``                        shape profiles; dynamic input
5xx    ``memory``, ``compilation``                    memory; compilation, caches, tuning
6xx    ``timeouts``, ``environment``                  timeouts, devices; environment variables
7xx    ``paths``, ``contents``                        what options point to
8xx    ``session``, ``checkpoints``, ``run_config``   what stands around the options; Estimator
9xx    ``deprecated``                                 deprecated, undocumented, without effect
=====  =============================================  =======================================

Side files, rank tables, readers and the training side enter rules of their own where they
apply them; :func:`load_all` (and ``RULES``) brings those in too.
"""

import importlib
import pkgutil
from typing import Any, Tuple

from npu_config.rulebook import REGISTRY, Rule
from npu_config.rules import (
    checkpoints,
    compilation,
    contents,
    deprecated,
    dump,
    dynamic,
    environment,
    loops,
    memory,
    paths,
    precision,
    run_config,
    session,
    shapes,
    targets,
    timeouts,
    values,
)

MODULES = (
    values,
    targets,
    precision,
    dump,
    loops,
    shapes,
    dynamic,
    memory,
    compilation,
    timeouts,
    environment,
    paths,
    contents,
    session,
    checkpoints,
    run_config,
    deprecated,
)

CASE_RULES: Tuple[Rule, ...] = tuple(
    sorted(
        (rule for rule in REGISTRY.values() if rule.check is not None), key=lambda rule: rule.id
    )
)

_DECLARING = (
    "npu_config.baseline",
    "npu_config.cluster",
    "npu_config.graph_diagnosis",
    "npu_config.loss_report",
    "npu_config.precision_tool",
    "npu_config.presets",
    "npu_config.profiling_tables",
    "npu_config.project",
    "npu_config.readers",
    "npu_config.sidefiles",
    "npu_config.tf1.rules",
    "npu_config.writers",
)
"""The parts of the package whose modules enter rules of their own."""


def load_all() -> Tuple[Rule, ...]:
    """Every rule there is, in order of id, also those that parsers apply."""
    for name in _DECLARING:
        part = importlib.import_module(name)
        for found in pkgutil.walk_packages(getattr(part, "__path__", []), name + "."):
            importlib.import_module(found.name)
    return tuple(sorted(REGISTRY.values(), key=lambda rule: rule.id))


def __getattr__(name: str) -> Any:
    if name == "RULES":
        return load_all()
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
