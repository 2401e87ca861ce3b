"""619: training with parameter servers, which TF_CONFIG describes."""

import json
from typing import Any

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import rule
from npu_config.rules.case import Case, off

_PS_WORKER = (
    "docs/en/tfadapter_1/migration/script_migration/distributed_training_scripts/"
    "data_parallel_ps_worker.md"
)


def cluster_of(case: Case) -> Any:
    """The cluster that TF_CONFIG describes, None when it describes none."""
    text = case.variable("TF_CONFIG")
    try:
        described = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return described.get("cluster") or None if isinstance(described, dict) else None


@rule(
    "NPU619",
    Severity.ERROR,
    facts=("ps-worker-mix-compile",),
    source=(
        "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py:219-226",
        _PS_WORKER,
    ),
    on_host=True,
    also=(
        "mix_compile_mode",
        "iterations_per_loop",
    ),
)
def parameter_servers_without_mixed_computing(case: Case) -> None:
    """TF_CONFIG describes a cluster, and mixed computing is off.

    Training with parameter servers needs ``mix_compile_mode`` True, and with it
    ``iterations_per_loop`` 1.  NPURunConfig raises.

    Wrong:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: false

    Right:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: true
    """
    if case.never("mix_compile_mode", True) and cluster_of(case) is not None:
        case.report(
            "mix_compile_mode",
            phrase(
                'TF_CONFIG describes a cluster, which needs "mix_compile_mode" True; it is {}',
                off(case, "mix_compile_mode"),
            ),
            'set "mix_compile_mode" to True and "iterations_per_loop" to 1',
        )
