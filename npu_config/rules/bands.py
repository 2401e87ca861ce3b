"""Every rule about options, in order of id."""

from typing import Tuple

from npu_config.core.rule import REGISTRY, Rule
from npu_config.rules import (  # noqa: F401 - each declares its rules
    acceleration,
    checkpoints,
    compilation,
    contents,
    deprecated,
    dump,
    dynamic,
    environment,
    loops,
    memory,
    names,
    parameter_servers,
    paths,
    precision,
    run_config,
    session,
    shapes,
    targets,
    timeouts,
    unwritten,
)

CASE_RULES: Tuple[Rule, ...] = tuple(
    sorted(
        (rule for rule in REGISTRY.values() if rule.check is not None), key=lambda rule: rule.id
    )
)
