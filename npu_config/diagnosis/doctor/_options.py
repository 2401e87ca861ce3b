"""Checks of the configuration: is it valid, is the NPU used, how is precision set."""

import ast
import re
from typing import Any, Callable, List, Optional, Sequence, Set

from npu_config.catalogue.accuracy_tuning import MIXED_MODES
from npu_config.core.diagnostics import Severity
from npu_config.core.message import join, phrase
from npu_config.core.settings import UNKNOWN, Settings
from npu_config.diagnosis.doctor._facts import Facts
from npu_config.diagnosis.doctor._model import Check, Outcome

_ACCURACY = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_MIXED = "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md"
_SESSION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"

_BFLOAT16 = ("allow_mix_precision_bf16", "mixed_bfloat16")
_LOSS_SCALE = re.compile(
    r"LossScale(Optimizer|Manager)?\Z|enable_mixed_precision_graph_rewrite\Z|is_loss_scale\Z"
    r"|loss_scale_manager\Z"
)
_NO_SOURCE = "no configuration or script was given"


def _valid(facts: Facts) -> Check:
    errors = [found for found in facts.diagnostics if found.severity is Severity.ERROR]
    if not facts.given:
        outcome, reason, help = Outcome.UNKNOWN, _NO_SOURCE, ""
    elif errors:
        outcome = Outcome.FAILED
        reason = phrase(
            "{} error, the first{}: {}" if len(errors) == 1 else "{} errors, the first{}: {}",
            len(errors),
            "" if errors[0].path is None else phrase(" at {}", errors[0].place),
            errors[0].message,
        )
        help = "npu-config check reports all of them"
    elif not facts.settings and facts.diagnostics:
        outcome, reason, help = Outcome.UNKNOWN, facts.diagnostics[0].message, ""
    else:
        outcome, reason, help = Outcome.PASSED, "no rule is broken", ""
    return Check("configuration-valid", outcome, reason, help, _SESSION)


def _used(facts: Facts) -> Check:
    name = "npu-used"
    off = facts.values("use_off_line")
    names = {
        optimizer
        for settings in facts.settings
        if settings.session is not None
        for optimizer in settings.session.optimizers
    }
    if not facts.settings:
        return Check(name, Outcome.UNKNOWN, _nothing(facts), source=_SESSION)
    if False in off:
        return Check(
            name,
            Outcome.FAILED,
            "use_off_line is False: everything runs on the host CPU",
            "take use_off_line away",
            _SESSION,
        )
    if UNKNOWN in off:
        return Check(
            name, Outcome.UNKNOWN, "use_off_line has a value known at run time", "", _SESSION
        )
    if not facts.writes_session and names and not names & {"NpuOptimizer", UNKNOWN}:
        return Check(
            name,
            Outcome.FAILED,
            "no custom optimizer is named NpuOptimizer",
            'name the entry "NpuOptimizer"',
            _SESSION,
        )
    return Check(name, Outcome.PASSED, "the options reach the NpuOptimizer", source=_SESSION)


def _mixed(facts: Facts) -> Check:
    name = "mixed-precision"
    if not facts.settings:
        return Check(name, Outcome.UNKNOWN, _nothing(facts), source=_ACCURACY)
    modes = facts.each(_mode)
    unknown = [mode for mode in modes if mode is UNKNOWN]
    plain = [mode for mode in modes if mode is not UNKNOWN and mode not in _all_mixed()]
    if facts.values("graph_run_mode") == [0]:
        reason = "online inference computes in float16 by default"
        return Check(name, Outcome.PASSED, reason, source=_ACCURACY)
    if plain:
        reason = (
            "no precision mode is set, and no product trains with mixed precision by default"
            if plain[0] is None
            else phrase('the precision mode is "{}", which is not mixed precision', plain[0])
        )
        help = (
            'set precision_mode_v2 to "mixed_float16" (or precision_mode to "allow_mix_precision")'
        )
        return Check(name, Outcome.ADVICE, reason, help, _ACCURACY)
    if unknown:
        reason = "the precision mode has a value known at run time"
        return Check(name, Outcome.UNKNOWN, reason, source=_ACCURACY)
    reason = phrase("the precision mode is {}", join(" or ", ['"{}"'.format(m) for m in modes]))
    return Check(name, Outcome.PASSED, reason, source=_ACCURACY)


def _mode(settings: Settings) -> Any:
    found: List[Any] = []
    for option in MIXED_MODES:
        setting = settings.entries.get(option)
        if setting is not None:
            value = setting.value
            found.append(value if isinstance(value, str) else UNKNOWN)
    if not found:
        return UNKNOWN if settings.open else None
    return found[0]


def _all_mixed() -> Sequence[str]:
    return [mode for modes in MIXED_MODES.values() for mode in modes]


def _loss_scale(facts: Facts) -> Check:
    name = "loss-scale"
    modes = facts.each(_mode)
    if facts.settings and all(mode in _BFLOAT16 for mode in modes):
        reason = "bfloat16 has the range of float32"
        return Check(name, Outcome.PASSED, reason, source=_MIXED)
    if facts.settings and not any(mode is UNKNOWN or mode in _all_mixed() for mode in modes):
        reason = "needed with mixed precision only, which is not on"
        return Check(name, Outcome.PASSED, reason, source=_MIXED)
    if facts.script is None:
        reason = "whether the optimizer scales the loss is decided in the training script"
        return Check(name, Outcome.UNKNOWN, reason, source=_MIXED)
    names = _names(facts.script)
    if names is None:
        return Check(name, Outcome.UNKNOWN, "the script is not Python 3", source=_MIXED)
    used = sorted(each for each in names if _LOSS_SCALE.search(each))
    if used:
        reason = phrase("the script uses {}", used[0])
        return Check(name, Outcome.PASSED, reason, source=_MIXED)
    return Check(
        name,
        Outcome.FAILED,
        "the script names no loss scaling",
        "wrap the optimizer in NPULossScaleOptimizer with an ExponentialUpdateLossScaleManager",
        _MIXED,
    )


def _names(script: str) -> Optional[Set[str]]:
    """Every name that a script uses; None when it cannot be parsed."""
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg and _may_be_true(node.value):
            found.add(node.arg)
    return found


def _may_be_true(node: ast.expr) -> bool:
    """False for the constants False and None."""
    return getattr(node, "value", node) not in (False, None)


def _around(field: str, off: str, name: str, what: str, rule: str) -> Callable[[Facts], Check]:
    """A check of a field beside the options in the ConfigProto, as severe as its rule is."""

    def check(facts: Facts) -> Check:
        if not facts.settings:
            return Check(name, Outcome.UNKNOWN, _nothing(facts), source=_SESSION)
        if facts.writes_session:
            reason = phrase("to_config_proto switches {} off", what)
            return Check(name, Outcome.PASSED, reason, source=_SESSION)
        values = facts.each(
            lambda settings: (
                UNKNOWN if settings.session is None else getattr(settings.session, field)
            )
        )
        wrong = [value for value in values if value not in (off, UNKNOWN)]
        if wrong:
            found = [d for d in facts.diagnostics if d.rule == rule]
            is_error = any(d.severity is Severity.ERROR for d in found)
            return Check(
                name,
                Outcome.FAILED if is_error else Outcome.ADVICE,
                phrase("{} is {}, not {}", field, wrong[0], off),
                phrase("build the ConfigProto with npu_config, or set {} to {}", field, off),
                _SESSION,
            )
        if UNKNOWN in values:
            reason = "the script leaves it to a helper, or sets it at run time"
            return Check(name, Outcome.UNKNOWN, reason, source=_SESSION)
        return Check(name, Outcome.PASSED, phrase("{} is {}", field, off), source=_SESSION)

    return check


def _xla(facts: Facts) -> Check:
    flags = facts.environ.get("TF_XLA_FLAGS", "")
    jit = re.search(r"--tf_xla_auto_jit=(\S+)", flags)
    if jit and jit.group(1) not in ("-1", "0"):
        return Check(
            "xla-off",
            Outcome.FAILED,
            phrase('TF_XLA_FLAGS holds "{}"', jit.group()),
            "unset TF_XLA_FLAGS",
            _SESSION,
        )
    return _around("global_jit_level", "OFF", "xla-off", "XLA", "NPU805")(facts)


def _nothing(facts: Facts) -> str:
    if not facts.given:
        return _NO_SOURCE
    if facts.script is not None:
        return "the script sets no option of the NpuOptimizer"
    return "no options could be read"


CHECKS = (
    _valid,
    _used,
    _mixed,
    _loss_scale,
    _around("remapping", "OFF", "remapping-off", "remapping", "NPU803"),
    _around(
        "memory_optimization",
        "NO_MEM_OPT",
        "memory-optimization-off",
        "memory optimization",
        "NPU804",
    ),
    _xla,
)
