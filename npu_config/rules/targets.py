"""107-114: what the product, the mode or the adapter's version does not know."""

from __future__ import annotations

import functools
from typing import Any, FrozenSet, Iterable, List, Optional, Sequence, Tuple

from npu_config.catalogue import ALL_OPTIONS, OPTIONS
from npu_config.core.diagnostics import REGISTRY, Diagnostic, Severity, rule
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import ALL_PRODUCTS, SNAPSHOTS, Product, Versions, is_measured
from npu_config.rules.case import (
    RESERVED_MODES,
    SHAPE_PROFILES,
    Case,
    changed,
    given,
    is_never_read,
    mode_words,
    quoted,
)


@rule(
    "NPU107",
    Severity.ERROR,
    options=tuple(OPTIONS),
    facts=("huge-page-products", "input-batch-products", "aicore-num-products", "aoe-products"),
    source=("docs/en/tfadapter_1/apiref/session_config",),
    about="target",
)
def option_not_on_product(case: Case) -> None:
    """An option is set that the target product does not support.

    This is reported only if a product is specified (``--target``, ``Target(product=...)``), and
    not for a value that is, or may be, the default.

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
                '"{}" is not supported on {}; supported on: {}',
                name,
                case.target.product.value,
                _product_words(option.products),
                help="remove the option for this product",
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
    help="set a value that is legal on this product, or remove the option",
)
def value_not_on_product(case: Case) -> None:
    """An option has a value that the target product does not support.

    Without a target, a value is reported only if no product supports it.

    Wrong:

        target: {product: atlas_training}
        precision_mode: allow_mix_precision_bf16

    Right:

        target: {product: atlas_training}
        precision_mode: allow_mix_precision_fp16
    """
    known = case.known
    for name in case.touched:
        option = OPTIONS[name]
        value: Any = known.get(name)
        supported = option.value_products.get(value)
        if supported is not None and value not in RESERVED_MODES:
            if _may_be_read(case, option.read_when) and case.never_on(supported):
                case.report(
                    name,
                    '"{}" is "{}", which is supported on {} only',
                    name,
                    value,
                    _product_words(supported),
                    help=phrase("choose a value that {} supports", _target_words(case)),
                )
        elif option.ranges and name in known:
            ranges = _ranges(name, case.products)
            if ranges and not any(low <= value <= high for low, high in ranges):
                case.report(
                    name,
                    '"{}" is {}; legal on {}: {} to {}',
                    name,
                    value,
                    _target_words(case),
                    *ranges[0],
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
    """An option for online inference is set for training, or the reverse.

    ``graph_run_mode`` selects the mode: 1 or not set is training, 0 is online inference.  Nothing
    checks the option at run time.  ``aoe_mode``, which tunes training only, is an error.

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
    for name in case.touched:
        if mode == _OTHER_MODE[OPTIONS[name].modes] and changed(case, name):
            if name in SHAPE_PROFILES:
                profiles.append(name)
            else:
                _report_mode(case, [name], OPTIONS[name].modes)
    if profiles:
        _report_mode(case, profiles, "online_inference")


def _report_mode(case: Case, names: List[str], mode: str) -> None:
    case.report(
        names[0],
        '{} is for {} only, but "graph_run_mode" is {}'
        if len(names) == 1
        else '{} are for {} only, but "graph_run_mode" is {}',
        quoted(names),
        mode.replace("_", " "),
        mode_words(case),
        help=phrase(
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
    about="target",
    also=("graph_run_mode",),
)
def mode_not_of_target(case: Case) -> None:
    """``graph_run_mode`` contradicts the mode of the target.

    If ``graph_run_mode`` is not set, the graph runs in training mode, even in an inference script.

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
            'the configuration is checked for {}, but "graph_run_mode" is {}',
            case.target.mode.replace("_", " "),
            mode_words(case),
            help=phrase('set "graph_run_mode" to {}', wanted),
        )


def _product_words(products: Iterable[Product]) -> str:
    return listed(sorted(product.value for product in products))


def _target_words(case: Case) -> str:
    return "any product" if case.target.product is None else case.target.product.value


_HISTORY = ("tf_adapter/util/npu_attrs.cc",)


@rule(
    "NPU111",
    Severity.ERROR,
    source=_HISTORY,
    about="faults",
)
def option_not_in_version(case: Case) -> None:
    """An option is set that the adapter of the target's version does not read.

    Later versions added options, and removed some.  The adapter reads only the names that it
    knows, so the option has no effect, without any message.  This is reported only if a version is
    specified (``--target-cann``, ``Target(cann=...)``, ``Target(adapter=...)``).  In a ConfigProto
    or a script it is a warning, as for an unknown name.

    Wrong:

        target: {cann: "5.1.RC1"}
        deterministic: 1

    Right:

        target: {cann: "6.3.RC1"}
        deterministic: 1
    """
    for fault in case.own_faults:
        option = ALL_OPTIONS[fault.name]
        argument = option.run_config or option.name
        if case.version is None or _other_versions(case, argument) is not None:
            continue
        case.report(
            option.name,
            '"{}" is not read by {}; the option is available {}',
            option.name,
            SNAPSHOTS[case.version],
            option.versions,
            help=phrase("use {}", option.replacement)
            if option.replacement
            else "remove the option, or use a version that reads it",
            place=fault.setting.place_of_name,
            severity=None if case.is_ours else Severity.WARNING,
        )


@rule(
    "NPU112",
    Severity.ERROR,
    source=_HISTORY,
    about="faults",
)
def value_not_in_version(case: Case) -> None:
    """An option has a value that the adapter of the target version does not know.

    Later versions added legal values, and removed some.  ``jit_compile`` was a bool before it
    became a string: the adapters of that time know only ``"true"`` and ``"false"``.  This is
    reported only if the target has a version.

    Wrong:

        target: {cann: "7.0.0"}
        aoe_mode: "3"

    Right:

        target: {cann: "7.0.0"}
        aoe_mode: "2"
    """
    for fault in case.own_faults:
        if fault.refused is not None:
            case.report(
                fault.name,
                '"{}" {}',
                fault.name,
                fault.refused.problem,
                help=fault.refused.help or "choose a value that this version supports",
            )


@rule(
    "NPU113",
    Severity.INFO,
    source=_HISTORY,
    about="version",
)
def version_not_measured(case: Case) -> None:
    """The CANN version of the target is older or newer than all versions that npu_config knows.

    The rules of the newest, or the oldest, known adapter are then used.

    Wrong:

        target: {cann: "99.0"}
        deterministic: 1

    Right:

        target: {cann: "9.0.0"}
        deterministic: 1
    """
    cann, snapshot = case.target.cann, case.target.snapshot
    if cann is not None and snapshot is not None and not is_measured(cann):
        case.report(
            None,
            "CANN {} is older than every version that npu_config knows; it is checked as {}"
            if snapshot is SNAPSHOTS[0]
            else "CANN {} is newer than every version that npu_config knows; it is checked as {}",
            cann,
            snapshot,
        )


@rule(
    "NPU114",
    Severity.ERROR,
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_config.py",),
    about="run_config",
)
def argument_not_in_version(case: Case) -> None:
    """NPURunConfig is called with an argument that the target version does not have.

    The call raises TypeError on the host.  This is reported only if a version is specified.

    Wrong, in a script for CANN 5.0.2:

        NPURunConfig(deterministic=1)

    Right, in a script for CANN 5.0.2:

        NPURunConfig(iterations_per_loop=10)
    """
    if case.version is None:
        return
    given = {
        (ALL_OPTIONS[name].run_config or name) if name in ALL_OPTIONS else name: setting
        for name, setting in case.entries.items()
    }
    given.update(case.settings.extra)
    places = {name.partition(".")[0]: setting for name, setting in given.items()}
    for name, setting in places.items():
        others = _other_versions(case, name)
        if others is not None:
            case.report(
                name if name in ALL_OPTIONS else None,
                'NPURunConfig of {} has no argument "{}"; the argument is available {}',
                SNAPSHOTS[case.version],
                name,
                others,
                help="remove the argument, or use a version that has it",
                place=setting.place_of_name,
                consequence="the call raises TypeError",
            )


def _other_versions(case: Case, name: str) -> Optional[Versions]:
    """Those with an argument of NPURunConfig that the adapter of the target does not have."""
    if case.source_kind is not SourceKind.RUN_CONFIG or case.version is None:
        return None
    from npu_config.catalogue.api import ARGUMENT_VERSIONS

    versions = ARGUMENT_VERSIONS.get(name.partition(".")[0])
    return None if versions is None or versions.has(case.version) else versions


def not_read(settings: Settings, target: Target) -> List[Diagnostic]:
    """The findings about the options that the adapter of the target does not read."""
    case = Case(settings, target)
    case.rule = REGISTRY["NPU111"]
    option_not_in_version(case)
    return case.diagnostics
