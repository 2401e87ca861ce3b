"""9xx: options that are deprecated, without effect, experimental, or in no documentation."""

from __future__ import annotations

from typing import List, Optional, Tuple

from npu_config.catalogue import OPTIONS, Option, Status
from npu_config.catalogue.kinds import Text
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import listed, phrase
from npu_config.core.settings import SourceKind
from npu_config.core.versions import INDEX, NEVER, NEWEST, SNAPSHOTS, Versions
from npu_config.rules.case import Case, changed, given, in_script

_DOC = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"
_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"

REMOVED = "auto_tune_mode"

_DOCUMENTED = INDEX["v0.0.48"]
"""The first version of the documentation that says of options that they have no effect."""

_DEPRECATED = tuple(
    n for n, o in OPTIONS.items() if o.status is Status.DEPRECATED and o.replacement
)
_NO_EFFECT = tuple(n for n, o in OPTIONS.items() if o.status is Status.NO_EFFECT and n != REMOVED)
_UNDOCUMENTED = tuple(n for n, o in OPTIONS.items() if o.status is Status.UNDOCUMENTED)
_EXPERIMENTS = tuple(n for n, o in OPTIONS.items() if o.status is Status.EXPERIMENTAL)
_ODD_VALUES = tuple(n for n, o in OPTIONS.items() if o.undocumented_values)


def _written_by_class(case: Case, name: str) -> bool:
    """True for what NPURunConfig writes without being asked."""
    return (
        case.source_kind is SourceKind.RUN_CONFIG
        and case.get(name) == OPTIONS[name].run_config_default
    )


@rule(
    "NPU901",
    Severity.INFO,
    options=_DEPRECATED,
    source=(_DOC,),
)
def deprecated_option(case: Case) -> None:
    """An option is set that the documentation calls deprecated.

    The option still works.  Only options that have a successor are reported; if the target has a
    version, the successor must exist in this version.  Iteration offload still needs
    ``enable_data_pre_proc``, which has no successor.

    Wrong:

        op_select_implmode: high_precision

    Right:

        op_precision_mode: op_precision.ini
    """
    entries = case.entries
    for name in _DEPRECATED:
        if name in entries and given(case, name) and not _written_by_class(case, name):
            replacement = OPTIONS[name].replacement
            successor = OPTIONS.get(replacement or "")
            if successor is not None and not _is_read_by(case, successor.versions):
                continue
            case.report(
                name,
                '"{}" is deprecated',
                name,
                help=phrase("use {}", replacement),
                place=case.entries[name].place_of_name,
            )


@rule(
    "NPU902",
    Severity.WARNING,
    options=_NO_EFFECT,
    facts=("memory-size-no-effect",),
    source=(_DOC, "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:795"),
)
def option_without_effect(case: Case) -> None:
    """An option is set that no longer has an effect.

    ``graph_memory_max_size`` and ``variable_memory_max_size`` limited the memory in older
    versions, where they are the solution for "exceeds total var size".  The newest versions accept
    both options, but allocate memory as needed.  Without a version of the target they are
    therefore reported as information; with a version that uses them they are not reported.  The
    adapter does not read ``min_group_size`` and ``enable_reduce_precision``.  In a script all four
    options are information: the training is the same without them.  In a ConfigProto the last two
    are information, too, because NPUEstimator writes them.

    Wrong:

        target: {cann: "9.0.0"}
        graph_memory_max_size: "27917287424"

    Right:

        target: {cann: "5.0.2"}
        graph_memory_max_size: "27917287424"
    """
    for name in _NO_EFFECT:
        if not case.isset(name) or _written_by_class(case, name):
            continue
        option, version, help = OPTIONS[name], case.version, "remove it"
        severity = _severity_without_effect(case, option)
        message = phrase(
            '"{}" has no effect'
            if option.is_read
            else ('"{}" has no effect; the adapter does not read it'),
            name,
        )
        if option.effective != NEVER and (version is None or version < _DOCUMENTED):
            if version is not None and option.effective.has(version):
                continue
            severity = Severity.INFO
            message = phrase(
                '"{}" has an effect in versions up to {} according to the documentation, but has '
                "no effect in the newest versions",
                name,
                SNAPSHOTS[option.effective.spans[-1][1]],
            )
            help = "remove the option, unless you use one of these old versions"
        case.report(
            name, message, help=help, place=case.entries[name].place_of_name, severity=severity
        )


def _is_read_by(case: Case, versions: Versions) -> bool:
    """True when the adapter of the target, the newest without a version, is one of these."""
    return versions.has(NEWEST if case.version is None else case.version)


def _severity_without_effect(case: Case, option: Option) -> Optional[Severity]:
    """Information in scripts, and where NPUEstimator may have written the name."""
    by_estimator = case.source_kind is SourceKind.PROTO and not option.is_read
    return Severity.INFO if by_estimator or in_script(case) else None


@rule(
    "NPU903",
    Severity.ERROR,
    options=(REMOVED,),
    also=("aoe_mode",),
    facts=("auto-tune-removed",),
    source=(
        "tf_adapter/util/npu_attrs.cc:2134-2136",
        "cann/ge:api/session/client/ge_api_v2.cc:170-181",
    ),
)
def removed_auto_tune(case: Case) -> None:
    """``auto_tune_mode`` is set, but the tuning that it enabled was removed.

    The graph engine rejects every value except an empty string (E10060), and the adapter aborts
    the process.  A value that is known only at run time is a warning.  An empty string is a
    warning, too (in a script: information), because it is read but has no effect.  The successor
    is AOE.  Adapters up to r1.10.0 still support this tuning; for such a target nothing is
    reported.

    Wrong:

        auto_tune_mode: "RL,GA"

    Right:

        aoe_mode: "2"
    """
    if not given(case, REMOVED) or not case.since("v0.0.3"):
        return
    mode = case.get(REMOVED)
    if mode is None:
        severity, outcome = (
            Severity.WARNING,
            "the adapter aborts the process for every non-empty value",
        )
    elif mode == "":
        severity = Severity.INFO if in_script(case) else Severity.WARNING
        outcome = "an empty string has no effect"
    else:
        severity, outcome = Severity.ERROR, "the adapter aborts the process"
    case.report(
        REMOVED,
        '"auto_tune_mode" was removed',
        help='remove it, and tune with "aoe_mode"',
        consequence=outcome,
        severity=severity,
    )


@rule(
    "NPU904",
    Severity.INFO,
    options=_UNDOCUMENTED,
    source=("tf_adapter/util/npu_attrs.cc:2032-2663",),
)
def undocumented_option(case: Case) -> None:
    """An option is set that no documentation describes.

    The option may change or be removed without notice.  A free-text option is reported as a
    warning, because its values are neither checked nor documented.

    Wrong:

        HCCL_algorithm: "level0:ring"

    Right:

        hccl_timeout: 1836
    """
    entries = case.entries
    for name in _UNDOCUMENTED:
        if name in entries and changed(case, name) and not _written_by_class(case, name):
            free = isinstance(OPTIONS[name].kind, Text)
            case.report(
                name,
                '"{}" is not documented, and its value is not checked'
                if free
                else '"{}" is not documented',
                name,
                help="remove the option unless the vendor's support asked for it",
                place=case.entries[name].place_of_name,
                severity=Severity.WARNING if free else None,
            )


@rule(
    "NPU905",
    Severity.INFO,
    options=_EXPERIMENTS,
    facts=("experimental-not-production",),
    source=(_EXPERIMENTAL,),
)
def experimental_option(case: Case) -> None:
    """An experimental option is set.

    According to the documentation, these options are not for production: they may change in later
    versions.

    Wrong, in production:

        jit_compile: "true"

    Right:

        jit_compile: auto
    """
    for name in case.touched:
        if changed(case, name):
            case.report(
                name,
                '"{}" is experimental and may change',
                name,
                place=case.entries[name].place_of_name,
            )


@rule(
    "NPU906",
    Severity.INFO,
    options=_ODD_VALUES,
    facts=("static-memory-policy-allowed",),
    source=(_DOC, "docs/en/tfadapter_1/apiref/session_config/memory_management.md"),
)
def undocumented_value(case: Case) -> None:
    """An option has a value that the runtime accepts but that is not documented.

    Only the adapter knows ``lazy_recompile`` and the ``_for_all`` modes of ``op_select_implmode``;
    no documentation describes them.  ``static_memory_policy`` 1 is a warning: it is treated as 2.

    Wrong:

        static_memory_policy: 1

    Right:

        static_memory_policy: 2
    """
    known = case.known
    for name in case.touched:
        if name in known and known[name] in OPTIONS[name].undocumented_values:
            value = known[name]
            case.report(
                name,
                '"{}" is {}, which works but is not documented; documented: {}',
                name,
                '"{}"'.format(value) if isinstance(value, str) else value,
                listed(_documented(name)),
                help="choose a documented value",
                severity=Severity.WARNING if name == "static_memory_policy" else None,
            )


def _documented(name: str) -> List[str]:
    option = OPTIONS[name]
    values: Tuple[object, ...] = getattr(option.kind, "values", ()) or getattr(
        option.kind, "allowed", ()
    )
    return [
        '"{}"'.format(value) if isinstance(value, str) else str(value)
        for value in values
        if value not in option.undocumented_values
    ]
