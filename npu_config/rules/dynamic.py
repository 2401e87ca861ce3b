"""509-519: dynamic input, shape generalisation, and what does not go with them."""

from __future__ import annotations

from npu_config.catalogue import Outcome
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.core.settings import SourceKind
from npu_config.rules.case import (
    SHAPE_PROFILES,
    Case,
    changed,
    given,
    has_shape_profiles,
    needing,
    on,
    quoted,
    report_inert,
)

_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"
_DOC = "docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md"


@rule(
    "NPU509",
    Severity.INFO,
    options=("compile_hybrid_mode",),
    also=("external_weight", *SHAPE_PROFILES),
    facts=("compile-hybrid-external-weight",),
    source=(_DOC,),
)
def hybrid_compilation_moves_weights(case: Case) -> None:
    """``compile_hybrid_mode`` 1 switches ``external_weight`` on automatically.

    Mode 1 compiles two graphs, which share their weights through files.  If ``external_weight`` is
    False, this is reported as a warning.

    Wrong:

        graph_run_mode: 0
        compile_hybrid_mode: 1
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
        external_weight: false

    Right:

        graph_run_mode: 0
        compile_hybrid_mode: 1
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
        external_weight: true
    """
    if case.get("compile_hybrid_mode") != 1 or not has_shape_profiles(case):
        return
    if case.get("external_weight") is False and case.source_kind is not SourceKind.RUN_CONFIG:
        case.report(
            "external_weight",
            '"external_weight" is False, but "compile_hybrid_mode" is 1 and shares weights '
            "through files",
            help='set "external_weight" to True, or remove it',
            severity=Severity.WARNING,
        )
    elif case.absent("external_weight"):
        case.report(
            "compile_hybrid_mode",
            '"compile_hybrid_mode" is 1: weights are written to files ("external_weight" is '
            "switched on)",
        )


@rule(
    "NPU510",
    Severity.ERROR,
    options=("compile_dynamic_mode",),
    also=SHAPE_PROFILES,
    facts=("compile-dynamic-vs-profiles",),
    source=("tf_adapter/kernels/geop_npu.cc:1466-1471", _DOC),
)
def dynamic_compilation_with_shape_profiles(case: Case) -> None:
    """``compile_dynamic_mode`` is True with shape profiles.

    ``compile_dynamic_mode`` makes every input shape dynamic and cannot be combined with profiles;
    session.run raises an exception.

    Wrong:

        graph_run_mode: 0
        compile_dynamic_mode: true
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1

    Right:

        graph_run_mode: 0
        compile_dynamic_mode: true
    """
    if case.get("compile_dynamic_mode") is True and has_shape_profiles(case):
        case.report(
            "compile_dynamic_mode",
            '"compile_dynamic_mode" is True with {}',
            quoted(SHAPE_PROFILES),
            help='set "compile_dynamic_mode" to False, or remove the shape profiles',
            consequence=Outcome.REJECT.value,
        )


@rule(
    "NPU511",
    Severity.ERROR,
    options=("compile_dynamic_mode",),
    also=("dynamic_input",),
    facts=("compile-dynamic-vs-dynamic-input",),
    source=("tf_adapter/kernels/geop_npu.cc:1464-1465",),
)
def dynamic_compilation_with_dynamic_input(case: Case) -> None:
    """``compile_dynamic_mode`` and ``dynamic_input`` are both True.

    They are the new and the old option for the same feature; session.run raises an exception.

    Wrong:

        compile_dynamic_mode: true
        dynamic_input: true

    Right:

        compile_dynamic_mode: true
    """
    if case.get("compile_dynamic_mode") is True and on(case, "dynamic_input"):
        case.report(
            "dynamic_input",
            (
                '"dynamic_input" and "compile_dynamic_mode" are both True; only one of them is '
                "allowed"
            ),
            help='remove "dynamic_input", which is deprecated',
            consequence=Outcome.REJECT.value,
        )


@rule(
    "NPU512",
    Severity.WARNING,
    options=("shape_generalization_mode",),
    also=("jit_compile",),
    facts=("shape-generalization-needs-jit",),
    source=(_EXPERIMENTAL, "tf_adapter/kernels/geop_npu.cc:450-456"),
)
def shape_generalization_without_jit(case: Case) -> None:
    """``shape_generalization_mode`` is set while ``jit_compile`` is not ``"true"``.

    The option is ignored, and the log contains a warning.

    Wrong:

        shape_generalization_mode: FULL

    Right:

        shape_generalization_mode: FULL
        jit_compile: "true"
    """
    if changed(case, "shape_generalization_mode") and case.never("jit_compile", "true"):
        case.report(
            "shape_generalization_mode",
            '"shape_generalization_mode" is ignored, because "jit_compile" is {}',
            '"{}"'.format(case.get("jit_compile"))
            if case.isset("jit_compile")
            else phrase("not set"),
            help='set "jit_compile" to "true"',
        )


@rule(
    "NPU513",
    Severity.WARNING,
    options=("shape_generalization_mode",),
    also=("compile_dynamic_mode",),
    facts=("shape-generalization-vs-compile-dynamic",),
    source=(_EXPERIMENTAL,),
)
def shape_generalization_with_dynamic_compilation(case: Case) -> None:
    """``shape_generalization_mode`` is set while ``compile_dynamic_mode`` is True.

    Every shape is dynamic from the first iteration on, so no shape is left to generalise.

    Wrong:

        shape_generalization_mode: FULL
        jit_compile: "true"
        compile_dynamic_mode: true

    Right:

        shape_generalization_mode: FULL
        jit_compile: "true"
    """
    if changed(case, "shape_generalization_mode") and on(case, "compile_dynamic_mode"):
        case.report(
            "shape_generalization_mode",
            '"shape_generalization_mode" is ignored, because "compile_dynamic_mode" is True',
            help="remove one of the two options",
        )


_OF_DYNAMIC_INPUT = needing("dynamic_input")


@rule(
    "NPU514",
    Severity.WARNING,
    options=_OF_DYNAMIC_INPUT,
    also=("dynamic_input",),
    facts=("dynamic-input-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:943-957",),
)
def dynamic_option_without_dynamic_input(case: Case) -> None:
    """An option of ``dynamic_input`` is set, but ``dynamic_input`` is not True.

    The option is ignored.

    Wrong:

        dynamic_inputs_shape_range: "data:[1~2]"

    Right:

        dynamic_inputs_shape_range: "data:[1~2]"
        dynamic_input: true
    """
    report_inert(case, _OF_DYNAMIC_INPUT, "dynamic_input")


@rule(
    "NPU515",
    Severity.WARNING,
    options=("dynamic_inputs_shape_range",),
    also=("dynamic_dims",),
    facts=("dynamic-range-vs-dims",),
    source=(_DEPRECATED,),
)
def shape_range_with_shape_profiles(case: Case) -> None:
    """``dynamic_inputs_shape_range`` is set together with ``dynamic_dims``.

    The profiles are used, and the ranges are ignored.

    Wrong:

        graph_run_mode: 0
        dynamic_input: true
        dynamic_inputs_shape_range: "data:[1~2]"
        input_shape: "data:-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1

    Right:

        graph_run_mode: 0
        input_shape: "data:-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
    """
    if given(case, "dynamic_inputs_shape_range") and given(case, "dynamic_dims"):
        case.report(
            "dynamic_inputs_shape_range",
            '"dynamic_inputs_shape_range" is ignored, because "dynamic_dims" is set',
            help="remove one of the two options",
        )


@rule(
    "NPU516",
    Severity.INFO,
    options=("jit_compile",),
    beside=("dynamic_input",),
    facts=("dynamic-input-jit",),
    source=("tf_adapter/kernels/geop_npu.cc:424-427",),
)
def dynamic_input_forces_jit(case: Case) -> None:
    """``dynamic_input`` is True: the graph is compiled as with ``jit_compile: "true"``.

    The value of ``jit_compile`` has no effect.

    Wrong:

        dynamic_input: true
        jit_compile: "false"

    Right:

        dynamic_input: true
        jit_compile: "true"
    """
    mode = case.get("jit_compile")
    if mode not in (None, "true") and on(case, "dynamic_input"):
        case.report(
            "jit_compile",
            '"jit_compile" is "{}", but "dynamic_input" is True: the graph is compiled as '
            'with "true"',
            mode,
        )


@rule(
    "NPU517",
    Severity.ERROR,
    options=("insert_op_file",),
    also=("dynamic_dims",),
    facts=("insert-op-file-dynamic",),
    source=("cann/ge:docs/zh/user_guides/atc_tools/CLI_options/--insert_op_conf.md",),
)
def insert_op_file_with_shape_profiles(case: Case) -> None:
    """``insert_op_file`` is set together with ``dynamic_dims``.

    The image preprocessing that the file describes does not support shape profiles.

    Wrong:

        graph_run_mode: 0
        insert_op_file: aipp.cfg
        input_shape: "data:-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1

    Right:

        graph_run_mode: 0
        insert_op_file: aipp.cfg
    """
    if given(case, "insert_op_file") and given(case, "dynamic_dims"):
        case.report(
            "insert_op_file",
            '"insert_op_file" is set with "dynamic_dims"; only one of them is allowed',
            help="remove one of the two options",
        )


@rule(
    "NPU518",
    Severity.WARNING,
    options=("input_fusion_size",),
    beside=("compile_dynamic_mode", "dynamic_input"),
    facts=("input-fusion-static",),
    source=("docs/en/tfadapter_1/apiref/session_config/memory_management.md",),
)
def input_fusion_with_dynamic_shapes(case: Case) -> None:
    """``input_fusion_size`` is set while every graph has dynamic shapes.

    Only graphs with static shapes merge inputs into one copy.

    Wrong:

        input_fusion_size: 25600
        compile_dynamic_mode: true

    Right:

        input_fusion_size: 25600
    """
    if not changed(case, "input_fusion_size"):
        return
    for name in ("compile_dynamic_mode", "dynamic_input"):
        if case.get(name) is True:
            case.report(
                "input_fusion_size",
                '"input_fusion_size" has no effect on graphs with dynamic shapes, and "{}" is '
                "True",
                name,
                help='remove "input_fusion_size"',
            )
            return
