"""``util``: the vendor's module of that name, so that ``util.set_iteration_per_loop`` works."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, NoReturn, Optional, Sequence

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.loops import IterationPerLoop, create_or_get_var, set_iteration_per_loop
from npu_config.tf1.ranks import rank_size_text
from npu_config.tf1.scopes import Value, attr_value
from npu_config.tf1.tensorflow import require_graph_mode, tf

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

__all__ = [
    "IterationPerLoop",
    "check_aoe_mode",
    "check_bool_type",
    "check_nonnegative_integer",
    "check_not_none",
    "check_path",
    "check_positive_integer",
    "check_profiling_options",
    "convert_bool_to_int",
    "create_or_get_var",
    "format_string",
    "get_ranksize",
    "get_value",
    "global_dict_init",
    "keep_tensors_dtypes",
    "npu_compile",
    "set_graph_exec_config",
    "set_iteration_per_loop",
    "set_op_input_tensor_multi_dims",
    "set_op_tensor_max_range",
    "set_op_tensor_max_size",
    "set_value",
    "variable_initializer_in_host",
]

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
    raise errors.ArgumentError([_fault("{} requires a tensor".format(function), tensor)])


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


PROFILING_OPTIONS = ("training_trace", "task_time", "op_trace")
AOE_MODES = ("1", "2", "4")


def _refuse(message: str, of_type: bool = False, help: Optional[str] = None) -> NoReturn:
    finding = rules.util_argument.diagnostic(message, help=help)
    raise (errors.ArgumentError if of_type else errors.NpuConfigError)([finding])


def check_not_none(value: Any, name: str) -> None:
    """Refuse None (NpuConfigError)."""
    if value is None:
        _refuse('"{}" must be set'.format(name))


def _check_integer(value: Any, name: str, least: int) -> None:
    if not isinstance(value, int):
        _refuse('"{}" must be an int, got {!r}'.format(name, value), of_type=True)
    if value < least:
        _refuse('"{}" must be at least {}, got {!r}'.format(name, least, value))


def check_positive_integer(value: Any, name: str) -> None:
    """Refuse what is not an int (ArgumentError) or below 1 (NpuConfigError); True counts as 1."""
    _check_integer(value, name, 1)


def check_nonnegative_integer(value: Any, name: str) -> None:
    """Refuse what is not an int (ArgumentError) or below 0 (NpuConfigError); True counts as 1."""
    _check_integer(value, name, 0)


def check_bool_type(value: Any, name: str) -> None:
    """Refuse what is neither True nor False (ArgumentError)."""
    if not isinstance(value, bool):
        _refuse('"{}" must be True or False, got {!r}'.format(name, value), of_type=True)


def convert_bool_to_int(value: Any) -> int:
    """True to 1, False to 0, anything else to -1."""
    return int(value) if isinstance(value, bool) else -1


def format_string(value: Any, name: str) -> str:
    """Text as it is, None as empty text; ArgumentError for anything else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        _refuse('"{}" must be text, got {!r}'.format(name, value), of_type=True)
    return str(value)


def check_profiling_options(profiling_options: Sequence[str]) -> str:
    """Join profiling options with ``:``.

    Args:
        profiling_options: a list of ``training_trace``, ``task_time``, ``op_trace``.

    Raises:
        NpuConfigError: it is empty, no list, or holds something else.
    """
    legal = ", ".join(PROFILING_OPTIONS)
    if not isinstance(profiling_options, (list, tuple)) or not profiling_options:
        _refuse(
            "profiling options must be a list of {}, got {!r}".format(legal, profiling_options)
        )
    for option in profiling_options:
        if option not in PROFILING_OPTIONS:
            _refuse("profiling options must be of {}, got {!r}".format(legal, option))
    return ":".join(profiling_options)


def check_path(path: str) -> str:
    """The real path of a directory that can be read and written.

    Raises:
        NpuConfigError: it does not exist, is not a directory, or cannot be read or written.
    """
    if not os.path.exists(path):
        _refuse('the path "{}" does not exist'.format(path), help="create the directory first")
    if not os.path.isdir(path):
        _refuse('the path "{}" is not a directory'.format(path))
    real = os.path.realpath(path)
    if not os.access(real, os.R_OK | os.W_OK):
        _refuse('the directory "{}" cannot be read and written'.format(path))
    return real


def check_aoe_mode(aoe_mode: str) -> None:
    """Refuse what is not one of "1", "2" and "4" (NpuConfigError)."""
    if aoe_mode not in AOE_MODES:
        legal = ", ".join('"{}"'.format(mode) for mode in AOE_MODES)
        _refuse("aoe_mode must be one of {}, got {!r}".format(legal, aoe_mode))


def get_ranksize() -> str:
    """The text of ``RANK_SIZE``, else of ``CM_WORKER_SIZE``, else "1".

    Raises:
        NpuConfigError: both are set.
    """
    return rank_size_text()


def variable_initializer_in_host(var_list: Sequence[Any]) -> Any:
    """An operation that initialises variables on the host.

    Its name, ``var_in_host``, is what makes the graph that holds it run there.
    """
    with tf.get_default_graph().name_scope(None):
        return tf.group(*[variable.initializer for variable in var_list], name="var_in_host")


def npu_compile(sess: Any, *fetches: Any) -> None:
    """Run fetches once, so that the graphs that lead to them are compiled."""
    for fetch in fetches:
        sess.run(fetch)


_STORES: List[Dict[str, Any]] = []


def global_dict_init() -> None:
    """Create the store of this process, or empty it."""
    _STORES[:] = [{}]


def _store(key: str) -> Dict[str, Any]:
    if not _STORES:
        raise rules.value_store_missing.error(
            'the dictionary of values has not been created, so "{}" is not in it'.format(key),
            help="call init_resource() or util.global_dict_init() first",
            kind=errors.StoreError,
        )
    return _STORES[0]


def has_store() -> bool:
    """True when the store has been created."""
    return bool(_STORES)


def set_value(key: str, value: Any) -> None:
    """Put a value into the store; StoreError before ``global_dict_init``."""
    _store(key)[key] = value


def get_value(key: str, def_value: Any = None) -> Any:
    """A value of the store, or ``def_value``; StoreError before ``global_dict_init``."""
    return _store(key).get(key, def_value)


__getattr__ = vendor.rest_of("util", "npu_bridge.estimator.npu.util")
