"""``util``: the vendor's module of that name, so that ``util.set_iteration_per_loop`` works."""

from __future__ import annotations

import os
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.attributes import (
    keep_tensors_dtypes,
    set_graph_exec_config,
    set_op_input_tensor_multi_dims,
    set_op_tensor_max_range,
    set_op_tensor_max_size,
)
from npu_config.tf1.loops import IterationPerLoop, create_or_get_var, set_iteration_per_loop
from npu_config.tf1.ranks import rank_size_text
from npu_config.tf1.tensorflow import tf

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
            'the store has not been created, so "{}" cannot be in it'.format(key),
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


__getattr__ = vendor.names_of("util", "npu_bridge.estimator.npu.util")

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
