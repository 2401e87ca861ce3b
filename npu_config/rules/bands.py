"""Every rule about options, in order of id."""

from typing import Tuple

from npu_config.core.rule import REGISTRY, Rule
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
    versions,
)

MODULES = (
    values,
    targets,
    versions,
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
