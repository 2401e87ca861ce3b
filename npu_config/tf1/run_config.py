"""NPURunConfig: the configuration of an Estimator that trains on the NPU."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules, warn
from npu_config.tf1.config_proto import merge_entries
from npu_config.tf1.run_config_parts import PARTS, GraphMemoryOptimizeConfig
from npu_config.tf1.tensorflow import internal, tf

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


def _with_near_name(message: str, named: Iterable[str]) -> str:
    """What Python says of a wrong call, and the argument that a misspelt one may be meant for."""
    from npu_config.catalogue.api import PARAMETERS
    from npu_config.text.words import did_you_mean

    legal = PARAMETERS["NPURunConfig"]
    helps = [did_you_mean(name, legal) for name in named if name not in legal]
    return "; ".join(["NPURunConfig " + message, *filter(None, helps)])


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
            try:
                bound = self.__signature__.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(_with_near_name(str(error), kwargs)) from None
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
        from npu_config.tf1.run_config_options import (
            choose,
            findings_of,
            task_of,
            wire_values,
        )

        arguments = self._arguments
        base = session_config if isinstance(session_config, tf.ConfigProto) else None
        choices = choose(arguments)
        findings = [*faults, *findings_of(choices, {} if base is None else decode(base).entries)]
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
                help="pass it as an argument of NPURunConfig, or remove it from session_config",
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
