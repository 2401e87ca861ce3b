"""Questions about a case that several rules ask."""

from typing import Iterable, Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS, Option
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, SourceKind
from npu_config.rules.case import Case
from npu_config.text.words import joined

SHAPE_PROFILES = ("input_shape", "dynamic_dims", "dynamic_node_type")
"""The three options that give shape profiles, and are given together or not at all."""

RESERVED_MODES = ("mixed_hif8", "cube_hif8")
"""Values of ``precision_mode_v2`` that no version supports yet."""

_DYNAMIC = ("compile_dynamic_mode", "dynamic_input")
DYNAMIC_SHAPES = (*SHAPE_PROFILES, *_DYNAMIC)
"""The options that make shapes dynamic."""


def needing(*switches: str) -> Tuple[str, ...]:
    """The options that do something under just these switches."""
    return tuple(n for n, o in OPTIONS.items() if (o.read_when or o.used_when) == switches)


def given(case: Case, name: str) -> bool:
    """True when the option is set, and to nothing that is wrong in itself."""
    if name in case.known:
        return True
    setting = case.entries.get(name)
    return setting is not None and setting.value is UNKNOWN


def changed(case: Case, name: str) -> bool:
    """True when the option is certainly set to something else than its default."""
    default = OPTIONS[name].default
    if name in case.known:
        return bool(case.known[name] != default)
    return default is None and given(case, name)


def report_inert(case: Case, names: Iterable[str], switch: str) -> None:
    """Report those of the options that are set, when their switch is not on."""
    for name in names if case.never(switch, True) else ():
        if changed(case, name):
            case.report(
                name,
                phrase('"{}" has no effect, because "{}" is {}', name, switch, off(case, switch)),
                phrase('set "{}" to True, or remove "{}"', switch, name),
            )


def off(case: Case, switch: str) -> str:
    """What a switch that is not on says, in words that follow "is"."""
    return "False" if case.isset(switch) else phrase("not set")


def is_never_read(case: Case, switches: Sequence[str]) -> bool:
    """True when the adapter looks at an option only under a switch, and none of these is on."""
    return bool(switches) and all(
        tuning_is_off(case) if switch == "aoe_mode" else case.never(switch, True)
        for switch in switches
    )


def unread(case: Case, option: Option) -> Optional[str]:
    """What follows from a fault in an option that nothing reads here; None when it may be read.

    The severity of such a fault is WARNING: the job runs as if the option were right.
    """
    switches = option.read_when
    if not is_never_read(case, switches):
        return None
    return phrase(
        "nothing reads it while {} is off"
        if len(switches) == 1
        else "nothing reads it while {} are off",
        quoted(switches),
    )


def on(case: Case, name: str) -> bool:
    """True when the effective value of a switch is certainly True."""
    return case.effective(name) is True


def mode_words(case: Case) -> str:
    """What ``graph_run_mode`` says, in words that follow "is"."""
    if not case.isset("graph_run_mode"):
        return "not set, which means training"
    return "1 (training)" if case.training() else "0 (online inference)"


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, joined by commas and "and"."""
    return joined(['"{}"'.format(name) for name in names])


def tuning_mode(case: Case) -> Optional[str]:
    """The AOE tuning mode when tuning is certainly on: the option, else AOE_MODE; or None."""
    if case.absent("aoe_mode") and case.environ is not None:
        return case.variable("AOE_MODE") or None
    mode = case.effective("aoe_mode")
    return mode if isinstance(mode, str) else None


def tuning_is_off(case: Case) -> bool:
    """True when the AOE tuning is off as far as the environment is known."""
    return case.absent("aoe_mode") and not case.variable("AOE_MODE")


def has_shape_profiles(case: Case) -> bool:
    """True when all three options that give shape profiles are set."""
    return all(name in case.entries for name in SHAPE_PROFILES)


def runs_dynamic(case: Case) -> Optional[str]:
    """The option by which the graph certainly has dynamic shapes, or None."""
    for name in _DYNAMIC:
        if case.known.get(name) is True:
            return name
    return "dynamic_dims" if has_shape_profiles(case) else None


def may_run_dynamic(case: Case) -> bool:
    """True when an option gives the graph dynamic shapes, or has a value that may."""
    return runs_dynamic(case) is not None or any(
        given(case, name) and name not in case.known for name in _DYNAMIC
    )


def in_script(case: Case) -> bool:
    """True for what a script says; a call of NPURunConfig has a place in it."""
    return case.source_kind is SourceKind.SCRIPT or (
        case.source_kind is SourceKind.RUN_CONFIG and case.settings.place.line is not None
    )


def line_of(case: Case, name: str, beside: str) -> str:
    """`` (line 7)`` where an option is on another line than ``beside``, else nothing."""
    place, other = case.place(name), case.place(beside)
    apart = place.line is not None and place[:2] != other[:2]
    return phrase(" (line {})", place.line) if apart else ""
