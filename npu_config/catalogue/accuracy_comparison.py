"""Accuracy comparison: dump, overflow detection, fusion switches."""

import functools

from npu_config.catalogue.kinds import PATH_CHARACTERS, Bool, Choice, Path
from npu_config.catalogue.option import Option, Outcome, products, table
from npu_config.catalogue.structured import DumpStep, Names
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.core.versions import since

PAGE = "accuracy_comparison"
TITLE = "Accuracy comparison: dump, overflow detection, fusion switches"
DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"

_DUMP = {"enable_dump": True, "dump_path": "/home/test/output"}
_DETECTION = {"enable_dump_debug": True, "dump_path": "/home/test/output"}
_SEPARATE = products(Product.ATLAS_TRAINING, Product.ATLAS_INFERENCE, Product.ATLAS_300I_DUO)
"""The products that look for one kind of overflow at a time."""

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="enable_dump",
            kind=Bool(),
            summary="Turns on operator data dump.",
            default=False,
            run_config="dump_config.enable_dump",
            sample=_DUMP,
            source=("npu_attrs.cc:2049", "npu_estimator.py:563"),
        ),
        option(
            name="dump_mode",
            kind=Choice(("input", "output", "all")),
            summary="Which side of an operator is dumped.",
            default="output",
            run_config="dump_config.dump_mode",
            read_when=("enable_dump",),
            outcome=Outcome.ABORT,
            sample=_DUMP,
            source=("npu_attrs.cc:2092", "npu_estimator.py:574"),
        ),
        option(
            name="enable_dump_debug",
            kind=Bool(),
            summary="Turns on overflow/underflow detection.",
            default=False,
            modes="training",
            run_config="dump_config.enable_dump_debug",
            notes="The Chinese page limits it to training; the English page is silent.",
            sample=_DETECTION,
            source=("npu_attrs.cc:2052", "npu_estimator.py:564"),
        ),
        option(
            name="dump_debug_mode",
            kind=Choice(("aicore_overflow", "atomic_overflow", "all")),
            summary="Kind of overflow looked for.",
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
        ),
        option(
            name="dump_path",
            kind=Path("directory"),
            summary="Existing directory that receives dump files.",
            run_config="dump_config.dump_path",
            read_when=("enable_dump", "enable_dump_debug"),
            outcome=Outcome.REJECT,
            sample={"enable_dump_debug": True},
            source=("npu_attrs.cc:2069", "npu_estimator.py:570"),
        ),
        option(
            name="dump_step",
            kind=DumpStep(),
            summary="Iterations to dump; unset dumps all.",
            modes="training",
            run_config="dump_config.dump_step",
            read_when=("enable_dump",),
            outcome=Outcome.REJECT,
            sample=_DUMP,
            source=("npu_attrs.cc:2084", "npu_estimator.py:572"),
        ),
        option(
            name="dump_data",
            kind=Choice(("tensor", "stats")),
            summary="Dump tensors, or per-operator statistics in CSV.",
            default="tensor",
            run_config="dump_config.dump_data",
            scope="process",
            used_when=("enable_dump",),
            outcome=Outcome.REJECT,
            versions=since("r1.10.0"),
            sample=_DUMP,
            source=("npu_attrs.cc:2559", "npu_estimator.py:578"),
        ),
        option(
            name="dump_layer",
            kind=Names(
                separator=" ", name=r"[^,;\s]+", what="operator names", example="conv1 fc/MatMul"
            ),
            summary="Operator names to dump; unset dumps every operator.",
            run_config="dump_config.dump_layer",
            used_when=("enable_dump",),
            outcome=Outcome.SILENT,
            severity=Severity.WARNING,
            versions=since("r1.10.0"),
            sample=_DUMP,
            source=("npu_attrs.cc:2567", "npu_estimator.py:580"),
        ),
        option(
            name="quant_dumpable",
            kind=Choice(("0", "1")),
            summary=(
                '"1" keeps pre-quantisation inputs/outputs of an AMCT-quantised network so '
                "they can be dumped."
            ),
            default="0",
            modes="online_inference",
            run_config_default=None,
            notes="String option; unset sends an empty string.",
            outcome=Outcome.GE,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2117", "npu_estimator.py:649"),
        ),
        option(
            name="fusion_switch_file",
            kind=Path("file", characters=PATH_CHARACTERS),
            summary="Path of a file that switches graph/UB fusion passes on or off.",
            scope="process+session",
            outcome=Outcome.GE,
            severity=Severity.WARNING,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2390", "npu_estimator.py:814"),
        ),
        option(
            name="buffer_optimize",
            kind=Choice(("l2_optimize", "off_optimize")),
            summary="Data buffer optimisation switch.",
            default="l2_optimize",
            modes="online_inference",
            outcome=Outcome.ABORT,
            versions=since("r1.2.0"),
            source=("npu_attrs.cc:2374", "npu_estimator.py:810"),
        ),
        option(
            name="use_off_line",
            kind=Bool(),
            summary=(
                "True runs the graph on the NPU; False leaves it to TensorFlow on the host CPU."
            ),
            default=True,
            run_config=None,
            scope="graph",
            notes="NPUEstimator always writes True; there is no NPURunConfig field.",
            source=("npu_attrs.cc:2221", "npu_estimator.py:792"),
        ),
    )
)
