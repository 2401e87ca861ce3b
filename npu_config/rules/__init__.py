"""The rules: one function per constraint, one module per band of ids.

=====  ==========================================================
1xx    ``values``      names, fields, kinds, products, modes
2xx    ``precision``   precision modes and what hangs on them
3xx    ``dump``        dump, overflow detection, profiling
4xx    ``loops``       iteration offload and mixed computing
5xx    ``shapes``, ``compilation``   dynamic shapes, compilation, memory
6xx    ``environment`` timeouts, devices, environment variables
7xx    ``paths``       paths and side files that options point to
8xx    ``session``, ``run_config``   what stands around the options; Estimator
9xx    ``deprecated``  deprecated, undocumented, without effect
=====  ==========================================================

Side files, rank tables and readers enter rules of their own where they apply them.
"""

from typing import Tuple

from npu_config.rulebook import REGISTRY, Rule
from npu_config.rules import (
    compilation,
    deprecated,
    dump,
    environment,
    loops,
    paths,
    precision,
    run_config,
    session,
    shapes,
    values,
)

MODULES = (
    values,
    precision,
    dump,
    loops,
    shapes,
    compilation,
    environment,
    paths,
    session,
    run_config,
    deprecated,
)

CASE_RULES: Tuple[Rule, ...] = tuple(
    sorted(
        (rule for rule in REGISTRY.values() if rule.check is not None), key=lambda rule: rule.id
    )
)
