"""103-106: a value is wrong in itself: its kind, its range, its grammar."""

from typing import Any, Optional, Tuple, Union

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, InvalidValue, Option, Outcome
from npu_config.catalogue.kinds import Bool, is_bool, read_text, shown
from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import rule
from npu_config.rules._fixes import writing
from npu_config.rules._reading import unread
from npu_config.rules.case import Case, Fault
from npu_config.text.words import near


@rule(
    "NPU103",
    Severity.ERROR,
    facts=("aoe-mode-string", "run-config-mix-compile-bool", "run-config-graph-run-mode"),
    source=("docs/en/tfadapter_1/apiref/session_config/introduction.md",),
    about="faults",
)
def wrong_type(case: Case) -> None:
    """A value is of another type than the option takes.

    Types are strict: True is not 1, "true" is not True, 1 is not "1".  The adapter reads one
    field and takes whatever is there.

    Wrong:

        deterministic: "1"

    Right:

        deterministic: 1
    """
    _report_faults(case)


@rule(
    "NPU104",
    Severity.ERROR,
    facts=(
        "string-flag-values",
        "pass-options-abort-first",
        "graph-run-mode-allowed",
        "deterministic-allowed",
        "variable-placement-allowed",
        "dump-mode-allowed",
        "dump-debug-mode-allowed",
        "dump-data-allowed",
        "precision-mode-allowed",
        "precision-mode-v2-allowed",
        "op-select-implmode-allowed",
        "optypelist-supported",
        "dynamic-node-type-allowed",
        "compile-hybrid-allowed",
        "shape-generalization-allowed",
        "dynamic-execute-mode-allowed",
        "atomic-clean-policy-allowed",
        "static-memory-policy-allowed",
        "huge-page-allowed",
        "graph-slice-allowed",
        "exception-dump-allowed",
        "op-debug-level-allowed",
        "export-compile-stat-allowed",
        "buffer-optimize-allowed",
        "small-channel-allowed",
        "jit-compile-allowed",
        "oo-level-allowed",
        "logical-deploy-mode-allowed",
        "aoe-mode-allowed",
        "cache-mode-allowed",
        "topo-sorting-allowed",
    ),
    source=("docs/en/tfadapter_1/apiref/session_config",),
    about="faults",
)
def value_not_allowed(case: Case) -> None:
    """A value is not one of the few that the option takes.

    What happens then differs by option, and the message says it: the adapter aborts the process
    (no traceback), session.run raises, the graph engine refuses it minutes later, or nothing
    checks it at all.  What nothing reads in this configuration is a warning: ``dump_mode`` while
    ``enable_dump`` is off.

    Wrong:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0"
        dump_mode: OUTPUT

    Right:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0"
        dump_mode: output
    """
    _report_faults(case)


@rule(
    "NPU105",
    Severity.ERROR,
    facts=(
        "task-index-nonnegative",
        "session-device-id-nonnegative",
        "local-rank-id-range",
        "iterations-positive",
        "input-fusion-range",
        "graph-parallel-num-range",
        "sync-timeout-range",
    ),
    source=("docs/en/tfadapter_1/apiref/session_config",),
    about="faults",
)
def out_of_range(case: Case) -> None:
    """A number lies outside the range of the option.

    Some ranges are enforced by an abort of the process, some by clamping (``input_fusion_size``),
    some wrap around in 32 bits, most by nothing.

    Wrong:

        iterations_per_loop: 0

    Right:

        iterations_per_loop: 1
    """
    _report_faults(case)


@rule(
    "NPU106",
    Severity.ERROR,
    facts=(
        "local-device-list-format",
        "in-out-pair-format",
        "dump-step-syntax",
        "dump-step-max-sets",
        "dump-step-range-order",
        "dump-layer-separator",
        "input-shape-syntax",
        "input-shape-dims",
        "dynamic-dims-syntax",
        "dynamic-dims-min-profiles",
        "dynamic-dims-unique",
        "dynamic-range-syntax",
        "dynamic-range-elements",
        "fusion-switch-path-chars",
        "stream-max-parallel-format",
        "aicore-num-format",
        "optimization-switch-format",
        "auto-multistream-syntax",
        "accelerate-syntax",
        "accelerate-ratio",
        "cache-dir-chars",
    ),
    source=("docs/en/tfadapter_1/apiref/session_config",),
    about="faults",
)
def bad_syntax(case: Case) -> None:
    """A text does not follow the grammar of the option.

    Some grammars are checked by the adapter (it aborts, or session.run raises), some by the graph
    engine minutes later, some by nothing; the message says which.

    Wrong:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "20-10"

    Right:

        enable_dump: true
        dump_path: /home/test/output
        dump_step: "0|5|10-20"
    """
    _report_faults(case)


def _report_faults(case: Case) -> None:
    for fault in case.own_faults:
        _report_refused(case, fault)


def _report_refused(case: Case, fault: Fault) -> None:
    option, value, refused = ALL_OPTIONS[fault.name], fault.setting.value, fault.refused
    assert refused is not None
    words = option.kind.describe() + (phrase(" ({})", option.unit) if option.unit else "")
    message = phrase('"{}" {}; legal: {}', option.name, refused.problem, words)
    severity = consequence = None
    help = refused.help
    meant = _meant_value(option, value, refused)
    if fault.rule == "wrong-type":
        if isinstance(option.kind, Bool):
            message = phrase('"{}" {}', option.name, refused.problem)
        elif not _is_legal_as_text(option, value):
            help = None
    else:
        severity, consequence = _what_follows(case, option, value)
    legal = getattr(option.kind, "values", ())
    if help is None and fault.rule == "value-not-allowed" and isinstance(value, str):
        sibling = _SIBLINGS.get(option.name)
        if sibling is not None and value in getattr(OPTIONS[sibling].kind, "values", ()):
            help = phrase('this is a value of "{}"', sibling)
        else:
            meant = near(value, legal)
    case.report(
        option.name,
        message,
        help or (_remedy(option) if meant is None else None),
        severity=severity,
        fix=writing(case, fault.setting, meant),
        meant=meant if meant is None or isinstance(meant, str) else str(meant),
        consequence=consequence,
        legal=legal,
    )


def _what_follows(case: Case, option: Option, value: Any) -> Tuple[Severity, Optional[str]]:
    """The severity of a bad value, and what the runtime does with it.

    Our own inputs are refused, also where a value is only clamped; what nothing reads is a
    warning, unless it cannot be written at all: a list that stands for text.
    """
    consequence = unread(case, option)
    if consequence is not None and (not case.is_ours or _is_text(value)):
        return Severity.WARNING, consequence
    outcome = option.outcome_in(case.version)
    return (
        Severity.ERROR if case.is_ours else option.severity,
        None if outcome is Outcome.UNCHECKED else outcome.value,
    )


def _is_text(value: Any) -> bool:
    """Whether a value can be written as it is, though the option does not take it."""
    try:
        return bool(read_text(value) == value)
    except InvalidValue:
        return False


def _meant_value(option: Option, value: Any, refused: InvalidValue) -> Union[str, int, None]:
    """The legal value that was probably meant, whole."""
    meant, piece = refused.meant, refused.piece
    if piece is not None:
        text = value if isinstance(value, str) else ""
        if text.count(piece) != 1:
            return None
        meant = text.replace(piece, str(meant))
    if meant is None:
        return None
    try:
        option.kind.parse(meant)
    except InvalidValue:
        return None
    return meant


_SIBLINGS = {
    "precision_mode": "precision_mode_v2",
    "precision_mode_v2": "precision_mode",
    "dump_mode": "dump_debug_mode",
    "dump_debug_mode": "dump_mode",
}
"""Options whose values are taken for one another's."""


def _remedy(option: Option) -> str:
    default = option.default
    if default is None:
        return "give a legal value, or leave it out"
    written = option.kind.to_wire(default)
    return phrase(
        "give a legal value, or leave it out, which means {}",
        '"{}"'.format(written) if isinstance(written, str) else written,
    )


def _is_legal_as_text(option: Option, value: Any) -> bool:
    """False when the value is illegal in quotes too, which then is not advice."""
    if option.wire != "s" or isinstance(value, (str, bytes)):
        return True
    try:
        option.kind.parse(str(value).lower() if is_bool(value) else shown(value))
    except InvalidValue:
        return False
    return True
