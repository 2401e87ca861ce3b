"""111-114: what the adapter of the target's version does not know."""

from typing import List

from npu_config.catalogue import ALL_OPTIONS
from npu_config.catalogue.api import ARGUMENT_VERSIONS
from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import REGISTRY, rule
from npu_config.core.settings import Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import SNAPSHOTS, is_measured
from npu_config.rules.case import Case

_HISTORY = ("tf_adapter/util/npu_attrs.cc",)


@rule(
    "NPU111",
    Severity.ERROR,
    source=_HISTORY,
    about="faults",
)
def option_not_in_version(case: Case) -> None:
    """An option is set that the adapter of the target's version does not read.

    Options came with time, and some went.  An adapter reads the names that it knows and never
    looks at the others, so the option has no effect and nothing says so.  Speaks only when a
    version is given (``--target-cann``, ``Target(cann=...)``, ``Target(adapter=...)``).  In a
    ConfigProto or a script it is a warning, as for an unknown name.

    Wrong:

        target: {cann: "5.1.RC1"}
        deterministic: 1

    Right:

        target: {cann: "6.3.RC1"}
        deterministic: 1
    """
    for fault in case.own_faults:
        option = ALL_OPTIONS[fault.name]
        if case.version is None or _is_missing_argument(case, option.run_config or option.name):
            continue
        case.report(
            option.name,
            phrase(
                '"{}" is not read by {}; adapters read it {}',
                option.name,
                SNAPSHOTS[case.version],
                option.versions,
            ),
            phrase("use {}", option.replacement)
            if option.replacement
            else "remove it, or run with a version that reads it",
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
    """A value is set that the adapter of the target's version does not know.

    The lists of legal values grew, and lost some.  ``jit_compile`` was a bool before it became a
    text: those adapters know ``"true"`` and ``"false"`` only.  Only with a version of the target.

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
                phrase('"{}" {}', fault.name, fault.refused.problem),
                fault.refused.help or "choose a value that this version knows",
            )


@rule(
    "NPU113",
    Severity.INFO,
    source=_HISTORY,
    about="version",
)
def version_not_measured(case: Case) -> None:
    """The target's version of CANN is newer, or older, than every adapter that was measured.

    The rules then speak of the newest, or the oldest, adapter that is known here.

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
            phrase(
                "CANN {} is older than every version that is known here; the rules speak of {}"
                if snapshot is SNAPSHOTS[0]
                else "CANN {} is newer than every version that is known here; the rules speak "
                "of {}",
                cann,
                snapshot,
            ),
        )


@rule(
    "NPU114",
    Severity.ERROR,
    source=("tf_adapter/python/npu_bridge/estimator/npu/npu_config.py",),
    about="run_config",
)
def argument_not_in_version(case: Case) -> None:
    """NPURunConfig is given an argument that the adapter of the target's version does not have.

    It raises TypeError on the host.  Speaks only when a version is given.

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
        if _is_missing_argument(case, name):
            case.report(
                name if name in ALL_OPTIONS else None,
                phrase(
                    'NPURunConfig of {} has no argument "{}"; adapters have it {}',
                    SNAPSHOTS[case.version],
                    name,
                    ARGUMENT_VERSIONS[name],
                ),
                "remove it, or run with a version that has it",
                place=setting.place_of_name,
                consequence="it raises TypeError",
            )


def _is_missing_argument(case: Case, name: str) -> bool:
    """True for an argument of NPURunConfig that the adapter of the target does not have."""
    versions = ARGUMENT_VERSIONS.get(name.partition(".")[0])
    return (
        case.source_kind is SourceKind.RUN_CONFIG
        and case.version is not None
        and versions is not None
        and not versions.has(case.version)
    )


def not_read(settings: Settings, target: Target) -> List[Diagnostic]:
    """The findings about the options that the adapter of the target does not read."""
    case = Case(settings, target)
    case.rule = REGISTRY["NPU111"]
    option_not_in_version(case)
    return case.diagnostics
