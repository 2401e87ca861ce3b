"""NPUEstimator and NPUEstimatorSpec: an Estimator that trains on the NPU.

``host_call`` of the specification is a function that the host runs on tensors of every step: on
the device the tensors are sent through a channel and the function runs on what comes out; without
a device it runs on the tensors themselves.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import string
import sys
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.core.names import ITERATION_OP
from npu_config.core.paths import reading
from npu_config.tf1 import ranks, vendor
from npu_config.tf1._bases import SessionRunHook
from npu_config.tf1._lazy import errors, rules, warn
from npu_config.tf1.hooks import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUSaver,
    SetIterationsVarHook,
)
from npu_config.tf1.run_config import NPURunConfig
from npu_config.tf1.tensorflow import internal, tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import NpuConfigError

Tensors = Union[Sequence[Any], Dict[str, Any]]
HostCall = Tuple[Callable[..., Any], Tensors]


def check_host_call(host_call: Any) -> None:
    """Refuse what is not a pair of a function and the tensors that it takes.

    Raises:
        ArgumentError: the first is not a function.
        NpuConfigError: it is not a pair, or the tensors are not a list, tuple or dict.
        StateError: the function takes another number of arguments.
    """
    if not isinstance(host_call, (list, tuple)) or len(host_call) != 2:
        raise _refusal("host_call must be (function, tensors)", host_call)
    function, tensors = host_call
    if not callable(function):
        raise _refusal("host_call[0] must be a function", function, errors.ArgumentError)
    if not isinstance(tensors, (list, tuple, dict)):
        raise _refusal("host_call[1] must be a list, tuple or dict of tensors", tensors)
    if isinstance(tensors, (list, tuple)) and not _takes(function, len(tensors)):
        message = "host_call[0] does not take the {} tensors of host_call[1]".format(len(tensors))
        raise _refusal(message, function, errors.StateError)


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a built-in function that does not say
        return True
    return True


def _refusal(message: str, value: Any, kind: Any = None) -> NpuConfigError:
    return rules.estimator_spec.error(
        "{}, got {!r}".format(message, value),
        help="write host_call=(write_summaries, [global_step, loss])",
        kind=kind or errors.NpuConfigError,
    )


def _call_host(function: Callable[..., Any], tensors: Tensors, values: Sequence[Any]) -> Any:
    if isinstance(tensors, dict):
        return function(**dict(zip(tensors, values)))
    return function(*values)


class _EveryStepHook(SessionRunHook):
    """Runs what a function made of the step's tensors, with the step."""

    def __init__(self, operations: Any) -> None:
        self._operations = operations

    def before_run(self, run_context: Any) -> Any:
        """Fetch the operations with the run."""
        return tf.train.SessionRunArgs(self._operations)


def place_host_call(host_call: HostCall, after: Any, channel: str) -> Tuple[Any, List[Any]]:
    """Let the host run a function on tensors of every step.

    Args:
        host_call: the function and its tensors.
        after: the operation or tensor of the step.
        channel: name of the channel on the device, the mode of the Estimator.

    Returns:
        The operation of the step, which sends the tensors where that is needed, and the hooks.
    """
    function, tensors = host_call
    values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors)
    if not vendor.is_available():
        return after, [_EveryStepHook(_call_host(function, tensors, values))]
    with tf.control_dependencies([after]):
        send = vendor.require("npu_ops", "outfeed_enqueue_op")(channel_name=channel, inputs=values)
    received = vendor.require("npu_ops", "outfeed_dequeue_op")(
        channel_name=channel,
        output_types=[value.dtype for value in values],
        output_shapes=[value.shape for value in values],
    )
    hook = vendor.require("npu_hook", "NPUInfeedOutfeedSessionHook")
    with tf.control_dependencies([send]):
        after = tf.group(after) if isinstance(after, tf.Operation) else tf.identity(after)
    return after, [hook(_call_host(function, tensors, received), channel)]


def log_hooks() -> List[Any]:
    """The hook that prints what the device logs, where there is a device."""
    hook = vendor.find("npu_hook", "NPULogOutfeedSessionHook")
    return [] if hook is None else [hook(sys.stderr)]


class JobInfo(NamedTuple):
    """The job that a process belongs to.

    Attributes:
        rank_id: the rank of this process.
        rank_size: the number of ranks.
        checkpoint_dir: where to warm start from, or None.
    """

    rank_id: int
    rank_size: int
    checkpoint_dir: Optional[str]


def read_job_info(job_start_file: str = "") -> JobInfo:
    """What a job start file says, or else the environment.

    Off the NPU host and with one rank, nothing has to be said.

    Args:
        job_start_file: path of a JSON file; empty for none.

    Raises:
        NpuConfigError: there is not a usable file, and ``JOB_ID`` is not set where it is needed.
    """
    started = _read(job_start_file) if job_start_file else None
    if started is not None:
        device = started.get("device_info")
        index = device.get("Index", 0) if isinstance(device, dict) else 0
        size = started.get("rank_size", 1)
        if isinstance(index, int) and isinstance(size, int):
            return JobInfo(index, size, started.get("local_checkpoint_dir"))
    size = ranks.rank_size()
    needed = bool(job_start_file) or vendor.is_available() or size > 1
    if needed and not os.environ.get("JOB_ID"):
        what = 'job_start_file "{}" cannot be used'.format(job_start_file)
        raise rules.estimator_argument.error(
            "{} and JOB_ID is not set".format(
                what if job_start_file else "job_start_file is not set"
            ),
            help="set JOB_ID in the environment, for instance JOB_ID=job1",
        )
    return JobInfo(ranks.rank_id(), size, os.environ.get("LOCAL_CHECKPOINT_DIR"))


def _read(path: str) -> Optional[Dict[str, Any]]:
    try:
        with open(path, encoding="utf-8", opener=reading) as stream:
            content = json.load(stream)
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


if TYPE_CHECKING:

    class Estimator:
        """tf.estimator.Estimator, as far as it is used here; for type checking only."""

        _model_fn: Callable[..., Any]
        model_dir: str

        def __init__(self, **kwargs: Any) -> None: ...

    class EstimatorSpec:
        """tf.estimator.EstimatorSpec, as far as it is used here; for type checking only."""

        loss: Any
        train_op: Any
        training_hooks: Any
        evaluation_hooks: Any
        scaffold: Any

        _fields: Tuple[str, ...]

        def __new__(cls, **kwargs: Any) -> Any:
            """Make one."""

        def _replace(self, **kwargs: Any) -> Any: ...

else:
    Estimator = tf.estimator.Estimator
    EstimatorSpec = tf.estimator.EstimatorSpec

_LETTERS = string.ascii_letters + string.digits


class NPUEstimatorSpec(EstimatorSpec):
    """What a model function returns; an EstimatorSpec with a ``host_call``.

    Args:
        host_call: a function and the tensors that the host runs it on at every step: a list,
            a tuple, or a dict by argument name.

    The other arguments are those of ``tf.estimator.EstimatorSpec``.

    Raises:
        ArgumentError: ``host_call[0]`` is not a function.
        NpuConfigError: ``host_call`` is not a pair, or its tensors are not a list, tuple or dict.
        StateError: the function takes another number of arguments than there are tensors.
    """

    _host_call: Optional[HostCall]

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Optional[Dict[str, Any]] = None,
        export_outputs: Optional[Dict[str, Any]] = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
        host_call: Optional[HostCall] = None,
    ) -> NPUEstimatorSpec:
        """Make a spec, and check its host_call."""
        given = locals()
        if host_call is not None:
            check_host_call(host_call)
        spec: NPUEstimatorSpec = super().__new__(
            cls, **{name: given[name] for name in cls._fields}
        )
        spec._host_call = host_call
        return spec


class NPUEstimator(Estimator):
    """An Estimator that trains on the NPU.

    It adds to the training hooks the broadcast of variables (several ranks), the saving of
    checkpoints, ``host_call`` and the loading of the loop, and groups ``train_op`` as
    ``IterationOp`` (``iterations_per_loop`` above 1).

    A configuration of the vendor's class makes the vendor's NPUEstimator.

    Args:
        model_fn: the model function, as for ``tf.estimator.Estimator``.
        model_dir: directory of checkpoints and logs; None: that of ``config``, or a new one.
        config: an :class:`NPURunConfig`.
        params: handed to the model function.
        job_start_file: a JSON file that describes the job; without it ``JOB_ID`` does.
        warm_start_from: checkpoint to start from; None: that of the job, or ``RESTORE_FROM``.

    Raises:
        NpuConfigError: ``config`` is of another class, the directories differ, or the job is
            not described where that is needed.
    """

    def __new__(
        cls,
        model_fn: Optional[Callable[..., Any]] = None,
        model_dir: Optional[str] = None,
        config: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Make the Estimator that goes with the class of ``config``."""
        if config is not None and not isinstance(config, NPURunConfig):
            theirs = vendor.find("npu_config", "NPURunConfig")
            if isinstance(theirs, type) and isinstance(config, theirs):
                estimator = vendor.require("npu_estimator", "NPUEstimator")
                return estimator(model_fn, model_dir, config, *args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self,
        model_fn: Optional[Callable[..., Any]] = None,
        model_dir: Optional[str] = None,
        config: Optional[NPURunConfig] = None,
        params: Optional[Dict[str, Any]] = None,
        job_start_file: str = "",
        warm_start_from: Any = None,
    ) -> None:
        if not isinstance(config, NPURunConfig):
            raise rules.estimator_argument.error(
                "config must be an NPURunConfig, got {!r}".format(config),
                help="write config=NPURunConfig(...)",
            )
        job = read_job_info(job_start_file)
        if warm_start_from is None:
            warm_start_from = job.checkpoint_dir or os.environ.get("RESTORE_FROM")
        super().__init__(
            model_fn=model_fn,
            model_dir=_model_dir(model_dir, config),
            config=config,
            params=params,
            warm_start_from=warm_start_from,
        )
        user_model_fn = self._model_fn

        def on_npu(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
            """The user's model function, and what the NPU adds to its result."""
            spec = _call(user_model_fn, features, labels, mode, params, config)
            if mode == tf.estimator.ModeKeys.TRAIN:
                return _for_training(_checked(spec, mode), self.model_dir, config, job)
            if mode == tf.estimator.ModeKeys.EVAL:
                return _for_evaluation(_checked(spec, mode))
            return spec

        self._model_fn = on_npu


def _call(function: Any, features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
    """Call a model function with the arguments that it takes."""
    takes = internal("util.function_utils").fn_args(function)
    if "labels" not in takes and labels is not None:
        raise rules.estimator_spec.error(
            "input_fn returns labels, but model_fn has no argument for labels"
        )
    offered = {"labels": labels, "mode": mode, "params": params, "config": config}
    return function(
        features=features, **{name: offered[name] for name in offered if name in takes}
    )


def _checked(spec: Any, mode: str) -> Any:
    if not isinstance(spec, EstimatorSpec):
        raise rules.estimator_spec.error(
            "model_fn must return an EstimatorSpec or NPUEstimatorSpec in mode "
            '"{}", got {!r}'.format(mode, spec),
            kind=errors.StateError,
        )
    return spec


def _for_training(spec: Any, model_dir: str, config: NPURunConfig, job: JobInfo) -> Any:
    count = config.iterations_per_loop
    hooks: List[Any] = []
    if job.rank_size > 1 and not config.horovod_mode:
        hooks.append(NPUBroadcastGlobalVariablesHook(0, job.rank_id))
    secs, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
    if secs or steps:
        saver = None if spec.scaffold is None else spec.scaffold.saver
        if saver is None:
            saver = NPUSaver(
                max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            )
        saver_hook = NPUCheckpointSaverHook(model_dir, secs, steps, saver)
        saver_hook._set_steps_per_run(count)
        hooks.append(saver_hook)
    train_op = spec.train_op
    if isinstance(spec, NPUEstimatorSpec):
        if spec._host_call is not None:
            channel = tf.estimator.ModeKeys.TRAIN
            train_op, host_hooks = place_host_call(spec._host_call, train_op, channel)
            hooks += host_hooks
        hooks += log_hooks()
    if count > 1:
        hooks.append(SetIterationsVarHook(count))
        with tf.get_default_graph().name_scope(None):
            train_op = tf.group(train_op, name=ITERATION_OP)
    return spec._replace(train_op=train_op, training_hooks=[*hooks, *spec.training_hooks])


def _for_evaluation(spec: Any) -> Any:
    if not isinstance(spec, NPUEstimatorSpec):
        return spec
    hooks: List[Any] = []
    loss = spec.loss
    if spec._host_call is not None:
        channel = tf.estimator.ModeKeys.EVAL
        loss, hooks = place_host_call(spec._host_call, loss, channel)
    hooks += log_hooks()
    return spec._replace(loss=loss, evaluation_hooks=[*hooks, *spec.evaluation_hooks])


def _model_dir(given: Optional[str], config: NPURunConfig) -> str:
    """The model directory: of either argument, or a new one."""
    if given and config.model_dir and given != config.model_dir:
        raise rules.estimator_argument.error(
            'model_dir is "{}" in NPUEstimator and "{}" in NPURunConfig'.format(
                given, config.model_dir
            ),
            help="set model_dir in only one of them",
        )
    found = given or config.model_dir
    if found:
        return str(found)
    name = "model_dir_" + "".join(random.SystemRandom().choice(_LETTERS) for _ in range(10))
    made = os.path.join(os.getcwd(), name)
    os.makedirs(made)
    from npu_config.core.diagnostics import Severity

    warn(
        rules.estimator_argument.diagnostic(
            'model_dir is not set; the directory "{}" was created'.format(made),
            help="set model_dir to write the checkpoints to a known directory",
            severity=Severity.WARNING,
        )
    )
    return made
