"""Memory management."""

import functools

from npu_config.catalogue.kinds import Bool, Choice, Int
from npu_config.catalogue.option import Option, Outcome, Status, products, table
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.core.versions import since

PAGE = "memory"
TITLE = "Memory management"
DOC = "docs/en/tfadapter_1/apiref/session_config/memory_management.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="atomic_clean_policy",
            kind=Int(allowed=(0, 1)),
            summary=(
                "0 clears the workspace of all memset operators together; 1 clears each one "
                "separately (less memory, slower)."
            ),
            default=0,
            run_config="memory_config.atomic_clean_policy",
            outcome=Outcome.GE,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2513", "npu_estimator.py:514"),
        ),
        option(
            name="static_memory_policy",
            kind=Int(allowed=(0, 1, 2, 3, 4)),
            summary=(
                "How graph memory is allocated: 0 dynamic, 2 static-shape expansion with "
                "reuse across the graphs of a session, 3 dynamic-shape expansion, 4 both."
            ),
            default=0,
            run_config="memory_config.static_memory_policy",
            scope="process",
            notes=(
                "1 is accepted for compatibility and behaves as 2; offer 0,2,3,4. The "
                "adapter does not range-check."
            ),
            outcome=Outcome.UNCHECKED,
            undocumented_values=(1,),
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2510", "npu_estimator.py:516"),
        ),
        option(
            name="variable_use_1g_huge_page",
            kind=Int(allowed=(0, 1, 2)),
            summary=(
                "Page size used for variables/constants: 0 system default, 1 1-GB pages or "
                "fail, 2 1-GB pages with fallback to 2-MB pages."
            ),
            default=0,
            products=products(Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2),
            run_config="memory_config.variable_use_1g_huge_page",
            scope="process+session",
            outcome=Outcome.REJECT,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2516", "npu_estimator.py:523"),
        ),
        option(
            name="external_weight",
            kind=Bool(),
            summary=(
                "True writes Const/Constant weights to files (FileConstant) so several "
                "models of one session share them."
            ),
            default=False,
            notes=(
                'Bool on the wire, sent to GE as "0"/"1"; when absent an empty string is '
                "sent. Files go to tmp_weight_<pid>_<sessionid> below the run directory or "
                "ASCEND_WORK_PATH and vanish when the model unloads."
            ),
            versions=since("r1.11.0"),
            source=("npu_attrs.cc:2579", "npu_estimator.py:864"),
        ),
        option(
            name="input_fusion_size",
            kind=Int(minimum=0, maximum=33554432),
            summary=(
                "Inputs not larger than this are merged into one host-to-device copy; 0 "
                "turns merging off."
            ),
            default=131072,
            unit="byte",
            notes=(
                "Only static-shape graphs. The Python docstring of NPURunConfig names 25600 "
                "as default; the real default is 131072."
            ),
            outcome=Outcome.SILENT,
            severity=Severity.WARNING,
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2055", "npu_estimator.py:861"),
        ),
        option(
            name="input_batch_cpy",
            kind=Bool(),
            summary="True copies several inputs host-to-device in one batched copy.",
            default=False,
            products=products(Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2),
            scope="process+session",
            versions=since("v0.0.48"),
            source=("npu_attrs.cc:2615", "npu_estimator.py:749"),
        ),
        option(
            name="memory_optimization_policy",
            kind=Choice(("MemoryPriority",)),
            summary="Memory optimisation strategy handed to GE.",
            run_config="memory_config.memory_optimization_policy",
            status=Status.UNDOCUMENTED,
            notes=(
                "Appears in the MemoryConfig signature but no parameter description exists. "
                "Unset sends an empty string. GE recognises MemoryPriority; nothing in the "
                "adapter checks the value."
            ),
            severity=Severity.WARNING,
            versions=since("v0.0.3"),
            source=("npu_attrs.cc:2522", "npu_estimator.py:519"),
        ),
        option(
            name="graph_slice",
            kind=Choice(("auto", "manual")),
            summary="Turns on automatic or scope-driven graph slicing to lower peak memory.",
            run_config="experimental_config.graph_memory_optimize_config.graph_slice",
            status=Status.UNDOCUMENTED,
            notes=(
                "manual works together with npu_scope.npu_graph_slice_scope. Carried by "
                "GraphMemoryOptimizeConfig although the writer sits in the memory loader."
            ),
            outcome=Outcome.REJECT,
            versions=since("v0.0.9"),
            source=("npu_attrs.cc:2656", "npu_estimator.py:527"),
        ),
    )
)
