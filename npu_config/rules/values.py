"""101-106: a setting is wrong in itself: its name, its field, its kind, its value."""

import difflib
import json
from typing import Any, Dict, List, Optional, Tuple, Union

from npu_config.catalogue import (
    ALL_OPTIONS,
    OPTIONS,
    REMOVED,
    InvalidValue,
    Option,
    Outcome,
    Status,
)
from npu_config.catalogue.kinds import Bool, is_bool, name_of_type, shorten, shown
from npu_config.core.diagnostics import Edit, Fix, Severity
from npu_config.core.rule import rule
from npu_config.core.settings import Setting, SourceKind
from npu_config.rules._fields import help_for_wrong_field, switch_meant
from npu_config.rules._reading import is_never_read, quoted
from npu_config.rules.case import Case, Fault
from npu_config.text.words import near

FORMER_NAMES: Dict[str, str] = {
    "master_slave_mode": "older adapters knew it; nothing reads it now, remove it",
    "accelerate_train_mode": 'the option is called "experimental_accelerate_train_mode"',
    "logical_device_cluster_deploy_mode": (
        'the option is called "experimental_logical_device_cluster_deploy_mode"'
    ),
    "logical_device_id": 'the option is called "experimental_logical_device_id"',
    "model_deploy_mode": 'the option is called "experimental_model_deploy_mode"',
    "model_deploy_devicelist": 'the option is called "experimental_model_deploy_devicelist"',
    "enable_auto_mix_precision": (
        'older scripts carry it; mixed precision is "precision_mode_v2" "mixed_float16"'
    ),
    "allow_mix_compile": 'older scripts carry it; mixed computing is "mix_compile_mode"',
    "recompute": "set it with util.set_graph_exec_config, it is not a session option",
}
"""Names that scripts carry from older adapters or from NPURunConfig, and what became of them."""

_SUGGESTED = tuple(n for n, o in OPTIONS.items() if o.status is not Status.NO_EFFECT)
_MOST_SUGGESTIONS = 100
"""Looking for the closest name takes its time; a file of nothing but unknown names is none."""

_FIELD_WORDS = {
    "b": "a boolean",
    "i": "an integer",
    "s": "text",
    "f": "a float",
    "type": "a data type",
    "": "no value",
}

_ZEROS = {"b": "False", "i": "0", "s": "empty text"}


def _renaming(setting: Setting, name: str) -> Optional[Fix]:
    place = setting.name_place
    if place is None or None in place[1:]:
        return None
    edit = Edit(place[1] or 0, place[2] or 0, place[3] or 0, place[4] or 0, name)
    return Fix('rename to "{}"'.format(name), (edit,))


@rule(
    "NPU101",
    "unknown-option",
    Severity.ERROR,
    facts=("unknown-parameter",),
    source=("tf_adapter/util/npu_attrs.cc:2032-2663",),
    about="faults",
)
def unknown_option(case: Case) -> None:
    """A name is set that no option has.

    The adapter reads the names that it knows and never looks at the others: a misspelt option
    has no effect and nothing says so.  In a ConfigProto or a script, where a newer adapter may
    know more names, a name that is like none of the known ones is a warning.

    Wrong:

        presicion_mode: allow_mix_precision

    Right:

        precision_mode: allow_mix_precision
    """
    for number, (name, setting) in enumerate(_faults(case, "unknown-option")):
        if not isinstance(name, str):
            case.report(
                shown(name),
                "{} is not an option; names are text".format(name_of_type(name)),
                "correct the name, or remove it",
                place=setting.name_place or setting.place,
            )
            continue
        former = FORMER_NAMES.get(name) or _removed(name) or _key_of_profiling(name)
        close = None
        if former is None and number < _MOST_SUGGESTIONS:
            close = near(name, _SUGGESTED)
        help = former or ("correct the name, or remove it" if close is None else None)
        case.report(
            name,
            '"{}" is not an option of NpuOptimizer'.format(shorten(name)),
            help,
            place=setting.name_place or setting.place,
            severity=_severity_of_unknown(case, close),
            fix=_renaming(setting, close) if close and _is_slip(case, name, close) else None,
            meant=close,
            consequence="nothing reads it",
        )


def _severity_of_unknown(case: Case, close: Optional[str] = None) -> Severity:
    """A newer adapter may know more names, but not one that is nearly that of an older one."""
    misspelt = close is not None and not case.isset(close)
    return Severity.ERROR if misspelt or case.is_ours else Severity.WARNING


def _removed(name: str) -> Optional[str]:
    """What became of an option that only older adapters read."""
    option = REMOVED.get(name)
    if option is None:
        return None
    use = "use {}".format(option.replacement) if option.replacement else "remove it"
    return "adapters read it {}; {}".format(option.versions, use)


def _key_of_profiling(name: str) -> Optional[str]:
    """What to do with a name that is a key inside ``profiling_options``."""
    from npu_config.sidefiles.profiling import KEYS

    if name not in KEYS:
        return None
    return 'it belongs inside the JSON text of "profiling_options": {{"{}": ...}}'.format(name)


def _is_slip(case: Case, name: str, meant: str) -> bool:
    """True when ``name`` can only be a slip of the pen for an option that is not set yet."""
    likeness = difflib.SequenceMatcher(None, name.lower(), meant.lower()).ratio()
    return likeness >= 0.85 and not case.isset(meant)


@rule(
    "NPU102",
    "wrong-field",
    Severity.ERROR,
    facts=("wire-type-mismatch", "wire-type-strict", "wire-type-ignored"),
    source=("tf_adapter/util/npu_attrs.cc:2035-2656",),
    about="faults",
)
def wrong_field(case: Case) -> None:
    """A value is in another field of AttrValue than the one the adapter reads.

    ``parameter_map["x"].b = 1`` and ``parameter_map["x"].i = 1`` are two different fields.  Read
    from the wrong one, the value is 0, False or empty text, and nothing says so
    (``jit_compile`` and ``shape_generalization_mode`` are refused; ``export_compile_stat`` and
    ``oo_constant_folding`` are skipped).

    Wrong, in a script:

        custom_op.parameter_map["iterations_per_loop"].b = 10

    Right, in a script:

        custom_op.parameter_map["iterations_per_loop"].i = 10
    """
    for name, setting in _faults(case, "wrong-field"):
        option = ALL_OPTIONS[name]
        if not option.is_read:
            continue
        wire, right = setting.wire or "", option.wire_in(case.version)
        if wire == "":
            message = '"{}" is set without a value; the adapter reads {} from ".{}"'.format(
                name, _FIELD_WORDS[right], right
            )
        else:
            message = '"{}" is read from ".{}" ({}), but the value is in ".{}" ({})'.format(
                name,
                right,
                _FIELD_WORDS[right],
                wire,
                _FIELD_WORDS.get(wire, "another kind"),
            )
        meant = switch_meant(name, setting.wire)
        if meant is not None and case.isset(meant):
            meant = None
        case.report(
            name,
            message,
            help_for_wrong_field(option, setting, meant, right),
            meant=meant,
            consequence=_consequence_of_wrong_field(option, right),
        )


def _consequence_of_wrong_field(option: Option, wire: str) -> str:
    if wire == option.wire and option.name in ("jit_compile", "shape_generalization_mode"):
        return "session.run raises"
    if option.name in ("export_compile_stat", "oo_constant_folding"):
        return "the option is skipped"
    return "the runtime reads {}".format(_ZEROS[wire])


@rule(
    "NPU103",
    "wrong-type",
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
    _report_faults(case, "wrong-type")


@rule(
    "NPU104",
    "value-not-allowed",
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
    checks it at all.

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
    _report_faults(case, "value-not-allowed")


@rule(
    "NPU105",
    "out-of-range",
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
    _report_faults(case, "out-of-range")


@rule(
    "NPU106",
    "bad-syntax",
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
    _report_faults(case, "bad-syntax")


def _faults(case: Case, name: str) -> List[Tuple[Any, Setting]]:
    return [(fault.name, fault.setting) for fault in case.faults if fault.rule == name]


def _report_faults(case: Case, rule_name: str) -> None:
    for fault in case.faults:
        if fault.rule == rule_name:
            _report_refused(case, fault)


def _report_refused(case: Case, fault: Fault) -> None:
    option = ALL_OPTIONS[fault.name]
    refused = fault.refused
    assert refused is not None
    words = option.kind.describe() + (" ({})".format(option.unit) if option.unit else "")
    message = '"{}" {}; legal: {}'.format(option.name, refused.problem, words)
    severity = consequence = None
    help = refused.help
    meant = _meant_value(option, fault.setting.value, refused)
    if fault.rule == "wrong-type":
        if isinstance(option.kind, Bool):
            message = '"{}" {}'.format(option.name, refused.problem)
        elif not _is_legal_as_text(option, fault.setting.value):
            help = None
    else:
        severity = _severity_of_bad_value(case, option)
        if severity is not option.severity and severity is Severity.WARNING:
            consequence = "nothing reads it while {} {} off".format(
                quoted(option.read_when), "is" if len(option.read_when) == 1 else "are"
            )
        else:
            outcome = option.outcome_in(case.version)
            consequence = None if outcome is Outcome.UNCHECKED else outcome.value
    value = fault.setting.value
    legal = getattr(option.kind, "values", ())
    if help is None and fault.rule == "value-not-allowed" and isinstance(value, str):
        sibling = _SIBLINGS.get(option.name)
        if sibling is not None and value in getattr(OPTIONS[sibling].kind, "values", ()):
            help = 'this is a value of "{}"'.format(sibling)
        else:
            meant = near(value, legal)
    case.report(
        option.name,
        message,
        help or (_remedy(option) if meant is None else None),
        severity=severity,
        fix=None if meant is None else _rewriting(case, fault.setting, meant),
        meant=meant if meant is None or isinstance(meant, str) else str(meant),
        consequence=consequence,
        legal=legal,
    )


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


def _rewriting(case: Case, setting: Setting, meant: Union[str, int]) -> Optional[Fix]:
    """The fix that writes a value as YAML, TOML, JSON and protobuf text all read it."""
    place = setting.place
    if case.source_kind not in (SourceKind.FILE, SourceKind.PROTO) or None in place[1:]:
        return None
    if place.line != place.end_line:
        return None
    written = json.dumps(meant, ensure_ascii=False)
    edit = Edit(place[1] or 0, place[2] or 0, place[3] or 0, place[4] or 0, written)
    return Fix("write {}".format(written), (edit,))


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
    return "give a legal value, or leave it out, which means {}".format(
        '"{}"'.format(written) if isinstance(written, str) else written
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


def _severity_of_bad_value(case: Case, option: Option) -> Severity:
    """Our own inputs are refused; elsewhere a value that is clamped or never read is a warning."""
    if case.is_ours:
        return Severity.ERROR
    if option.severity is Severity.ERROR and is_never_read(case, option.read_when):
        return Severity.WARNING
    return option.severity
