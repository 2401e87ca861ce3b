"""810-814, 823: intervals of checkpoints, summaries and the log."""

from typing import Optional

from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.rules.case import Case
from npu_config.rules.loops import loops
from npu_config.rules.timeouts import device_count

_SUPPORT = "docs/en/tfadapter_1/apiref/npu_config/runconfig_params_support_info.md"
_CONSTRUCTOR = "docs/en/tfadapter_1/apiref/npu_config/npurunconfig_constructor/introduction.md"
_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_RUN_CONFIG = "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py"


def _steps(case: Case, name: str) -> Optional[int]:
    """An argument when it is an integer, else None."""
    value = case.argument(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


CHECKPOINT_STEPS = 100
"""What ``save_checkpoints_steps`` becomes when no checkpoint interval is given."""


@rule(
    "NPU810",
    Severity.ERROR,
    facts=("run-config-save-checkpoints-exclusive",),
    source=(_SUPPORT,),
    about="run_config",
)
def two_checkpoint_intervals(case: Case) -> None:
    """``save_checkpoints_steps`` and ``save_checkpoints_secs`` are both set.

    tf.estimator.RunConfig raises ValueError.

    Wrong, in a script:

        NPURunConfig(save_checkpoints_steps=100, save_checkpoints_secs=600)

    Right, in a script:

        NPURunConfig(save_checkpoints_steps=100)
    """
    if (
        case.argument("save_checkpoints_steps") is not None
        and case.argument("save_checkpoints_secs") is not None
    ):
        case.report_argument(
            "save_checkpoints_secs",
            '"save_checkpoints_steps" and "save_checkpoints_secs" are both set; only one of '
            "them is allowed; RunConfig raises ValueError",
            help='remove "save_checkpoints_secs"',
        )


@rule(
    "NPU811",
    Severity.WARNING,
    options=("iterations_per_loop",),
    facts=("iterations-save-checkpoints",),
    source=(_LOOPS, _SUPPORT),
    about="run_config",
    situation="checkpoint-inside-device-loop",
)
def checkpoint_inside_loop(case: Case) -> None:
    """``save_checkpoints_steps`` is not a multiple of ``iterations_per_loop``.

    Hooks run only between two loops, so no checkpoint is written at these steps.

    Wrong, in a script:

        NPURunConfig(iterations_per_loop=10, save_checkpoints_steps=25)

    Right, in a script:

        NPURunConfig(iterations_per_loop=10, save_checkpoints_steps=30)
    """
    count = loops(case)
    steps, note = _steps(case, "save_checkpoints_steps"), ""
    if _no_interval(case):
        steps, note = CHECKPOINT_STEPS, phrase(" (the default)")
    if steps and count and steps % count:
        case.report_argument(
            "save_checkpoints_steps",
            '"save_checkpoints_steps" is {}{}, which is not a multiple of '
            '"iterations_per_loop" {}; '
            "checkpoints are not written at these steps",
            steps,
            note,
            count,
            help=phrase("set the value to {}", -(-steps // count) * count),
        )


def _no_interval(case: Case) -> bool:
    """True when both intervals of checkpoints were given as None."""
    return case.argument_is_none("save_checkpoints_steps") and case.argument_is_none(
        "save_checkpoints_secs"
    )


@rule(
    "NPU812",
    Severity.WARNING,
    options=("iterations_per_loop",),
    facts=("iterations-summary-steps",),
    source=(_SUPPORT, "docs/en/tfadapter_1/migration/others/Log-Summary.md"),
    about="run_config",
)
def summary_inside_loop(case: Case) -> None:
    """``save_summary_steps`` is set with iteration offload.

    Summaries may not be stored at the requested interval.

    Wrong, in a script:

        NPURunConfig(iterations_per_loop=10, save_summary_steps=5)

    Right, in a script:

        NPURunConfig(iterations_per_loop=10, save_summary_steps=0)
    """
    steps = _steps(case, "save_summary_steps")
    if steps and loops(case):
        case.report_argument(
            "save_summary_steps",
            '"save_summary_steps" is {} with "iterations_per_loop" {}; only 0 is legal: '
            "otherwise summaries may not be stored at the requested interval",
            steps,
            loops(case),
            help='set "save_summary_steps" to 0 and use host_call of NPUEstimatorSpec',
        )


@rule(
    "NPU813",
    Severity.WARNING,
    options=("iterations_per_loop",),
    facts=("iterations-log-steps",),
    source=(_SUPPORT, "docs/en/tfadapter_1/migration/others/Log-Summary.md"),
    about="run_config",
)
def log_inside_loop(case: Case) -> None:
    """``log_step_count_steps`` is not a multiple of ``iterations_per_loop``.

    The steps may be logged at other intervals.

    Wrong, in a script:

        NPURunConfig(iterations_per_loop=10, log_step_count_steps=25)

    Right, in a script:

        NPURunConfig(iterations_per_loop=10, log_step_count_steps=50)
    """
    steps = _steps(case, "log_step_count_steps")
    count = loops(case)
    if steps and count and steps % count:
        case.report_argument(
            "log_step_count_steps",
            '"log_step_count_steps" is {}, which is not a multiple of "iterations_per_loop" '
            "{}; steps may be logged at other intervals",
            steps,
            count,
            help=phrase("set the value to a multiple of {}", count),
        )


@rule(
    "NPU814",
    Severity.WARNING,
    facts=("run-config-save-secs-multi-device",),
    source=(_CONSTRUCTOR, _SUPPORT),
    on_host=True,
    about="run_config",
)
def checkpoint_by_time_on_many_devices(case: Case) -> None:
    """``save_checkpoints_secs`` is set for training on several devices.

    The devices would save at different steps, and their collective operations would no longer
    match.

    Wrong, in a script started with RANK_SIZE=8:

        NPURunConfig(save_checkpoints_secs=600)

    Right, in a script started with RANK_SIZE=8:

        NPURunConfig(save_checkpoints_steps=1000)
    """
    devices = device_count(case)
    if devices > 1 and case.argument("save_checkpoints_secs") is not None:
        case.report_argument(
            "save_checkpoints_secs",
            '"save_checkpoints_secs" is set for {} devices, which then save at different steps',
            devices,
            help='use "save_checkpoints_steps"',
        )


@rule(
    "NPU823",
    Severity.INFO,
    facts=("run-config-save-checkpoints-default",),
    source=(_RUN_CONFIG + ":327-330", _SUPPORT),
    about="run_config",
)
def default_checkpoint_interval(case: Case) -> None:
    """Both checkpoint intervals are None: a checkpoint is saved every 100 steps.

    Set ``save_checkpoints_steps`` to 0 to save no checkpoint.

    Wrong, in a script that should save no checkpoints:

        NPURunConfig(save_checkpoints_steps=None, save_checkpoints_secs=None)

    Right, in a script that should save no checkpoints:

        NPURunConfig(save_checkpoints_steps=0)
    """
    if _no_interval(case):
        case.report_argument(
            "save_checkpoints_steps",
            '"save_checkpoints_steps" and "save_checkpoints_secs" are None; a checkpoint is '
            "saved every {} steps",
            CHECKPOINT_STEPS,
            help='set "save_checkpoints_steps" to 0 to save no checkpoint',
        )
