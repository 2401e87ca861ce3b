"""Attributes of single graph nodes that the device's graph compiler reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Sequence

from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.scopes import Value, attr_value
from npu_config.tf1.tensorflow import require_graph_mode, tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

EXECUTE_MODES = ("lazy_recompile", "dynamic_execute")


def _fault(message: str, value: Any, help: str = "") -> Diagnostic:
    return rules.graph_annotation_argument.diagnostic(
        "{}, got {!r}".format(message, value), help=help or None
    )


def set_attributes(operation: Any, attributes: Dict[str, Value]) -> None:
    """Set attributes of an operation that is in the graph already."""
    for name, value in attributes.items():
        operation._set_attr(name, attr_value(value))


def _operations_of(fetch: Any, faults: List[Diagnostic]) -> List[Any]:
    """The operations that a fetch stands for; what is not one is added to ``faults``."""
    if isinstance(fetch, tf.Operation):
        return [fetch]
    if isinstance(fetch, tf.Tensor):
        return [fetch.op]
    if isinstance(fetch, (list, tuple)):
        return [operation for item in fetch for operation in _operations_of(item, faults)]
    if isinstance(fetch, str):
        try:
            return [tf.get_default_graph().get_tensor_by_name(fetch).op]
        except (KeyError, ValueError) as error:
            faults.append(
                _fault("fetch does not name a tensor of the default graph", fetch, str(error))
            )
            return []
    faults.append(
        _fault("fetch must be an operation, a tensor, a tensor name, or a list of these", fetch)
    )
    return []


def set_graph_exec_config(
    fetch: Any,
    dynamic_input: Any = False,
    dynamic_graph_execute_mode: str = "dynamic_execute",
    dynamic_inputs_shape_range: Any = None,
    is_train_graph: Any = False,
    experimental_config: Any = None,
) -> Any:
    """Configure how the graph that leads to ``fetch`` runs, against what the session says.

    Args:
        fetch: what is fetched: operation, tensor, tensor name, or a list or tuple of these.
        dynamic_input: True when the inputs change their shapes.
        dynamic_graph_execute_mode: ``"dynamic_execute"``, or the older ``"lazy_recompile"``.
        dynamic_inputs_shape_range: ranges of the shapes, e.g. ``"getnext:[128,3~5]"``.
        is_train_graph: True for a training graph in an inference session.
        experimental_config: an ``ExperimentalConfig`` that carries ``recompute``.

    Returns:
        ``fetch``; for a name, the tensor.

    Raises:
        ArgumentError: an argument has the wrong type.
        NpuConfigError: a value is not legal, or a name is not in the graph.
            No node is changed then.
    """
    from npu_config.tf1.run_config_parts import ExperimentalConfig

    require_graph_mode("set_graph_exec_config")
    types: List[Diagnostic] = []
    for name, flag in (("dynamic_input", dynamic_input), ("is_train_graph", is_train_graph)):
        if not isinstance(flag, int):
            types.append(_fault("{} must be True or False".format(name), flag))
    if not isinstance(experimental_config, (ExperimentalConfig, type(None))):
        types.append(
            _fault("experimental_config must be an ExperimentalConfig", experimental_config)
        )
    values: List[Diagnostic] = []
    if dynamic_graph_execute_mode not in EXECUTE_MODES:
        values.append(
            _fault(
                "dynamic_graph_execute_mode must be {}".format(" or ".join(EXECUTE_MODES)),
                dynamic_graph_execute_mode,
            )
        )
    operations = _operations_of(fetch, values)
    if types or values:
        raise (errors.ArgumentError if types else errors.NpuConfigError)(types + values)
    attributes: Dict[str, Value] = {
        "_graph_dynamic_input": bool(dynamic_input),
        "_graph_dynamic_graph_execute_mode": dynamic_graph_execute_mode,
        "_graph_dynamic_inputs_shape_range": dynamic_inputs_shape_range or "",
        "_is_train_graph": bool(is_train_graph),
    }
    recompute = _recompute(experimental_config)
    if recompute is not None:
        attributes["_recompute_mode"] = recompute
    for operation in operations:
        set_attributes(operation, attributes)
    return operations[0].outputs[0] if isinstance(fetch, str) else fetch


def _recompute(experimental_config: Any) -> Any:
    memory = getattr(experimental_config, "_graph_memory_optimize_config", None)
    return getattr(memory, "_recompute", None)


def keep_tensors_dtypes(graph: Any, input_tensors: Sequence[str]) -> None:
    """Keep the data types of the operations that make these tensors (online inference).

    Args:
        graph: the graph that holds them.
        input_tensors: names of tensors, e.g. ``["conv1/Relu:0"]``.

    Raises:
        ArgumentError: an argument has the wrong type.
        NpuConfigError: a name is not in the graph.  No node is changed then.
    """
    types = []
    if not isinstance(graph, tf.Graph):
        types.append(_fault("graph must be a tf.Graph", graph))
    if not isinstance(input_tensors, (list, tuple)):
        types.append(_fault("input_tensors must be a list or a tuple of names", input_tensors))
    else:
        types += [
            _fault("input_tensors must hold names", tensor, "use tensor.name")
            for tensor in input_tensors
            if not isinstance(tensor, str)
        ]
    if types:
        raise errors.ArgumentError(types)
    faults: List[Diagnostic] = []
    with graph.as_default():
        operations = _operations_of(list(input_tensors), faults)
    if faults:
        raise errors.NpuConfigError(faults)
    for operation in operations:
        set_attributes(operation, {"_keep_dtype": 1})


def _operation(function: str, tensor: Any) -> Any:
    if isinstance(tensor, (tf.Tensor, tf.Operation, tf.Variable)):
        return tensor if isinstance(tensor, tf.Operation) else tensor.op
    raise errors.ArgumentError([_fault("{} takes a tensor".format(function), tensor)])


def _text(function: str, name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise errors.ArgumentError([_fault("{} of {} must be text".format(name, function), value)])
    return value


def set_op_tensor_max_range(tensor: Any, max_shape: str) -> None:
    """Tell the compiler the largest shape of an operation's outputs, e.g. ``"10,20"``.

    Raises:
        ArgumentError: an argument has the wrong type.
    """
    operation = _operation("set_op_tensor_max_range", tensor)
    text = _text("set_op_tensor_max_range", "max_shape", max_shape)
    set_attributes(operation, {"_op_max_shape": text})


def set_op_input_tensor_multi_dims(tensor: Any, input_shape: str, input_dims: str) -> None:
    """Give the profiles of a subgraph with dynamic dimensions at its input node.

    Args:
        tensor: the input of ``subgraph_multi_dims_scope``.
        input_shape: its shape, -1 where it changes, e.g. ``"a:-1"``.
        input_dims: the values, one profile each, e.g. ``"1;2"``.

    Raises:
        ArgumentError: an argument has the wrong type.
    """
    name = "set_op_input_tensor_multi_dims"
    set_attributes(
        _operation(name, tensor),
        {
            "_subgraph_multi_dims_input_shape": _text(name, "input_shape", input_shape),
            "_subgraph_multi_dims_input_dims": _text(name, "input_dims", input_dims),
        },
    )


def set_op_tensor_max_size(tensor: Any, max_size: int) -> None:
    """Tell the compiler the largest size of an operation's outputs in bytes.

    Raises:
        ArgumentError: an argument has the wrong type.
    """
    operation = _operation("set_op_tensor_max_size", tensor)
    if isinstance(max_size, bool) or not isinstance(max_size, int):
        raise errors.ArgumentError(
            [_fault("max_size of set_op_tensor_max_size must be an int", max_size)]
        )
    set_attributes(operation, {"_op_max_size": max_size})
