"""Performance tuning."""

import functools

from npu_config.catalogue.kinds import INT32_MAX, Bool, Choice, Int, Path
from npu_config.catalogue.option import Option, Outcome, table
from npu_config.catalogue.structured import Names, StreamLimits
from npu_config.core.versions import since

PAGE = "performance"
TITLE = "Performance tuning"
DOC = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="iterations_per_loop",
            kind=Int(minimum=1, maximum=INT32_MAX),
            summary="Training iterations executed on the device per session.run call.",
            default=1,
            modes="training",
            scope="graph",
            notes=(
                "Read as int32 in one place and int64 in another. The parameter only "
                "declares the value; loop variables and IterationOp must be created as well."
            ),
            outcome=Outcome.ABORT,
            sample={"iterations_per_loop": 10, "enable_data_pre_proc": True},
            source=("npu_attrs.cc:2227", "npu_estimator.py:793"),
        ),
        option(
            name="hcom_parallel",
            kind=Bool(),
            summary=(
                "Overlaps AllReduce gradient update with forward/backward computation in "
                "distributed training."
            ),
            default=True,
            modes="training",
            source=("npu_attrs.cc:2040", "npu_estimator.py:796"),
        ),
        option(
            name="enable_small_channel",
            kind=Int(allowed=(0, 1)),
            summary="Optimises convolution layers whose channel count is at most 4.",
            default=0,
            default_note="training: 0; online_inference: 1",
            outcome=Outcome.GE,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2381", "npu_estimator.py:811"),
        ),
        option(
            name="op_precision_mode",
            kind=Path("file"),
            summary=(
                "Path of an ini file choosing precision/performance mode per operator type "
                "or node."
            ),
            scope="process+session",
            outcome=Outcome.GE,
            versions=since("r1.5.0"),
            source=("npu_attrs.cc:2483", "npu_estimator.py:491"),
        ),
        option(
            name="enable_scope_fusion_passes",
            kind=Names(what="pattern names", example="ScopeLayerNormPass,ScopeClipBoxesPass"),
            summary="Names of non-general scope fusion patterns to enable.",
            scope="process",
            source=("npu_attrs.cc:2150", "npu_estimator.py:806"),
        ),
        option(
            name="stream_max_parallel_num",
            kind=StreamLimits(),
            summary="Degree of parallelism per engine (NMT networks).",
            notes="Per-engine default 1; must not exceed the AI Core count.",
            outcome=Outcome.UNCHECKED,
            source=("npu_attrs.cc:2111", "npu_estimator.py:631"),
        ),
        option(
            name="is_tailing_optimization",
            kind=Bool(),
            summary=(
                "Reorders the last gradient AllReduce to hide communication tailing (BERT, "
                "distributed)."
            ),
            default=False,
            modes="training",
            source=("npu_attrs.cc:2121", "npu_estimator.py:794"),
        ),
        option(
            name="variable_placement",
            kind=Choice(("Device", "Host")),
            summary="Where variables live.",
            default="Device",
            scope="graph",
            notes="Stored internally under the attribute variable_location.",
            outcome=Outcome.ABORT,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2585", "npu_estimator.py:866"),
        ),
        option(
            name="frozen_variable",
            kind=Bool(),
            summary="Online inference from a checkpoint: converts variables to constants.",
            default=False,
            modes="online_inference",
            scope="graph",
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2582", "npu_estimator.py:865"),
        ),
        option(
            name="graph_max_parallel_model_num",
            kind=Int(minimum=1, maximum=INT32_MAX),
            summary="Maximum number of threads running one graph in parallel.",
            default=1,
            modes="online_inference",
            notes="GE itself defaults to 8.",
            outcome=Outcome.REJECT,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2230", "npu_estimator.py:859"),
        ),
    )
)
