"""208-209: accelerated training, which switches the precision by itself."""

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import rule
from npu_config.core.target import Product
from npu_config.rules.case import Case, given
from npu_config.rules.precision import BFLOAT16_PRODUCTS, either

_ACCURACY = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"


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
    """``experimental_accelerate_train_mode`` is set with a precision mode it cannot start from.

    The acceleration switches the precision itself and starts from full precision: only
    ``allow_fp32_to_fp16``, ``must_keep_origin_dtype`` (``origin``), or no mode at all are
    supported.  The first run raises.

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
                phrase(
                    '"{}" is "{}" with "experimental_accelerate_train_mode"; legal then: {}, or '
                    "unset",
                    name,
                    mode,
                    either(legal),
                ),
                phrase('remove "{}"', name),
                consequence="the first run raises",
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
    """``experimental_accelerate_train_mode`` lowers to bfloat16 on a product without it.

    ``fast1`` lowers to bfloat16, which only ascend_950, atlas_a3 and atlas_a2 support; ``fast``
    lowers to float16.

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
            '"experimental_accelerate_train_mode" lowers to bfloat16 ("fast1"), '
            "which is supported on ascend_950, atlas_a2, atlas_a3 only",
            'write "fast" for float16',
        )
