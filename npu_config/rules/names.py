"""101-102: an option that does not exist, or whose value is in another field."""

from typing import Any, Dict, Iterator, Mapping, Optional

from npu_config.catalogue import ALL_OPTIONS, OPTIONS, REMOVED, InvalidValue, Option, Status
from npu_config.catalogue.kinds import (
    Bool,
    Choice,
    Int,
    Path,
    Text,
    as_int,
    is_bool,
    name_of_type,
    shorten,
    shown,
    written_int,
)
from npu_config.core.diagnostics import Fix, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import rule
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.core.versions import NEVER
from npu_config.rules._fixes import writing
from npu_config.rules._reading import unread
from npu_config.rules.case import Case
from npu_config.text.words import is_slip, near

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
    elif number is not None and not isinstance(kind, (Path, Text)):
        yield str(number)


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

_SUGGESTED = tuple(
    n for n, o in OPTIONS.items() if o.status is not Status.NO_EFFECT or o.effective != NEVER
)
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


@rule(
    "NPU101",
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
    for number, fault in enumerate(case.own_faults):
        name, setting = fault.name, fault.setting
        if not isinstance(name, str):
            case.report(
                shown(name),
                phrase("{} is not an option; names are text", name_of_type(name)),
                "correct the name, or remove it",
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
            phrase('"{}" is not an option of NpuOptimizer', shorten(name)),
            help,
            place=setting.place_of_name,
            severity=_severity_of_unknown(case, close),
            fix=Fix.writing(setting.name_place, close, phrase('rename to "{}"', close))
            if close and _is_slip(case, name, close)
            else None,
            meant=close,
            consequence="nothing reads it",
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
    return phrase("adapters read it {}; {}", option.versions, use)


def _key_of_profiling(name: str) -> Optional[str]:
    """What to do with a name that is a key inside ``profiling_options``."""
    from npu_config.sidefiles.profiling import KEYS

    if name not in KEYS:
        return None
    return phrase('it belongs inside the JSON text of "profiling_options": {{"{}": ...}}', name)


def _is_slip(case: Case, name: str, meant: str) -> bool:
    """True when ``name`` can only be a slip of the pen for an option that is not set yet."""
    return is_slip(name, meant) and not case.isset(meant)


@rule(
    "NPU102",
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
                _FIELD_WORDS.get(wire, "another kind"),
            )
        meant = switch_meant(name, setting.wire)
        if meant is not None and case.isset(meant):
            meant = None
        value = value_in_its_field(option, setting) if right == option.wire else None
        not_read = unread(case, option) if meant is None else None
        case.report(
            name,
            message,
            help_for_wrong_field(option, value, meant, right),
            fix=None if meant else writing(case, setting, value, right),
            severity=None if not_read is None else Severity.WARNING,
            meant=meant,
            consequence=not_read or _consequence_of_wrong_field(option, right),
        )


def _consequence_of_wrong_field(option: Option, wire: str) -> str:
    if wire == option.wire and option.name in ("jit_compile", "shape_generalization_mode"):
        return "session.run raises"
    if option.name in ("export_compile_stat", "oo_constant_folding"):
        return "the option is skipped"
    return phrase("the runtime reads {}", _ZEROS[wire])
