"""The tasks of the vendor's documentation: what each of them sets.

Each is a method of :class:`~npu_config.builder.NpuConfigBuilder`, some are presets, and the reader
of scripts asks the same functions what a call sets.
"""

from __future__ import annotations

import inspect
import os
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import is_bool
from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.settings import UNKNOWN
from npu_config.rules.value import SideFile

if TYPE_CHECKING:
    from typing_extensions import Literal, Unpack

    from npu_config.catalogue.option_types import MixedMode, PrecisionMode, ProfilingArguments

    Steps = Union[str, int, Sequence[Union[int, Tuple[int, int]]]]
    Directory = Union[str, "os.PathLike[str]"]

_V2_MODES: Tuple[str, ...] = getattr(OPTIONS["precision_mode_v2"].kind, "values", ())
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Task(NamedTuple):
    """What a task sets.

    Args:
        options: option name to value, as it is given.
        removed: options that exclude one of these.
        side_files: option name to the content of the file that it points to.
        environment: variables of the process that runs the job.
        refused: option name to what is wrong with a content that is made from arguments.
    """

    options: Mapping[str, Any]
    removed: Tuple[str, ...] = ()
    side_files: Mapping[str, SideFile] = _NOTHING
    environment: Mapping[str, str] = _NOTHING
    refused: Mapping[str, Sequence[Diagnostic]] = _NOTHING


Function = TypeVar("Function", bound=Callable[..., Task])

TASKS: Dict[str, Callable[..., Task]] = {}
"""Every task, by its name."""


def _task(function: Function) -> Function:
    TASKS[function.__name__] = function
    return function


def summary_of(task: Callable[..., Task]) -> str:
    """What a task is for, in one line."""
    return (inspect.getdoc(task) or "").split("\n", 1)[0]


def _number(enabled: Any) -> Any:
    """1 and 0 for True and False; anything else is left for ``build``."""
    return int(enabled) if is_bool(enabled) else enabled


def _sets(options: Mapping[str, Any] = _NOTHING, **more: Any) -> Task:
    """A task that sets options; of ``more`` those that are not None."""
    return Task({**options, **{name: v for name, v in more.items() if v is not None}})


def _writes(option: str, path: Directory, make: Callable[[], str]) -> Task:
    """A task that points an option to a file with a content of its own."""
    text, refused = _content(option, make)
    files = {}
    if text is not None and isinstance(path, (str, os.PathLike)):
        files[option] = SideFile(os.fspath(path), text)
    return Task({option: path}, side_files=files, refused=refused)


def _content(
    option: str, make: Callable[[], str]
) -> Tuple[Optional[str], Mapping[str, Sequence[Diagnostic]]]:
    """A content made from arguments, and what is wrong with them."""
    try:
        return make(), _NOTHING
    except NpuConfigError as error:
        return None, {option: error.diagnostics}


# accuracy: dump, overflow detection, precision, fusion


@_task
def data_dump(
    path: Directory,
    steps: Optional[Steps] = None,
    mode: Optional[Literal["input", "output", "all"]] = None,
    data: Optional[Literal["tensor", "stats"]] = None,
    layers: Optional[Sequence[str]] = None,
) -> Task:
    """Dump inputs or outputs of operators.

    Sets ``enable_dump`` and ``dump_path``.

    Args:
        path: directory that exists on the host.
        steps: iterations to dump, e.g. ``[0, 5, (10, 20)]``; None: all.
        mode: which side of an operator; None: its outputs.
        data: whole tensors or statistics; None: tensors.
        layers: operator names; None: every operator.

    Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
    """
    return _sets(
        {"enable_dump": True, "dump_path": path},
        dump_step=steps,
        dump_mode=mode,
        dump_data=data,
        dump_layer=layers,
    )


@_task
def overflow_detection(
    path: Directory,
    mode: Optional[Literal["aicore_overflow", "atomic_overflow", "all"]] = None,
) -> Task:
    """Detect overflow and underflow; cannot be combined with a data dump.

    Sets ``enable_dump_debug`` and ``dump_path``.

    Args:
        path: directory that exists on the host.
        mode: kind of overflow; None: all.

    Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
    """
    return _sets({"enable_dump_debug": True, "dump_path": path}, dump_debug_mode=mode)


@_task
def precision(mode: PrecisionMode) -> Task:
    """Choose the precision mode, with precision_mode or precision_mode_v2.

    Sets ``precision_mode_v2`` for the words of that option, else ``precision_mode``, and
    takes away the other one, which excludes it.

    Args:
        mode: e.g. ``"origin"``, ``"mixed_float16"`` or ``"allow_mix_precision"``.

    Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md
    """
    if isinstance(mode, str) and mode in _V2_MODES:
        return Task({"precision_mode_v2": mode}, removed=("precision_mode",))
    return Task({"precision_mode": mode}, removed=("precision_mode_v2",))


@_task
def mixed_precision(
    mode: MixedMode = "allow_mix_precision",
    black_list: Sequence[str] = (),
    white_list: Sequence[str] = (),
    gray_list: Sequence[str] = (),
    mixlist_path: Optional[Directory] = None,
) -> Task:
    """Use mixed precision, optionally with changed operator lists.

    Sets ``precision_mode`` or ``precision_mode_v2``, and ``modify_mixlist`` when there is a
    list or a path.  The file is written by :meth:`NpuConfig.save_side_files`.

    Args:
        mode: a mixed mode, e.g. ``"allow_mix_precision_bf16"`` or ``"mixed_float16"``.
        black_list: operator types that keep their precision.
        white_list: operator types whose precision may be reduced.
        gray_list: operator types that take the precision of the operator before them.
        mixlist_path: the file; with lists it defaults to ``"ops_info.json"``, without
            lists it is a file of yours.

    Source: docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md
    """
    lists = _sets(modify_mixlist=mixlist_path)
    if black_list or white_list or gray_list:
        from npu_config.sidefiles import mixlist

        lists = _writes(
            "modify_mixlist",
            mixlist_path or "ops_info.json",
            lambda: mixlist.render(
                mixlist.Mixlist.of(
                    black_list=black_list, white_list=white_list, gray_list=gray_list
                )
            ),
        )
    policy = precision(mode)
    return lists._replace(options={**policy.options, **lists.options}, removed=policy.removed)


@_task
def op_precision(
    by_type: Optional[Mapping[str, str]] = None,
    by_name: Optional[Mapping[str, str]] = None,
    path: Directory = "op_precision.ini",
) -> Task:
    """Choose precision or speed for single operators.

    Sets ``op_precision_mode``.  The file is written by :meth:`NpuConfig.save_side_files`.

    Args:
        by_type: operator type to mode, e.g. ``{"Pooling": "high_performance"}``.
        by_name: node name to mode; beats ``by_type``.
        path: the file; without ``by_type`` and ``by_name`` it is a file of yours.

    Source: docs/en/tfadapter_1/apiref/session_config/performance_tuning.md
    """
    if by_type or by_name:
        from npu_config.sidefiles import op_precision as side_file

        return _writes(
            "op_precision_mode",
            path,
            lambda: side_file.render(
                side_file.OpPrecision.of(by_type or {}, by_name=by_name or {})
            ),
        )
    return _sets({"op_precision_mode": path})


@_task
def fusion_off(path: Directory = "fusion_off.cfg") -> Task:
    """Switch off every fusion pass that can be switched off, to find a faulty one.

    Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

    Args:
        path: the file to write, which the option will name.

    Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
    """
    from npu_config.sidefiles import fusion_switch as side_file

    return _writes(
        "fusion_switch_file",
        path,
        lambda: side_file.render(side_file.FusionSwitch.off()),
    )


@_task
def fusion_switch(
    graph: Optional[Mapping[str, Union[str, bool]]] = None,
    ub: Optional[Mapping[str, Union[str, bool]]] = None,
    path: Directory = "fusion_switch.cfg",
) -> Task:
    """Switch individual fusion passes on or off.

    Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

    Args:
        graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool.
        ub: the same for UB fusion passes.
        path: the file; without ``graph`` and ``ub`` it is a file of yours.

    Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
    """
    if graph or ub:
        from npu_config.sidefiles import fusion_switch as side_file

        return _writes(
            "fusion_switch_file",
            path,
            lambda: side_file.render(side_file.FusionSwitch.of(graph or {}, ub=ub or {})),
        )
    return _sets({"fusion_switch_file": path})


@_task
def deterministic(enabled: bool = True) -> Task:
    """Make operators give identical outputs for identical inputs, at the cost of speed.

    Args:
        enabled: False switches it off.

    Source: docs/en/tfadapter_1/apiref/session_config/basic_options.md
    """
    return _sets({"deterministic": _number(enabled)})


# iteration offload and mixed computing


@_task
def iteration_offload(iterations_per_loop: int) -> Task:
    """Run several training iterations on the device in each session.run.

    Sets ``iterations_per_loop`` and ``enable_data_pre_proc``, which it requires.  The loop
    itself is made by ``set_iteration_per_loop`` or ``SetIterationsVarHook``.

    Args:
        iterations_per_loop: iterations for each call, from 1 on.

    Source: docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md
    """
    return _sets({"iterations_per_loop": iterations_per_loop, "enable_data_pre_proc": True})


@_task
def data_pre_processing(enabled: bool = True) -> Task:
    """Offload GetNext, which fetches the preprocessed data, to the device.

    Sets ``enable_data_pre_proc``; the data must come from tf.data.

    Args:
        enabled: False keeps GetNext on the host.

    Source: docs/en/tfadapter_1/apiref/session_config/deprecated_options.md
    """
    return _sets({"enable_data_pre_proc": enabled})


@_task
def mixed_computing(
    variable_placement: Optional[Literal["Device", "Host"]] = None,
    in_out_pair: Optional[Tuple[Sequence[str], Sequence[str]]] = None,
    offload_pair: Optional[bool] = None,
) -> Task:
    """Keep operators that the device does not support on the host.

    Sets ``mix_compile_mode``.

    Args:
        variable_placement: where variables live.
        in_out_pair: the operators that begin and end one subgraph (online inference).
        offload_pair: True offloads that subgraph, False keeps it on the host.

    Source: docs/en/tfadapter_1/migration/others/mixed_computing.md
    """
    return _sets(
        {"mix_compile_mode": True},
        variable_placement=variable_placement,
        in_out_pair=in_out_pair,
        in_out_pair_flag=offload_pair,
    )


# debugging, profiling, tuning


@_task
def debugging(
    exception_dump: Optional[Literal[0, 1, 2]] = None,
    op_debug_config: Optional[Directory] = None,
    debug_dir: Optional[Directory] = None,
    export_compile_stat: Optional[Literal[0, 1, 2]] = None,
) -> Task:
    """Choose which files are kept when an operator fails or is compiled.

    Args:
        exception_dump: 0 off, 1 common, 2 light.
        op_debug_config: file of operator-compile debug switches.
        debug_dir: directory for .o, .json and .cce files.
        export_compile_stat: when fusion_result.json is written: 0 never, 1 at normal exit,
            2 right after compilation.

    Source: docs/en/tfadapter_1/apiref/session_config/debugging.md
    """
    return _sets(
        enable_exception_dump=exception_dump,
        op_debug_config=op_debug_config,
        debug_dir=debug_dir,
        export_compile_stat=export_compile_stat,
    )


@_task
def exception_dump(level: Literal[0, 1, 2] = 1, path: Optional[Directory] = None) -> Task:
    """Dump the data of a failed operator.

    Sets ``enable_exception_dump``, and with a path the variable ``ASCEND_WORK_PATH``.

    Args:
        level: 0 off, 1 common, 2 light.
        path: where the data goes (``NPU_COLLECT_PATH`` has precedence); None: below
            ``./extra-info``.

    Source: docs/en/tfadapter_1/apiref/session_config/debugging.md
    """
    variables = {} if path is None else {"ASCEND_WORK_PATH": os.fspath(path)}
    return Task({"enable_exception_dump": level}, environment=variables)


@_task
def graph_dump(
    path: Directory,
    content: Literal[1, 2, 3] = 2,
    level: Literal[1, 2, 3, 4] = 3,
) -> Task:
    """Dump the graphs of the graph engine.

    Sets no option, only variables of the environment.

    Args:
        path: where the graphs go, below ``pid_<pid>_deviceid_<id>`` (``DUMP_GRAPH_PATH``).
        content: ``DUMP_GE_GRAPH``: 1 everything, 2 without weights, 3 structure only.
        level: ``DUMP_GRAPH_LEVEL``: which stages.

    Source: cann/ge:docs/zh/user_guides/env_vars/DUMP_GE_GRAPH.md
    """
    variables = {
        "DUMP_GE_GRAPH": str(content),
        "DUMP_GRAPH_LEVEL": str(level),
        "DUMP_GRAPH_PATH": os.fspath(path),
    }
    return Task({}, environment=variables)


@_task
def profiling(
    output: Optional[Directory] = None,
    **options: Unpack[ProfilingArguments],
) -> Task:
    """Collect profile data.

    Sets ``profiling_mode``, and ``profiling_options`` when there is an argument; without
    one the adapter uses options of its own.

    Args:
        output: directory for the results.
        options: keys of the profiling options, e.g. ``training_trace=True``,
            ``task_time="l1"``, ``aic_metrics="PipeUtilization"``.

    Source: docs/en/tfadapter_1/apiref/session_config/Profiling.md
    """
    if output is None and not options:
        return _sets({"profiling_mode": True})
    from npu_config.sidefiles import profiling as side_file

    keys: Dict[str, Any] = dict(options)
    if output is not None:
        keys["output"] = os.fspath(output) if isinstance(output, os.PathLike) else output
    text, refused = _content(
        "profiling_options", lambda: side_file.render(side_file.ProfilingOptions.of(**keys))
    )
    value = UNKNOWN if text is None else text
    return Task({"profiling_mode": True, "profiling_options": value}, refused=refused)


@_task
def aoe(
    mode: Literal["1", "2", "4"],
    work_path: Optional[Directory] = None,
    config_file: Optional[Directory] = None,
) -> Task:
    """Tune operators, subgraphs or gradient splitting with AOE.

    Args:
        mode: ``"1"`` subgraph, ``"2"`` operator, ``"4"`` gradient splitting.
        work_path: directory that exists; None: the run directory.
        config_file: JSON file that says which operators to tune.

    Source: docs/en/tfadapter_1/apiref/session_config/AOE.md
    """
    return _sets({"aoe_mode": mode}, work_path=work_path, aoe_config_file=config_file)


# shapes, memory, time, machines


@_task
def dynamic_shape(
    input_shape: Union[str, Mapping[str, Sequence[int]]],
    dynamic_dims: Union[str, Sequence[Sequence[int]]],
    node_type: Literal["dataset", "placeholder"] = "placeholder",
    hybrid: Optional[bool] = None,
) -> Task:
    """Set the shape profiles of a graph with dynamic shapes (online inference).

    Args:
        input_shape: shape of each input, names in alphabetical order, -1 where it varies.
        dynamic_dims: at least two profiles; each gives a size for every -1, in order.
        node_type: what feeds the dynamic inputs.
        hybrid: True also compiles a dynamic-shape graph and picks one for each run.

    Source: docs/en/tfadapter_1/apiref/session_config/dynamic_shape.md
    """
    numbers = {"dataset": 0, "placeholder": 1}
    known = isinstance(node_type, str) and node_type in numbers
    return _sets(
        {
            "input_shape": input_shape,
            "dynamic_dims": dynamic_dims,
            "dynamic_node_type": numbers[node_type] if known else node_type,
        },
        compile_hybrid_mode=_number(hybrid),
    )


@_task
def online_inference(
    frozen_variable: Optional[bool] = None,
    parallel_models: Optional[int] = None,
) -> Task:
    """Run the graph for inference.

    Sets ``graph_run_mode`` to 0.

    Args:
        frozen_variable: True turns the variables of a checkpoint into constants.
        parallel_models: most threads that run one graph at the same time, from 1 on.

    Source: docs/en/tfadapter_1/apiref/session_config/basic_options.md
    """
    return _sets(
        {"graph_run_mode": 0},
        frozen_variable=frozen_variable,
        graph_max_parallel_model_num=parallel_models,
    )


@_task
def memory(
    static_policy: Optional[Literal[0, 2, 3, 4]] = None,
    atomic_clean_policy: Optional[Literal[0, 1]] = None,
    variable_use_1g_huge_page: Optional[Literal[0, 1, 2]] = None,
    external_weight: Optional[bool] = None,
    input_fusion_size: Optional[int] = None,
    input_batch_cpy: Optional[bool] = None,
) -> Task:
    """Set how device memory is allocated and how inputs are copied.

    Args:
        static_policy: 0 dynamic, 2 static-shape expansion with reuse, 3 dynamic-shape
            expansion, 4 both.
        atomic_clean_policy: 1 clears the workspace of memset operators one by one.
        variable_use_1g_huge_page: 1 uses 1-GB pages or fails, 2 falls back to 2-MB pages.
        external_weight: True keeps constants in files that models of a session share.
        input_fusion_size: inputs up to this many bytes are copied together; 0: none.
        input_batch_cpy: True copies several inputs in one batch.

    Source: docs/en/tfadapter_1/apiref/session_config/memory_management.md
    """
    return _sets(
        static_memory_policy=static_policy,
        atomic_clean_policy=atomic_clean_policy,
        variable_use_1g_huge_page=variable_use_1g_huge_page,
        external_weight=external_weight,
        input_fusion_size=input_fusion_size,
        input_batch_cpy=input_batch_cpy,
    )


@_task
def timeouts(
    hccl: Optional[int] = None,
    op_wait: Optional[int] = None,
    op_execute: Optional[int] = None,
    stream_sync: Optional[int] = None,
    event_sync: Optional[int] = None,
) -> Task:
    """Set how long the runtime waits before a timeout.

    Args:
        hccl: collective communication, in seconds.
        op_wait: an operator waiting, in seconds.
        op_execute: an operator running, in seconds.
        stream_sync: stream synchronisation, in milliseconds; -1: for ever.
        event_sync: event synchronisation, in milliseconds; -1: for ever.

    Source: docs/en/tfadapter_1/apiref/session_config/exception_remedy.md
    """
    return _sets(
        hccl_timeout=hccl,
        op_wait_timeout=op_wait,
        op_execute_timeout=op_execute,
        stream_sync_timeout=stream_sync,
        event_sync_timeout=event_sync,
    )


@_task
def distributed(
    hcom_parallel: Optional[bool] = None,
    local_rank_id: Optional[int] = None,
    local_device_list: Optional[Sequence[int]] = None,
    is_tailing_optimization: Optional[bool] = None,
    hccl_timeout: Optional[int] = None,
) -> Task:
    """Set options for training on several devices.

    Args:
        hcom_parallel: True overlaps AllReduce with computation.
        local_rank_id: local rank of the process that feeds several devices, 0 to 7.
        local_device_list: the devices that it feeds.
        is_tailing_optimization: True hides the last AllReduce (BERT).
        hccl_timeout: collective communication, in seconds.

    Source: docs/en/tfadapter_1/migration/model_training/distributed_training.md
    """
    return _sets(
        hcom_parallel=hcom_parallel,
        local_rank_id=local_rank_id,
        local_device_list=local_device_list,
        is_tailing_optimization=is_tailing_optimization,
        hccl_timeout=hccl_timeout,
    )
