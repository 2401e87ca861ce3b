"""4xx: iteration offload, mixed computing, and what is offloaded at all."""

from __future__ import annotations

from typing import Union

from npu_config.catalogue import Outcome
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.rules.case import Case, changed, given, off, on

_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_MIXED = "docs/en/tfadapter_1/apiref/session_config/mixed_computing.md"
_PERFORMANCE = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"
_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"


def loops(case: Case) -> int:
    """The known number of iterations for each session.run, 0 when it is 1 or not known."""
    count = case.known.get("iterations_per_loop")
    return count if count is not None and count > 1 else 0


def _looped(case: Case) -> Union[int, str, None]:
    """The number of iterations in words, where it is certainly more than 1."""
    setting = case.entries.get("iterations_per_loop")
    if setting is not None and setting.value is UNKNOWN and (setting.above or 0) >= 1:
        return phrase("more than {}", setting.above)
    return loops(case) or None


@rule(
    "NPU401",
    Severity.ERROR,
    options=("mix_compile_mode",),
    also=("iterations_per_loop",),
    facts=("iterations-mix-compile-exclusive",),
    source=(_LOOPS, "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py:212-216"),
)
def loop_with_mixed_computing(case: Case) -> None:
    """Iteration offload and mixed computing are on together.

    Operators on the host cannot run in a loop on the device.  NPURunConfig raises an exception; if
    the options are set on the session, nothing checks them.

    Wrong:

        iterations_per_loop: 10
        enable_data_pre_proc: true
        mix_compile_mode: true

    Right:

        iterations_per_loop: 10
        enable_data_pre_proc: true
    """
    if _looped(case) and on(case, "mix_compile_mode"):
        case.report(
            "iterations_per_loop",
            '"iterations_per_loop" is {} with "mix_compile_mode" True; legal: 1',
            _looped(case),
            help='set "iterations_per_loop" to 1, or "mix_compile_mode" to False',
        )


@rule(
    "NPU402",
    Severity.ERROR,
    options=("iterations_per_loop",),
    also=("enable_data_pre_proc",),
    facts=("iterations-need-data-preproc",),
    source=(_LOOPS, "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"),
)
def loop_without_data_preprocessing(case: Case) -> None:
    """Iteration offload is on without ``enable_data_pre_proc``.

    The loop on the device fetches each batch itself, so GetNext must run on the device.  Nothing
    checks the option; without it the loop cannot fetch new data.  NPURunConfig switches the option
    on by default.

    Wrong:

        iterations_per_loop: 10

    Right:

        iterations_per_loop: 10
        enable_data_pre_proc: true
    """
    if _looped(case) and case.never("enable_data_pre_proc", True):
        case.report(
            "iterations_per_loop",
            '"iterations_per_loop" is {} but "enable_data_pre_proc" is {}; '
            "the loop on the device cannot fetch new data",
            _looped(case),
            off(case, "enable_data_pre_proc"),
            help='set "enable_data_pre_proc" to True',
        )


@rule(
    "NPU403",
    Severity.ERROR,
    options=("iterations_per_loop",),
    also=("dynamic_input",),
    beside=("dynamic_graph_execute_mode",),
    facts=("iterations-lazy-recompile-exclusive",),
    source=("tf_adapter/optimizers/om_partition_subgraphs_pass.cc:1057-1062",),
)
def loop_with_lazy_recompile(case: Case) -> None:
    """Iteration offload is on with ``dynamic_graph_execute_mode: lazy_recompile``.

    A graph that is compiled again for each shape cannot run in a loop; the first run raises an
    exception.

    Wrong:

        iterations_per_loop: 10
        enable_data_pre_proc: true
        dynamic_input: true
        dynamic_graph_execute_mode: lazy_recompile

    Right:

        iterations_per_loop: 10
        enable_data_pre_proc: true
        dynamic_input: true
        dynamic_graph_execute_mode: dynamic_execute
    """
    if (
        _looped(case)
        and on(case, "dynamic_input")
        and case.get("dynamic_graph_execute_mode") == "lazy_recompile"
    ):
        case.report(
            "iterations_per_loop",
            '"iterations_per_loop" is {} with "dynamic_graph_execute_mode" "lazy_recompile";'
            " legal: 1",
            _looped(case),
            help='set "iterations_per_loop" to 1, or use "dynamic_execute"',
            consequence="the first session.run raises an exception",
        )


@rule(
    "NPU404",
    Severity.WARNING,
    options=("experimental_accelerate_train_mode",),
    also=("iterations_per_loop",),
    facts=("accelerate-iterations",),
    source=(_EXPERIMENTAL,),
)
def loop_with_accelerated_training(case: Case) -> None:
    """``experimental_accelerate_train_mode`` is set with iteration offload.

    The precision is then switched only at the end of a loop, which may affect the accuracy.

    Wrong:

        experimental_accelerate_train_mode: "fast|step|0.9"
        iterations_per_loop: 10
        enable_data_pre_proc: true

    Right:

        experimental_accelerate_train_mode: "fast|step|0.9"
    """
    if _looped(case) and given(case, "experimental_accelerate_train_mode"):
        case.report(
            "iterations_per_loop",
            '"iterations_per_loop" is {} with "experimental_accelerate_train_mode"; '
            "recommended: 1, because the precision changes only between loops",
            _looped(case),
            help='set "iterations_per_loop" to 1',
        )


@rule(
    "NPU405",
    Severity.ERROR,
    options=("variable_placement",),
    also=("mix_compile_mode",),
    facts=("variable-placement-host-needs-mix",),
    source=(_PERFORMANCE,),
)
def host_variables_without_mixed_computing(case: Case) -> None:
    """``variable_placement: Host`` is set without mixed computing.

    Variables can be on the host only if a part of the graph runs there.  The documentation
    requires mixed computing, but nothing checks the options.

    Wrong:

        variable_placement: Host

    Right:

        variable_placement: Host
        mix_compile_mode: true
    """
    if case.get("variable_placement") == "Host" and case.never("mix_compile_mode", True):
        case.report(
            "variable_placement",
            '"variable_placement" is "Host", which needs "mix_compile_mode" True',
            help='set "mix_compile_mode" to True, or place variables on the "Device"',
        )


@rule(
    "NPU406",
    Severity.ERROR,
    options=("in_out_pair",),
    also=("mix_compile_mode",),
    facts=("in-out-pair-needs-mix",),
    source=("tf_adapter/optimizers/om_partition_subgraphs_pass.cc:1060-1066", _MIXED),
)
def subgraph_without_mixed_computing(case: Case) -> None:
    """``in_out_pair`` is set without mixed computing.

    ``in_out_pair`` divides the graph between host and device, which needs mixed computing;
    session.run raises an exception.

    Wrong:

        in_out_pair: "[[['import/conv1'], ['import/add']]]"
        graph_run_mode: 0

    Right:

        in_out_pair: "[[['import/conv1'], ['import/add']]]"
        graph_run_mode: 0
        mix_compile_mode: true
    """
    if given(case, "in_out_pair") and case.never("mix_compile_mode", True):
        case.report(
            "in_out_pair",
            '"in_out_pair" is set but "mix_compile_mode" is not True',
            help='set "mix_compile_mode" to True',
            consequence=Outcome.REJECT.value,
        )


@rule(
    "NPU407",
    Severity.WARNING,
    options=("in_out_pair_flag",),
    also=("in_out_pair",),
    facts=("in-out-pair-inference",),
    source=(_MIXED,),
)
def subgraph_flag_without_subgraph(case: Case) -> None:
    """``in_out_pair_flag`` is set without ``in_out_pair``.

    The flag selects the side (host or device) on which the range of ``in_out_pair`` runs; without
    a range it has no effect.

    Wrong:

        graph_run_mode: 0
        mix_compile_mode: true
        in_out_pair_flag: false

    Right:

        graph_run_mode: 0
        mix_compile_mode: true
        in_out_pair_flag: false
        in_out_pair: "[[['import/conv1'], ['import/add']]]"
    """
    if changed(case, "in_out_pair_flag") and case.absent("in_out_pair"):
        case.report(
            "in_out_pair_flag",
            '"in_out_pair_flag" has no effect, because "in_out_pair" is not set',
            help='set "in_out_pair", or remove "in_out_pair_flag"',
        )


@rule(
    "NPU408",
    Severity.WARNING,
    options=("use_off_line",),
    facts=("use-off-line-true",),
    source=(
        "tf_adapter/optimizers/om_partition_subgraphs_pass.cc:2371-2376",
        "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md",
    ),
)
def offload_switched_off(case: Case) -> None:
    """``use_off_line`` is False: nothing runs on the NPU.

    TensorFlow runs the whole graph on the host, and all other options have no effect.  If no other
    option is set, this is reported as information: the session may be kept on the host on purpose,
    for example to prepare data.

    Wrong:

        use_off_line: false
        precision_mode_v2: mixed_float16

    Right:

        use_off_line: true
        precision_mode_v2: mixed_float16
    """
    if case.get("use_off_line") is False:
        alone = len(case.entries) == 1
        case.report(
            "use_off_line",
            '"use_off_line" is False: the graph runs on the host CPU'
            if alone
            else '"use_off_line" is False: the graph runs on the host CPU, and all other '
            "options have no effect",
            help='set "use_off_line" to True, or remove it, to use the NPU',
            severity=Severity.INFO if alone else None,
        )


@rule(
    "NPU409",
    Severity.INFO,
    options=("job",),
    facts=("job-ps-skips",),
    source=("tf_adapter/optimizers/om_partition_subgraphs_pass.cc:2345-2355",),
)
def job_without_offload(case: Case) -> None:
    """``job`` is ``ps`` or ``default``: this process runs nothing on the NPU.

    The adapter skips offloading for these two names.

    Wrong, for a worker:

        job: ps

    Right:

        job: worker
    """
    if case.get("job") in ("ps", "default"):
        case.report(
            "job",
            '"job" is "{}"; for "ps" and "default" nothing is offloaded to the NPU',
            case.get("job"),
        )
