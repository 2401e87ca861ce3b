"""The checks that the documentation asks for before accuracy or performance is tuned.

Each check ends as passed, failed, or cannot be checked here, with the reason.  What is
looked at: the options of a configuration or script, what stands around them in the session,
the environment, the machine.
"""

import ast
import enum
import functools
import glob
import importlib.util
import os
import re
import sys
from typing import (
    Any,
    Callable,
    FrozenSet,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Pattern,
    Sequence,
    Tuple,
)

import attr

from npu_config.catalogue.options import MIXED_MODES
from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.message import join, listed, phrase
from npu_config.core.settings import UNKNOWN, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.judging import ALONE, Around, Judgement, KnownRules, judge
from npu_config.rules.case import Case
from npu_config.rules.reading import Reading
from npu_config.rules.toolkit import ROOTS, installed_cann
from npu_config.script.neighbours import any_import_has


class CheckOutcome(enum.Enum):
    """How a check ended; advice is what ``npu-config check`` reports below an error."""

    PASSED = "passed"
    ADVICE = "advice"
    FAILED = "failed"
    UNKNOWN = "cannot be checked here"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DoctorCheck:
    """One check.

    Args:
        name: in kebab-case.
        outcome: how it ended.
        reason: why.
        help: what to do, for a check that failed; else "".
        source: the page that asks for it.
    """

    name: str
    outcome: CheckOutcome
    reason: str
    help: str = ""
    source: str = ""


class CheckResult(NamedTuple):
    """What a check comes to: how it ended, why, and what to do."""

    outcome: CheckOutcome
    reason: str
    help: str = ""


passed = functools.partial(CheckResult, CheckOutcome.PASSED)
advice = functools.partial(CheckResult, CheckOutcome.ADVICE)
failed = functools.partial(CheckResult, CheckOutcome.FAILED)
unknown = functools.partial(CheckResult, CheckOutcome.UNKNOWN)


def check(name: str, source: str = "") -> Callable[[Callable[[Any], CheckResult]], Any]:
    """Make a check of a function from the facts to a verdict.

    Args:
        name: in kebab-case.
        source: the page that asks for it.
    """

    def named(judge: Callable[[Any], CheckResult]) -> Callable[[Any], DoctorCheck]:
        return lambda facts: DoctorCheck(name, *judge(facts), source)

    return named


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Checkup:
    """All checks, and what is to be said of the source; None where there is none."""

    checks: Tuple[DoctorCheck, ...]
    judgement: Optional[Judgement] = None

    @property
    def ok(self) -> bool:
        """True when nothing failed."""
        return not self.failed

    @property
    def failed(self) -> Tuple[DoctorCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome is CheckOutcome.FAILED)

    def __getitem__(self, name: str) -> DoctorCheck:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)


Environ = Mapping[str, str]

_OURS = (SourceKind.BUILDER, SourceKind.FILE)
"""Sources from which npu_config makes the ConfigProto."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TrainingScript:
    """A training script.

    Args:
        path: where it is.
        names: every name that it uses; None when it is not Python 3.
    """

    path: Optional[str]
    names: Optional[FrozenSet[str]]

    @classmethod
    def of(cls, text: Optional[str], path: Optional[str]) -> "Optional[TrainingScript]":
        """The script with this text; None without one."""
        return None if text is None else cls(path, _names(text))

    def uses(self, pattern: Pattern[str]) -> Optional[str]:
        """A name that it uses and that a pattern finds."""
        return min(filter(pattern.search, self.names or ()), default=None)

    def imports(self, *words: str) -> bool:
        """Whether a file that it imports, itself or through others, holds one of the words."""
        return any_import_has(self.path, words)


def _names(text: str) -> Optional[FrozenSet[str]]:
    try:
        tree = ast.parse(text)
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
    return frozenset(found)


def _may_be_true(node: ast.expr) -> bool:
    """False for the constants False and None."""
    return getattr(node, "value", node) not in (False, None)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Facts:
    """What is known.

    Args:
        given: True when there is a source at all.
        settings: one per path through a script, one for anything else, none when nothing could
            be read.
        diagnostics: what is wrong with it.
        unchecked: why it was not checked; None: it was.
        script: a training script.
        writes_session: True for a source from which npu_config makes the ConfigProto, and
            so sets what stands around the options.
        target: product and mode.
        environ: the environment of the job.
        on_host: True when this is the training host.
    """

    given: bool
    settings: Tuple[Settings, ...]
    diagnostics: Tuple[Diagnostic, ...]
    unchecked: Optional[str]
    script: Optional[TrainingScript]
    writes_session: bool
    target: Target
    environ: Environ
    on_host: bool

    def each(self, look: Callable[[Settings], Any]) -> List[Any]:
        """What ``look`` sees in each of the settings, without repetition."""
        return list(dict.fromkeys(look(settings) for settings in self.settings))

    def values(self, name: str) -> List[Any]:
        """The values of an option, as its kind reads them.

        None where it is absent, UNKNOWN where the value is not known or not legal.
        """

        def value(settings: Settings) -> Any:
            if name not in settings.entries:
                return UNKNOWN if settings.open else None
            return Case(settings).known.get(name, UNKNOWN)

        return self.each(value)


def facts_of(
    judged: Optional[Judgement], around: Around, environ: Environ, on_host: bool
) -> Facts:
    """What the judgement of a source shows.

    Args:
        judged: what is to be said of the source; None: there is none.
        around: what it was judged for.
        environ: the environment of the job.
        on_host: this is the training host.
    """
    reading = Reading("", None) if judged is None else judged.reading
    assert reading is not None
    settings = reading.lasting
    return Facts(
        judged is not None,
        settings,
        () if judged is None else judged.found,
        None if judged is None else judged.unchecked,
        TrainingScript.of(reading.text, reading.path) if reading.kind == "script" else None,
        all(each.source_kind in _OURS for each in settings),
        around.target_of(reading.target, reading.unreadable),
        environ,
        on_host,
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
_MODE_UNKNOWN = "the precision mode is known only at run time"
_NO_SOURCE = "no configuration or script was given"


@check("configuration-valid", _SESSION)
def _valid(facts: Facts) -> CheckResult:
    if not facts.given:
        return unknown(_NO_SOURCE)
    report, help = Report(facts.diagnostics), "npu-config check reports all errors and warnings"
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
        help = "pass a configuration or a training script to doctor"
        return unknown("the file contains no options; check it with npu-config check", help)
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
        return failed(reason, "remove use_off_line")
    if UNKNOWN in off:
        return unknown("the value of use_off_line is known only at run time")
    if not facts.writes_session and names and not names & {"NpuOptimizer", UNKNOWN}:
        reason = "no custom optimizer is named NpuOptimizer"
        return failed(reason, 'set the name of the custom optimizer to "NpuOptimizer"')
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
    for option in MIXED_MODES:
        setting = settings.entries.get(option)
        if setting is not None:
            return setting.value if isinstance(setting.value, str) else UNKNOWN
    return UNKNOWN if settings.open else None


def _all_mixed() -> Sequence[str]:
    return [mode for modes in MIXED_MODES.values() for mode in modes]


@check("loss-scale", _MIXED)
def _loss_scale(facts: Facts) -> CheckResult:
    modes = facts.each(_mode)
    if facts.settings and all(mode in _BFLOAT16 for mode in modes):
        return passed("bfloat16 has the range of float32")
    if facts.settings and not any(mode is UNKNOWN or mode in _all_mixed() for mode in modes):
        return passed("only needed with mixed precision, which is off")
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
            return passed("the script contains no training")
        return unknown("the optimizer is created in a file that is not checked")
    if not any(mode in _all_mixed() for mode in modes):
        return unknown(_MODE_UNKNOWN if facts.settings else _nothing(facts))
    return failed(
        "the script uses no loss scaling",
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
            return unknown("the script sets this field in a helper function, or at run time")
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
        return "the options come from another source, e.g. a file that can be checked separately"
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
        return unknown("no configuration was read, so there is no directory to check")
    switches = facts.values("enable_dump") + facts.values("enable_dump_debug")
    paths = [path for path in facts.values("dump_path") if path is not None]
    if True not in switches and UNKNOWN not in switches:
        return passed("nothing is dumped")
    if not paths:
        return failed("no dump_path is set", "set dump_path to an existing directory")
    if UNKNOWN in paths:
        return unknown("the value of dump_path cannot be checked here")
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
        return unknown("no environment variable of an NPU job is set")
    look: Any = check_host if facts.on_host else check_environment
    errors = [
        found for found in look(facts.environ, facts.target) if found.severity is Severity.ERROR
    ]
    if errors:
        help = errors[0].help or "npu-config env --check lists all errors and warnings"
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
    return failed(reason, "install tensorflow 1.15 (Python 3.7), which this adapter needs")


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
    return failed(
        reason,
        "install the CANN version of the configuration, or change the target of the configuration",
    )


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


def examine(
    source: Any = None,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: Optional[bool] = None,
    around: Around = ALONE,
    known_rules: Optional[KnownRules] = None,
    content: Optional[bytes] = None,
) -> Checkup:
    """Go through the checks.

    Args:
        source: a path (configuration file, ConfigProto text or bytes, training script), an
            NpuConfig, a mapping of options or a ConfigProto; None: only the machine.
        target: product, mode and version; what it leaves open is as the source says.
        environ: the environment of the job; None: that of this process.
        on_host: this is the training host: the source is judged with its paths and its
            environment, and what is missing here is a fault.  None: the source is judged without
            them, and what is missing is a fault when an NPU or the vendor's software is found.
        around: what is known besides, such as the target of the project.
        known_rules: as :func:`npu_config.judging.judge`.
        content: the content of the file, where it is not to be read from ``source``.

    Returns:
        Every check with its outcome, in the order of the documentation.

    Raises:
        TypeError: the source is of none of these types.
    """
    variables = os.environ if environ is None else environ
    around = attr.evolve(
        around,
        target=target,
        environ=variables if on_host else None,
        on_host=bool(on_host),
    )
    judged = None
    if source is not None:
        judged = judge(source, around, content=content, known_rules=known_rules)
    if on_host is None:
        on_host = is_host(variables)
    facts = facts_of(judged, around, variables, on_host)
    checks = [make(facts) for make in CHECKS]
    return Checkup(tuple(checks), judged)
