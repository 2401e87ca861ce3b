"""Deprecated options."""

import functools

from npu_config.catalogue.kinds import Bool, Choice, Int, Text
from npu_config.catalogue.option import Option, Outcome, Status, table
from npu_config.catalogue.structured import Names, ShapeRange
from npu_config.core.diagnostics import Severity
from npu_config.core.versions import since, until

PAGE = "deprecated"
TITLE = "Deprecated options"
DOC = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="op_debug_level",
            kind=Int(allowed=(0, 1, 2, 3, 4)),
            summary="Operator debug level (0 off ... 4 keep more files).",
            scope="process",
            status=Status.DEPRECATED,
            replacement="op_debug_config",
            outcome=Outcome.GE,
            source=("npu_attrs.cc:2144", "npu_estimator.py:804"),
        ),
        option(
            name="enable_data_pre_proc",
            kind=Bool(),
            summary=(
                "Offloads the GetNext operator (data preprocessing hand-over) to the device."
            ),
            default=False,
            run_config_default=True,
            scope="graph",
            status=Status.DEPRECATED,
            notes=(
                "No replacement is named; it is still required for iteration offload. "
                "Default False as a session option, True in NPURunConfig."
            ),
            source=("npu_attrs.cc:2217", "npu_estimator.py:790"),
        ),
        option(
            name="variable_format_optimize",
            kind=Bool(),
            summary="Reformats variables at initialisation for the NPU.",
            status=Status.DEPRECATED,
            notes="Forwarded only when present.",
            source=("npu_attrs.cc:2035", "npu_estimator.py:550"),
        ),
        option(
            name="op_select_implmode",
            kind=Choice(
                (
                    "high_precision",
                    "high_performance",
                    "high_precision_for_all",
                    "high_performance_for_all",
                )
            ),
            summary="Global operator implementation mode.",
            scope="process+session",
            status=Status.DEPRECATED,
            replacement="op_precision_mode",
            notes=(
                "Only the first two values are documented. Unset sends an empty string; "
                "operators then behave as high_performance."
            ),
            outcome=Outcome.ABORT,
            undocumented_values=("high_precision_for_all", "high_performance_for_all"),
            value_versions={
                "high_precision_for_all": since("r1.6.0"),
                "high_performance_for_all": since("r1.6.0"),
            },
            source=("npu_attrs.cc:2307", "npu_estimator.py:677"),
        ),
        option(
            name="optypelist_for_implmode",
            kind=Names(
                name="[A-Za-z0-9_]+",
                what="operator types",
                known=("Pooling", "SoftmaxV2", "LRN", "ROIAlign"),
                example="Pooling,SoftmaxV2",
            ),
            summary="Operator types that op_select_implmode applies to.",
            scope="process+session",
            status=Status.DEPRECATED,
            replacement="op_precision_mode",
            outcome=Outcome.UNCHECKED,
            severity=Severity.WARNING,
            sample={"op_select_implmode": "high_precision"},
            source=("npu_attrs.cc:2308", "npu_estimator.py:679"),
        ),
        option(
            name="dynamic_input",
            kind=Bool(),
            summary="Declares a dynamic input graph.",
            default=False,
            run_config_default=None,
            scope="graph",
            status=Status.DEPRECATED,
            notes='True makes the adapter use jit_compile "1" for the graph.',
            versions=since("r1.3.0"),
            source=("npu_attrs.cc:2246", "npu_estimator.py:826"),
        ),
        option(
            name="dynamic_graph_execute_mode",
            kind=Choice(("dynamic_execute", "lazy_recompile")),
            summary="Execution mode for dynamic_input.",
            default="dynamic_execute",
            scope="graph",
            read_when=("dynamic_input",),
            status=Status.DEPRECATED,
            notes="Only dynamic_execute is documented.",
            outcome=Outcome.ABORT,
            undocumented_values=("lazy_recompile",),
            versions=since("r1.3.0"),
            source=("npu_attrs.cc:2250", "npu_estimator.py:828"),
        ),
        option(
            name="dynamic_inputs_shape_range",
            kind=ShapeRange(),
            summary="Shape ranges of dynamic inputs for dynamic_execute.",
            scope="graph",
            read_when=("dynamic_input",),
            status=Status.DEPRECATED,
            replacement="input_shape/dynamic_dims/dynamic_node_type or compile_dynamic_mode",
            outcome=Outcome.ABORT,
            versions=since("r1.3.0"),
            sample={"dynamic_input": True, "dynamic_graph_execute_mode": "dynamic_execute"},
            source=("npu_attrs.cc:2259", "npu_estimator.py:831"),
        ),
        option(
            name="graph_memory_max_size",
            kind=Text(words="a number of bytes as text"),
            summary="Limit of graph memory in older versions; without effect now.",
            unit="byte",
            status=Status.NO_EFFECT,
            effective=until("r1.11.0"),
            sample={"graph_memory_max_size": "27917287424"},
            source=("npu_attrs.cc:2043", "npu_estimator.py:798"),
        ),
        option(
            name="variable_memory_max_size",
            kind=Text(words="a number of bytes as text"),
            summary="Limit of variable memory in older versions; without effect now.",
            unit="byte",
            status=Status.NO_EFFECT,
            effective=until("r1.11.0"),
            sample={"variable_memory_max_size": "3865470566"},
            source=("npu_attrs.cc:2046", "npu_estimator.py:800"),
        ),
    )
)
