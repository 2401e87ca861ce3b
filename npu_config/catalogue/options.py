"""Every option of NpuOptimizer, page by page as the vendor documents them.

A declaration is all that is known of an option; its check, the builder's signature, the
reference, the schema and completion follow from it.  The last page holds the options that older
adapters read and the newest does not, for a target of that time (source: the history of
tf_adapter/util/npu_attrs.cc).
"""

from __future__ import annotations

from npu_config.catalogue.kinds import (
    INT32_MAX,
    PATH_CHARACTERS,
    Bool,
    Choice,
    FilePath,
    Int,
    Text,
)
from npu_config.catalogue.option import Outcome, Page, Status, products
from npu_config.catalogue.structured import (
    AccelerateTrainMode,
    AicoreNum,
    DeviceList,
    DumpStep,
    DynamicDims,
    InOutPair,
    InputShape,
    JsonText,
    MultistreamMode,
    NameList,
    PassSwitches,
    ShapeRange,
    StreamLimits,
)
from npu_config.core.diagnostics import Severity
from npu_config.core.versions import NEVER, Product, since, spans, until

basic = Page("basic", "Basic options", "basic_options.md")

basic.option(
    "graph_run_mode",
    Int(allowed=(0, 1)),
    "Selects the graph run mode: 0 online inference, 1 training.",
    default=1,
    scope="process",
    notes=(
        "The default of the adapter is 1, although GE documents 0. The option determines the "
        "default precision mode; 0 forces enable_small_channel to 1."
    ),
    outcome=Outcome.ABORT,
    source=("npu_attrs.cc:2137", "npu_estimator.py:802"),
)

basic.option(
    "session_device_id",
    Int(minimum=0, maximum=INT32_MAX),
    "Logical device a session runs on, so one script can drive several devices "
    "with one session each.",
    notes=(
        "If the option is not set (-1 internally), ASCEND_DEVICE_ID, DEVICE_ID or 0 is used, "
        "in this order."
    ),
    outcome=Outcome.ABORT,
    versions=since("r1.3.0"),
    source=("npu_attrs.cc:2415", "npu_estimator.py:483"),
)

basic.option(
    "deterministic",
    Int(allowed=(0, 1)),
    "1 makes operators return identical outputs for identical inputs (slower); 0 does not.",
    default=0,
    scope="process",
    notes="An integer, not a bool. The adapter does not check it; GE accepts only 0 and 1.",
    outcome=Outcome.GE,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2387", "npu_estimator.py:812"),
)

memory = Page("memory", "Memory management", "memory_management.md")

memory.option(
    "atomic_clean_policy",
    Int(allowed=(0, 1)),
    "0 clears the workspace of all memset operators together; 1 clears each one "
    "separately (less memory, slower).",
    default=0,
    run_config="memory_config.atomic_clean_policy",
    outcome=Outcome.GE,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2513", "npu_estimator.py:514"),
)

memory.option(
    "static_memory_policy",
    Int(allowed=(0, 1, 2, 3, 4)),
    "How graph memory is allocated: 0 dynamically, 2 expandable memory for static "
    "shapes, shared by the graphs of a session, 3 expandable memory for dynamic shapes, "
    "4 both 2 and 3.",
    default=0,
    run_config="memory_config.static_memory_policy",
    scope="process",
    notes=(
        "1 is accepted for compatibility and has the effect of 2; use 0, 2, 3 or 4. The "
        "adapter does not check the range."
    ),
    outcome=Outcome.UNCHECKED,
    undocumented_values=(1,),
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2510", "npu_estimator.py:516"),
)

memory.option(
    "variable_use_1g_huge_page",
    Int(allowed=(0, 1, 2)),
    "Page size for variables and constants: 0 system default, 1 only 1-GB pages (otherwise "
    "fails), 2 1-GB pages, with 2-MB pages as fallback.",
    default=0,
    products=products(Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2),
    run_config="memory_config.variable_use_1g_huge_page",
    scope="process+session",
    outcome=Outcome.REJECT,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2516", "npu_estimator.py:523"),
)

memory.option(
    "external_weight",
    Bool(),
    "True writes Const/Constant weights to files (FileConstant) so several "
    "models of one session share them.",
    default=False,
    notes=(
        'The adapter reads a bool and sends "0" or "1" to GE, or an empty string when the '
        "option is not set. The files are written to tmp_weight_<pid>_<sessionid> below the "
        "run directory or ASCEND_WORK_PATH and removed when the model is unloaded."
    ),
    versions=since("r1.11.0"),
    source=("npu_attrs.cc:2579", "npu_estimator.py:864"),
)

memory.option(
    "input_fusion_size",
    Int(minimum=0, maximum=33554432),
    "Inputs not larger than this are merged into one host-to-device copy; 0 turns merging off.",
    default=131072,
    unit="byte",
    notes=(
        "Applies to static-shape graphs only. The Python docstring of NPURunConfig names 25600 "
        "as default; the real default is 131072."
    ),
    outcome=Outcome.SILENT,
    severity=Severity.WARNING,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2055", "npu_estimator.py:861"),
)

memory.option(
    "input_batch_cpy",
    Bool(),
    "True copies several inputs host-to-device in one batched copy.",
    default=False,
    products=products(Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2),
    scope="process+session",
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2615", "npu_estimator.py:749"),
)

memory.option(
    "memory_optimization_policy",
    Choice(("MemoryPriority",)),
    "Memory optimisation strategy, passed to GE.",
    run_config="memory_config.memory_optimization_policy",
    status=Status.UNDOCUMENTED,
    notes=(
        "MemoryConfig has this argument, but the documentation does not describe it. If the "
        "option is not set, the adapter sends an empty string. GE recognises MemoryPriority; "
        "the adapter does not check the value."
    ),
    severity=Severity.WARNING,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2522", "npu_estimator.py:519"),
)

memory.option(
    "graph_slice",
    Choice(("auto", "manual")),
    "Turns on automatic or scope-driven graph slicing to lower peak memory.",
    run_config="experimental_config.graph_memory_optimize_config.graph_slice",
    status=Status.UNDOCUMENTED,
    notes=(
        "manual is used together with npu_scope.npu_graph_slice_scope. In NPURunConfig the "
        "option is an argument of GraphMemoryOptimizeConfig, not of MemoryConfig."
    ),
    outcome=Outcome.REJECT,
    versions=since("v0.0.9"),
    source=("npu_attrs.cc:2656", "npu_estimator.py:527"),
)

dynamic_shape = Page("dynamic_shape", "Dynamic shape", "dynamic_shape.md")

_PROFILES = {
    "graph_run_mode": 0,
    "input_shape": "data:1,3,-1,-1;label:-1",
    "dynamic_dims": "64,64,1;128,128,4",
    "dynamic_node_type": 1,
}

dynamic_shape.option(
    "input_shape",
    InputShape(),
    "Shapes of the (dynamic) network inputs, -1 marks the dimensions driven by dynamic_dims.",
    modes="online_inference",
    run_config="dynamic_input_config.input_shape",
    scope="graph",
    outcome=Outcome.ABORT,
    versions=since("r1.2.0"),
    sample=_PROFILES,
    source=("npu_attrs.cc:2326", "npu_estimator.py:693"),
)

dynamic_shape.option(
    "dynamic_dims",
    DynamicDims(),
    "List of size profiles for the -1 dimensions of input_shape.",
    modes="online_inference",
    run_config="dynamic_input_config.dynamic_dims",
    scope="graph",
    outcome=Outcome.ABORT,
    versions=since("r1.2.0"),
    sample=_PROFILES,
    source=("npu_attrs.cc:2326", "npu_estimator.py:694"),
)

dynamic_shape.option(
    "dynamic_node_type",
    Int(allowed=(0, 1)),
    "Which kind of input is dynamic: 0 dataset, 1 placeholder.",
    modes="online_inference",
    run_config="dynamic_input_config.dynamic_node_type",
    scope="graph",
    outcome=Outcome.ABORT,
    versions=since("r1.2.0"),
    sample=_PROFILES,
    source=("npu_attrs.cc:2327", "npu_estimator.py:695"),
)

dynamic_shape.option(
    "compile_hybrid_mode",
    Int(allowed=(0, 1)),
    "1 compiles one graph for the size profiles and one for dynamic shapes, and each run "
    "uses one of the two; 0 turns this off.",
    default=0,
    modes="online_inference",
    run_config="dynamic_input_config.compile_hybrid_mode",
    scope="graph",
    notes="1 also turns external_weight on. An integer, not a bool.",
    outcome=Outcome.REJECT,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2345", "npu_estimator.py:696"),
)

dynamic_shape.option(
    "ac_parallel_enable",
    Choice(("0", "1")),
    '"1" lets AI CPU and AI Core operators of a dynamic-shape graph run in parallel.',
    default="0",
    run_config_default=None,
    notes='A string; if the option is not set, the adapter sends an empty string, equal to "0".',
    outcome=Outcome.GE,
    versions=since("r1.15.0"),
    source=("npu_attrs.cc:2114", "npu_estimator.py:640"),
)

dynamic_shape.option(
    "compile_dynamic_mode",
    Bool(),
    "True generalises every input shape of the graph to -1 (static graphs become dynamic ones).",
    default=False,
    run_config_default=None,
    notes=(
        "The adapter sends compile_dynamic_mode=1 to GE when this option is False and either "
        'jit_compile is not "true" or shape_generalization_mode is not STRICT.'
    ),
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2265", "npu_estimator.py:857"),
)

dynamic_shape.option(
    "all_tensor_not_empty",
    Bool(),
    "True drops the empty-tensor check nodes of dynamic-shape graphs.",
    default=False,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2608", "npu_estimator.py:871"),
)

mixed_computing = Page("mixed_computing", "Mixed computing", "mixed_computing.md")

mixed_computing.option(
    "mix_compile_mode",
    Bool(),
    "True keeps unsupported operators on the host (mixed computing); False "
    "offloads every compute operator.",
    default=False,
    scope="graph",
    source=("npu_attrs.cc:2224", "npu_estimator.py:791"),
)

mixed_computing.option(
    "in_out_pair_flag",
    Bool(),
    "True offloads the subgraph of in_out_pair to the NPU; False keeps this subgraph on the host.",
    default=True,
    modes="online_inference",
    run_config=None,
    scope="graph",
    versions=since("r1.3.0"),
    source=("npu_attrs.cc:2287",),
)

mixed_computing.option(
    "in_out_pair",
    InOutPair(),
    "Names of the first and last operators of the subgraph that in_out_pair_flag offloads or "
    "keeps on the host.",
    modes="online_inference",
    run_config=None,
    scope="graph",
    outcome=Outcome.REJECT,
    versions=since("r1.3.0"),
    sample={"graph_run_mode": 0, "mix_compile_mode": True},
    source=("npu_attrs.cc:2290",),
)

mixed_computing.option(
    "const_input",
    Text(),
    "Reserved: names of inputs to treat as constants. The adapter reads the option only for "
    "its graph passes.",
    run_config=None,
    scope="graph",
    status=Status.UNDOCUMENTED,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:980",),
)

debugging = Page("debugging", "Debugging", "debugging.md")

debugging.option(
    "enable_exception_dump",
    Int(allowed=(0, 1, 2)),
    "Dump of failing operators: 0 off, 1 common ExceptionDump, 2 LiteExceptionDump.",
    default=2,
    scope="process",
    notes="The default of GE is 0; the adapter sends 2 when the option is not set.",
    outcome=Outcome.REJECT,
    source=("npu_attrs.cc:2294", "npu_estimator.py:808"),
)

debugging.option(
    "op_debug_config",
    FilePath("file"),
    "Path of a cfg file that turns on operator-compile debug switches (oom, dump_cce, ...).",
    scope="process",
    outcome=Outcome.GE,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2504", "npu_estimator.py:851"),
)

debugging.option(
    "debug_dir",
    FilePath("directory"),
    "Directory for operator-compile debug files (.o, .json, .cce).",
    scope="process",
    notes="If not set: ASCEND_WORK_PATH, then the current directory.",
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2409", "npu_estimator.py:823"),
)

debugging.option(
    "export_compile_stat",
    Int(allowed=(0, 1, 2)),
    "When fusion_result.json is written: 0 never, 1 at normal exit, 2 right after compilation.",
    default=1,
    scope="process",
    notes="The adapter silently ignores a value in the wrong field of AttrValue.",
    outcome=Outcome.REJECT,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2588", "npu_estimator.py:722"),
)

accuracy_tuning = Page("accuracy_tuning", "Accuracy tuning", "accuracy_tuning.md")

MIXED_MODES = {
    "precision_mode": (
        "allow_mix_precision",
        "allow_mix_precision_fp16",
        "allow_mix_precision_bf16",
    ),
    "precision_mode_v2": ("mixed_float16", "mixed_bfloat16", "mixed_hif8"),
}
"""The values of each option that mean mixed precision."""

_BFLOAT16 = products(Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)

accuracy_tuning.option(
    "precision_mode_v2",
    Choice(
        (
            "fp16",
            "origin",
            "cube_fp16in_fp32out",
            "mixed_float16",
            "mixed_bfloat16",
            "mixed_hif8",
            "cube_hif8",
        )
    ),
    "Global precision mode of operators (newer option, recommended).",
    default_note=(
        "training on ascend_950: origin; training on atlas_a3: origin; training on "
        "atlas_a2: origin; training on atlas_training: none; online_inference: fp16"
    ),
    scope="process",
    notes=(
        "On atlas_training precision_mode_v2 has no default; the default of precision_mode "
        "applies."
    ),
    outcome=Outcome.REJECT,
    value_products={
        "mixed_bfloat16": _BFLOAT16,
        "mixed_hif8": products(Product.ASCEND_950),
        "cube_hif8": products(Product.ASCEND_950),
    },
    versions=since("v0.0.9"),
    value_versions={
        "cube_hif8": since("v0.0.48"),
        "mixed_hif8": since("v0.0.48"),
    },
    source=("npu_attrs.cc:2203", "npu_estimator.py:539"),
)

accuracy_tuning.option(
    "precision_mode",
    Choice(
        (
            "force_fp32",
            "cube_fp16in_fp32out",
            "allow_fp32_to_fp16",
            "force_fp16",
            "must_keep_origin_dtype",
            "allow_mix_precision",
            "allow_mix_precision_fp16",
            "allow_mix_precision_bf16",
            "allow_fp32_to_bf16",
        )
    ),
    "Global precision mode of operators (older option).",
    default_note=(
        "training on ascend_950: must_keep_origin_dtype; training on atlas_a3: "
        "must_keep_origin_dtype; training on atlas_a2: must_keep_origin_dtype; "
        "training on atlas_training: allow_fp32_to_fp16; online_inference: "
        "force_fp16"
    ),
    scope="process",
    notes=(
        "precision_mode_v2 is recommended instead, but this option is not marked deprecated. "
        "An empty string is rejected."
    ),
    outcome=Outcome.REJECT,
    value_products={
        "allow_mix_precision_bf16": _BFLOAT16,
        "allow_fp32_to_bf16": _BFLOAT16,
    },
    aliases={
        "force_fp32": "cube_fp16in_fp32out",
        "allow_mix_precision": "allow_mix_precision_fp16",
    },
    unchecked=until("r1.11.0"),
    source=("npu_attrs.cc:2188", "npu_estimator.py:537"),
)

accuracy_tuning.option(
    "modify_mixlist",
    FilePath("file"),
    "Path of a JSON file that edits the mixed-precision black/white/gray operator lists.",
    scope="process+session",
    outcome=Outcome.GE,
    versions=since("r1.5.0"),
    sample={"precision_mode_v2": "mixed_float16"},
    source=("npu_attrs.cc:2424", "npu_estimator.py:487"),
)

accuracy_tuning.option(
    "customize_dtypes",
    FilePath("file"),
    "Path of a cfg file that sets the input/output dtypes of single operators or operator types.",
    scope="process",
    outcome=Outcome.GE,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2498", "npu_estimator.py:849"),
)

accuracy_comparison = Page(
    "accuracy_comparison",
    "Accuracy comparison: dump, overflow detection, fusion switches",
    "accuracy_comparison.md",
)

_DUMP = {"enable_dump": True, "dump_path": "/home/test/output"}

_DETECTION = {"enable_dump_debug": True, "dump_path": "/home/test/output"}

_SEPARATE = products(Product.ATLAS_TRAINING, Product.ATLAS_INFERENCE, Product.ATLAS_300I_DUO)
"""The products that look for one kind of overflow at a time."""

accuracy_comparison.option(
    "enable_dump",
    Bool(),
    "Turns on operator data dump.",
    default=False,
    run_config="dump_config.enable_dump",
    sample=_DUMP,
    source=("npu_attrs.cc:2049", "npu_estimator.py:563"),
)

accuracy_comparison.option(
    "dump_mode",
    Choice(("input", "output", "all")),
    "Selects whether the inputs or the outputs of operators are dumped, or both.",
    default="output",
    run_config="dump_config.dump_mode",
    read_when=("enable_dump",),
    outcome=Outcome.ABORT,
    sample=_DUMP,
    source=("npu_attrs.cc:2092", "npu_estimator.py:574"),
)

accuracy_comparison.option(
    "enable_dump_debug",
    Bool(),
    "Turns on overflow/underflow detection.",
    default=False,
    modes="training",
    run_config="dump_config.enable_dump_debug",
    notes=(
        "The Chinese documentation limits the option to training; the English documentation "
        "does not mention this."
    ),
    sample=_DETECTION,
    source=("npu_attrs.cc:2052", "npu_estimator.py:564"),
)

accuracy_comparison.option(
    "dump_debug_mode",
    Choice(("aicore_overflow", "atomic_overflow", "all")),
    "Kind of overflow to detect.",
    default="all",
    modes="training",
    run_config="dump_config.dump_debug_mode",
    read_when=("enable_dump_debug",),
    outcome=Outcome.ABORT,
    value_products={
        "aicore_overflow": _SEPARATE,
        "atomic_overflow": _SEPARATE,
    },
    sample=_DETECTION,
    source=("npu_attrs.cc:2102", "npu_estimator.py:576"),
)

accuracy_comparison.option(
    "dump_path",
    FilePath("directory"),
    "Existing directory that receives dump files.",
    run_config="dump_config.dump_path",
    read_when=("enable_dump", "enable_dump_debug"),
    outcome=Outcome.REJECT,
    sample={"enable_dump_debug": True},
    source=("npu_attrs.cc:2069", "npu_estimator.py:570"),
)

accuracy_comparison.option(
    "dump_step",
    DumpStep(),
    "Iterations to dump; all iterations if not set.",
    modes="training",
    run_config="dump_config.dump_step",
    read_when=("enable_dump",),
    outcome=Outcome.REJECT,
    sample=_DUMP,
    source=("npu_attrs.cc:2084", "npu_estimator.py:572"),
)

accuracy_comparison.option(
    "dump_data",
    Choice(("tensor", "stats")),
    "Selects what is dumped: tensors, or statistics of each operator in CSV files.",
    default="tensor",
    run_config="dump_config.dump_data",
    scope="process",
    used_when=("enable_dump",),
    outcome=Outcome.REJECT,
    versions=since("r1.10.0"),
    sample=_DUMP,
    source=("npu_attrs.cc:2559", "npu_estimator.py:578"),
)

accuracy_comparison.option(
    "dump_layer",
    NameList(separator=" ", name=r"[^,;\s]+", what="operator names", example="conv1 fc/MatMul"),
    "Names of the operators to dump; all operators if not set.",
    run_config="dump_config.dump_layer",
    used_when=("enable_dump",),
    outcome=Outcome.SILENT,
    severity=Severity.WARNING,
    versions=since("r1.10.0"),
    sample=_DUMP,
    source=("npu_attrs.cc:2567", "npu_estimator.py:580"),
)

accuracy_comparison.option(
    "quant_dumpable",
    Choice(("0", "1")),
    'In a network quantised by AMCT, "1" keeps the inputs and outputs before quantisation, '
    "so that they can be dumped.",
    default="0",
    modes="online_inference",
    run_config_default=None,
    notes="A string; if the option is not set, the adapter sends an empty string.",
    outcome=Outcome.GE,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2117", "npu_estimator.py:649"),
)

accuracy_comparison.option(
    "fusion_switch_file",
    FilePath("file", characters=PATH_CHARACTERS),
    "Path of a file that switches graph/UB fusion passes on or off.",
    scope="process+session",
    outcome=Outcome.GE,
    severity=Severity.WARNING,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2390", "npu_estimator.py:814"),
)

accuracy_comparison.option(
    "buffer_optimize",
    Choice(("l2_optimize", "off_optimize")),
    "Turns the data buffer optimisation on (l2_optimize) or off (off_optimize).",
    default="l2_optimize",
    modes="online_inference",
    outcome=Outcome.ABORT,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2374", "npu_estimator.py:810"),
)

accuracy_comparison.option(
    "use_off_line",
    Bool(),
    "True runs the graph on the NPU; False leaves it to TensorFlow on the host CPU.",
    default=True,
    run_config=None,
    scope="graph",
    notes="NPUEstimator always writes True; NPURunConfig has no such argument.",
    source=("npu_attrs.cc:2221", "npu_estimator.py:792"),
)

performance = Page("performance", "Performance tuning", "performance_tuning.md")

performance.option(
    "iterations_per_loop",
    Int(minimum=1, maximum=INT32_MAX),
    "Training iterations executed on the device per session.run call.",
    default=1,
    modes="training",
    scope="graph",
    notes=(
        "The adapter reads the value as int32 in one place and as int64 in another. The option "
        "only declares the value; loop variables and IterationOp must be created as well."
    ),
    outcome=Outcome.ABORT,
    sample={"iterations_per_loop": 10, "enable_data_pre_proc": True},
    source=("npu_attrs.cc:2227", "npu_estimator.py:793"),
)

performance.option(
    "hcom_parallel",
    Bool(),
    "Overlaps AllReduce gradient update with forward/backward computation in "
    "distributed training.",
    default=True,
    modes="training",
    source=("npu_attrs.cc:2040", "npu_estimator.py:796"),
)

performance.option(
    "enable_small_channel",
    Int(allowed=(0, 1)),
    "Optimises convolution layers whose channel count is at most 4.",
    default=0,
    default_note="training: 0; online_inference: 1",
    outcome=Outcome.GE,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2381", "npu_estimator.py:811"),
)

performance.option(
    "op_precision_mode",
    FilePath("file"),
    "Path of an ini file choosing precision/performance mode per operator type or node.",
    scope="process+session",
    outcome=Outcome.GE,
    versions=since("r1.5.0"),
    source=("npu_attrs.cc:2483", "npu_estimator.py:491"),
)

performance.option(
    "enable_scope_fusion_passes",
    NameList(what="pattern names", example="ScopeLayerNormPass,ScopeClipBoxesPass"),
    "Names of the scope fusion patterns to enable in addition to the general ones.",
    scope="process",
    source=("npu_attrs.cc:2150", "npu_estimator.py:806"),
)

performance.option(
    "stream_max_parallel_num",
    StreamLimits(),
    "Number of operators that each engine runs in parallel (machine translation networks).",
    notes="The default is 1 for each engine. The number must not exceed the number of AI Cores.",
    outcome=Outcome.UNCHECKED,
    source=("npu_attrs.cc:2111", "npu_estimator.py:631"),
)

performance.option(
    "is_tailing_optimization",
    Bool(),
    "Runs computation in parallel with the last gradient AllReduce (distributed BERT training).",
    default=False,
    modes="training",
    source=("npu_attrs.cc:2121", "npu_estimator.py:794"),
)

performance.option(
    "variable_placement",
    Choice(("Device", "Host")),
    "Where variables are placed.",
    default="Device",
    scope="graph",
    notes="The adapter stores the value in its attribute variable_location.",
    outcome=Outcome.ABORT,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2585", "npu_estimator.py:866"),
)

performance.option(
    "frozen_variable",
    Bool(),
    "Online inference from a checkpoint: converts variables to constants.",
    default=False,
    modes="online_inference",
    scope="graph",
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2582", "npu_estimator.py:865"),
)

performance.option(
    "graph_max_parallel_model_num",
    Int(minimum=1, maximum=INT32_MAX),
    "Maximum number of threads running one graph in parallel.",
    default=1,
    modes="online_inference",
    notes="The default of GE is 8.",
    outcome=Outcome.REJECT,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2230", "npu_estimator.py:859"),
)

profiling = Page("profiling", "Profiling", "Profiling.md")

profiling.option(
    "profiling_mode",
    Bool(),
    "Turns on profile data collection.",
    default=False,
    run_config="profiling_config.enable_profiling",
    scope="process",
    source=("npu_attrs.cc:2124", "npu_estimator.py:500"),
)

profiling.option(
    "profiling_options",
    JsonText(),
    "JSON object that says which profiling data to collect.",
    default_note=(
        "when profiling_mode is True and this is absent or empty: "
        '{"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on","aic_metrics":"PipeUtilization","msproftx":"off"}'
    ),
    run_config="profiling_config.profiling_options",
    scope="process",
    read_when=("profiling_mode",),
    notes=(
        "If the option is missing or empty while profiling_mode is True, the adapter sends its "
        "default JSON text."
    ),
    outcome=Outcome.ABORT,
    sample={"profiling_mode": True},
    source=("npu_attrs.cc:2128", "npu_estimator.py:504"),
)

aoe = Page("aoe", "AOE tuning", "AOE.md")

_TUNED = products(Product.ATLAS_A3, Product.ATLAS_A2, Product.ATLAS_TRAINING)

aoe.option(
    "aoe_mode",
    Choice(("1", "2", "4")),
    "AOE tuning job: 1 subgraph, 2 operator, 4 gradient splitting.",
    products=_TUNED,
    modes="training",
    scope="process",
    notes=(
        "A string, not an int. If the option is not set, the environment variable AOE_MODE "
        "is used."
    ),
    outcome=Outcome.REJECT,
    value_products={
        "1": products(Product.ATLAS_TRAINING),
        "2": _TUNED,
        "4": _TUNED,
    },
    versions=since("r1.5.0"),
    value_versions={
        "3": spans(("r1.5.0", "r1.10.0")),
        "mdat": spans(("r1.10.0", "v0.0.20")),
    },
    source=("npu_attrs.cc:2154", "npu_estimator.py:705"),
)

aoe.option(
    "work_path",
    FilePath("directory"),
    "AOE working directory.",
    default="./",
    products=_TUNED,
    modes="training",
    run_config_default=None,
    scope="process",
    read_when=("aoe_mode",),
    outcome=Outcome.ABORT,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2169", "npu_estimator.py:707"),
)

aoe.option(
    "aoe_config_file",
    FilePath("file"),
    "Path of a JSON file restricting which operators AOE tunes.",
    products=_TUNED,
    modes="training",
    scope="process",
    used_when=("aoe_mode",),
    outcome=Outcome.UNCHECKED,
    versions=since("r1.11.0"),
    sample={"aoe_mode": "2"},
    source=("npu_attrs.cc:2570", "npu_estimator.py:713"),
)

aoe.option(
    "distribute_config",
    FilePath("file"),
    "Path of the configuration file for distributed AOE tuning.",
    products=_TUNED,
    modes="training",
    scope="process",
    read_when=("aoe_mode",),
    status=Status.UNDOCUMENTED,
    versions=since("r1.3.0"),
    sample={"aoe_mode": "4"},
    source=("npu_attrs.cc:2184", "npu_estimator.py:711"),
)

aoe.option(
    "auto_tune_mode",
    Text(),
    "Removed auto-tune switch; GE rejects any non-empty value.",
    run_config=None,
    scope="process",
    status=Status.NO_EFFECT,
    replacement="aoe_mode",
    outcome=Outcome.ABORT,
    versions=spans((None, "r1.10.0"), ("v0.0.3", None)),
    sample={"auto_tune_mode": ""},
    doc=None,
    source=("npu_attrs.cc:2134",),
)

compilation = Page("compilation", "Operator and graph compilation", "operator_and_graph_build.md")

compilation.option(
    "op_compiler_cache_mode",
    Choice(("enable", "force", "disable")),
    "Disk cache of operator compilation.",
    default="enable",
    run_config_default=None,
    scope="process",
    notes=(
        "The adapter does not check the value, and sends an empty string when the option is "
        "not set."
    ),
    outcome=Outcome.GE,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2403", "npu_estimator.py:819"),
)

compilation.option(
    "op_compiler_cache_dir",
    FilePath("directory", characters=PATH_CHARACTERS),
    "Directory of the operator compile cache.",
    scope="process",
    notes="If not set: ${ASCEND_CACHE_PATH}/kernel_cache, then $HOME/atc_data.",
    outcome=Outcome.UNCHECKED,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2406", "npu_estimator.py:821"),
)

compilation.option(
    "aicore_num",
    AicoreNum(),
    "Upper bound of Cube and Vector cores used when compiling operators.",
    products=products(Product.ATLAS_A3, Product.ATLAS_A2),
    scope="process+session",
    notes=(
        "The GE documentation also lists ascend_950, and a single integer for atlas_training / "
        "atlas_inference."
    ),
    outcome=Outcome.GE,
    versions=since("v0.0.48"),
    sample={"op_compiler_cache_mode": "disable"},
    source=("npu_attrs.cc:2603", "npu_estimator.py:731"),
)

compilation.option(
    "oo_constant_folding",
    Bool(),
    "Constant folding at graph compilation.",
    default=True,
    scope="process",
    notes="The adapter silently ignores a value in the wrong field of AttrValue.",
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2596", "npu_estimator.py:740"),
)

compilation.option(
    "oo_level",
    Choice(("O1", "O3")),
    "Graph optimisation level.",
    default="O3",
    scope="process+session",
    status=Status.UNDOCUMENTED,
    outcome=Outcome.GE,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2622", "npu_estimator.py:758"),
)

compilation.option(
    "optimization_switch",
    PassSwitches(),
    "Switches individual graph compilation passes on or off.",
    scope="process+session",
    status=Status.UNDOCUMENTED,
    notes=(
        "For a pass that both options switch, this option takes precedence over "
        "fusion_switch_file. The adapter adds the internal entry "
        "forbidden_close_pass:on."
    ),
    outcome=Outcome.SILENT,
    severity=Severity.WARNING,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2627", "npu_estimator.py:767"),
)

exception = Page("exception", "Error handling: timeouts", "exception_remedy.md")

exception.option(
    "hccl_timeout",
    Int(minimum=0, maximum=INT32_MAX),
    "Inter-device synchronisation timeout of collective communication.",
    default=1836,
    unit="s",
    products=products(
        Product.ASCEND_950,
        Product.ATLAS_A3,
        Product.ATLAS_A2,
        Product.ATLAS_TRAINING,
        Product.ATLAS_300I_DUO,
    ),
    run_config_default=None,
    scope="process+session",
    notes=(
        "0 means never time out (only where 0 is allowed). On atlas_training and "
        "atlas_300i_duo the effective value is floor(v/68)*68, at least 68. If the option is "
        "not set, the adapter sends an empty string, and HCCL_EXEC_TIMEOUT or 1836 is used."
    ),
    outcome=Outcome.UNCHECKED,
    ranges={
        Product.ASCEND_950: (0, INT32_MAX),
        Product.ATLAS_A3: (0, INT32_MAX),
        Product.ATLAS_A2: (0, INT32_MAX),
        Product.ATLAS_TRAINING: (1, 17340),
        Product.ATLAS_300I_DUO: (1, 17340),
    },
    versions=since("r1.7.0"),
    source=("npu_attrs.cc:2489", "npu_estimator.py:841"),
)

exception.option(
    "op_wait_timeout",
    Int(),
    "Operator wait timeout.",
    default=120,
    unit="s",
    run_config_default=None,
    scope="process",
    versions=since("r1.7.0"),
    source=("npu_attrs.cc:2492", "npu_estimator.py:843"),
)

exception.option(
    "op_execute_timeout",
    Int(),
    "Operator execution timeout.",
    unit="s",
    scope="process",
    versions=since("r1.7.0"),
    sample={"op_execute_timeout": 90},
    source=("npu_attrs.cc:2495", "npu_estimator.py:845"),
)

exception.option(
    "stream_sync_timeout",
    Int(minimum=-1, maximum=INT32_MAX),
    "Stream synchronisation timeout during graph execution; -1 disables the limit.",
    default=-1,
    unit="ms",
    scope="process",
    outcome=Outcome.SILENT,
    severity=Severity.WARNING,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2573", "npu_estimator.py:862"),
)

exception.option(
    "event_sync_timeout",
    Int(minimum=-1, maximum=INT32_MAX),
    "Event synchronisation timeout during graph execution; -1 disables the limit.",
    default=-1,
    unit="ms",
    scope="process",
    outcome=Outcome.SILENT,
    severity=Severity.WARNING,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2576", "npu_estimator.py:863"),
)

exception.option(
    "graph_exec_timeout",
    Int(),
    "Graph execution timeout, passed to GE.",
    default=600000,
    unit="ms",
    run_config=None,
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2507",),
)

data_augmentation = Page("data_augmentation", "Data augmentation", "data_augmentation.md")

_DISTRIBUTED = {"local_rank_id": 0, "local_device_list": "0,1"}

data_augmentation.option(
    "local_rank_id",
    Int(minimum=0, maximum=7),
    "Local rank of this process when one host process feeds pre-processed data "
    "to several devices.",
    modes="training",
    scope="graph",
    notes="The internal value is -1 when the option is not set.",
    outcome=Outcome.ABORT,
    versions=since("r1.3.0"),
    sample=_DISTRIBUTED,
    source=("npu_attrs.cc:2269", "npu_estimator.py:834"),
)

data_augmentation.option(
    "local_device_list",
    DeviceList(),
    "Devices to which the main process sends data.",
    modes="training",
    scope="graph",
    outcome=Outcome.ABORT,
    versions=since("r1.3.0"),
    sample=_DISTRIBUTED,
    source=("npu_attrs.cc:2278", "npu_estimator.py:836"),
)

experimental = Page("experimental", "Experimental options", "experiment_options.md")

experimental.option(
    "graph_compiler_cache_dir",
    FilePath("directory"),
    "Directory of the graph compile cache; a non-empty value turns the cache on.",
    run_config="experimental_config.graph_compiler_cache_dir",
    status=Status.EXPERIMENTAL,
    outcome=Outcome.GE,
    versions=since("v0.0.7"),
    source=("npu_attrs.cc:2653", "npu_estimator.py:612"),
)

experimental.option(
    "jit_compile",
    Choice(("true", "false", "auto")),
    "Online operator compilation: true always, false prefers prebuilt binaries, auto depends "
    "on the kind of shape (recommendation networks).",
    default="auto",
    status=Status.EXPERIMENTAL,
    notes=(
        "The value is a string (a bool is rejected). The adapter sends 1, 0 or 2 to GE. The "
        "default of GE without the adapter is 1."
    ),
    outcome=Outcome.REJECT,
    versions=spans(("r1.10.0", "r1.11.0"), ("v0.0.4", None)),
    former_wire="b",
    former_wire_versions=spans(("r1.10.0", "r1.11.0"), ("v0.0.4", "v0.0.9")),
    unchecked=spans(("r1.13.0", "v0.0.14")),
    source=("npu_attrs.cc:2633", "npu_estimator.py:860"),
)

experimental.option(
    "shape_generalization_mode",
    Choice(("STRICT", "FULL", "ADAPTIVE")),
    "Selects how input shapes that change between iterations are generalised "
    "when jit_compile is true.",
    default="STRICT",
    status=Status.EXPERIMENTAL,
    outcome=Outcome.REJECT,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2642", "npu_estimator.py:868"),
)

experimental.option(
    "experimental_accelerate_train_mode",
    AccelerateTrainMode(),
    "Runs part of the training at reduced precision.",
    modes="training",
    run_config="experimental_config.accelerate_train_mode",
    scope="graph",
    status=Status.EXPERIMENTAL,
    outcome=Outcome.REJECT,
    versions=since("v0.0.16"),
    source=("npu_attrs.cc:2531", "npu_estimator.py:621"),
)

experimental.option(
    "auto_multistream_parallel_mode",
    MultistreamMode(),
    "Parallel execution of Cube and Vector operators on several streams "
    "(recommendation networks).",
    status=Status.EXPERIMENTAL,
    notes=(
        "If the option is not set or empty, Cube and Vector operators run serially. Newer GE "
        "also supports WeightedLoadBalance:n (not documented by TF Adapter). The "
        "NPURunConfig docstring allows LoadBalance without a number (8 streams); current GE "
        'rejects a value without ":n".'
    ),
    outcome=Outcome.GE,
    versions=since("v0.0.48"),
    source=("npu_attrs.cc:2611", "npu_estimator.py:873"),
)

experimental.option(
    "experimental_logical_device_cluster_deploy_mode",
    Choice(("LB", "SINGLE")),
    "Heterogeneous deployment: LB (load balancing) or SINGLE.",
    default="LB",
    run_config="experimental_config.logical_device_cluster_deploy_mode",
    scope="process",
    status=Status.UNDOCUMENTED,
    outcome=Outcome.UNCHECKED,
    severity=Severity.WARNING,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2525", "npu_estimator.py:593"),
)

experimental.option(
    "experimental_logical_device_id",
    Text(),
    "Logical device for SINGLE deployment.",
    run_config="experimental_config.logical_device_id",
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("r1.9.0"),
    source=("npu_attrs.cc:2528", "npu_estimator.py:600"),
)

experimental.option(
    "experimental_model_deploy_mode",
    Text(),
    "Model deployment mode, passed to GE.",
    run_config="experimental_config.model_deploy_mode",
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2534", "npu_estimator.py:603"),
)

experimental.option(
    "experimental_model_deploy_devicelist",
    Text(),
    "Device list for model deployment.",
    run_config="experimental_config.model_deploy_devicelist",
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2537", "npu_estimator.py:606"),
)

deprecated = Page("deprecated", "Deprecated options", "deprecated_options.md")

deprecated.option(
    "op_debug_level",
    Int(allowed=(0, 1, 2, 3, 4)),
    "Operator debug level (0 off ... 4 keep more files).",
    scope="process",
    status=Status.DEPRECATED,
    replacement="op_debug_config",
    outcome=Outcome.GE,
    source=("npu_attrs.cc:2144", "npu_estimator.py:804"),
)

deprecated.option(
    "enable_data_pre_proc",
    Bool(),
    "Offloads the GetNext operator, which fetches preprocessed data, to the device.",
    default=False,
    run_config_default=True,
    scope="graph",
    status=Status.DEPRECATED,
    needed_for="iteration offload",
    notes=(
        "The documentation names no replacement, and iteration offload still requires the "
        "option. The default is False as a session option, True in NPURunConfig."
    ),
    source=("npu_attrs.cc:2217", "npu_estimator.py:790"),
)

deprecated.option(
    "variable_format_optimize",
    Bool(),
    "Converts variables at initialisation to a data format that suits the NPU.",
    status=Status.DEPRECATED,
    notes="The adapter passes the option on only when the option is set.",
    source=("npu_attrs.cc:2035", "npu_estimator.py:550"),
)

deprecated.option(
    "op_select_implmode",
    Choice(
        (
            "high_precision",
            "high_performance",
            "high_precision_for_all",
            "high_performance_for_all",
        )
    ),
    "Global operator implementation mode.",
    scope="process+session",
    status=Status.DEPRECATED,
    replacement="op_precision_mode",
    notes=(
        "Only the first two values are documented. If the option is not set, the adapter "
        "sends an empty string, and operators use high_performance."
    ),
    outcome=Outcome.ABORT,
    undocumented_values=("high_precision_for_all", "high_performance_for_all"),
    value_versions={
        "high_precision_for_all": since("r1.6.0"),
        "high_performance_for_all": since("r1.6.0"),
    },
    source=("npu_attrs.cc:2307", "npu_estimator.py:677"),
)

deprecated.option(
    "optypelist_for_implmode",
    NameList(
        name="[A-Za-z0-9_]+",
        what="operator types",
        known=("Pooling", "SoftmaxV2", "LRN", "ROIAlign"),
        example="Pooling,SoftmaxV2",
    ),
    "Operator types that op_select_implmode applies to.",
    scope="process+session",
    status=Status.DEPRECATED,
    replacement="op_precision_mode",
    outcome=Outcome.UNCHECKED,
    severity=Severity.WARNING,
    sample={"op_select_implmode": "high_precision"},
    source=("npu_attrs.cc:2308", "npu_estimator.py:679"),
)

deprecated.option(
    "dynamic_input",
    Bool(),
    "Declares that the graph has dynamic inputs.",
    default=False,
    run_config_default=None,
    scope="graph",
    status=Status.DEPRECATED,
    notes='True makes the adapter use jit_compile "1" for the graph.',
    versions=since("r1.3.0"),
    source=("npu_attrs.cc:2246", "npu_estimator.py:826"),
)

deprecated.option(
    "dynamic_graph_execute_mode",
    Choice(("dynamic_execute", "lazy_recompile")),
    "Execution mode for dynamic_input.",
    default="dynamic_execute",
    scope="graph",
    read_when=("dynamic_input",),
    status=Status.DEPRECATED,
    notes="The documentation describes only the value dynamic_execute.",
    outcome=Outcome.ABORT,
    undocumented_values=("lazy_recompile",),
    versions=since("r1.3.0"),
    source=("npu_attrs.cc:2250", "npu_estimator.py:828"),
)

deprecated.option(
    "dynamic_inputs_shape_range",
    ShapeRange(),
    "Shape ranges of dynamic inputs for dynamic_execute.",
    scope="graph",
    read_when=("dynamic_input",),
    status=Status.DEPRECATED,
    replacement="input_shape/dynamic_dims/dynamic_node_type or compile_dynamic_mode",
    outcome=Outcome.ABORT,
    versions=since("r1.3.0"),
    sample={"dynamic_input": True, "dynamic_graph_execute_mode": "dynamic_execute"},
    source=("npu_attrs.cc:2259", "npu_estimator.py:831"),
)

deprecated.option(
    "graph_memory_max_size",
    Text(words="a string that contains a number of bytes"),
    "Limit of graph memory in older versions; no effect now.",
    unit="byte",
    status=Status.NO_EFFECT,
    effective=until("r1.11.0"),
    sample={"graph_memory_max_size": "27917287424"},
    source=("npu_attrs.cc:2043", "npu_estimator.py:798"),
)

deprecated.option(
    "variable_memory_max_size",
    Text(words="a string that contains a number of bytes"),
    "Limit of variable memory in older versions; no effect now.",
    unit="byte",
    status=Status.NO_EFFECT,
    effective=until("r1.11.0"),
    sample={"variable_memory_max_size": "3865470566"},
    source=("npu_attrs.cc:2046", "npu_estimator.py:800"),
)

internal = Page("internal", "Internal options, not in the documentation")

internal.option(
    "job",
    Text(),
    'TensorFlow job name; with "ps" or "default", this process runs nothing on the NPU.',
    default="localhost",
    run_config=None,
    scope="graph",
    status=Status.UNDOCUMENTED,
    notes="NPUEstimator writes task.type of TF_CONFIG, or localhost without TF_CONFIG.",
    source=("npu_attrs.cc:2238", "npu_estimator.py:664"),
)

internal.option(
    "task_index",
    Int(minimum=0, maximum=INT32_MAX),
    "TensorFlow task index used to build the device name.",
    default=0,
    run_config=None,
    scope="graph",
    status=Status.UNDOCUMENTED,
    notes="NPUEstimator writes task.index of TF_CONFIG, or 0 without TF_CONFIG.",
    outcome=Outcome.ABORT,
    source=("npu_attrs.cc:2243", "npu_estimator.py:665"),
)

internal.option(
    "device_type",
    Text(),
    "Device type, passed to GE.",
    default="default_device_type",
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("r1.7.0"),
    source=("npu_attrs.cc:2486", "npu_estimator.py:837"),
)

internal.option(
    "soc_config",
    Text(),
    "SoC version, passed to GE.",
    scope="process",
    status=Status.UNDOCUMENTED,
    versions=since("r1.8.0"),
    source=("npu_attrs.cc:2212", "npu_estimator.py:839"),
)

internal.option(
    "hcom_multi_mode",
    Bool(),
    "Internal flag for the mode of collective communication.",
    default=False,
    scope="process+session",
    status=Status.UNDOCUMENTED,
    versions=since("r1.3.0"),
    source=("npu_attrs.cc:2412", "npu_estimator.py:824"),
)

internal.option(
    "lower_functional_ops",
    Bool(),
    "Lowers functional control-flow operators before partitioning.",
    default=False,
    run_config=None,
    scope="graph",
    status=Status.UNDOCUMENTED,
    source=("npu_attrs.cc:2235",),
)

internal.option(
    "topo_sorting_mode",
    Int(allowed=(0, 1, 2, 3)),
    "Topological sort: 0 BFS, 1 DFS, 2 reverse DFS, 3 stable reverse DFS.",
    status=Status.UNDOCUMENTED,
    notes="The adapter passes the option on only when the option is set; the default of GE is 1.",
    outcome=Outcome.UNCHECKED,
    versions=since("r1.10.0"),
    source=("npu_attrs.cc:2540", "npu_estimator.py:853"),
)

internal.option(
    "insert_op_file",
    FilePath("file"),
    "Path of an AIPP (insert-op) prototxt configuration.",
    status=Status.UNDOCUMENTED,
    versions=since("r1.11.0"),
    source=("npu_attrs.cc:2545", "npu_estimator.py:855"),
)

internal.option(
    "HCCL_algorithm",
    Text(),
    "Algorithm of collective communication, passed to HCCL.",
    scope="process+session",
    status=Status.UNDOCUMENTED,
    versions=since("r1.8.0"),
    source=("npu_attrs.cc:2501", "npu_estimator.py:847"),
)

internal.option(
    "resource_config_path",
    FilePath("file"),
    "Heterogeneous resource configuration path.",
    run_config="experimental_config.resource_config_path",
    status=Status.UNDOCUMENTED,
    versions=since("r1.10.0"),
    source=("npu_attrs.cc:2550", "npu_estimator.py:609"),
)

internal.option(
    "graph_parallel_option_path",
    FilePath("file"),
    "Graph parallel configuration path.",
    run_config="experimental_config.graph_parallel_option_path",
    status=Status.UNDOCUMENTED,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2553", "npu_estimator.py:615"),
)

internal.option(
    "enable_graph_parallel",
    Bool(),
    "Turns automatic graph parallelism on.",
    default=False,
    run_config="experimental_config.enable_graph_parallel",
    run_config_default=None,
    status=Status.UNDOCUMENTED,
    versions=since("v0.0.3"),
    source=("npu_attrs.cc:2556", "npu_estimator.py:618"),
)

internal.option(
    "enable_compress_weight",
    Bool(),
    "Turns weight compression on for the whole graph.",
    default=False,
    status=Status.UNDOCUMENTED,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2393", "npu_estimator.py:815"),
)

internal.option(
    "compress_weight_conf",
    FilePath("file"),
    "Path of a weight compression configuration.",
    status=Status.UNDOCUMENTED,
    versions=since("r1.2.0"),
    source=("npu_attrs.cc:2393", "npu_estimator.py:817"),
)

internal.option(
    "min_group_size",
    Bool(),
    "NPUEstimator writes 1, but no component reads the option.",
    run_config=None,
    status=Status.NO_EFFECT,
    notes="NPUEstimator assigns the integer 1 to the bool field b of AttrValue.",
    is_read=False,
    versions=NEVER,
    source=("npu_estimator.py:795",),
)

internal.option(
    "enable_reduce_precision",
    Bool(),
    "NPUEstimator writes the option, but no component reads it.",
    run_config_default=False,
    status=Status.NO_EFFECT,
    is_read=False,
    versions=NEVER,
    source=("npu_estimator.py:541",),
)

removed = Page("removed", "Options that only older adapters read")

removed.option(
    "fp_point",
    Text(),
    "The operator at which the forward pass begins, for profiling.",
    status=Status.NO_EFFECT,
    replacement="the key fp_point of profiling_options",
    versions=until("r1.1.1"),
    run_config=None,
)

removed.option(
    "bp_point",
    Text(),
    "The operator at which the backward pass ends, for profiling.",
    status=Status.NO_EFFECT,
    replacement="the key bp_point of profiling_options",
    versions=until("r1.1.1"),
    run_config=None,
)

removed.option(
    "mstune_mode",
    Choice(("1", "2", "3", "4")),
    "Kind of automatic tuning.",
    status=Status.NO_EFFECT,
    replacement="aoe_mode",
    versions=spans(("r1.2.0", "r1.3.0")),
    unchecked=spans(("r1.2.0", "r1.2.0")),
    run_config=None,
)

removed.option(
    "op_tune_mode",
    Text(),
    "Mode of operator tuning.",
    status=Status.NO_EFFECT,
    replacement="aoe_mode",
    versions=spans(("r1.3.0", "r1.3.0")),
    run_config=None,
)

removed.option(
    "es_cluster_config",
    Text(),
    "Cluster configuration of an embedding service.",
    status=Status.NO_EFFECT,
    versions=spans(("v0.0.3", "v0.0.3"), ("v0.0.4", "v0.0.20")),
    run_config=None,
)

PAGES = (
    basic,
    memory,
    dynamic_shape,
    mixed_computing,
    debugging,
    accuracy_tuning,
    accuracy_comparison,
    performance,
    profiling,
    aoe,
    compilation,
    exception,
    data_augmentation,
    experimental,
    deprecated,
    internal,
)
"""The pages of options that the newest adapter knows."""
