"""501-510: shape profiles."""

from __future__ import annotations

from npu_config.catalogue import Outcome
from npu_config.catalogue.structured import DynamicDims
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import listed, phrase
from npu_config.core.settings import SourceKind
from npu_config.core.versions import Product
from npu_config.rules.case import SHAPE_PROFILES, Case, given, on, quoted, tuning_mode

_DOC = "docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md"
_PROFILES = "docs/en/tfadapter_1/migration/others/dynamic_shape_profiles_online_inference.md"

MOST_PROFILES = 100
MOST_PROFILES_950 = DynamicDims.most


@rule(
    "NPU501",
    Severity.ERROR,
    options=SHAPE_PROFILES,
    facts=("dynamic-triple-together",),
    source=("tf_adapter/util/npu_attrs.cc:2326-2373", _DOC),
)
def incomplete_shape_profiles(case: Case) -> None:
    """Not all of ``input_shape``, ``dynamic_dims`` and ``dynamic_node_type`` are set.

    The three options describe the shape profiles together; if only one or two of them are set, the
    adapter aborts the process.

    Wrong:

        graph_run_mode: 0
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"

    Right:

        graph_run_mode: 0
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
    """
    missing = [name for name in SHAPE_PROFILES if case.absent(name)]
    if missing and case.source_kind is not SourceKind.RUN_CONFIG:
        present = [name for name in SHAPE_PROFILES if case.isset(name)]
        case.report(
            present[0],
            "{} is set without {}; set all three, or none of them"
            if len(present) == 1
            else "{} are set without {}; set all three, or none of them",
            quoted(present),
            quoted(missing),
            help=phrase("set {} too", quoted(missing)),
            consequence=Outcome.ABORT.value,
        )


@rule(
    "NPU502",
    Severity.ERROR,
    options=("dynamic_dims",),
    also=("input_shape",),
    facts=("dynamic-dims-count",),
    source=(_DOC, "cann/ge:compiler/graph/preprocess/multi_batch_options.cc"),
)
def profile_of_wrong_length(case: Case) -> None:
    """A profile of ``dynamic_dims`` does not have one size for each ``-1`` of ``input_shape``.

    Each profile contains the sizes for all ``-1`` of all inputs, in order.  The graph engine
    rejects other profiles.

    Wrong:

        graph_run_mode: 0
        input_shape: "data:1,-1;label:-1,-1"
        dynamic_dims: "1,2;3,4"
        dynamic_node_type: 1

    Right:

        graph_run_mode: 0
        input_shape: "data:1,-1;label:-1,-1"
        dynamic_dims: "1,2,2;3,4,4"
        dynamic_node_type: 1
    """
    shapes = case.get("input_shape")
    profiles = case.get("dynamic_dims")
    if shapes is None or profiles is None:
        return
    gaps = sum(shape.dims.count(-1) for shape in shapes)
    for number, profile in enumerate(profiles, 1):
        if len(profile) != gaps:
            case.report(
                "dynamic_dims",
                'profile {} of "dynamic_dims" is "{}" with {} size, but "input_shape" contains '
                '"-1" {} times'
                if len(profile) == 1
                else 'profile {} of "dynamic_dims" is "{}" with {} sizes, but "input_shape" '
                'contains "-1" {} times',
                number,
                ",".join(str(size) for size in profile[:8]),
                len(profile),
                gaps,
                help='in each profile, write one size for each "-1", in the order of the inputs',
                consequence=Outcome.GE.value,
            )
            return


@rule(
    "NPU503",
    Severity.ERROR,
    options=("dynamic_dims",),
    facts=("dynamic-dims-max-profiles",),
    source=(_DOC,),
)
def too_many_shape_profiles(case: Case) -> None:
    """``dynamic_dims`` contains more than 100 profiles.

    ascend_950 supports up to 256 profiles.  Without a target, 101 to 256 profiles are a warning.

    Wrong:

        target: {product: atlas_a2}
        graph_run_mode: 0
        input_shape: "data:-1"
        dynamic_node_type: 1
        dynamic_dims: "1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;\\
          26;27;28;29;30;31;32;33;34;35;36;37;38;39;40;41;42;43;44;45;46;47;48;49;50;51;52;\\
          53;54;55;56;57;58;59;60;61;62;63;64;65;66;67;68;69;70;71;72;73;74;75;76;77;78;79;\\
          80;81;82;83;84;85;86;87;88;89;90;91;92;93;94;95;96;97;98;99;100;101"

    Right:

        target: {product: atlas_a2}
        graph_run_mode: 0
        input_shape: "data:-1"
        dynamic_node_type: 1
        dynamic_dims: "1;2;4;8;16;32;64;128"
    """
    profiles = case.get("dynamic_dims")
    if profiles is None or len(profiles) <= MOST_PROFILES or case.only_on((Product.ASCEND_950,)):
        return
    case.report(
        "dynamic_dims",
        '"dynamic_dims" has {} profiles; legal: 2 to {} ({} on ascend_950)',
        len(profiles),
        MOST_PROFILES,
        MOST_PROFILES_950,
        help="remove the profiles that are not needed",
        severity=None if case.never_on((Product.ASCEND_950,)) else Severity.WARNING,
    )


@rule(
    "NPU504",
    Severity.ERROR,
    options=("input_shape",),
    facts=("input-shape-order",),
    source=(_DOC, _PROFILES),
)
def inputs_not_alphabetical(case: Case) -> None:
    """The inputs of ``input_shape`` are not in alphabetical order.

    The graph lists its inputs by name, and the shapes are matched to the inputs by position: in
    another order, inputs get the shapes of other inputs.  Nothing checks the order.

    Wrong:

        graph_run_mode: 0
        input_shape: "mask:-1;data:-1"
        dynamic_dims: "1,1;2,2"
        dynamic_node_type: 1

    Right:

        graph_run_mode: 0
        input_shape: "data:-1;mask:-1"
        dynamic_dims: "1,1;2,2"
        dynamic_node_type: 1
    """
    shapes = case.get("input_shape")
    if shapes is None:
        return
    names = [shape.name for shape in shapes]
    for before, after in zip(names, names[1:]):
        if before > after:
            case.report(
                "input_shape",
                '"input_shape" names "{}" before "{}"; inputs must be in alphabetical order, '
                "otherwise inputs get the shapes of other inputs",
                before[:80],
                after[:80],
                help=phrase('write the inputs in the order "{}"', listed(sorted(names)[:8])),
            )
            return


@rule(
    "NPU505",
    Severity.ERROR,
    options=("mix_compile_mode",),
    also=(
        "input_shape",
        "dynamic_dims",
    ),
    facts=("dynamic-dims-mix-exclusive",),
    source=("tf_adapter/optimizers/om_partition_subgraphs_pass.cc:2385-2389", _PROFILES),
)
def shape_profiles_with_mixed_computing(case: Case) -> None:
    """Shape profiles are set with mixed computing.

    The adapter aborts the process.

    Wrong:

        graph_run_mode: 0
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
        mix_compile_mode: true

    Right:

        graph_run_mode: 0
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
    """
    if on(case, "mix_compile_mode") and given(case, "input_shape") and given(case, "dynamic_dims"):
        case.report(
            "mix_compile_mode",
            '"mix_compile_mode" is True with "input_shape" and "dynamic_dims"',
            help='set "mix_compile_mode" to False, or remove the shape profiles',
            consequence=Outcome.ABORT.value,
        )


@rule(
    "NPU506",
    Severity.ERROR,
    options=("dynamic_dims",),
    also=(
        "input_shape",
        "aoe_mode",
    ),
    facts=("dynamic-dims-aoe-exclusive",),
    source=("tf_adapter/kernels/geop_npu.cc:1473-1475",),
)
def shape_profiles_with_tuning(case: Case) -> None:
    """Shape profiles are set while AOE tuning is on.

    session.run raises an exception.

    Wrong:

        aoe_mode: "2"
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1

    Right:

        aoe_mode: "2"
    """
    mode = tuning_mode(case)
    if mode and given(case, "input_shape") and given(case, "dynamic_dims"):
        source = '"aoe_mode"' if case.isset("aoe_mode") else "AOE_MODE in the environment"
        case.report(
            "dynamic_dims",
            '"input_shape" and "dynamic_dims" are set while {} is "{}"; tuning does not '
            "support shape profiles, and session.run raises an exception",
            source,
            mode,
            help="tune without shape profiles",
        )


@rule(
    "NPU507",
    Severity.ERROR,
    options=("compile_hybrid_mode",),
    also=SHAPE_PROFILES,
    facts=("compile-hybrid-needs-triple",),
    source=("tf_adapter/util/npu_attrs.cc:2360-2368", _DOC),
)
def hybrid_compilation_without_profiles(case: Case) -> None:
    """``compile_hybrid_mode`` is 1 without shape profiles.

    Mode 1 compiles one graph for the profiles and one graph for all other shapes; without profiles
    session.run raises an exception.

    Wrong:

        graph_run_mode: 0
        compile_hybrid_mode: 1

    Right:

        graph_run_mode: 0
        compile_hybrid_mode: 1
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
    """
    if (
        case.get("compile_hybrid_mode") == 1
        and all(case.absent(name) for name in SHAPE_PROFILES)
        and case.source_kind is not SourceKind.RUN_CONFIG
    ):
        case.report(
            "compile_hybrid_mode",
            '"compile_hybrid_mode" is 1 but {} are not set',
            quoted(SHAPE_PROFILES),
            help='set all three of them, or set "compile_hybrid_mode" to 0',
            consequence=Outcome.REJECT.value,
        )


@rule(
    "NPU508",
    Severity.ERROR,
    options=("compile_hybrid_mode",),
    also=("dynamic_node_type",),
    facts=("compile-hybrid-placeholder",),
    source=("tf_adapter/util/npu_attrs.cc:2352-2356", _DOC),
)
def hybrid_compilation_of_dataset_inputs(case: Case) -> None:
    """``compile_hybrid_mode`` is 1 and the dynamic inputs come from a dataset.

    Only placeholders are supported; with a dataset session.run raises an exception.

    Wrong:

        graph_run_mode: 0
        compile_hybrid_mode: 1
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 0

    Right:

        graph_run_mode: 0
        compile_hybrid_mode: 1
        input_shape: "data:1,-1"
        dynamic_dims: "1;2"
        dynamic_node_type: 1
    """
    if case.get("compile_hybrid_mode") == 1 and case.get("dynamic_node_type") == 0:
        case.report(
            "dynamic_node_type",
            '"dynamic_node_type" is 0 (dataset) with "compile_hybrid_mode" 1; legal: 1 '
            "(placeholder)",
            help='feed placeholders and set "dynamic_node_type" to 1',
            consequence=Outcome.REJECT.value,
        )
