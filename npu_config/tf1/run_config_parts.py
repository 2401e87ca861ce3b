"""The configuration objects that NPURunConfig takes as arguments; they import no TensorFlow."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import attr

from npu_config.core.message import phrase
from npu_config.tf1._lazy import errors, rules

_AUTOMATION = ("auto", "manual")


@attr.s(auto_attribs=True, eq=False, repr=False)
class ProfilingConfig:
    """Profiling of the device.

    Args:
        enable_profiling: switch it on.
        profiling_options: a JSON text, see the option ``profiling_options``.
    """

    _enable_profiling: bool = False
    _profiling_options: Optional[str] = None


@attr.s(auto_attribs=True, eq=False, repr=False)
class MemoryConfig:
    """Memory of the device.

    Args:
        atomic_clean_policy: 0 clears the memory of atomic operators together, 1 one by one.
        static_memory_policy: 0, 2, 3 or 4, see the option.
        memory_optimization_policy: undocumented.
        variable_use_1g_huge_page: 0, 1 or 2, see the option.
    """

    _atomic_clean_policy: int = 0
    _static_memory_policy: int = 0
    _memory_optimization_policy: Optional[str] = None
    _variable_use_1g_huge_page: int = 0


@attr.s(auto_attribs=True, eq=False, repr=False)
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

    _enable_dump: bool = False
    _dump_path: Optional[str] = None
    _dump_step: Optional[str] = None
    _dump_mode: Optional[str] = "output"
    _enable_dump_debug: bool = False
    _dump_debug_mode: str = "all"
    dump_data: Optional[str] = "tensor"
    dump_layer: Optional[str] = None


@attr.s(auto_attribs=True, eq=False, repr=False)
class GraphMemoryOptimizeConfig:
    """Memory of the graph; these are trial features.

    Args:
        recompute: ``"auto"``, ``"manual"`` or None; for ``util.set_graph_exec_config``.
        graph_slice: ``"auto"``, ``"manual"`` or None.

    Raises:
        NpuConfigError: another value.
    """

    _recompute: Optional[str] = None
    _graph_slice: Optional[str] = None

    def __attrs_post_init__(self) -> None:
        faults = [
            rules.run_config_argument.diagnostic(
                phrase(
                    '{} of GraphMemoryOptimizeConfig must be "auto", "manual" or None, got {!r}',
                    name,
                    value,
                )
            )
            for name, value in fields_of(self).items()
            if value is not None and value not in _AUTOMATION
        ]
        if faults:
            raise errors.NpuConfigError(faults)


@attr.s(auto_attribs=True, eq=False, repr=False)
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

    _logical_device_cluster_deploy_mode: Optional[str] = "LB"
    _logical_device_id: Optional[str] = None
    _model_deploy_mode: Optional[str] = None
    _model_deploy_devicelist: Optional[str] = None
    _graph_memory_optimize_config: Optional[GraphMemoryOptimizeConfig] = None
    _enable_graph_parallel: Optional[bool] = None
    _graph_parallel_option_path: Optional[str] = None
    _graph_compiler_cache_dir: Optional[str] = None
    _resource_config_path: Optional[str] = None
    _accelerate_train_mode: Optional[str] = None

    def __attrs_post_init__(self) -> None:
        given: Any = self._graph_memory_optimize_config
        if given is not None and not isinstance(given, GraphMemoryOptimizeConfig):
            message = phrase(
                "graph_memory_optimize_config of ExperimentalConfig must be a "
                "GraphMemoryOptimizeConfig, got {!r}",
                given,
            )
            raise rules.run_config_argument.error(message)


@attr.s(auto_attribs=True, eq=False, repr=False)
class DynamicInputConfig:
    """Dynamic dimensions by profiles; all four are needed.

    Args:
        input_shape: shapes of the inputs, -1 where they change.
        dynamic_dims: the profiles, e.g. ``"20,20;40,40"``.
        dynamic_node_type: 0 for dataset inputs, 1 for placeholders.
        compile_hybrid_mode: 1 also keeps the graph with its own shapes.
    """

    _input_shape: Optional[str]
    _dynamic_dims: Optional[str]
    _dynamic_node_type: Optional[int]
    _compile_hybrid_mode: Optional[int]


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
