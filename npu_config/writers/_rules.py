"""The rule that writers apply: what an output cannot carry is not dropped in silence."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare


@declare(
    "NPU791",
    Severity.ERROR,
    facts=("run-config-no-field", "run-config-dynamic-input-complete"),
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:460-880",),
)
def lost_in_output() -> None:
    """The output that is asked for cannot carry an option that is set.

    NPURunConfig has no argument for some options; passes some on only together with others
    (`work_path` with `aoe_mode`, `profiling_options` with `profiling_mode`, the four of
    `DynamicInputConfig` together or not at all); and always writes others itself.  Text files
    cannot hold bytes that are not UTF-8.  JSON and the bytes of a ConfigProto have no comments
    for what ``npu-config generate`` cannot write: an option that a script sets on some paths, a
    value that is known at run time only, an option that the output must not have.

    Wrong:

        npu_config.NpuConfig.from_dict({"use_off_line": False}).to_run_config_kwargs()

    Right: hand such options over in a ConfigProto, `NPURunConfig(session_config=...)`.
    """
