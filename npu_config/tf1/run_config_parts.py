"""The configuration objects that NPURunConfig takes as arguments; they import no TensorFlow."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

from npu_config.tf1._lazy import errors, rules

_AUTOMATION = ("auto", "manual")


class ProfilingConfig:
    """Profiling of the device.

    Args:
        enable_profiling: switch it on.
        profiling_options: a JSON text, see the option ``profiling_options``.
    """

    def __init__(
        self, enable_profiling: bool = False, profiling_options: Optional[str] = None
    ) -> None:
        self._enable_profiling = enable_profiling
        self._profiling_options = profiling_options


class MemoryConfig:
    """Memory of the device.

    Args:
        atomic_clean_policy: 0 clears the memory of atomic operators together, 1 one by one.
        static_memory_policy: 0, 2, 3 or 4, see the option.
        memory_optimization_policy: undocumented.
        variable_use_1g_huge_page: 0, 1 or 2, see the option.
    """

    def __init__(
        self,
        atomic_clean_policy: int = 0,
        static_memory_policy: int = 0,
        memory_optimization_policy: Optional[str] = None,
        variable_use_1g_huge_page: int = 0,
    ) -> None:
        self._atomic_clean_policy = atomic_clean_policy
        self._static_memory_policy = static_memory_policy
        self._memory_optimization_policy = memory_optimization_policy
        self._variable_use_1g_huge_page = variable_use_1g_huge_page


class DumpConfig:
    """Dump of operator inputs and outputs, and detection of overflow.

    Args:
        enable_dump: switch the dump on.
        dump_path: an existing directory.
        dump_step: steps, e.g. ``"0|5|10-20"``.
        dump_mode: ``"input"``, ``"output"`` or ``"all"``.
        enable_dump_debug: switch the detection of overflow on.
        dump_debug_mode: ``"aicore_overflow"``, ``"atomic_overflow"`` or ``"all"``.
        dump_data: ``"tensor"`` or ``"stats"``.
        dump_layer: names of the nodes to dump, separated by spaces.
    """

    def __init__(
        self,
        enable_dump: bool = False,
        dump_path: Optional[str] = None,
        dump_step: Optional[str] = None,
        dump_mode: Optional[str] = "output",
        enable_dump_debug: bool = False,
        dump_debug_mode: str = "all",
        dump_data: Optional[str] = "tensor",
        dump_layer: Optional[str] = None,
    ) -> None:
        self._enable_dump = enable_dump
        self._dump_path = dump_path
        self._dump_step = dump_step
        self._dump_mode = dump_mode
        self._enable_dump_debug = enable_dump_debug
        self._dump_debug_mode = dump_debug_mode
        self.dump_data = dump_data
        self.dump_layer = dump_layer


class GraphMemoryOptimizeConfig:
    """Memory of the graph; these are trial features.

    Args:
        recompute: ``"auto"``, ``"manual"`` or None; for ``util.set_graph_exec_config``.
        graph_slice: ``"auto"``, ``"manual"`` or None.

    Raises:
        NpuConfigError: another value.
    """

    def __init__(self, recompute: Optional[str] = None, graph_slice: Optional[str] = None) -> None:
        faults = [
            rules.RUN_CONFIG_ARGUMENT.diagnostic(
                '{} of GraphMemoryOptimizeConfig must be "auto", "manual" or None, '
                "got {!r}".format(name, value)
            )
            for name, value in (("recompute", recompute), ("graph_slice", graph_slice))
            if value is not None and value not in _AUTOMATION
        ]
        if faults:
            raise errors.NpuConfigError(faults)
        self._recompute = recompute
        self._graph_slice = graph_slice


class ExperimentalConfig:
    """Trial features.

    Args:
        logical_device_cluster_deploy_mode: ``"LB"`` or ``"SINGLE"``.
        logical_device_id: e.g. ``"[0:0]"``.
        model_deploy_mode: ``"SPMD"``.
        model_deploy_devicelist: e.g. ``"0:0~1"``.
        graph_memory_optimize_config: a :class:`GraphMemoryOptimizeConfig`.
        enable_graph_parallel: split the graph over devices.
        graph_parallel_option_path: a file that says how.
        graph_compiler_cache_dir: directory of compiled graphs.
        resource_config_path: a file.
        accelerate_train_mode: e.g. ``"fast|step|0.9"``.

    Raises:
        NpuConfigError: ``graph_memory_optimize_config`` is of another type.
    """

    def __init__(
        self,
        logical_device_cluster_deploy_mode: Optional[str] = "LB",
        logical_device_id: Optional[str] = None,
        model_deploy_mode: Optional[str] = None,
        model_deploy_devicelist: Optional[str] = None,
        graph_memory_optimize_config: Optional[GraphMemoryOptimizeConfig] = None,
        enable_graph_parallel: Optional[bool] = None,
        graph_parallel_option_path: Optional[str] = None,
        graph_compiler_cache_dir: Optional[str] = None,
        resource_config_path: Optional[str] = None,
        accelerate_train_mode: Optional[str] = None,
    ) -> None:
        if not isinstance(graph_memory_optimize_config, (GraphMemoryOptimizeConfig, type(None))):
            raise errors.NpuConfigError(
                [
                    rules.RUN_CONFIG_ARGUMENT.diagnostic(
                        "graph_memory_optimize_config of ExperimentalConfig must be a "
                        "GraphMemoryOptimizeConfig, got {!r}".format(graph_memory_optimize_config)
                    )
                ]
            )
        self._logical_device_cluster_deploy_mode = logical_device_cluster_deploy_mode
        self._logical_device_id = logical_device_id
        self._model_deploy_mode = model_deploy_mode
        self._model_deploy_devicelist = model_deploy_devicelist
        self._graph_memory_optimize_config = graph_memory_optimize_config
        self._enable_graph_parallel = enable_graph_parallel
        self._graph_parallel_option_path = graph_parallel_option_path
        self._graph_compiler_cache_dir = graph_compiler_cache_dir
        self._resource_config_path = resource_config_path
        self._accelerate_train_mode = accelerate_train_mode


class DynamicInputConfig:
    """Dynamic dimensions by profiles; all four are needed.

    Args:
        input_shape: shapes of the inputs, -1 where they change.
        dynamic_dims: the profiles, e.g. ``"20,20;40,40"``.
        dynamic_node_type: 0 for dataset inputs, 1 for placeholders.
        compile_hybrid_mode: 1 also keeps the graph with its own shapes.
    """

    def __init__(
        self,
        input_shape: Optional[str],
        dynamic_dims: Optional[str],
        dynamic_node_type: Optional[int],
        compile_hybrid_mode: Optional[int],
    ) -> None:
        self._input_shape = input_shape
        self._dynamic_dims = dynamic_dims
        self._dynamic_node_type = dynamic_node_type
        self._compile_hybrid_mode = compile_hybrid_mode


Part = Union[
    ProfilingConfig,
    MemoryConfig,
    DumpConfig,
    GraphMemoryOptimizeConfig,
    ExperimentalConfig,
    DynamicInputConfig,
]

PARTS: Dict[str, type] = {
    "profiling_config": ProfilingConfig,
    "memory_config": MemoryConfig,
    "dump_config": DumpConfig,
    "experimental_config": ExperimentalConfig,
    "dynamic_input_config": DynamicInputConfig,
}
"""Argument of NPURunConfig to the class of its value."""


def fields_of(part: Part) -> Dict[str, Any]:
    """What a configuration object was made with, by argument name."""
    return {name.lstrip("_"): value for name, value in vars(part).items()}
