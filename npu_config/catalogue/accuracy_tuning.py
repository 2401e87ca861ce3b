"""Accuracy tuning."""

import functools

from npu_config.catalogue.kinds import Choice, Path
from npu_config.catalogue.option import Option, Outcome, products, table
from npu_config.core.target import Product
from npu_config.core.versions import since, until

PAGE = "accuracy_tuning"
TITLE = "Accuracy tuning"
DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"

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

option = functools.partial(Option, page=PAGE, doc=DOC)

OPTIONS = table(
    (
        option(
            name="precision_mode_v2",
            kind=Choice(
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
            summary="Global operator precision policy, newer vocabulary (recommended).",
            default_note=(
                "training on ascend_950: origin; training on atlas_a3: origin; training on "
                "atlas_a2: origin; training on atlas_training: none; online_inference: fp16"
            ),
            scope="process",
            notes=(
                "On atlas_training there is no v2 default; the precision_mode default applies."
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
        ),
        option(
            name="precision_mode",
            kind=Choice(
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
            summary="Global operator precision policy, older vocabulary.",
            default_note=(
                "training on ascend_950: must_keep_origin_dtype; training on atlas_a3: "
                "must_keep_origin_dtype; training on atlas_a2: must_keep_origin_dtype; "
                "training on atlas_training: allow_fp32_to_fp16; online_inference: "
                "force_fp16"
            ),
            scope="process",
            notes=(
                "precision_mode_v2 is the recommended twin but this option is not marked "
                "deprecated. An empty string is rejected."
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
        ),
        option(
            name="modify_mixlist",
            kind=Path("file"),
            summary=(
                "Path of a JSON file that edits the mixed-precision black/white/gray "
                "operator lists."
            ),
            scope="process+session",
            outcome=Outcome.GE,
            versions=since("r1.5.0"),
            sample={"precision_mode_v2": "mixed_float16"},
            source=("npu_attrs.cc:2424", "npu_estimator.py:487"),
        ),
        option(
            name="customize_dtypes",
            kind=Path("file"),
            summary=(
                "Path of a cfg file that pins input/output dtypes of single operators or "
                "operator types."
            ),
            scope="process",
            outcome=Outcome.GE,
            versions=since("r1.9.0"),
            source=("npu_attrs.cc:2498", "npu_estimator.py:849"),
        ),
    )
)
