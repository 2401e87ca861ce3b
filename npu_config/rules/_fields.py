"""What was meant by a value that is in another field than the one the adapter reads."""

from typing import Any, Iterator, Mapping, Optional

from npu_config.catalogue import InvalidValue, Option
from npu_config.catalogue.kinds import Bool, Choice, Int, Path, Text, as_int, is_bool, written_int
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, Setting

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
