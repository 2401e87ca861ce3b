"""Checks of the configuration (valid, on the NPU, its precision) and of the machine."""

import glob
import importlib.util
import os
import re
import sys
from typing import Any, Callable, List, Mapping, Optional, Sequence

from npu_config.catalogue.options import MIXED_MODES
from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.message import join, listed, phrase
from npu_config.core.settings import UNKNOWN, Settings
from npu_config.core.target import Target
from npu_config.core.toolkit import ROOTS, installed_cann
from npu_config.diagnosis.doctor._facts import (
    CheckResult,
    Facts,
    advice,
    check,
    failed,
    passed,
    unknown,
)

_ACCURACY = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_MIXED = "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md"
_SESSION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"

_BFLOAT16 = ("allow_mix_precision_bf16", "mixed_bfloat16")
_LOSS_SCALE = re.compile(
    r"LossScale(Optimizer|Manager)?\Z|enable_mixed_precision_graph_rewrite\Z|is_loss_scale\Z"
    r"|loss_scale_manager\Z"
)
_OPTIMIZER = re.compile(r"(?<!custom_)[Oo]ptimizers?\Z|\A(minimize|apply_gradients)\Z")
_TRAINING = re.compile(r"\A(train\w*|fit)\Z")
_OWN = re.compile(r"\Ato_config_proto\Z")
_MODE_UNKNOWN = "the precision mode has a value known at run time"
_NO_SOURCE = "no configuration or script was given"


@check("configuration-valid", _SESSION)
def _valid(facts: Facts) -> CheckResult:
    if not facts.given:
        return unknown(_NO_SOURCE)
    report, help = Report(facts.diagnostics), "npu-config check reports all of them"
    if report.errors:
        words = "{} error, the first{}: {}", "{} errors, the first{}: {}"
        alone = report.errors[0].help if len(report) == 1 else None
        return failed(_count(words, report.errors), alone or help)
    if facts.unchecked is not None:
        return unknown(phrase("the file is not checked: {}", facts.unchecked))
    if report.warnings:
        words = "{} warning, the first{}: {}", "{} warnings, the first{}: {}"
        return advice(_count(words, report.warnings), help)
    if facts.script is None and not facts.settings:
        help = "give doctor a configuration or a training script"
        return unknown("the file holds no options; npu-config check looks at it", help)
    return passed("no rule is broken")


def _count(words: Sequence[str], found: Sequence[Diagnostic]) -> str:
    """How many findings there are, and the first one; ``words`` for one and for several."""
    where = "" if found[0].path is None else phrase(" at {}", found[0].place)
    return phrase(words[len(found) > 1], len(found), where, found[0].message)


@check("npu-used", _SESSION)
def _used(facts: Facts) -> CheckResult:
    off = facts.values("use_off_line")
    names = {
        optimizer
        for settings in facts.settings
        if settings.session is not None
        for optimizer in settings.session.optimizers
    }
    if not facts.settings:
        if _is_written_by_us(facts):
            return passed("to_config_proto adds the NpuOptimizer")
        return unknown(_nothing(facts))
    if False in off:
        reason = "use_off_line is False: everything runs on the host CPU"
        return failed(reason, "take use_off_line away")
    if UNKNOWN in off:
        return unknown("use_off_line has a value known at run time")
    if not facts.writes_session and names and not names & {"NpuOptimizer", UNKNOWN}:
        reason = "no custom optimizer is named NpuOptimizer"
        return failed(reason, 'name the entry "NpuOptimizer"')
    return passed("the options reach the NpuOptimizer")


@check("mixed-precision", _ACCURACY)
def _mixed(facts: Facts) -> CheckResult:
    if not facts.settings:
        return unknown(_nothing(facts))
    modes = facts.each(_mode)
    plain = [mode for mode in modes if mode is not UNKNOWN and mode not in _all_mixed()]
    if facts.values("graph_run_mode") == [0]:
        return passed("online inference computes in float16 by default")
    if plain:
        help = (
            'set precision_mode_v2 to "mixed_float16" (or precision_mode to "allow_mix_precision")'
        )
        return advice(
            "no precision mode is set, and no product trains with mixed precision by default"
            if plain[0] is None
            else phrase('the precision mode is "{}", which is not mixed precision', plain[0]),
            help,
        )
    if UNKNOWN in modes:
        return unknown(_MODE_UNKNOWN)
    quoted = ['"{}"'.format(mode) for mode in modes]
    return passed(phrase("the precision mode is {}", join(" or ", quoted)))


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


@check("loss-scale", _MIXED)
def _loss_scale(facts: Facts) -> CheckResult:
    modes = facts.each(_mode)
    if facts.settings and all(mode in _BFLOAT16 for mode in modes):
        return passed("bfloat16 has the range of float32")
    if facts.settings and not any(mode is UNKNOWN or mode in _all_mixed() for mode in modes):
        return passed("needed with mixed precision only, which is not on")
    if facts.values("graph_run_mode") == [0]:
        return passed("online inference has no gradients")
    script = facts.script
    if script is None:
        return unknown("whether the optimizer scales the loss is decided in the training script")
    if script.names is None:
        return unknown("the script is not Python 3")
    used = script.uses(_LOSS_SCALE)
    if used is not None:
        return passed(phrase("the script uses {}", used))
    if script.imports("LossScaleOptimizer(", "LossScaleManager("):
        return passed("a file that the script imports scales the loss")
    if script.uses(_OPTIMIZER) is None and not script.imports("Optimizer(", ".minimize("):
        if script.uses(_TRAINING) is None:
            return passed("nothing in the script trains")
        return unknown("the optimizer is made in a file that is not looked at")
    if not any(mode in _all_mixed() for mode in modes):
        return unknown(_MODE_UNKNOWN if facts.settings else _nothing(facts))
    return failed(
        "the script names no loss scaling",
        "wrap the optimizer in NPULossScaleOptimizer with an ExponentialUpdateLossScaleManager",
    )


def _around(field: str, off: str, what: str, rule: str) -> Callable[[Facts], CheckResult]:
    """The verdict on a field beside the options in the ConfigProto, as severe as its rule is."""

    def judge(facts: Facts) -> CheckResult:
        if not facts.settings and not _is_written_by_us(facts):
            return unknown(_nothing(facts))
        if facts.writes_session:
            return passed(phrase("to_config_proto switches {} off", what))
        values = facts.each(
            lambda settings: (
                UNKNOWN if settings.session is None else getattr(settings.session, field)
            )
        )
        wrong = [value for value in values if value not in (off, UNKNOWN)]
        if wrong:
            found = [d for d in facts.diagnostics if d.rule == rule]
            is_error = any(d.severity is Severity.ERROR for d in found)
            return (failed if is_error else advice)(
                phrase("{} is {}, not {}", field, wrong[0], off),
                phrase("build the ConfigProto with npu_config, or set {} to {}", field, off),
            )
        if UNKNOWN in values:
            return unknown("the script leaves it to a helper, or sets it at run time")
        return passed(phrase("{} is {}", field, off))

    return judge


_global_jit = _around("global_jit_level", "OFF", "XLA", "NPU805")


@check("xla-off", _SESSION)
def _xla(facts: Facts) -> CheckResult:
    flags = facts.environ.get("TF_XLA_FLAGS", "")
    jit = re.search(r"--tf_xla_auto_jit=(\S+)", flags)
    if jit and jit.group(1) not in ("-1", "0"):
        return failed(phrase('TF_XLA_FLAGS holds "{}"', jit.group()), "unset TF_XLA_FLAGS")
    return _global_jit(facts)


def _is_written_by_us(facts: Facts) -> bool:
    """Whether a script lets npu_config make its ConfigProto."""
    return facts.script is not None and facts.script.uses(_OWN) is not None


def _nothing(facts: Facts) -> str:
    if not facts.given:
        return _NO_SOURCE
    if _is_written_by_us(facts):
        return "the options come from somewhere else, e.g. a file that can be checked by itself"
    if facts.script is not None:
        return "the script sets no option of the NpuOptimizer"
    return "no options could be read"


_ENVIRONMENT = "docs/en/tfadapter_1/migration/model_training/distributed_training.md"
_DUMP = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"
# tensorflow-1.15.5.dist-info, tensorflow_cpu-2.15.1.dist-info, tensorflow-1.15.5-py3.7.egg-info
_TENSORFLOW = re.compile(r"tensorflow(?:_cpu|_gpu)?-(\d[^-]*?)(?:-py[\d.]+)?\.(?:dist|egg)-info\Z")


def is_host(environ: Mapping[str, str]) -> bool:
    """True when this machine looks like one that trains on NPUs."""
    return (
        bool(glob.glob("/dev/davinci[0-9]*"))
        or any(environ.get(name) for name in ROOTS)
        or _installed("npu_bridge")
    )


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


@check("dump-directories", _DUMP)
def _directories(facts: Facts) -> CheckResult:
    if not facts.settings:
        return unknown("no configuration that could name a directory was read")
    switches = facts.values("enable_dump") + facts.values("enable_dump_debug")
    paths = [path for path in facts.values("dump_path") if path is not None]
    if True not in switches and UNKNOWN not in switches:
        return passed("nothing is dumped")
    if not paths:
        return failed("no dump_path is set", "set dump_path to an existing directory")
    if UNKNOWN in paths:
        return unknown("dump_path has no value that can be looked at here")
    bad = [path for path in paths if not _usable(path)]
    if not bad:
        return passed(phrase("{} can be read and written", listed(paths)))
    reason = phrase('"{}" is not a directory that this user can read and write', bad[0])
    if not facts.on_host:
        return unknown(phrase("{}, and this is not an NPU host", reason))
    return failed(reason, phrase("create it before the job: mkdir -p {}", bad[0]))


def _usable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK | os.W_OK)


@check("environment", _ENVIRONMENT)
def _environment(facts: Facts) -> CheckResult:
    from npu_config.launch.environment.check import check_environment, check_host
    from npu_config.launch.environment.variables import VARIABLES

    given = [variable for variable in VARIABLES if variable in facts.environ]
    if not given:
        return unknown("no variable of an NPU job is set in this environment")
    look: Any = check_host if facts.on_host else check_environment
    errors = [
        found for found in look(facts.environ, facts.target) if found.severity is Severity.ERROR
    ]
    if errors:
        help = errors[0].help or "npu-config env --check lists all"
        return failed(errors[0].message, help)
    words = "{} variable checked" if len(given) == 1 else "{} variables checked"
    return passed(phrase(words, len(given)))


@check("tensorflow-version")
def _tensorflow(facts: Facts) -> CheckResult:
    python = phrase("Python {}.{}", *sys.version_info[:2])
    version = _tensorflow_version()
    if version is None:
        return unknown(phrase("no TensorFlow is installed for this {}", python))
    reason = phrase("TensorFlow {} on {}", version, python)
    if version.startswith("1.15."):
        return passed(reason)
    if not facts.on_host:
        return unknown(phrase("{}, and this is not an NPU host", reason))
    return failed(reason, "install tensorflow 1.15 (Python 3.7), which this adapter is for")


def _tensorflow_version() -> Optional[str]:
    """The version of the package that would be imported, without importing it."""
    try:
        found = importlib.util.find_spec("tensorflow")
    except (ImportError, ValueError):
        return None
    if found is None or not found.submodule_search_locations:
        return None
    root = os.path.dirname(next(iter(found.submodule_search_locations)))
    pattern = os.path.join(glob.escape(root), "tensorflow*-info")
    for path in sorted(glob.glob(pattern)):
        match = _TENSORFLOW.match(os.path.basename(path))
        if match:
            return match.group(1)
    return "of unknown version"


@check("adapter-installed")
def _adapter(facts: Facts) -> CheckResult:
    if _installed("npu_bridge"):
        return passed("npu_bridge can be imported")
    if not facts.on_host:
        return unknown("this is not an NPU host")
    help = "install the TF Adapter (tfplugin) and source its set_env.sh"
    return failed("npu_bridge cannot be found", help)


@check("cann-version")
def _cann(facts: Facts) -> CheckResult:
    roots = [facts.environ[root] for root in ROOTS if facts.environ.get(root)]
    if not roots:
        return unknown(phrase("none of {} is set", listed(ROOTS[:3])))
    version = installed_cann(facts.environ)
    if version is None:
        return unknown(phrase("no version file below {}", roots[0]))
    wanted = facts.target.cann
    if wanted is None or version == wanted or version.startswith(wanted + "."):
        return passed(phrase("CANN {}, {}", version, Target(cann=version).snapshot))
    reason = phrase("CANN {} is installed, the configuration is for {}", version, wanted)
    return failed(reason, "install that version, or change the target")


CHECKS = (
    _valid,
    _used,
    _mixed,
    _loss_scale,
    check("remapping-off", _SESSION)(_around("remapping", "OFF", "remapping", "NPU803")),
    check("memory-optimization-off", _SESSION)(
        _around("memory_optimization", "NO_MEM_OPT", "memory optimization", "NPU804")
    ),
    _xla,
    _directories,
    _environment,
    _tensorflow,
    _adapter,
    _cann,
)
