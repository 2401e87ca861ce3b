"""The facts of a migration: what each entry of the report is about, and where it is explained."""

import functools
import pkgutil
from typing import Any, Dict, Mapping, NamedTuple

from npu_config.core.diagnostics import DOCS_URL
from npu_config.core.message import phrase

__all__ = ["FACTS", "LABELS", "Fact", "details"]

_PORTING = "migration/script_migration/"
_SINGLE = _PORTING + "single_service_single_device_porting.md"
_AUTO = _PORTING + "automated_porting.md"
_HOROVOD = _PORTING + "distributed_training_scripts/horovod_porting.md"
_ALLREDUCE = _PORTING + "distributed_training_scripts/data_parallel_allreduce.md"
_OFFLOAD = "migration/performance_tuning/iteration_offload.md"
_MIXED = "migration/performance_tuning/mixed_precision_training.md"
_RUN_CONFIG = "apiref/npu_config/runconfig_params_support_info.md"
_COMMON = "migration/common_operation/"
_FAQ = "migration/faq/"


class Fact(NamedTuple):
    """One thing that a migration changes, refuses or reports.

    ``source`` is the page of the vendor's documentation below ``docs/en/tfadapter_1``, where
    there is one.
    """

    id: str
    group: str
    title: str
    source: str = ""

    @property
    def url(self) -> str:
        """Its place on the page about migration."""
        return "{}/migration.html#{}".format(DOCS_URL, self.id)


_GROUPS = {
    "imports": (
        ("import-npu", "the import of npu_init", _SINGLE),
        ("import-star-names", "names that the star import binds and the script uses", ""),
        ("import-conditional", "imports in try, if and functions", ""),
        ("import-aliases", "names of which it is not certain that they are TensorFlow's", _AUTO),
        ("already-migrated", "the script is one for the NPU already", ""),
        ("python2", "Python 2, a file that is cut off, or bytes that are not text", ""),
    ),
    "sessions": (
        ("session-config", "the configuration of a session", _SINGLE),
        ("session-star", "a session made with * or ** arguments", _SINGLE),
        ("session-reference", "a session class that is stored, passed on or subclassed", _SINGLE),
        ("session-close", "a session outside of a with statement", _SINGLE),
        ("remapping-off", "remapping", _SINGLE),
        (
            "memory-optimization-off",
            "memory optimization",
            _FAQ + "disable_memory_optimization_core_dump.md",
        ),
        ("xla-off", "XLA", _SINGLE),
        ("experimental-options", "options of TensorFlow's graph optimizer", _AUTO),
        ("gpu-options", "options of the GPU", _HOROVOD),
        ("cpu-only-session", "a session for the CPU on purpose", _SINGLE),
        ("graph-frozen", "a graph that is finalized", _OFFLOAD),
    ),
    "estimator": (
        ("estimator-config", "the configuration of an Estimator", _SINGLE),
        ("estimator-star", "an Estimator made with ** arguments", _SINGLE),
        ("estimator-offload", "NPURunConfig and NPUEstimator", _OFFLOAD),
        ("runconfig-unsupported", "arguments of RunConfig that NPURunConfig lacks", _RUN_CONFIG),
        ("runconfig-summary", "the interval of summaries", _RUN_CONFIG),
        ("hook-index", "the last of some hooks", _FAQ + "hook_index_error_fix.md"),
        (
            "save-on-rank",
            "checkpoints on one rank only",
            _COMMON + "save_checkpoint_on_particular_device.md",
        ),
        ("train-and-evaluate", "hooks of TrainSpec", _ALLREDUCE),
        ("tpu-off", "TPUEstimator", _AUTO),
        ("tpu-loop", "options of the TPU", _OFFLOAD),
        ("tpu-only", "functions of the TPU", ""),
    ),
    "keras": (
        ("keras-session", "the session of Keras", _SINGLE),
        ("keras-set-session", "the session that Keras is given", _SINGLE),
        ("keras-clear-session", "clear_session", _SINGLE),
        ("keras-session-close", "the end of the session of Keras", _SINGLE),
        ("native-keras", "Keras outside of TensorFlow", _AUTO),
        (
            "keras-to-estimator",
            "model_to_estimator",
            "apiref/keras_to_npu/model_to_npu_estimator.md",
        ),
        (
            "keras-to-npu-estimator",
            "model_to_npu_estimator",
            "apiref/keras_to_npu/model_to_npu_estimator.md",
        ),
        ("keras-distributed", "optimizer and callbacks of several ranks", _ALLREDUCE),
        ("keras-multi-gpu", "multi_gpu_model", _AUTO),
        ("keras-loss-scale", "LossScaleOptimizer of Keras", _AUTO),
        (
            "keras-zeros-in-input",
            "backend.zeros in the input pipeline",
            _FAQ + "tf_keras_backend_zeros_uninitialized_variable.md",
        ),
    ),
    "horovod": (
        ("hvd-import", "the import of Horovod", _HOROVOD),
        ("hvd-init", "hvd.init", _HOROVOD),
        ("hvd-rank", "ranks and sizes", _HOROVOD),
        ("hvd-optimizer", "DistributedOptimizer", _HOROVOD),
        ("hvd-broadcast-hook", "BroadcastGlobalVariablesHook", _HOROVOD),
        ("hvd-broadcast", "broadcasts of variables", _HOROVOD),
        ("hvd-allreduce", "allreduce", _HOROVOD),
        ("hvd-allgather", "allgather", _HOROVOD),
        ("hvd-callback", "callbacks for Keras", _HOROVOD),
        ("hvd-refused", "what has no counterpart on the NPU", _HOROVOD),
        ("hvd-compression", "compression of gradients", _HOROVOD),
        ("hvd-accumulation", "local accumulation of gradients", _HOROVOD),
        ("hvd-op", "reductions other than the average", _HOROVOD),
        ("hvd-alltoall", "alltoall", _HOROVOD),
        ("hvd-mpi", "questions about MPI", _HOROVOD),
        ("hvd-shutdown", "hvd.shutdown", _HOROVOD),
    ),
    "distribution": (
        ("strategy", "tf.distribute", _ALLREDUCE),
        ("strategy-optimizer", "optimizers under a strategy", _ALLREDUCE),
        (
            "parameter-server",
            "parameter servers",
            _PORTING + "distributed_training_scripts/data_parallel_ps_worker.md",
        ),
        ("multi-tower", "one tower per GPU", _SINGLE),
        ("gradients", "gradients that nothing reduces", _ALLREDUCE),
        ("dataset-shard", "shards of a Dataset", _ALLREDUCE),
    ),
    "model": (
        ("dropout", "tf.nn.dropout", "apiref/npu_ops/dropout.md"),
        ("dropout-layer", "dropout layers", _SINGLE),
        ("gelu", "gelu functions", _SINGLE),
        ("rnn", "recurrent cells", "apiref/npu_dynamic_rnn/DynamicRNN_constructor.md"),
        ("device", "device strings", _SINGLE),
        ("is-finite", "tests for overflow", _COMMON + "tf_finite_manual_port.md"),
        ("gpu-test", "tests for a GPU", ""),
        ("gpu-count", "the number of GPUs", ""),
        ("cudnn", "cuDNN, NCCL and operator libraries", _AUTO),
        ("py-func", "Python functions in the graph", _OFFLOAD),
        ("eager", "eager execution", ""),
    ),
    "data": (
        ("drop-remainder", "the last batch", _SINGLE),
        ("prefetch-to-device", "prefetching to a GPU", ""),
        ("one-shot-iterator", "one-shot iterators", _OFFLOAD),
        ("train-batch", "threads of tf.train.batch", _COMMON + "tf_train_batch_manual_port.md"),
        ("queue-input", "queues", _COMMON + "tf_train_batch_manual_port.md"),
        (
            "table-in-preprocessing",
            "lookup tables in preprocessing",
            _FAQ + "resource_operator_preprocess_fix.md",
        ),
        (
            "variable-in-preprocessing",
            "variables in preprocessing",
            _FAQ + "tf-variable_preprocess_error.md",
        ),
        (
            "control-flow-v1",
            "control flow of the old form",
            _FAQ + "dynamic_shape_v1_control_unsupported_error.md",
        ),
        (
            "dynamic-shape",
            "dimensions that are not known",
            _FAQ + "dynamic_shape_v1_control_unsupported_error.md",
        ),
        ("reducesum-fp16", "ReduceSum in float16", _MIXED),
        ("shuffle-buffer", "large shuffle buffers", _FAQ + "shuffle_buffer_timeout_fix.md"),
    ),
    "precision": (
        ("amp-rewrite", "the rewrite to mixed precision", _MIXED),
        ("loss-scale", "loss scaling", _MIXED),
        ("manual-loss-scale", "loss scaling by hand", _MIXED),
        ("precision-mode", "the precision mode", _MIXED),
    ),
    "loops": (
        ("loop-candidate", "iterations_per_loop", _OFFLOAD),
        ("summary", "summaries and logs", _RUN_CONFIG),
    ),
    "launch": (
        ("app-run", "tf.app.run", ""),
        ("cuda-visible-devices", "CUDA_VISIBLE_DEVICES", ""),
        ("nvidia-smi", "tools for GPUs", ""),
        ("launch", "mpirun and horovodrun", "migration/model_training/distributed_training.md"),
    ),
}

FACTS: Mapping[str, Fact] = {
    id: Fact(id, group, title, source)
    for group, rows in _GROUPS.items()
    for id, title, source in rows
}
"""Every fact by its id, in the order of the page."""

LABELS: Mapping[str, str] = {
    "when": phrase("when"),
    "before": phrase("before"),
    "after": phrase("after"),
    "left": "refused or reported",
}
"""What is said of a fact, in this order, and how it is headed."""


def details(fact: Fact) -> Dict[str, str]:
    """What is said of a fact, by the keys of :data:`LABELS` (``facts.yaml``)."""
    said = _details()[fact.id]
    return {key: said[key] for key in LABELS if key in said}


@functools.lru_cache(maxsize=None)
def _details() -> Any:
    import yaml

    return yaml.safe_load(pkgutil.get_data(__name__, "facts.yaml") or b"")
