"""500-549: shape profiles, dynamic input, shape generalisation."""

from npu_config.diagnostics import Severity
from npu_config.judge import Case
from npu_config.rulebook import rule
from npu_config.rules._reading import (
    SHAPE_PROFILES,
    changed,
    given,
    has_shape_profiles,
    inert,
    on,
    quoted,
    tuning_mode,
)
from npu_config.settings import Carrier
from npu_config.target import Product

_DOC = "docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md"
_PROFILES = "docs/en/tfadapter_1/migration/others/dynamic_shape_profiles_online_inference.md"
_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"

MOST_PROFILES = 100
MOST_PROFILES_950 = 256


@rule(
    "NPU501",
    "incomplete-shape-profiles",
    Severity.ERROR,
    options=SHAPE_PROFILES,
    facts=("dynamic-triple-together",),
    source=("tf_adapter/util/npu_attrs.cc:2326-2373", _DOC),
)
def incomplete_shape_profiles(case: Case) -> None:
    """Not all of ``input_shape``, ``dynamic_dims`` and ``dynamic_node_type`` are set.

    They describe one thing and are used together; with one or two of them the adapter aborts the
    process.

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
    if missing and case.carrier is not Carrier.RUN_CONFIG:
        present = [name for name in SHAPE_PROFILES if case.isset(name)]
        case.report(
            present[0],
            "{} set without {}; all three are legal, or none; "
            "the adapter aborts the process".format(
                quoted(present) + (" is" if len(present) == 1 else " are"), quoted(missing)
            ),
            "set {} too".format(quoted(missing)),
        )


@rule(
    "NPU502",
    "profile-of-wrong-length",
    Severity.ERROR,
    options=("dynamic_dims",),
    facts=("dynamic-dims-count",),
    source=(_DOC, "cann/ge:compiler/graph/preprocess/multi_batch_options.cc"),
)
def profile_of_wrong_length(case: Case) -> None:
    """A profile of ``dynamic_dims`` has another number of sizes than ``input_shape`` has ``-1``.

    Each profile fills all the ``-1`` of all inputs, in order.  The graph engine refuses others.

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
                'profile {} of "dynamic_dims" is "{}" with {} size{}, but "input_shape" has {} '
                'times "-1"; the graph engine refuses it'.format(
                    number,
                    ",".join(str(size) for size in profile[:8]),
                    len(profile),
                    "" if len(profile) == 1 else "s",
                    gaps,
                ),
                'give each profile one size for each "-1", in the order of the inputs',
            )
            return


@rule(
    "NPU503",
    "too-many-shape-profiles",
    Severity.ERROR,
    options=("dynamic_dims",),
    facts=("dynamic-dims-max-profiles",),
    source=(_DOC,),
)
def too_many_shape_profiles(case: Case) -> None:
    """``dynamic_dims`` holds more than 100 profiles.

    ascend_950 takes up to 256.  Without a target, 101 to 256 profiles are a warning.

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
        '"dynamic_dims" holds {} profiles; legal: 2 to {} ({} on ascend_950)'.format(
            len(profiles), MOST_PROFILES, MOST_PROFILES_950
        ),
        "keep the profiles that are needed",
        severity=None if case.never_on((Product.ASCEND_950,)) else Severity.WARNING,
    )


@rule(
    "NPU504",
    "inputs-not-alphabetical",
    Severity.ERROR,
    options=("input_shape",),
    facts=("input-shape-order",),
    source=(_DOC, _PROFILES),
)
def inputs_not_alphabetical(case: Case) -> None:
    """The inputs of ``input_shape`` do not stand in alphabetical order.

    The graph lists its inputs by name, and shapes are matched to them by position: in another
    order each input gets the shape of another one.  Nothing checks it.

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
                '"input_shape" names "{}" before "{}"; inputs stand in alphabetical order, or '
                "each gets the shape of another one".format(before[:80], after[:80]),
                'write the inputs in the order "{}"'.format(", ".join(sorted(names)[:8])),
            )
            return


@rule(
    "NPU505",
    "shape-profiles-with-mixed-computing",
    Severity.ERROR,
    options=("mix_compile_mode",),
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
            '"mix_compile_mode" is True with "input_shape" and "dynamic_dims"; '
            "the adapter aborts the process",
            'set "mix_compile_mode" to False, or remove the shape profiles',
        )


@rule(
    "NPU506",
    "shape-profiles-with-tuning",
    Severity.ERROR,
    options=("dynamic_dims",),
    facts=("dynamic-dims-aoe-exclusive",),
    source=("tf_adapter/kernels/geop_npu.cc:1473-1475",),
)
def shape_profiles_with_tuning(case: Case) -> None:
    """Shape profiles are set while AOE tuning is on.

    session.run raises.

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
            '"input_shape" and "dynamic_dims" are set while {} is "{}"; tuning takes no shape '
            "profiles, and session.run raises".format(source, mode),
            "tune without shape profiles",
        )


@rule(
    "NPU507",
    "hybrid-compilation-without-profiles",
    Severity.ERROR,
    options=("compile_hybrid_mode",),
    facts=("compile-hybrid-needs-triple",),
    source=("tf_adapter/util/npu_attrs.cc:2360-2368", _DOC),
)
def hybrid_compilation_without_profiles(case: Case) -> None:
    """``compile_hybrid_mode`` is 1 without shape profiles.

    It compiles one graph for the profiles and one for all other shapes; session.run raises
    without profiles.

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
        and case.carrier is not Carrier.RUN_CONFIG
    ):
        case.report(
            "compile_hybrid_mode",
            '"compile_hybrid_mode" is 1 but {} are not set; session.run raises'.format(
                quoted(SHAPE_PROFILES)
            ),
            'set the three, or "compile_hybrid_mode" to 0',
        )


@rule(
    "NPU508",
    "hybrid-compilation-of-dataset-inputs",
    Severity.ERROR,
    options=("compile_hybrid_mode",),
    facts=("compile-hybrid-placeholder",),
    source=("tf_adapter/util/npu_attrs.cc:2352-2356", _DOC),
)
def hybrid_compilation_of_dataset_inputs(case: Case) -> None:
    """``compile_hybrid_mode`` is 1 and the dynamic inputs come from a dataset.

    Only placeholders are supported; session.run raises.

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
            '"dynamic_node_type" is 0 (dataset) with "compile_hybrid_mode" 1; legal with it: '
            "1 (placeholder); session.run raises",
            'feed placeholders and set "dynamic_node_type" to 1',
        )


@rule(
    "NPU509",
    "hybrid-compilation-moves-weights",
    Severity.INFO,
    options=("compile_hybrid_mode",),
    facts=("compile-hybrid-external-weight",),
    source=(_DOC,),
)
def hybrid_compilation_moves_weights(case: Case) -> None:
    """``compile_hybrid_mode`` 1 switches ``external_weight`` on by itself.

    The two graphs share their weights through files.  A warning when ``external_weight`` is set
    to False.

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
    if case.get("external_weight") is False and case.carrier is not Carrier.RUN_CONFIG:
        case.report(
            "external_weight",
            '"external_weight" is False with "compile_hybrid_mode" 1, which shares weights '
            "through files",
            'set "external_weight" to True, or remove it',
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
    "dynamic-compilation-with-shape-profiles",
    Severity.ERROR,
    options=("compile_dynamic_mode",),
    facts=("compile-dynamic-vs-profiles",),
    source=("tf_adapter/kernels/geop_npu.cc:1466-1471", _DOC),
)
def dynamic_compilation_with_shape_profiles(case: Case) -> None:
    """``compile_dynamic_mode`` is True with shape profiles.

    It makes every input shape dynamic, so that profiles have no place; session.run raises.

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
            '"compile_dynamic_mode" is True with {}; session.run raises'.format(
                quoted(SHAPE_PROFILES)
            ),
            'set "compile_dynamic_mode" to False, or remove the shape profiles',
        )


@rule(
    "NPU511",
    "dynamic-compilation-with-dynamic-input",
    Severity.ERROR,
    options=("compile_dynamic_mode",),
    facts=("compile-dynamic-vs-dynamic-input",),
    source=("tf_adapter/kernels/geop_npu.cc:1464-1465",),
)
def dynamic_compilation_with_dynamic_input(case: Case) -> None:
    """``compile_dynamic_mode`` and ``dynamic_input`` are True together.

    They are the new and the old way to the same; session.run raises.

    Wrong:

        compile_dynamic_mode: true
        dynamic_input: true

    Right:

        compile_dynamic_mode: true
    """
    if case.get("compile_dynamic_mode") is True and on(case, "dynamic_input"):
        case.report(
            "dynamic_input",
            '"dynamic_input" and "compile_dynamic_mode" are both True; at most one of them may '
            "be; session.run raises",
            'remove "dynamic_input", which is deprecated',
        )


@rule(
    "NPU512",
    "shape-generalization-without-jit",
    Severity.WARNING,
    options=("shape_generalization_mode",),
    facts=("shape-generalization-needs-jit",),
    source=(_EXPERIMENTAL, "tf_adapter/kernels/geop_npu.cc:450-456"),
)
def shape_generalization_without_jit(case: Case) -> None:
    """``shape_generalization_mode`` is set while ``jit_compile`` is not ``"true"``.

    It is ignored, with a warning in the log.

    Wrong:

        shape_generalization_mode: FULL

    Right:

        shape_generalization_mode: FULL
        jit_compile: "true"
    """
    if changed(case, "shape_generalization_mode") and case.never("jit_compile", "true"):
        case.report(
            "shape_generalization_mode",
            '"shape_generalization_mode" is ignored, because "jit_compile" is {}'.format(
                '"{}"'.format(case.get("jit_compile")) if case.isset("jit_compile") else "not set"
            ),
            'set "jit_compile" to "true"',
        )


@rule(
    "NPU513",
    "shape-generalization-with-dynamic-compilation",
    Severity.WARNING,
    options=("shape_generalization_mode",),
    facts=("shape-generalization-vs-compile-dynamic",),
    source=(_EXPERIMENTAL,),
)
def shape_generalization_with_dynamic_compilation(case: Case) -> None:
    """``shape_generalization_mode`` is set while ``compile_dynamic_mode`` is True.

    Every shape is dynamic from the first iteration on, so that nothing is left to generalise.

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
            "remove one of them",
        )


@rule(
    "NPU514",
    "dynamic-option-without-dynamic-input",
    Severity.WARNING,
    options=("dynamic_graph_execute_mode", "dynamic_inputs_shape_range"),
    facts=("dynamic-input-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:943-957",),
)
def dynamic_option_without_dynamic_input(case: Case) -> None:
    """An option of ``dynamic_input`` is set while that is not True.

    It is ignored.

    Wrong:

        dynamic_inputs_shape_range: "data:[1~2]"

    Right:

        dynamic_inputs_shape_range: "data:[1~2]"
        dynamic_input: true
    """
    for name in ("dynamic_graph_execute_mode", "dynamic_inputs_shape_range"):
        if inert(case, name, "dynamic_input"):
            case.report(
                name,
                '"{}" has no effect, because "dynamic_input" is {}'.format(
                    name, "False" if case.isset("dynamic_input") else "not set"
                ),
                'set "dynamic_input" to True, or remove "{}"'.format(name),
            )


@rule(
    "NPU515",
    "shape-range-with-shape-profiles",
    Severity.WARNING,
    options=("dynamic_inputs_shape_range",),
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
            "remove one of them",
        )


@rule(
    "NPU516",
    "dynamic-input-forces-jit",
    Severity.INFO,
    options=("jit_compile",),
    facts=("dynamic-input-jit",),
    source=("tf_adapter/kernels/geop_npu.cc:424-427",),
)
def dynamic_input_forces_jit(case: Case) -> None:
    """``dynamic_input`` is True: the graph is compiled as with ``jit_compile: "true"``.

    Whatever ``jit_compile`` says.

    Wrong:

        dynamic_input: true
        jit_compile: "false"

    Right:

        dynamic_input: true
        jit_compile: "true"
    """
    mode = case.get("jit_compile")
    if mode is not None and mode != "true" and on(case, "dynamic_input"):
        case.report(
            "jit_compile",
            '"jit_compile" is "{}", but "dynamic_input" is True: the graph is compiled as with '
            '"true"'.format(mode),
        )


@rule(
    "NPU517",
    "insert-op-file-with-shape-profiles",
    Severity.ERROR,
    options=("insert_op_file",),
    facts=("insert-op-file-dynamic",),
    source=("cann/ge:docs/zh/user_guides/atc_tools/CLI_options/--insert_op_conf.md",),
)
def insert_op_file_with_shape_profiles(case: Case) -> None:
    """``insert_op_file`` is set together with ``dynamic_dims``.

    The image preprocessing that the file describes does not know shape profiles.

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
            '"insert_op_file" is set with "dynamic_dims"; at most one of them may be',
            "remove one of them",
        )


@rule(
    "NPU518",
    "input-fusion-with-dynamic-shapes",
    Severity.WARNING,
    options=("input_fusion_size",),
    facts=("input-fusion-static",),
    source=("docs/en/tfadapter_1/apiref/session_config/memory_management.md",),
)
def input_fusion_with_dynamic_shapes(case: Case) -> None:
    """``input_fusion_size`` is set while every graph has dynamic shapes.

    Inputs are merged into one copy in static-shape graphs only.

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
                "True".format(name),
                'remove "input_fusion_size"',
            )
            return
