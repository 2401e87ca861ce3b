"""The rules of profiling options."""

from functools import partial

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare
from npu_config.core.target import Product

_DOC = "docs/en/tfadapter_1/apiref/session_config/Profiling.md"
_TOOL = "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md"

_rule = partial(declare, options=("profiling_options",), source=(_TOOL,))


@_rule(
    "NPU746",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=(_DOC, _TOOL),
    help='write a JSON object of these keys, e.g. {"output": "/tmp/profiling"}',
)
def profiling_key() -> None:
    """The profiling options are not a JSON object, or have a key that does not exist.

    The adapter parses nothing and hands the text to the graph engine; bad content fails its
    initialisation, and the adapter aborts the process.

    Wrong: `{"output": "/data/prof", "traning_trace": "on"}`

    Right: `{"output": "/data/prof", "training_trace": "on"}`
    """


@_rule(
    "NPU747",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=(_DOC, _TOOL),
    help="give a legal value, or leave the key out",
)
def profiling_value() -> None:
    """A profiling option has a value that it cannot have.

    All values are texts, also switches (`"on"`, not `true`), but for the keys that end in `_freq`:
    the profiler takes JSON integers there (`50`) and refuses texts, though the documentation
    writes them.  `training_trace` is `on`, empty or absent: the graph engine refuses `off`.  It
    refuses the options as a whole, and the adapter aborts the process.

    Wrong: `{"training_trace": true, "aic_metrics": "Pipe", "dvpp_freq": "50"}`

    Right: `{"training_trace": "on", "aic_metrics": "PipeUtilization", "dvpp_freq": 50}`
    """


@_rule(
    "NPU748",
    Severity.ERROR,
    facts=("profiling-ranges",),
    help="give a value within the range, or leave the key out",
)
def profiling_range() -> None:
    """A number in the profiling options is out of its range.

    `storage_limit` is 200MB to 4294967295MB; `sys_hardware_mem_freq`,
    `sys_io_sampling_freq` and `dvpp_freq` are 1 to 100 Hz; `sys_interconnection_freq` and
    `host_sys_usage_freq` 1 to 50 Hz; `instr_profiling_freq` 300 to 30000 Hz.  On ascend_950
    `sys_hardware_mem_freq` goes up to 10000 Hz.  The profiler refuses other values, but for
    `storage_limit`, which it reports in its log and passes over (a warning).

    Wrong: `{"dvpp_freq": 500}`

    Right: `{"dvpp_freq": 100}`
    """


@_rule(
    "NPU749",
    Severity.ERROR,
    facts=("profiling-options-json",),
    help="leave it out for this product",
)
def profiling_product() -> None:
    """A profiling option does not exist on this product.

    `instr_profiling` is for ascend_950, `instr_profiling_freq` for atlas_a2 and atlas_a3;
    `sys_io_sampling_freq` is not for atlas_inference; the `aic_metrics` value `L2Cache` is not
    for atlas_inference and atlas_training, `MemoryAccess` not for those and ascend_950.

    Wrong on atlas_training: `{"aic_metrics": "L2Cache"}`

    Right there: `{"aic_metrics": "PipeUtilization"}`
    """


@_rule(
    "NPU750",
    Severity.ERROR,
    products=(Product.ATLAS_A2, Product.ATLAS_A3),
    facts=("profiling-instr-exclusive",),
)
def profiling_instr_exclusive() -> None:
    """`instr_profiling_freq` is beside options that it excludes.

    It cannot be combined with `training_trace`, `task_trace`, `task_time`, `hccl`, `aicpu`,
    `fp_point`, `bp_point`, `aic_metrics`, `l2` and `runtime_api`.

    Wrong: `{"instr_profiling_freq": 1000, "aicpu": "on"}`

    Right: `{"instr_profiling_freq": 1000}`
    """


@_rule("NPU751", Severity.WARNING, facts=("profiling-task-trace-needs-training-trace",))
def profiling_task_trace_alone() -> None:
    """A training collects `task_trace` without `training_trace`.

    In training the documentation wants `training_trace` on with it.

    Wrong in training: `{"task_trace": "on"}`

    Right: `{"task_trace": "on", "training_trace": "on"}`
    """


@_rule(
    "NPU752",
    Severity.WARNING,
    facts=("profiling-training-trace-points",),
    source=(
        "docs/en/tfadapter_1/migration/common_operation/fpbp_point_determination.md",
        _TOOL,
    ),
    help="name both operators, e.g. as msprof shows them, or leave training_trace out",
)
def profiling_points_unnamed() -> None:
    """A network of dynamic shape collects `training_trace` without named points.

    With static shapes the end of the forward pass and of the backward pass are found
    automatically; with dynamic shapes `fp_point` and `bp_point` have to be named by hand.

    Wrong with dynamic shapes: `{"training_trace": "on", "fp_point": "", "bp_point": ""}`

    Right:

    ```json
    {"training_trace": "on", "fp_point": "net/conv1", "bp_point": "gradients/AddN_70"}
    ```
    """


@_rule(
    "NPU753",
    Severity.WARNING,
    options=("profiling_options", "graph_run_mode"),
    facts=("profiling-inference",),
)
def profiling_training_trace_inference() -> None:
    """Online inference collects `training_trace`.

    In online inference `task_trace` and `aicpu` can be used, `training_trace` cannot.

    Wrong in online inference: `{"training_trace": "on"}`

    Right: `{"task_trace": "on", "aicpu": "on"}`
    """


@_rule(
    "NPU754",
    Severity.ERROR,
    facts=("profiling-output-dir",),
    source=(_TOOL, "runtime:src/dfx/msprof/collector/dvvp/common/utils/utils.cpp:1625-1638"),
    help="give a path without such characters",
)
def profiling_output_characters() -> None:
    r"""The output path of the profiling options has a character that the profiler refuses.

    They are `\n`, `\f`, `\r`, `\b`, `\t`, `\v`, `\u007F` and any of `" ' \ % > < | & $ ;` and the
    backquote.  In JSON, and in Python, a single backslash makes control characters.

    Wrong: `{"output": "C:\temp"}`

    Right: `{"output": "/data/temp"}`
    """


@_rule(
    "NPU788",
    Severity.WARNING,
    facts=("profiling-output-dir",),
    source=("runtime:src/dfx/msprof/collector/dvvp/msprof/engine/src/prof_acl_mgr.cpp:2196-2240",),
)
def profiling_without_output() -> None:
    """The profiling options name no `output` directory.

    The profiler then takes that of ASCEND_WORK_PATH; where that is not set either, it refuses the
    options, and the process ends.

    Wrong: `{"training_trace": "on"}`

    Right: `{"output": "/data/prof", "training_trace": "on"}`
    """


@_rule(
    "NPU789",
    Severity.ERROR,
    facts=("profiling-options-json",),
    source=("runtime:pkg_inc/profiling/aprof_pub.h:177",),
)
def profiling_too_long() -> None:
    """The text of the profiling options has more than 2047 bytes.

    The graph engine cuts it off there, and what is left is not JSON.

    Wrong: a text of 3,000 bytes

    Right: a shorter `output` path, and only the keys that differ from their default
    """


@_rule("NPU755", Severity.WARNING)
def profiling_same_switch() -> None:
    """`task_trace` and `task_time` disagree.

    They are two names of one switch (`on` means `l1`); which of the two wins is not
    documented.

    Wrong: `{"task_trace": "on", "task_time": "off"}`

    Right: `{"task_time": "on"}`
    """
