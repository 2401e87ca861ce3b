"""101-106: the name, the field or the value of an option is wrong in itself."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

from npu_config.catalogue import (
    ALL_OPTIONS,
    OPTIONS,
    REMOVED,
    InvalidValue,
    Option,
    Outcome,
    Status,
    known_to,
)
from npu_config.catalogue.kinds import (
    Bool,
    Choice,
    FilePath,
    Int,
    Text,
    as_int,
    is_bool,
    name_of_type,
    read_text,
    shorten,
    shown,
    written_int,
)
from npu_config.core.diagnostics import Fix, Severity, rule
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.core.versions import NEVER
from npu_config.rules.case import Case, InvalidSetting, unread, writing
from npu_config.text.words import is_typo, near

_SWITCH_MEANT: Mapping[str, str] = {
    "precision_mode": "profiling_mode",
    "profiling_options": "profiling_mode",
    "dump_debug_mode": "enable_dump_debug",
    "dump_mode": "enable_dump",
    "dump_path": "enable_dump",
    "dump_step": "enable_dump",
}
"""Text options that are given a boolean by mistake, and the switch that it was meant for."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def switch_meant(name: str, wire: Optional[str]) -> Optional[str]:
    """The switch that was most likely meant by a boolean in the field of a text option."""
    return _SWITCH_MEANT.get(name) if wire == "b" else None


def help_for_wrong_field(option: Option, value: Any, meant: Optional[str], wire: str) -> str:
    """The assignment as it should be, with the user's own value; or the switch ``meant``."""
    written = "..." if value is None else str(value)
    if wire != option.wire:
        written = "True"
    elif wire == "s":
        quoted = written if value is None else '"{}"'.format(value)
        written = phrase("tf.compat.as_bytes({})", quoted)
    help = phrase('write parameter_map["{}"].{} = {}', option.name, wire, written)
    return help if meant is None else phrase('did you mean "{}"? If not, {}', meant, help)


def value_in_its_field(option: Option, setting: Setting) -> Any:
    """The value as the field of the option takes it; None where it takes none."""
    for form in _forms(option, setting):
        try:
            return option.kind.to_wire(option.kind.parse(form))
        except InvalidValue:
            continue
    return None


def _forms(option: Option, setting: Setting) -> Iterator[Any]:
    """The value as it is, and as what it says in the field that the option is read from."""
    value, kind = setting.value, option.kind
    if value is UNKNOWN or setting.wire not in ("b", "f", "i", "s"):
        return
    yield value
    number = as_int(value)
    folded = value.strip().lower() if isinstance(value, str) else ""
    if isinstance(kind, Bool):
        if number in (0, 1):
            yield bool(number)
        elif folded in _BOOLEANS:
            yield _BOOLEANS[folded]
    elif isinstance(kind, Int):
        if written_int(folded) is not None:
            yield written_int(folded)
        elif is_bool(value) and kind.allowed:
            yield int(value)
    elif is_bool(value):
        if isinstance(kind, Choice):
            yield str(bool(value)).lower()
    elif number is not None and not isinstance(kind, (FilePath, Text)):
        yield str(number)


FORMER_NAMES: Dict[str, str] = {
    "master_slave_mode": "only older adapters read this option; remove it",
    "accelerate_train_mode": 'the option is called "experimental_accelerate_train_mode"',
    "logical_device_cluster_deploy_mode": (
        'the option is called "experimental_logical_device_cluster_deploy_mode"'
    ),
    "logical_device_id": 'the option is called "experimental_logical_device_id"',
    "model_deploy_mode": 'the option is called "experimental_model_deploy_mode"',
    "model_deploy_devicelist": 'the option is called "experimental_model_deploy_devicelist"',
    "enable_auto_mix_precision": (
        'this name is from older scripts; for mixed precision set "precision_mode_v2" to '
        '"mixed_float16"'
    ),
    "allow_mix_compile": (
        'this name is from older scripts; for mixed computing set "mix_compile_mode"'
    ),
    "recompute": "this is not a session option; set it with util.set_graph_exec_config",
}
"""Names that scripts carry from older adapters or from NPURunConfig, and what became of them."""

_SUGGESTED = tuple(
    n for n, o in OPTIONS.items() if o.status is not Status.NO_EFFECT or o.effective != NEVER
)
_MOST_SUGGESTIONS = 100
"""Looking for the closest name takes its time; a file of nothing but unknown names is none."""

_FIELD_WORDS = {
    "b": phrase("a boolean"),
    "i": phrase("an integer"),
    "s": phrase("text"),
    "f": phrase("a float"),
    "type": phrase("a data type"),
    "": phrase("no value"),
}

_ZEROS = {"b": "False", "i": "0", "s": "empty text"}


@rule(
    "NPU101",
    Severity.ERROR,
    facts=("unknown-parameter",),
    source=("tf_adapter/util/npu_attrs.cc:2032-2663",),
    about="faults",
)
def unknown_option(case: Case) -> None:
    """An unknown option is set.

    The adapter reads only the names that it knows: a misspelled option has no effect, without any
    message.  In a ConfigProto or a script, where a newer adapter may know more names, a name that
    is similar to no known name is a warning.

    Wrong:

        presicion_mode: allow_mix_precision

    Right:

        precision_mode: allow_mix_precision
    """
    for number, fault in enumerate(case.own_faults):
        name, setting = fault.name, fault.setting
        if not isinstance(name, str):
            case.report(
                shown(name),
                "{} is not an option; option names are strings",
                name_of_type(name),
                help="correct the name, or remove it",
                place=setting.place_of_name,
            )
            continue
        former = FORMER_NAMES.get(name) or _removed(name) or _key_of_profiling(name)
        close = None
        if former is None and number < _MOST_SUGGESTIONS:
            close = near(name, _SUGGESTED)
        help = former or ("correct the name, or remove it" if close is None else None)
        case.report(
            name,
            '"{}" is not an NpuOptimizer option',
            shorten(name),
            help=help,
            place=setting.place_of_name,
            severity=_severity_of_unknown(case, close),
            fix=Fix.writing(setting.name_place, close, phrase('rename to "{}"', close))
            if close and _is_typo(case, name, close)
            else None,
            meant=close,
            consequence="the option is ignored",
        )


def _severity_of_unknown(case: Case, close: Optional[str]) -> Severity:
    """A newer adapter may know more names, but not one that is nearly that of an older one."""
    misspelt = close is not None and not case.isset(close)
    return Severity.ERROR if misspelt or case.is_ours else Severity.WARNING


def _removed(name: str) -> Optional[str]:
    """What became of an option that only older adapters read."""
    option = REMOVED.get(name)
    if option is None:
        return None
    use = phrase("use {}", option.replacement) if option.replacement else "remove it"
    return phrase("the option is available {}; {}", option.versions, use)


def _key_of_profiling(name: str) -> Optional[str]:
    """What to do with a name that is a key inside ``profiling_options``."""
    from npu_config.sidefiles.profiling import KEYS

    if name not in KEYS:
        return None
    return phrase('set this key inside the JSON text of "profiling_options": {{"{}": ...}}', name)


def _is_typo(case: Case, name: str, meant: str) -> bool:
    """True when ``name`` can only be a slip of the pen for an option that is not set yet."""
    return is_typo(name, meant) and not case.isset(meant)


@rule(
    "NPU102",
    Severity.ERROR,
    facts=("wire-type-mismatch", "wire-type-strict", "wire-type-ignored"),
    source=("tf_adapter/util/npu_attrs.cc:2035-2656",),
    about="faults",
)
def wrong_field(case: Case) -> None:
    """A value is in a field of AttrValue that the adapter does not read for this option.

    ``parameter_map["x"].b = 1`` and ``parameter_map["x"].i = 1`` set two different fields.  If the
    adapter reads a field that is not set, it gets 0, False or an empty string, without any message
    (``jit_compile`` and ``shape_generalization_mode`` are rejected; ``export_compile_stat`` and
    ``oo_constant_folding`` are skipped).

    Wrong, in a script:

        custom_op.parameter_map["iterations_per_loop"].b = 10

    Right, in a script:

        custom_op.parameter_map["iterations_per_loop"].i = 10
    """
    for fault in case.own_faults:
        name, setting = fault.name, fault.setting
        option = ALL_OPTIONS[name]
        if not option.is_read:
            continue
        wire, right = setting.wire or "", option.wire_in(case.version)
        if wire == "":
            message = phrase(
                '"{}" is set without a value; the adapter reads {} from ".{}"',
                name,
                _FIELD_WORDS[right],
                right,
            )
        else:
            message = phrase(
                '"{}" is read from ".{}" ({}), but the value is in ".{}" ({})',
                name,
                right,
                _FIELD_WORDS[right],
                wire,
                _FIELD_WORDS.get(wire, phrase("another type")),
            )
        meant = switch_meant(name, setting.wire)
        if meant is not None and case.isset(meant):
            meant = None
        value = value_in_its_field(option, setting) if right == option.wire else None
        not_read = unread(case, option) if meant is None else None
        case.report(
            name,
            message,
            help=help_for_wrong_field(option, value, meant, right),
            fix=None if meant else writing(case, setting, value, right),
            severity=None if not_read is None else Severity.WARNING,
            meant=meant,
            consequence=not_read or _consequence_of_wrong_field(option, right),
        )


_SKIPPED = ("export_compile_stat", "oo_constant_folding")
"""The options that are skipped where their field is empty."""


def _consequence_of_wrong_field(option: Option, wire: str) -> str:
    if wire == option.wire and option.name in ("jit_compile", "shape_generalization_mode"):
        return "session.run raises an exception"
    if option.name in _SKIPPED:
        return "the option is skipped"
    return phrase("the runtime reads {}", _ZEROS[wire])


def read_instead(option: Option, setting: Setting, wire: str) -> Tuple[Any, str]:
    """What the runtime has of an option whose value is in another field, and why, in words."""
    empty = {"b": False, "i": 0, "s": ""}[wire]
    follows = _consequence_of_wrong_field(option, wire)
    why = phrase(
        'the adapter reads field ".{}", but the value is in ".{}"; {}', wire, setting.wire, follows
    )
    if not setting.wire:
        why = phrase('the adapter reads field ".{}", which has no value; {}', wire, follows)
    if option.name not in _SKIPPED:
        return empty, why
    return None if option.default is None else option.kind.to_wire(option.default), why


@rule(
    "NPU103",
    Severity.ERROR,
    facts=("aoe-mode-string", "run-config-mix-compile-bool", "run-config-graph-run-mode"),
    source=("docs/en/tfadapter_1/apiref/session_config/introduction.md",),
    about="faults",
)
def wrong_type(case: Case) -> None:
    """A value has the wrong type for the option.

    Types are strict: True is not 1, "true" is not True, 1 is not "1".  The adapter reads only one
    field, and uses its content without a check.

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
    """A value is not one of the legal values of the option.

    The consequence depends on the option, and the message states it: the adapter aborts the
    process (no traceback), session.run raises an exception, the graph engine rejects the value
    minutes later, or nothing checks the value.  A value that is not read in this configuration is
    a warning, for example ``dump_mode`` while ``enable_dump`` is off.

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

    For some options the process is aborted, some values are clamped to the range
    (``input_fusion_size``), some wrap around in 32 bits, and most are not checked at all.

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
    """A string does not follow the syntax of the option.

    The adapter checks the syntax of some options (it aborts, or session.run raises an exception),
    and the graph engine checks others minutes later; some are not checked.  The message states the
    consequence.

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


def _report_refused(case: Case, fault: InvalidSetting) -> None:
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
            help = phrase('this is a legal value of "{}"', sibling)
        else:
            meant = near(value, legal)
    case.report(
        option.name,
        message,
        help=help or (_remedy(option) if meant is None else None),
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
    outcome = known_to(case.version)[option.name].outcome
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
        return "set a legal value, or remove it"
    written = option.kind.to_wire(default)
    return phrase(
        "set a legal value, or remove the option (default: {})",
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
