"""``npu_scope``: context managers that annotate the nodes built inside them.

They set attributes that the device's graph compiler reads; without a device they change
nothing else.
"""

from __future__ import annotations

import enum
from typing import Any, ContextManager, Optional, Union

from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import internal, require_graph_mode, tf

Value = Union[bool, int, str]


class NpuExecutePlacement(enum.Enum):
    """Where a variable or an operation is to live."""

    ALL = "all"
    CUBE = "cube"
    VECTOR = "vector"
    TAISHAN = "taishan"
    DVPP = "dvpp"
    HOST = "host"


def attr_value(value: Value) -> Any:
    """The AttrValue of a bool (``b``), an int (``i``) or text (``s``)."""
    if isinstance(value, bool):
        return tf.AttrValue(b=value)
    if isinstance(value, int):
        return tf.AttrValue(i=value)
    return tf.AttrValue(s=value.encode("utf-8"))


def _annotate(scope: str, **attributes: Value) -> ContextManager[None]:
    require_graph_mode(scope)
    values = {name: attr_value(value) for name, value in attributes.items()}
    context: ContextManager[None] = tf.get_default_graph()._attr_scope(values)
    return context


def _check_types(scope: str, kind: type, **given: Any) -> None:
    faults = [
        rules.graph_annotation_argument.diagnostic(
            "{} of {} must be {}, got {!r}".format(
                name, scope, "an int" if kind is int else "text", value
            )
        )
        for name, value in given.items()
        if not isinstance(value, kind) or isinstance(value, bool)
    ]
    if faults:
        raise errors.ArgumentError(faults)


def without_npu_compile_scope() -> ContextManager[None]:
    """Keep the nodes on the host (mixed computing, ``mix_compile_mode`` True)."""
    return _annotate("without_npu_compile_scope", _without_npu_compile=True)


def npu_variable_scope(placement: Any = NpuExecutePlacement.ALL) -> ContextManager[None]:
    """Say where the variables live.

    Args:
        placement: a member of :class:`NpuExecutePlacement`.

    Raises:
        ArgumentError: it is not one.
    """
    value = getattr(placement, "value", None)
    if not isinstance(placement, enum.Enum) or not isinstance(value, str):
        legal = ", ".join("NpuExecutePlacement." + member.name for member in NpuExecutePlacement)
        raise rules.graph_annotation_argument.error(
            "placement of npu_variable_scope must be a member of NpuExecutePlacement, "
            "got {!r}".format(placement),
            help="one of " + legal,
            kind=errors.ArgumentError,
        )
    return _annotate("npu_variable_scope", _variable_placement=value)


def keep_dtype_scope() -> ContextManager[None]:
    """Keep the data types of the nodes in mixed precision training."""
    return _annotate("keep_dtype_scope", _keep_dtype=1)


def npu_stage_scope(stage: int) -> ContextManager[None]:
    """Put the nodes in a stage of a pipeline (with iteration offload)."""
    _check_types("npu_stage_scope", int, stage=stage)
    return _annotate("npu_stage_scope", _stage_level=stage)


def npu_mem_type_scope() -> ContextManager[None]:
    """Let the outputs of the nodes live in memory that peers can read."""
    return _annotate("npu_mem_type_scope", _output_memory_type=1)


def npu_weight_prefetch_scope(
    buffer_pool_id: int = 0, buffer_pool_size: int = 536870912
) -> ContextManager[None]:
    """Prefetch weights through a buffer pool.

    Args:
        buffer_pool_id: number of the pool.
        buffer_pool_size: its size in bytes, the same wherever the pool is named.
    """
    _check_types(
        "npu_weight_prefetch_scope",
        int,
        buffer_pool_id=buffer_pool_id,
        buffer_pool_size=buffer_pool_size,
    )
    return _annotate(
        "npu_weight_prefetch_scope",
        _buffer_pool_id=buffer_pool_id,
        _buffer_pool_size=buffer_pool_size,
    )


def op_specified_engine_scope(engine_name: str, kernel_lib_name: str) -> ContextManager[None]:
    """Run the nodes on a named engine with a named kernel library."""
    _check_types(
        "op_specified_engine_scope",
        str,
        engine_name=engine_name,
        kernel_lib_name=kernel_lib_name,
    )
    return _annotate(
        "op_specified_engine_scope",
        _specified_engine_name=engine_name,
        _specified_kernel_lib_name=kernel_lib_name,
    )


def npu_qos_label_scope(label: int) -> ContextManager[None]:
    """Label the nodes for quality of service."""
    _check_types("npu_qos_label_scope", int, label=label)
    return _annotate("npu_qos_label_scope", _qos_service_label=label)


def subgraph_multi_dims_scope(index: int) -> ContextManager[None]:
    """Mark a subgraph that has dynamic dimensions of its own.

    Args:
        index: its number, different from that of every other such subgraph.
    """
    _check_types("subgraph_multi_dims_scope", int, index=index)
    return _annotate("subgraph_multi_dims_scope", _subgraph_multi_dims_index=index)


def npu_optimizer_scope() -> ContextManager[None]:
    """Mark the nodes as those of the optimizer."""
    return _annotate("npu_optimizer_scope", _optimizer=True)


def npu_recompute_scope() -> ContextManager[str]:
    """Recompute the nodes in the backward pass instead of keeping their outputs."""
    require_graph_mode("npu_recompute_scope")
    scope: ContextManager[str] = internal("framework.ops").name_scope("NpuRecompute")
    return scope


def npu_graph_slice_scope(slice_num: Optional[int] = None) -> ContextManager[str]:
    """Put the nodes into a slice of the graph (``graph_slice`` "manual").

    Args:
        slice_num: number of the slice, from 1; None leaves the numbering to the compiler.

    Raises:
        ArgumentError: it is not an int.
        NpuConfigError: it is below 1.
    """
    require_graph_mode("npu_graph_slice_scope")
    name = "NpuGraphSlicing"
    if slice_num is not None:
        _check_types("npu_graph_slice_scope", int, slice_num=slice_num)
        if slice_num < 1:
            raise rules.graph_annotation_argument.error(
                "slice_num of npu_graph_slice_scope must be at least 1, got {}".format(slice_num)
            )
        name = "SliceNum-{0}-NpuGraphSlicing{0}".format(slice_num)
    scope: ContextManager[str] = internal("framework.ops").name_scope(name)
    return scope


def disable_autofuse() -> ContextManager[None]:
    """Keep the nodes out of automatic fusion."""
    return _annotate("disable_autofuse", _disable_autofuse_scope=True)


def limit_core_num_scope(
    op_aicore_num: str = "0", op_vectorore_num: str = "0"
) -> ContextManager[None]:
    """Limit the number of vector cores that the nodes run on.

    Args:
        op_aicore_num: has no effect.
        op_vectorore_num: text of a whole number from 1 (the name is the vendor's; its default
            is refused).

    Raises:
        ArgumentError: ``op_vectorore_num`` is not text.
        NpuConfigError: it is not a whole number from 1.
    """
    _check_types("limit_core_num_scope", str, op_vectorore_num=op_vectorore_num)
    if not op_vectorore_num.isdecimal() or int(op_vectorore_num) < 1:
        raise rules.graph_annotation_argument.error(
            "op_vectorore_num of limit_core_num_scope must be a whole number of at least 1 "
            'as text, got "{}"'.format(op_vectorore_num),
            help='set the number, for instance op_vectorore_num="20"',
        )
    return _annotate("limit_core_num_scope", _op_vectorcore_num=op_vectorore_num)
