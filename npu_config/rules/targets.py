"""107-110: an option or a value is set that the product or the mode does not know."""

import functools
from typing import FrozenSet, Iterable, List, Sequence, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.diagnostics import Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import rule
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ALL_PRODUCTS, Product
from npu_config.rules._reading import (
    RESERVED_MODES,
    SHAPE_PROFILES,
    changed,
    given,
    is_never_read,
    mode_words,
    quoted,
)
from npu_config.rules.case import Case


@rule(
    "NPU107",
    Severity.ERROR,
    options=tuple(OPTIONS),
    facts=("huge-page-products", "input-batch-products", "aicore-num-products", "aoe-products"),
    source=("docs/en/tfadapter_1/apiref/session_config",),
)
def option_not_on_product(case: Case) -> None:
    """An option is set that the target product does not support.

    Speaks only when a product is given (``--target``, ``Target(product=...)``), and not about
    a value that is, or may be, the default anyway.

    Wrong:

        target: {product: atlas_training}
        aicore_num: "24|48"
        op_compiler_cache_mode: disable

    Right:

        target: {product: atlas_a2}
        aicore_num: "24|48"
        op_compiler_cache_mode: disable
    """
    if case.target.product is None:
        return
    for name in case.entries:
        option = OPTIONS.get(name)
        if (
            option is not None
            and case.never_on(option.products)
            and (changed(case, name) or not given(case, name))
        ):
            case.report(
                name,
                phrase(
                    '"{}" is not supported on {}; supported on: {}',
                    name,
                    case.target.product.value,
                    _product_words(option.products),
                ),
                "leave it out for this product",
            )


_VALUES_BY_PRODUCT = tuple(name for name, option in OPTIONS.items() if option.value_products)
_RANGES_BY_PRODUCT = tuple(name for name, option in OPTIONS.items() if option.ranges)


@rule(
    "NPU108",
    Severity.ERROR,
    options=_VALUES_BY_PRODUCT + _RANGES_BY_PRODUCT,
    facts=(
        "dump-debug-mode-products",
        "precision-bf16-products",
        "aoe-subgraph-products",
        "hccl-timeout-range",
    ),
    source=("docs/en/tfadapter_1/apiref/session_config",),
    help="give a value that is legal on this product, or leave it out",
)
def value_not_on_product(case: Case) -> None:
    """A value is set that the target product does not support.

    Without a target it speaks only where no product supports the value.

    Wrong:

        target: {product: atlas_training}
        precision_mode: allow_mix_precision_bf16

    Right:

        target: {product: atlas_training}
        precision_mode: allow_mix_precision_fp16
    """
    known = case.known
    for name in _VALUES_BY_PRODUCT:
        if name in known and known[name] not in RESERVED_MODES:
            option = OPTIONS[name]
            supported = option.value_products.get(known[name])
            if supported is None or not _may_be_read(case, option.read_when):
                continue
            if case.never_on(supported):
                case.report(
                    name,
                    phrase(
                        '"{}" is "{}", which is supported on {} only',
                        name,
                        known[name],
                        _product_words(supported),
                    ),
                    phrase("choose a value that {} supports", _target_words(case)),
                )
    for name in _RANGES_BY_PRODUCT:
        if name in known:
            ranges = _ranges(name, case.products)
            if ranges and not any(low <= known[name] <= high for low, high in ranges):
                case.report(
                    name,
                    phrase(
                        '"{}" is {}; legal on {}: {} to {}',
                        name,
                        known[name],
                        _target_words(case),
                        *ranges[0],
                    ),
                )


def _may_be_read(case: Case, switches: Sequence[str]) -> bool:
    """True when one of the switches is set, and may be on; also for an option without any."""
    return not switches or (any(map(case.isset, switches)) and not is_never_read(case, switches))


@functools.lru_cache(maxsize=64)
def _ranges(name: str, products: FrozenSet[Product]) -> Tuple[Tuple[int, int], ...]:
    """The ranges of the option on these products, each once."""
    ranges = OPTIONS[name].ranges
    return tuple(dict.fromkeys(ranges[p] for p in ALL_PRODUCTS & products if p in ranges))


_OTHER_MODE = {"training": 0, "online_inference": 1}
_MODE_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.modes != "both")
_MODE_SEVERITY = {"aoe_mode": Severity.ERROR, "dump_step": Severity.INFO}


@rule(
    "NPU109",
    Severity.WARNING,
    options=_MODE_OPTIONS,
    also=("graph_run_mode",),
    facts=(
        "aoe-training",
        "buffer-optimize-inference",
        "dump-step-training",
        "dynamic-triple-inference",
        "frozen-variable-inference",
        "graph-parallel-num-inference",
        "in-out-pair-inference",
        "quant-dumpable-inference",
    ),
    source=("docs/en/tfadapter_1/apiref/session_config",),
)
def option_not_in_mode(case: Case) -> None:
    """An option of online inference is set for training, or the reverse.

    ``graph_run_mode`` says which it is: 1 (training) when it is absent, 0 for online inference.
    Nothing checks it at run time.  An error for ``aoe_mode``, which tunes training only.

    Wrong:

        frozen_variable: true

    Right:

        graph_run_mode: 0
        frozen_variable: true
    """
    mode = case.effective("graph_run_mode")
    if mode is UNKNOWN:
        return
    profiles: List[str] = []
    for name in _MODE_OPTIONS:
        if (
            name in case.entries
            and mode == _OTHER_MODE[OPTIONS[name].modes]
            and changed(case, name)
        ):
            if name in SHAPE_PROFILES:
                profiles.append(name)
            else:
                _report_mode(case, [name], OPTIONS[name].modes)
    if profiles:
        _report_mode(case, profiles, "online_inference")


def _report_mode(case: Case, names: List[str], mode: str) -> None:
    case.report(
        names[0],
        phrase(
            '{} is for {} only, but "graph_run_mode" is {}'
            if len(names) == 1
            else '{} are for {} only, but "graph_run_mode" is {}',
            quoted(names),
            mode.replace("_", " "),
            mode_words(case),
        ),
        phrase(
            'set "graph_run_mode" to {}, or remove it'
            if len(names) == 1
            else 'set "graph_run_mode" to {}, or remove them',
            1 if mode == "training" else 0,
        ),
        severity=_MODE_SEVERITY.get(names[0]),
    )


@rule(
    "NPU110",
    Severity.WARNING,
    facts=("graph-run-mode-allowed",),
    source=("docs/en/tfadapter_1/apiref/session_config/basic_options.md",),
    also=("graph_run_mode",),
)
def mode_not_of_target(case: Case) -> None:
    """``graph_run_mode`` contradicts the mode of the target.

    When it is absent the graph runs in training mode, also in an inference script.

    Wrong:

        target: {mode: online_inference}
        precision_mode_v2: fp16

    Right:

        target: {mode: online_inference}
        graph_run_mode: 0
        precision_mode_v2: fp16
    """
    if case.target.mode is None:
        return
    wanted = 1 if case.target.mode == "training" else 0
    mode = case.effective("graph_run_mode")
    if mode is not UNKNOWN and mode != wanted:
        case.report(
            "graph_run_mode",
            phrase(
                'the target is for {}, but "graph_run_mode" is {}',
                case.target.mode.replace("_", " "),
                mode_words(case),
            ),
            phrase('set "graph_run_mode" to {}', wanted),
        )


def _product_words(products: Iterable[Product]) -> str:
    return listed(sorted(product.value for product in products))


def _target_words(case: Case) -> str:
    return "any product" if case.target.product is None else case.target.product.value
