"""NPURunConfig: the configuration of an Estimator that trains on the NPU."""

from __future__ import annotations

import functools
import inspect
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from npu_config.catalogue import OPTIONS, InvalidValue, Option
from npu_config.catalogue.api import WRITTEN_AS_TEXT, WRITTEN_WITHOUT_PART
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.rules.case import Case
from npu_config.rules.engine import judge, judge_case
from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1._sessions import merge_entries
from npu_config.tf1._warn import warn
from npu_config.tf1.run_config_parts import PARTS, GraphMemoryOptimizeConfig, fields_of
from npu_config.tf1.tensorflow import internal, tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from npu_config.catalogue.option_types import RunConfigArguments
    from npu_config.core.diagnostics import Diagnostic, Report
    from npu_config.rules.value import ConfigValue

    class RunConfig:
        """tf.estimator.RunConfig, as far as it is used here; for type checking only."""

        _session_config: Any
        model_dir: Optional[str]
        save_checkpoints_secs: Optional[int]
        save_checkpoints_steps: Optional[int]
        keep_checkpoint_max: Optional[int]
        keep_checkpoint_every_n_hours: float

        def __init__(self, **kwargs: Any) -> None: ...

        def replace(self, **kwargs: Any) -> Any:
            """A copy with some fields replaced."""

else:
    RunConfig = tf.estimator.RunConfig

_GRAPPLER = (
    "pruning",
    "function",
    "constfold",
    "shape",
    "arithmetic",
    "loop",
    "dependency",
    "layout",
    "GradFusionOptimizer",
)
"""The graph optimizers that run before the adapter's, in this order."""

_DEFAULT_CHECKPOINT_STEPS = 100

_OF_RUN_CONFIG = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "eval_distribute",
)

_PUBLIC = {
    "iterations_per_loop",
    "mix_compile_mode",
    "enable_data_pre_proc",
    "is_tailing_optimization",
    "variable_format_optimize",
    "horovod_mode",
    "graph_run_mode",
    "op_debug_level",
    "enable_scope_fusion_passes",
    "enable_exception_dump",
    "topo_sorting_mode",
    "aoe_config_file",
    "insert_op_file",
    "stream_sync_timeout",
    "event_sync_timeout",
}


_DEFAULTS = {
    "save_summary_steps": 0,
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "horovod_mode": False,
}
"""Defaults of arguments that carry no option; of the others it is None."""


class _Signature:
    """The signature of NPURunConfig, of the table of the API and the declared defaults."""

    def __get__(self, instance: Any, owner: Any) -> inspect.Signature:
        from npu_config.catalogue import OPTIONS
        from npu_config.catalogue.api import OPTION_OF, PARAMETERS

        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=OPTIONS[OPTION_OF[name]].run_config_default
                    if name in OPTION_OF
                    else _DEFAULTS.get(name),
                )
                for name in PARAMETERS["NPURunConfig"]
            ]
        )


class NPURunConfig(RunConfig):
    """The configuration of an Estimator that trains on the NPU.

    Its ``session_config`` carries every option, so that ``tf.estimator.Estimator`` takes it as
    well as ``NPUEstimator``.  Arguments that are not listed are options of that name; their
    values, units and defaults are on the reference pages and in ``npu-config explain``.

    Args:
        iterations_per_loop: training steps per ``session.run``.
        profiling_config: a :class:`ProfilingConfig`.
        model_dir: directory of checkpoints and logs.
        tf_random_seed: seed of TensorFlow.
        save_summary_steps: steps between summaries; 0 for none.
        save_checkpoints_steps: steps between checkpoints; 0 for none; 100 when neither this nor
            ``save_checkpoints_secs`` is given.
        save_checkpoints_secs: seconds between checkpoints.
        session_config: a ConfigProto to start from; it stays as it is.
        keep_checkpoint_max: number of checkpoints that are kept; 0 for all.
        keep_checkpoint_every_n_hours: hours after which one is kept for good.
        log_step_count_steps: steps between log lines.
        distribute: a ParameterServerStrategy, with a cluster in ``TF_CONFIG``.
        dump_config: a :class:`DumpConfig`.
        horovod_mode: do not broadcast the variables; Horovod does.
        dynamic_input_config: a :class:`DynamicInputConfig`.
        memory_config: a :class:`MemoryConfig`.
        experimental_config: an :class:`ExperimentalConfig`.

    Raises:
        ArgumentError: with every fault of every argument (a ValueError and a TypeError).
    """

    iterations_per_loop: int
    horovod_mode: bool

    if TYPE_CHECKING:

        def __init__(self, **arguments: Unpack[RunConfigArguments]) -> None: ...

    else:

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            bound = self.__signature__.bind(*args, **kwargs)
            bound.apply_defaults()
            self._take(bound.arguments)

    __signature__ = _Signature()

    def _take(self, arguments: Dict[str, Any]) -> None:
        self._arguments = arguments
        faults = self._make_run_config(arguments)
        completed = self._complete(arguments["session_config"], faults)
        self._session_config = completed
        for name, value in arguments.items():
            if name not in _OF_RUN_CONFIG:
                setattr(self, name if name in _PUBLIC else "_" + name, value)

    def _make_run_config(self, arguments: Dict[str, Any]) -> List[Diagnostic]:
        """Initialise what TensorFlow knows of; what it refuses is returned."""
        own = {name: arguments[name] for name in _OF_RUN_CONFIG}
        if own["save_checkpoints_secs"] is None:
            if own["save_checkpoints_steps"] is None:
                own["save_checkpoints_steps"] = _DEFAULT_CHECKPOINT_STEPS
        elif own["save_checkpoints_steps"] is not None:
            own["save_checkpoints_secs"] = None  # both are given, which a rule reports
        distribute = arguments["distribute"]
        if distribute is not None and "TF_CONFIG" in os.environ:
            distribution = internal("distribute.distribute_config").DistributeConfig
            own["experimental_distribute"] = distribution(distribute, distribute, None)
        try:
            super().__init__(**own)
        except (TypeError, ValueError) as error:
            return [rules.run_config_argument.diagnostic("RunConfig refuses: {}".format(error))]
        return []

    def _complete(self, session_config: Any, faults: Sequence[Diagnostic] = ()) -> Any:
        """The session configuration with the options in it; the given one stays as it is."""
        from npu_config.core.diagnostics import Report, Severity
        from npu_config.proto import decode, encode

        arguments = self._arguments
        base = session_config if isinstance(session_config, tf.ConfigProto) else None
        choices = choose(arguments)
        findings = [*faults, *faults_of_parts(arguments)]
        findings += findings_of(choices, {} if base is None else decode(base).entries)
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise errors.ArgumentError(findings)
        job, index = task_of()
        values = wire_values(choices.written)
        values.update(use_off_line=("b", True), job=("s", job), task_index=("i", index))
        completed, overwritten = encode(values, base, tf.ConfigProto)
        merge_entries(completed)
        findings += [
            rules.run_config_overrides_session_config.diagnostic(
                "{} was {!r} in session_config and is {!r} now".format(what, old, new),
                help="give it as an argument of NPURunConfig, or leave it out of session_config",
            )
            for what, old, new in overwritten
        ]
        optimizers = completed.graph_options.rewrite_options.optimizers
        optimizers.extend(name for name in _GRAPPLER if name not in optimizers)
        self.diagnostics: Report = Report(findings)
        for finding in self.diagnostics.warnings:
            warn(finding)
        return completed

    def replace(self, **kwargs: Any) -> Any:
        """A copy with some fields replaced; a new session_config is given the options, too."""
        if "session_config" in kwargs:
            kwargs["session_config"] = self._complete(kwargs["session_config"])
        return super().replace(**kwargs)


def from_config(config: ConfigValue, **arguments: Any) -> Any:
    """An NPURunConfig of an NpuConfig: the vendor's where it can be imported, else ours.

    Args:
        config: the options.
        arguments: further arguments, e.g. ``model_dir``; they win over the options.

    Raises:
        NpuConfigError: an option is set that NPURunConfig cannot carry.
        ArgumentError: an argument is wrong.
    """
    from npu_config.rules.unwritten import warn_unwritten
    from npu_config.writers.run_config import to_run_config_kwargs

    theirs = vendor.find("npu_config", "NPURunConfig")
    classes = dict(PARTS, graph_memory_optimize_config=GraphMemoryOptimizeConfig)
    if theirs is not None:
        classes = {
            name: vendor.require("npu_config", part.__name__) for name, part in classes.items()
        }
    kwargs = {**to_run_config_kwargs(config), **arguments}
    warn_unwritten((name, file.path) for name, file in config.side_files.items())
    return (theirs or NPURunConfig)(**_with_parts(kwargs, classes))


def _with_parts(kwargs: Dict[str, Any], classes: Dict[str, Any]) -> Dict[str, Any]:
    """Arguments in which dicts have become the configuration objects that they describe."""
    return {
        name: classes[name](**_with_parts(value, classes))
        if name in classes and isinstance(value, dict)
        else value
        for name, value in kwargs.items()
    }


_EARLY_ENVIRONMENT = {"TF_CONFIG"}
_EARLY_RULES = {"NPU619", "NPU824"}
"""What of the environment counts already while the configuration is made."""

_NONE_LEAVES_OUT = {
    "all_tensor_not_empty",
    "buffer_optimize",
    "compile_hybrid_mode",
    "dump_data",
    "dump_mode",
    "dynamic_dims",
    "dynamic_graph_execute_mode",
    "dynamic_node_type",
    "experimental_logical_device_cluster_deploy_mode",
    "export_compile_stat",
    "graph_max_parallel_model_num",
    "input_batch_cpy",
    "input_shape",
    "oo_constant_folding",
    "oo_level",
    "shape_generalization_mode",
    "static_memory_policy",
    "variable_use_1g_huge_page",
}
_DYNAMIC_INPUT = ("input_shape", "dynamic_dims", "dynamic_node_type", "compile_hybrid_mode")
_OF_TUNING = ("work_path", "distribute_config")
_ABSENT = object()


class Choices(NamedTuple):
    """What a set of arguments comes to.

    Attributes:
        written: option name to the value that goes into the session.
        given: option name to the value that the user chose, also where nothing comes of it.
        extra: arguments that are not options, and fields by dotted name.
    """

    written: Dict[str, Any]
    given: Dict[str, Any]
    extra: Dict[str, Any]


@functools.lru_cache(maxsize=None)
def carried() -> Tuple[Option, ...]:
    """The options that NPURunConfig carries and something at run time reads."""
    return tuple(o for o in OPTIONS.values() if o.run_config is not None and o.is_read)


def _is_part(value: Any, argument: str) -> bool:
    """True for a configuration object of the right class, ours or the vendor's."""
    return PARTS[argument].__name__ in [base.__name__ for base in type(value).__mro__]


def _flat(arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """Arguments and fields of configuration objects, by dotted name."""
    flat = dict(arguments)
    for argument in PARTS:
        part = arguments.get(argument)
        if part is not None and _is_part(part, argument):
            for name, value in fields_of(part).items():
                flat["{}.{}".format(argument, name)] = value
                if name == "graph_memory_optimize_config" and value is not None:
                    for inner, content in fields_of(value).items():
                        flat["{}.{}.{}".format(argument, name, inner)] = content
    return flat


def choose(arguments: Mapping[str, Any]) -> Choices:
    """What the arguments of NPURunConfig come to.

    Args:
        arguments: every argument by name, defaults included.
    """
    flat = _flat(arguments)
    written: Dict[str, Any] = {}
    given: Dict[str, Any] = {}
    for option in carried():
        value = flat.get(option.run_config or "", _ABSENT)
        if value is _ABSENT:
            if option.name in WRITTEN_WITHOUT_PART:
                written[option.name] = option.run_config_default
            continue
        default = option.run_config_default
        if value is None and (default is None or option.name in _NONE_LEAVES_OUT):
            continue
        value = _as_text(option, value)
        written[option.name] = value
        if value != default or type(value) is not type(default):
            given[option.name] = value
    _leave_out(written, given, flat)
    carriers = {option.run_config for option in carried()}
    extra = {name: value for name, value in flat.items() if name not in carriers}
    extra["dump_config.dump_mode"] = flat.get("dump_config.dump_mode", "output")
    return Choices(written, given, extra)


def _as_text(option: Option, value: Any) -> Any:
    """Sizes as text, as the vendor writes them; bytes, which the vendor wants for one option."""
    if isinstance(value, bytes) and option.wire == "s":
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return value
    if option.name in WRITTEN_AS_TEXT and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _leave_out(written: Dict[str, Any], given: Dict[str, Any], flat: Mapping[str, Any]) -> None:
    """What depends on another argument."""
    if not all(name in written for name in _DYNAMIC_INPUT):
        for name in _DYNAMIC_INPUT:
            written.pop(name, None)
    if flat.get("aoe_mode") is None:
        for name in _OF_TUNING:
            written.pop(name, None)
    else:
        written.setdefault("work_path", "./")
    if not flat.get("profiling_config.enable_profiling"):
        written.pop("profiling_options", None)
    else:
        written.setdefault("profiling_options", "")
    if "dump_config.dump_mode" in flat and flat["dump_config.dump_mode"] is None:
        dropped = written.pop("dump_debug_mode", None)
        if flat.get("dump_config.enable_dump_debug") is True and dropped is not None:
            given["dump_debug_mode"] = dropped


def faults_of_parts(arguments: Mapping[str, Any]) -> List[Diagnostic]:
    """Configuration objects of a wrong class, for those that the vendor does not check."""
    return [
        rules.run_config_argument.diagnostic(
            "{} must be a {} or None, got {!r}".format(
                argument, PARTS[argument].__name__, arguments[argument]
            ),
            help="write {}(...)".format(PARTS[argument].__name__),
        )
        for argument in ("profiling_config", "memory_config")
        if arguments.get(argument) is not None and not _is_part(arguments[argument], argument)
    ]


def findings_of(choices: Choices, base: Mapping[str, Setting]) -> List[Diagnostic]:
    """Everything that the rules say of the choices.

    On the NPU host paths are looked at, too; of the environment, only ``TF_CONFIG`` counts so
    early.

    Args:
        choices: what the user chose.
        base: options that the given session_config sets.
    """
    entries = dict(base)
    entries.update((name, Setting(value)) for name, value in choices.given.items())
    settings = Settings(
        entries,
        SourceKind.RUN_CONFIG,
        extra={name: Setting(value) for name, value in choices.extra.items()},
    )
    case = Case(settings, on_host=vendor.is_available())
    findings = judge_case(case)
    early = {name: os.environ[name] for name in _EARLY_ENVIRONMENT if name in os.environ}
    if early:
        findings += [d for d in judge(settings, environ=early) if d.rule in _EARLY_RULES]
    return findings


def wire_values(written: Mapping[str, Any]) -> Dict[str, Tuple[str, Any]]:
    """Option name to the AttrValue field and the value for it; text stays as it is written."""
    values = {}
    for name, value in written.items():
        kind = OPTIONS[name].kind
        if not isinstance(value, str):
            try:
                canonical = kind.parse(value)
                value = canonical if kind.plain else kind.to_wire(canonical)
            except InvalidValue:
                pass  # a value that only drew a warning goes on as it is
        values[name] = (kind.wire, value)
    return values


def task_of(environ: Optional[Mapping[str, str]] = None) -> Tuple[str, int]:
    """The job and the index of this task: from ``TF_CONFIG``, else ``localhost`` and 0."""
    environ = os.environ if environ is None else environ
    try:
        task = json.loads(environ.get("TF_CONFIG") or "{}").get("task") or {}
        return str(task.get("type", "localhost")), int(task.get("index", 0))
    except (ValueError, AttributeError, TypeError):
        return "localhost", 0
