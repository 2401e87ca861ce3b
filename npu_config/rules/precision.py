"""2xx: precision modes, accelerated training, and what hangs on them."""

from __future__ import annotations

from typing import Tuple

from npu_config.catalogue import OPTIONS, Outcome
from npu_config.catalogue.options import MIXED_MODES
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import join, phrase
from npu_config.core.versions import Product
from npu_config.rules.case import RESERVED_MODES, Case, given, mode_words, quoted

_ACCURACY = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_PERFORMANCE = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"

_MIXED = MIXED_MODES["precision_mode"]
_MIXED_V2 = tuple(m for m in MIXED_MODES["precision_mode_v2"] if m not in RESERVED_MODES)
_FOR_ALL = "_for_all"
KEEPS_DTYPES = (("precision_mode", "must_keep_origin_dtype"), ("precision_mode_v2", "origin"))
BFLOAT16_PRODUCTS = OPTIONS["precision_mode_v2"].value_products["mixed_bfloat16"]


@rule(
    "NPU201",
    Severity.ERROR,
    options=("precision_mode_v2",),
    beside=("precision_mode",),
    facts=("precision-exclusive",),
    source=("tf_adapter/util/npu_attrs.cc:2478-2482", _ACCURACY),
)
def both_precision_modes(case: Case) -> None:
    """``precision_mode`` and ``precision_mode_v2`` are set together.

    Both options set the precision mode, with different values.  The adapter checks only whether
    both keys are set, not their values, and session.run raises an exception.

    Wrong:

        precision_mode: allow_mix_precision
        precision_mode_v2: mixed_float16

    Right:

        precision_mode_v2: mixed_float16
    """
    if case.isset("precision_mode") and case.isset("precision_mode_v2"):
        case.report(
            "precision_mode",
            '"precision_mode" and "precision_mode_v2" are both set; only one of them is allowed',
            help='keep "precision_mode_v2" and remove "precision_mode"',
            consequence=Outcome.REJECT.value,
        )


@rule(
    "NPU202",
    Severity.ERROR,
    options=("precision_mode_v2",),
    facts=("precision-hif8",),
    source=(_ACCURACY,),
)
def hif8_precision_mode(case: Case) -> None:
    """A HiFloat8 precision mode is chosen, which no version supports yet.

    ``mixed_hif8`` and ``cube_hif8`` are reserved for ascend_950.  The adapter accepts the names.

    Wrong:

        precision_mode_v2: mixed_hif8

    Right:

        precision_mode_v2: mixed_float16
    """
    mode = case.get("precision_mode_v2")
    if mode in RESERVED_MODES:
        case.report(
            "precision_mode_v2",
            '"precision_mode_v2" is "{}", which is reserved and not supported yet; legal: '
            '"fp16", "origin", "cube_fp16in_fp32out", "mixed_float16", "mixed_bfloat16"',
            mode,
            help="choose a mode that is supported",
        )


@rule(
    "NPU203",
    Severity.ERROR,
    options=("precision_mode",),
    also=("graph_run_mode",),
    facts=("precision-force-fp16-inference",),
    source=(_ACCURACY,),
)
def force_fp16_in_training(case: Case) -> None:
    """``precision_mode: force_fp16`` is set for training.

    ``force_fp16`` is documented for online inference only, where it is the default.  Nothing
    checks the option: the training runs, with every operator in float16.

    Wrong:

        precision_mode: force_fp16

    Right:

        precision_mode: allow_mix_precision
    """
    if case.get("precision_mode") == "force_fp16" and case.training():
        case.report(
            "precision_mode",
            '"precision_mode" is "force_fp16", which is for online inference, '
            'but "graph_run_mode" is {}',
            mode_words(case),
            help='choose another precision mode for training, e.g. "allow_mix_precision"',
        )


@rule(
    "NPU204",
    Severity.ERROR,
    options=("modify_mixlist",),
    also=(
        "precision_mode_v2",
        "precision_mode",
    ),
    facts=("modify-mixlist-needs-mixed",),
    source=("tf_adapter/util/npu_attrs.cc:2424-2477", _ACCURACY),
)
def mixlist_without_mixed_precision(case: Case) -> None:
    """``modify_mixlist`` is set without a mixed precision mode.

    The file changes the operator lists of mixed precision.  With another precision mode, or
    without one, session.run raises an exception.

    Wrong:

        modify_mixlist: ops_info.json

    Right:

        modify_mixlist: ops_info.json
        precision_mode_v2: mixed_float16
    """
    if not given(case, "modify_mixlist"):
        return
    if case.isset("precision_mode"):
        if case.isset("precision_mode_v2"):
            return
        mode = case.get("precision_mode")
        if mode is None or mode in _MIXED:
            return
        found = phrase('"precision_mode" is "{}"', mode)
    elif case.isset("precision_mode_v2"):
        mode = case.get("precision_mode_v2")
        if mode is None or mode in MIXED_MODES["precision_mode_v2"]:
            return
        found = phrase('"precision_mode_v2" is "{}"', mode)
    elif case.absent("precision_mode"):
        found = "no precision mode is set"
    else:
        return
    case.report(
        "modify_mixlist",
        '"modify_mixlist" is set but {}; required: "precision_mode" {}, or "precision_mode_v2" {}',
        found,
        either(_MIXED),
        either(_MIXED_V2),
        help='set "precision_mode_v2" to "mixed_float16", or remove "modify_mixlist"',
        consequence=Outcome.REJECT.value,
    )


def either(values: Tuple[str, ...]) -> str:
    """Values in quotes, joined by "or"."""
    return join(" or ", ['"{}"'.format(value) for value in values])


@rule(
    "NPU205",
    Severity.WARNING,
    options=("customize_dtypes",),
    also=(
        "precision_mode_v2",
        "precision_mode",
    ),
    facts=("customize-dtypes-no-effect",),
    source=(_ACCURACY,),
)
def custom_dtypes_with_kept_dtypes(case: Case) -> None:
    """``customize_dtypes`` is set while every operator keeps its data type.

    With ``must_keep_origin_dtype`` or ``origin`` the file has no effect.  Training on ascend_950,
    atlas_a3 and atlas_a2 uses such a mode by default, so removing the mode does not help.

    Wrong:

        customize_dtypes: customize_dtypes.cfg
        precision_mode_v2: origin

    Right:

        customize_dtypes: customize_dtypes.cfg
        precision_mode_v2: mixed_float16
    """
    if not given(case, "customize_dtypes"):
        return
    for name, value in KEEPS_DTYPES:
        if case.get(name) == value:
            case.report(
                "customize_dtypes",
                '"customize_dtypes" has no effect while "{}" is "{}"',
                name,
                value,
                help="choose another precision mode, or remove it",
            )
            return
    if (
        case.absent("precision_mode")
        and case.absent("precision_mode_v2")
        and case.target.product is not None
        and case.only_on(BFLOAT16_PRODUCTS)
        and case.training()
    ):
        case.report(
            "customize_dtypes",
            '"customize_dtypes" has no effect: no precision mode is set, and training on {} '
            'then keeps every data type ("origin")',
            case.target.product.value,
            help='set "precision_mode_v2", e.g. to "mixed_float16"',
        )


@rule(
    "NPU206",
    Severity.WARNING,
    options=("op_precision_mode",),
    also=(
        "op_select_implmode",
        "optypelist_for_implmode",
    ),
    facts=("op-precision-vs-implmode",),
    source=(_PERFORMANCE,),
)
def two_implementation_modes(case: Case) -> None:
    """``op_precision_mode`` is set together with ``op_select_implmode``.

    Both options select the implementation of operators.  ``op_precision_mode`` is used, and
    ``op_select_implmode`` and ``optypelist_for_implmode`` are ignored.

    Wrong:

        op_precision_mode: op_precision.ini
        op_select_implmode: high_precision

    Right:

        op_precision_mode: op_precision.ini
    """
    if not given(case, "op_precision_mode"):
        return
    ignored = [
        name for name in ("op_select_implmode", "optypelist_for_implmode") if given(case, name)
    ]
    if ignored:
        case.report(
            ignored[0],
            '{} is ignored, because "op_precision_mode" is set'
            if len(ignored) == 1
            else '{} are ignored, because "op_precision_mode" is set',
            quoted(ignored),
            help="write the modes into the file of op_precision_mode and remove the other options",
        )


@rule(
    "NPU207",
    Severity.ERROR,
    options=("optypelist_for_implmode",),
    also=(
        "op_precision_mode",
        "op_select_implmode",
    ),
    facts=("optypelist-needs-implmode",),
    source=("tf_adapter/util/npu_attrs.cc:2307-2312",),
)
def optypelist_without_implmode(case: Case) -> None:
    """``optypelist_for_implmode`` is set without ``op_select_implmode``.

    ``optypelist_for_implmode`` lists the operator types that the mode applies to; without the mode
    the adapter aborts the process.

    Wrong:

        optypelist_for_implmode: Pooling

    Right:

        optypelist_for_implmode: Pooling
        op_select_implmode: high_precision
    """
    if case.isset("optypelist_for_implmode") and case.absent("op_select_implmode"):
        case.report(
            "optypelist_for_implmode",
            '"optypelist_for_implmode" is set without "op_select_implmode"',
            help='set "op_select_implmode" too, or use "op_precision_mode" in place of both',
            consequence=Outcome.ABORT.value,
        )


@rule(
    "NPU208",
    Severity.ERROR,
    options=("experimental_accelerate_train_mode",),
    also=(
        "precision_mode_v2",
        "precision_mode",
    ),
    facts=("accelerate-precision",),
    source=(
        "docs/en/tfadapter_1/apiref/session_config/experiment_options.md",
        "tf_adapter/kernels/geop_npu.cc:782-830",
    ),
)
def accelerated_training_with_precision_mode(case: Case) -> None:
    """``experimental_accelerate_train_mode`` is set with an unsupported precision mode.

    The accelerated training switches the precision itself and starts from full precision: only
    ``allow_fp32_to_fp16``, ``must_keep_origin_dtype`` (``origin``), or no precision mode are
    supported.  With another mode the first run raises an exception.

    Wrong:

        experimental_accelerate_train_mode: "fast|step|0.9"
        precision_mode_v2: fp16

    Right:

        experimental_accelerate_train_mode: "fast|step|0.9"
        precision_mode_v2: origin
    """
    if not given(case, "experimental_accelerate_train_mode"):
        return
    for name, legal in (
        ("precision_mode", ("allow_fp32_to_fp16", "must_keep_origin_dtype")),
        ("precision_mode_v2", ("origin",)),
    ):
        mode = case.get(name)
        if mode is not None and mode not in legal:
            case.report(
                name,
                '"{}" is "{}" with "experimental_accelerate_train_mode"; legal: {}, or unset',
                name,
                mode,
                either(legal),
                help=phrase('remove "{}"', name),
                consequence="the first session.run raises an exception",
            )


@rule(
    "NPU209",
    Severity.ERROR,
    options=("experimental_accelerate_train_mode",),
    products=frozenset(Product) - BFLOAT16_PRODUCTS,
    facts=("precision-bf16-products",),
    source=(_ACCURACY,),
)
def accelerated_training_in_bfloat16(case: Case) -> None:
    """``experimental_accelerate_train_mode`` uses bfloat16 on a product without bfloat16.

    ``fast1`` lowers the precision to bfloat16, which only ascend_950, atlas_a3 and atlas_a2
    support; ``fast`` lowers the precision to float16.

    Wrong:

        target: {product: atlas_training}
        experimental_accelerate_train_mode: "fast1|step|0.9"

    Right:

        target: {product: atlas_training}
        experimental_accelerate_train_mode: "fast|step|0.9"
    """
    mode = case.get("experimental_accelerate_train_mode")
    if mode is not None and mode.precision == "fast1":
        case.report(
            "experimental_accelerate_train_mode",
            '"experimental_accelerate_train_mode" lowers the precision to bfloat16 '
            '("fast1"), which is supported on ascend_950, atlas_a2, atlas_a3 only',
            help='write "fast" to use float16',
        )


@rule(
    "NPU210",
    Severity.WARNING,
    options=("optypelist_for_implmode",),
    also=("op_select_implmode",),
    source=(
        "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md",
        "tf_adapter/util/npu_attrs.cc:2307-2320",
    ),
)
def optypelist_with_mode_for_all(case: Case) -> None:
    """``optypelist_for_implmode`` is set, but ``op_select_implmode`` applies to all operators.

    ``optypelist_for_implmode`` lists the operator types that ``op_select_implmode`` applies to,
    but the undocumented modes ``high_precision_for_all`` and ``high_performance_for_all`` apply to
    all operator types.

    Wrong:

        op_select_implmode: high_precision_for_all
        optypelist_for_implmode: Pooling

    Right:

        op_select_implmode: high_precision
        optypelist_for_implmode: Pooling
    """
    mode = case.get("op_select_implmode") or ""
    if mode.endswith(_FOR_ALL) and given(case, "optypelist_for_implmode"):
        case.report(
            "optypelist_for_implmode",
            '"op_select_implmode" is "{}", which applies to all operators: '
            '"optypelist_for_implmode" does not restrict it',
            mode,
            help=phrase(
                'set "op_select_implmode" to "{}", or remove "optypelist_for_implmode"',
                mode[: -len(_FOR_ALL)],
            ),
        )
